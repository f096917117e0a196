"""Topology: orientation, the hinge convention, and a name for everything that is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshes import bumpy, cylinder, equilateral, grid, hemisphere, icosphere, unstructured, v_beam
from shellcore.errors import ShellError
from shellcore.mesh import Topology, check_positions, topology

MESHES = {
    "triangle": (np.eye(3), np.array([[0, 1, 2]])),
    "one": grid(4, 3, 2.0, 1.5, "one"),
    "alternating": grid(4, 3, 2.0, 1.5, "alternating"),
    "crossed": grid(4, 3, 2.0, 1.5, "crossed"),
    "union_jack": grid(4, 3, 2.0, 1.5, "union_jack"),
    "equilateral": equilateral(5, 4, 0.2),
    "unstructured": unstructured(100, 2.0, 1.5, seed=3),
    "icosphere": icosphere(2),
    "hemisphere": hemisphere(5),
    "cylinder": cylinder(12, 5, 0.3, 1.0),
    "v_beam": v_beam(10, 3, 1.0, 0.2, 1.0),
    "bumpy": bumpy(icosphere(2), 0.1, seed=1),
}
every_mesh = pytest.mark.parametrize("name", MESHES)


def of(name: str) -> Topology:
    points, faces = MESHES[name]
    return topology(faces, len(points))


def flips(faces: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """`faces` with the winding of the chosen ones reversed."""
    turned = faces.copy()
    turned[chosen] = turned[chosen][:, ::-1]
    return turned


def moebius(n: int) -> np.ndarray:
    """A strip of 2n triangles whose ends are joined with a half turn."""
    low, high = np.arange(n), n + np.arange(n)
    next_low, next_high = np.append(low[1:], high[0]), np.append(high[1:], low[0])
    return np.vstack([np.column_stack([low, next_low, high]), np.column_stack([next_low, next_high, high])])


class TestConvention:
    @every_mesh
    def test_edges_are_sorted_pairs_low_to_high(self, name):
        edges = of(name).edges
        assert (edges[:, 0] < edges[:, 1]).all()
        assert np.array_equal(edges, np.unique(edges, axis=0))

    @every_mesh
    def test_local_edge_lies_opposite_its_corner(self, name):
        t = of(name)
        for j in range(3):
            ends = np.sort(t.faces[:, [(j + 1) % 3, (j + 2) % 3]], axis=1)
            assert np.array_equal(t.edges[t.face_edges[:, j]], ends)

    @every_mesh
    def test_hinges_are_sorted_by_their_edge(self, name):
        t = of(name)
        assert np.array_equal(t.hinges[:, :2], t.edges[t.hinge_edges])
        assert (t.hinges[:, 0] < t.hinges[:, 1]).all()
        assert np.array_equal(np.lexsort((t.hinges[:, 1], t.hinges[:, 0])), np.arange(len(t.hinges)))

    @every_mesh
    def test_left_face_runs_start_to_end_and_right_face_back(self, name):
        t = of(name)
        start, end, left, right = t.hinges.T
        for face, corners in zip(t.hinge_faces.T, [(left, start, end), (right, end, start)], strict=True):
            rows, wanted = t.faces[face], np.column_stack(corners)
            first = (rows == wanted[:, :1]).argmax(axis=1)
            turned = np.take_along_axis(rows, (first[:, None] + np.arange(3)) % 3, axis=1)
            assert np.array_equal(turned, wanted)

    @every_mesh
    def test_face_hinges_lead_back_to_the_face(self, name):
        t = of(name)
        face, corner = np.nonzero(t.face_hinges >= 0)
        hinge = t.face_hinges[face, corner]
        assert len(hinge) == 2 * len(t.hinges)
        side = (t.hinge_faces[hinge] == face[:, None]).argmax(axis=1)
        assert np.array_equal(t.hinge_faces[hinge, side], face)
        assert np.array_equal(t.hinges[hinge, 2 + side], t.faces[face, corner])

    def test_two_triangles_written_out(self):
        t = topology(np.array([[2, 0, 3], [1, 0, 2]]), 4)
        assert t.edges.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]]
        assert t.hinges.tolist() == [[0, 2, 1, 3]]
        assert t.hinge_faces.tolist() == [[1, 0]]
        assert t.face_edges.tolist() == [[2, 4, 1], [1, 3, 0]]
        assert t.face_hinges.tolist() == [[-1, -1, 0], [0, -1, -1]]
        assert t.boundary_edges.tolist() == [0, 2, 3, 4]
        assert t.boundary_vertices.tolist() == [0, 1, 2, 3]
        assert not t.closed


class TestShape:
    def test_closed_sphere_has_no_boundary_and_euler_characteristic_two(self):
        t = of("icosphere")
        assert t.closed
        assert len(t.boundary_edges) == len(t.boundary_vertices) == 0
        assert (t.face_hinges >= 0).all()
        assert t.vertex_count - len(t.edges) + len(t.faces) == 2

    @pytest.mark.parametrize("name, characteristic", [("unstructured", 1), ("hemisphere", 1), ("cylinder", 0)])
    def test_open_surfaces(self, name, characteristic):
        t = of(name)
        assert not t.closed
        assert t.vertex_count - len(t.edges) + len(t.faces) == characteristic
        assert len(t.boundary_edges) == len(t.boundary_vertices)

    def test_pieces_are_told_apart(self):
        pieces = [icosphere(0), grid(2, 2, 1.0, 1.0), cylinder(8, 2, 1.0, 1.0)]
        offsets = np.cumsum([0] + [len(points) for points, _ in pieces])
        faces = np.vstack([piece + offset for (_, piece), offset in zip(pieces, offsets[:-1], strict=True)])
        t = topology(faces, int(offsets[-1]))
        assert np.array_equal(t.components, np.repeat([0, 1, 2], [len(piece) for _, piece in pieces]))

    def test_faces_that_meet_in_a_point_are_two_pieces(self):
        t = topology(np.array([[0, 1, 2], [2, 3, 4]]), 5)
        assert t.components.tolist() == [0, 1]
        assert len(t.hinges) == 0


class TestOrientation:
    @every_mesh
    def test_a_consistent_mesh_is_left_alone(self, name):
        points, faces = MESHES[name]
        before = faces.copy()
        t = topology(faces, len(points))
        assert not t.flipped.any()
        assert np.array_equal(t.faces, before)
        assert np.array_equal(faces, before)

    @given(st.sampled_from(sorted(MESHES)), st.integers(0, 2**32 - 1), st.floats(0.0, 1.0))
    def test_random_flips_are_undone_keeping_the_majority(self, name, seed, share):
        points, faces = MESHES[name]
        chosen = np.random.default_rng(seed).random(len(faces)) < share
        mixed = flips(faces, chosen)
        t = topology(mixed, len(points))
        # One side or the other, whole: no third set of flips is consistent on one connected piece.
        assert np.array_equal(t.flipped, chosen) or np.array_equal(t.flipped, ~chosen)
        assert t.flipped.sum() <= len(faces) / 2
        assert np.array_equal(t.faces[~t.flipped], mixed[~t.flipped])
        assert np.array_equal(np.sort(t.faces, axis=1), np.sort(faces, axis=1))
        start, end = t.faces, np.roll(t.faces, -1, axis=1)
        directed = np.column_stack([start.ravel(), end.ravel()])
        assert len(np.unique(directed, axis=0)) == len(directed)

    def test_each_piece_keeps_its_own_majority(self):
        points, faces = grid(3, 3, 1.0, 1.0)
        few = np.arange(len(faces)) < 2
        t = topology(np.vstack([flips(faces, few), flips(faces, ~few) + len(points)]), 2 * len(points))
        assert np.array_equal(t.flipped, np.concatenate([few, few]))

    @pytest.mark.parametrize("n", [3, 4, 11])
    def test_a_moebius_strip_is_refused(self, n):
        points, sheet = grid(2, 2, 1.0, 1.0)
        faces = np.vstack([sheet, moebius(n) + len(points)])
        with pytest.raises(ShellError, match="one-sided") as error:
            topology(faces, len(points) + 2 * n)
        assert error.value.faces == list(range(len(sheet), len(faces)))


class TestRefusals:
    def test_an_edge_with_three_faces_is_named_with_them(self):
        faces = np.array([[0, 1, 2], [1, 0, 3], [2, 1, 5], [0, 1, 4]])
        with pytest.raises(ShellError, match=r"edge \(0, 1\) is not manifold: 3 faces \(0, 1, 3\)") as error:
            topology(faces, 6)
        assert error.value.edges == [(0, 1)]
        assert error.value.faces == [0, 1, 3]

    def test_further_crowded_edges_are_counted(self):
        fan = np.array([[0, 1, 2], [0, 1, 3], [0, 1, 4]])
        with pytest.raises(ShellError, match="and 1 more edges") as error:
            topology(np.vstack([fan, fan + 5]), 10)
        assert error.value.edges == [(0, 1), (5, 6)]
        assert error.value.faces == list(range(6))

    def test_the_same_face_three_times(self):
        with pytest.raises(ShellError, match="not manifold"):
            topology(np.array([[0, 1, 2]] * 3), 3)

    @pytest.mark.parametrize("bad", [-1, 9])
    def test_an_index_out_of_range_names_the_face(self, bad):
        points, faces = grid(2, 2, 1.0, 1.0)
        faces[5, 1] = bad
        with pytest.raises(ShellError, match=r"faces 5 name vertices outside 0\.\.8") as error:
            topology(faces, len(points))
        assert error.value.faces == [5]
        assert np.array_equal(check_positions(points, faces), points)

    @pytest.mark.parametrize("row", [[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    def test_a_face_that_uses_a_vertex_twice(self, row):
        with pytest.raises(ShellError, match="faces 1 use a vertex twice") as error:
            topology(np.array([[0, 1, 2], row]), 3)
        assert error.value.faces == [1]

    def test_loose_vertices_are_named(self):
        with pytest.raises(ShellError, match="vertices 3, 4 belong to no face") as error:
            topology(np.array([[0, 1, 2]]), 5)
        assert error.value.vertices == [3, 4]

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("axis", [0, 1, 2])
    def test_a_position_that_is_not_finite_names_the_vertex(self, value, axis):
        points, faces = grid(2, 2, 1.0, 1.0)
        points[4, axis] = value
        with pytest.raises(ShellError, match="vertices 4 have a position that is not finite") as error:
            check_positions(points, faces)
        assert error.value.vertices == [4]

    @pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
    def test_a_triangle_without_area_names_the_face(self, size):
        points, faces = grid(2, 2, size, size, "one")
        points[faces[3, 2]] = points[faces[3, :2]].mean(axis=0)
        with pytest.raises(ShellError, match="degenerate") as error:
            check_positions(points, faces)
        assert 3 in error.value.faces

    def test_a_triangle_whose_corners_coincide(self):
        with pytest.raises(ShellError, match="faces 0 are degenerate"):
            check_positions(np.zeros((3, 3)), np.array([[0, 1, 2]]))

    @pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
    def test_thin_but_sound_triangles_pass_at_any_size(self, size):
        points = size * np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 1e-6, 0]])
        assert np.array_equal(check_positions(points, np.array([[0, 1, 2]])), points)

    @pytest.mark.parametrize(
        "faces, words",
        [
            (np.zeros((0, 3), dtype=int), "faces are none"),
            (np.array([[0, 1, 2, 3]]), "triangulate"),
            (np.array([0, 1, 2]), r"shape \(m, 3\)"),
            (np.array([[0.0, 1.0, 2.0]]), "integers"),
        ],
    )
    def test_faces_of_the_wrong_kind(self, faces, words):
        with pytest.raises(ShellError, match=words):
            topology(faces, 4)

    @pytest.mark.parametrize("shape", [(3,), (3, 2), (1, 3, 3)])
    def test_positions_of_the_wrong_shape(self, shape):
        with pytest.raises(ShellError, match=r"shape \(n, 3\)"):
            check_positions(np.zeros(shape), np.array([[0, 1, 2]]))

    def test_long_lists_are_cut_short_in_the_message_only(self):
        with pytest.raises(ShellError, match="vertices 3, 4, 5, 6, 7 and 2 more") as error:
            topology(np.array([[0, 1, 2]]), 10)
        assert error.value.vertices == list(range(3, 10))
