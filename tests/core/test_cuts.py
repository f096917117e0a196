"""Edge states, cases B0, B1, B2 and what random cuts leave of a mesh."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meshes import cylinder, equilateral, fan, grid, icosphere, unstructured
from shellcore.cuts import BOUNDARY, FRACTURED, INTERIOR, broken, restored, uncut
from shellcore.mesh import topology


def cut_of(mesh):
    points, faces = mesh
    return uncut(topology(faces, len(points)))


def hinges_of(cut, pairs):
    """Hinges of the whole mesh at vertex pairs."""
    known = {(int(a), int(b)): k for k, (a, b) in enumerate(cut.whole.hinges[:, :2])}
    return np.array([known[min(p), max(p)] for p in pairs])


def check(cut):
    """The mesh is a consistently oriented manifold, no two faces meet in a corner alone, and hinges are as said."""
    mesh = cut.mesh
    again = topology(mesh.faces, mesh.vertex_count)
    assert not again.flipped.any()
    assert (mesh.faces == again.faces).all()
    # Edges as a fresh look finds them, in whatever order.
    assert {tuple(e) for e in mesh.edges} == {tuple(e) for e in again.edges}
    assert len(mesh.edges) == len(again.edges)
    joined = {tuple(sorted(h[:2])) for h in again.hinges}
    alive = {tuple(sorted(h[:2])) for h in mesh.hinges}
    dead = {tuple(sorted(e)) for e in _edges_now(cut, FRACTURED)}
    assert alive | dead == joined and not alive & dead
    # Each vertex's faces hang together across edges.
    corners = np.bincount(mesh.faces.ravel(), minlength=mesh.vertex_count)
    inner = np.bincount(again.hinges[:, :2].ravel(), minlength=mesh.vertex_count)
    border = np.isin(np.arange(mesh.vertex_count), again.boundary_vertices)
    # A disc of k faces has k hinges at an inner vertex and k - 1 at the border; two fans at one vertex have fewer.
    assert (inner == corners - border).all()
    # Hinge rows: the left face runs start to end, and the apices are its and the right one's.
    left, right = (mesh.faces[mesh.hinge_faces[:, side]] for side in (0, 1))
    for faces, order, apex in ((left, (0, 1), 2), (right, (1, 0), 3)):
        a, b, c = (mesh.hinges[:, k] for k in (*order, apex))
        place = np.argmax(faces == a[:, None], axis=1)
        assert (faces[np.arange(len(faces)), (place + 1) % 3] == b).all()
        assert (faces[np.arange(len(faces)), (place + 2) % 3] == c).all()
    picked = mesh.face_hinges >= 0
    assert (np.sort(mesh.face_hinges[picked]) == np.repeat(np.arange(len(mesh.hinges)), 2)).all()
    # The two ends of an edge opposite a corner are the other two corners.
    for j in range(3):
        ends = np.sort(mesh.faces[:, [(j + 1) % 3, (j + 2) % 3]], axis=1)
        assert (mesh.edges[mesh.face_edges[:, j]] == ends).all()


def _edges_now(cut, state):
    left = cut.whole.hinge_faces[:, 0]
    which = np.flatnonzero(cut.states == state)
    return np.column_stack([cut.mesh.faces[left[which], cut.slots[which, 0, end]] for end in (0, 1)])


HEXAGON = fan(6, 2)


def test_b0_a_broken_edge_alone_changes_no_vertex():
    cut = cut_of(HEXAGON)
    edge = hinges_of(cut, [(0, 1)])
    after, parent = broken(cut, edge, 1.0)
    assert after.mesh.vertex_count == cut.mesh.vertex_count and (parent == np.arange(len(parent))).all()
    assert (after.mesh.faces == cut.mesh.faces).all()
    assert after.states[edge] == FRACTURED
    assert len(after.mesh.hinges) == len(cut.mesh.hinges) - 1
    check(after)


def test_b1_one_end_on_the_border_splits_there():
    cut = cut_of(HEXAGON)
    rim = int(cut.mesh.boundary_vertices[0])
    inner = next(int(h[0]) for h in cut.whole.hinges if h[1] == rim and h[0] not in cut.mesh.boundary_vertices)
    edge = hinges_of(cut, [(inner, rim)])
    after, parent = broken(cut, edge, 2.0)
    assert list(parent[cut.mesh.vertex_count :]) == [rim]
    assert after.birth[-1] == 2.0 and after.source[-1] == rim and np.isneginf(after.birth[:-1]).all()
    assert after.states[edge] == BOUNDARY
    check(after)


def test_b2_an_edge_from_border_to_border_parts_the_sheet():
    points, faces = grid(2, 1, 2.0, 1.0)
    cut = cut_of((points, faces))
    edge = hinges_of(cut, [(1, 4)])
    after, parent = broken(cut, edge, 0.0)
    assert list(parent[6:]) == [1, 4]
    assert after.states[edge] == BOUNDARY and after.mesh.components.max() == 1
    check(after)


def test_b0_then_b1_a_second_edge_opens_the_first():
    cut = cut_of(HEXAGON)
    first, _ = broken(cut, hinges_of(cut, [(0, 1)]), 0.0)
    after, parent = broken(first, hinges_of(cut, [(0, 4)]), 1.0)
    assert list(parent[cut.mesh.vertex_count :]) == [0]
    # Both edges part at the middle; their outer ends are tips.
    assert (after.states[hinges_of(cut, [(0, 1), (0, 4)])] == BOUNDARY).all()
    check(after)
    star, parent = broken(cut, hinges_of(cut, [(0, k) for k in range(1, 7)]), 0.0)
    assert list(parent[cut.mesh.vertex_count :]) == [0] * 5
    check(star)


def test_breaking_all_leaves_triangles():
    cut = cut_of(unstructured(60, 1.0, 1.0, seed=1))
    after, _ = broken(cut, np.arange(len(cut.whole.hinges)), 0.0)
    assert after.mesh.vertex_count == 3 * len(cut.whole.faces)
    assert (after.states == BOUNDARY).all() and after.mesh.components.max() == len(cut.whole.faces) - 1
    check(after)


def test_edges_broken_together_or_one_after_another_make_one_mesh():
    cut = cut_of(unstructured(80, 1.0, 1.0, seed=2))
    rng = np.random.default_rng(0)
    edges = rng.permutation(len(cut.whole.hinges))[:60]
    together, _ = broken(cut, edges, 0.0)
    single = cut
    for edge in edges:
        single, _ = broken(single, np.array([edge]), 0.0)
    assert (together.states == single.states).all()
    # The same up to the names of copies.
    pairs = np.unique(np.column_stack([together.mesh.faces.ravel(), single.mesh.faces.ravel()]), axis=0)
    assert len(pairs) == together.mesh.vertex_count == single.mesh.vertex_count
    assert (together.source[pairs[:, 0]] == single.source[pairs[:, 1]]).all()
    shuffled, _ = broken(cut, rng.permutation(edges), 0.0)
    assert (shuffled.mesh.faces == together.mesh.faces).all()


MESHES = {
    "grid": grid(5, 4, 1.0, 1.0),
    "equilateral": equilateral(5, 4, 0.2),
    "cylinder": cylinder(8, 4, 1.0, 1.0),
    "sphere": icosphere(1),
    "scattered": unstructured(50, 1.0, 1.0, seed=5),
}


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(sorted(MESHES)),
    seed=st.integers(0, 10_000),
    rounds=st.integers(1, 6),
    share=st.floats(0.01, 0.5),
)
def test_any_sequence_of_cuts_leaves_a_manifold(name, seed, rounds, share):
    cut = whole = cut_of(MESHES[name])
    rng = np.random.default_rng(seed)
    for time in range(rounds):
        before = cut
        edges = np.flatnonzero(rng.random(len(cut.states)) < share / rounds)
        cut, parent = broken(cut, edges, float(time))
        assert (parent[: before.mesh.vertex_count] == np.arange(before.mesh.vertex_count)).all()
        assert (before.source[parent] == cut.source).all()
        assert (whole.mesh.faces == cut.source[cut.mesh.faces]).all()
        assert (cut.states >= before.states).all()
        assert (np.diff(cut.birth[whole.mesh.vertex_count :]) >= 0).all()
    check(cut)
    again = restored(whole, cut.mesh.faces, cut.states, cut.source, cut.birth)
    for name in ("faces", "edges", "face_edges", "edge_faces", "hinges", "hinge_edges", "face_hinges", "components"):
        assert (getattr(again.mesh, name) == getattr(cut.mesh, name)).all()


@pytest.mark.parametrize("state", [INTERIOR, FRACTURED, BOUNDARY])
def test_states_are_told_apart(state):
    """In a strip of two cells: the middle edge whole, broken without consequence, and open."""
    cut = cut_of(fan(6, 3))
    edges = {INTERIOR: [], FRACTURED: [(0, 1)], BOUNDARY: [(0, 1), (0, 2)]}[state]
    if edges:
        cut, _ = broken(cut, hinges_of(cut, edges), 0.0)
    assert cut.states[hinges_of(cut, [(0, 1)])] == state
    check(cut)
