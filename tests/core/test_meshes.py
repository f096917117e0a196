"""The test meshes are what they say: a wrong outline or winding here would blame the physics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshes import (
    bumpy,
    cylinder,
    equilateral,
    grid,
    hemisphere,
    icosphere,
    smallest_angle,
    unstructured,
    v_beam,
    vertex_normals,
)
from shellcore.mesh import topology

WIDTH, HEIGHT = 2.0, 1.5
SIDE = WIDTH / 5
FLAT = {
    "one": grid(4, 3, WIDTH, HEIGHT, "one"),
    "alternating": grid(4, 3, WIDTH, HEIGHT, "alternating"),
    "crossed": grid(4, 3, WIDTH, HEIGHT, "crossed"),
    "union_jack": grid(4, 3, WIDTH, HEIGHT, "union_jack"),
    "unstructured": unstructured(100, WIDTH, HEIGHT, seed=3),
    "equilateral": equilateral(5, 4, SIDE),
}
CURVED = {
    "icosphere": icosphere(2, 0.5),
    "hemisphere": hemisphere(5, 0.5),
    "cylinder": cylinder(12, 5, 0.5, 1.0),
    "v_beam": v_beam(10, 3, 1.0, 0.2, 1.0),
    "bumpy": bumpy(icosphere(2), 0.1, seed=1),
}


def edge_lengths(points, faces):
    return np.linalg.norm(points[faces] - points[np.roll(faces, 1, axis=1)], axis=2)


@pytest.mark.parametrize("name", [*FLAT, *CURVED])
def test_types_and_winding(name):
    points, faces = {**FLAT, **CURVED}[name]
    assert points.dtype == np.float64 and points.shape[1:] == (3,)
    assert faces.dtype == np.int64 and faces.shape[1:] == (3,)
    assert not topology(faces, len(points)).flipped.any()


@pytest.mark.parametrize("name", FLAT)
def test_flat_meshes_fill_their_rectangle_facing_up(name):
    points, faces = FLAT[name]
    size = np.array([WIDTH, 4 * SIDE * np.sqrt(3) / 2 if name == "equilateral" else HEIGHT])
    assert (points[:, 2] == 0).all()
    assert np.array_equal(points[:, :2].min(axis=0), [0, 0])
    assert points[:, :2].max(axis=0) == pytest.approx(size, rel=1e-15)
    a, b, c = (points[faces[:, j]] for j in range(3))
    doubled = np.cross(b - a, c - a)[:, 2]
    assert (doubled > 0).all()
    assert doubled.sum() / 2 == pytest.approx(size.prod(), rel=1e-13)
    rim = points[topology(faces, len(points)).boundary_vertices][:, :2]
    assert (np.isclose(rim, 0, atol=1e-15) | np.isclose(rim, size, rtol=1e-15)).any(axis=1).all()


@pytest.mark.parametrize("diagonal, valences", [("one", {6}), ("alternating", {4, 8}), ("crossed", {4, 8})])
def test_diagonals_give_their_valences(diagonal, valences):
    points, faces = grid(6, 6, 1.0, 1.0, diagonal)
    t = topology(faces, len(points))
    inside = np.setdiff1d(np.arange(len(points)), t.boundary_vertices)
    assert set(np.bincount(t.edges.ravel())[inside].tolist()) == valences


def test_union_jack_has_eight_spokes_in_every_cell():
    points, faces = grid(3, 2, 3.0, 2.0, "union_jack")
    valence = np.bincount(topology(faces, len(points)).edges.ravel())
    middle = (points[:, 0] % 1 == 0.5) & (points[:, 1] % 1 == 0.5)
    assert valence[middle].tolist() == [8] * 6


def test_equilateral_triangles_are():
    points, faces = equilateral(5, 4, SIDE)
    whole = np.isclose(edge_lengths(points, faces), SIDE, rtol=1e-12).all(axis=1)
    # Each of the four rows holds nine whole ones and a half one at either end.
    assert whole.sum() == 4 * 9
    assert len(faces) - whole.sum() == 4 * 2


@given(st.integers(30, 400), st.integers(0, 10_000))
def test_unstructured_meshes_have_no_slivers(count, seed):
    points, faces = unstructured(count, 1.0, 1.0, seed)
    assert len(points) == count
    assert smallest_angle(points, faces) >= 20.0


def test_unstructured_outline_is_evenly_spaced():
    points, faces = FLAT["unstructured"]
    t = topology(faces, len(points))
    ends = points[t.edges[t.boundary_edges]]
    length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    assert length.max() < 1.15 * length.min()


def test_unstructured_repeats_for_a_seed_and_differs_between_seeds():
    again, other = unstructured(100, WIDTH, HEIGHT, seed=3), unstructured(100, WIDTH, HEIGHT, seed=4)
    assert np.array_equal(again[0], FLAT["unstructured"][0]) and np.array_equal(again[1], FLAT["unstructured"][1])
    assert not np.array_equal(other[0], again[0])


@pytest.mark.parametrize("name", ["icosphere", "hemisphere", "cylinder"])
def test_curved_meshes_have_their_radius_and_face_outward(name):
    points, faces = CURVED[name]
    outward = points * (1, 1, 0 if name == "cylinder" else 1)
    assert np.linalg.norm(outward, axis=1) == pytest.approx(0.5)
    assert ((vertex_normals(points, faces) * outward).sum(axis=1) > 0.9 * 0.5).all()


def test_hemisphere_ends_at_the_equator():
    points, faces = CURVED["hemisphere"]
    rim = topology(faces, len(points)).boundary_vertices
    assert (points[rim, 2] == 0).all()
    assert (np.delete(points[:, 2], rim) > 0).all()


def test_icosphere_quarters_its_triangles():
    assert [len(icosphere(level)[1]) for level in range(3)] == [20, 80, 320]


def test_v_beam_folds_by_its_angle_and_keeps_its_lengths():
    (flat, faces), (folded, _) = v_beam(6, 2, 1.0, 0.2, 0.0), v_beam(6, 2, 1.0, 0.2, 0.7)
    assert (flat[:, 2] == 0).all()
    assert edge_lengths(flat, faces) == pytest.approx(edge_lengths(folded, faces))
    a, b, c = (folded[faces[:, j]] for j in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    assert np.arccos((normals @ normals.T).min()) == pytest.approx(0.7)


def test_bumps_stay_within_their_amplitude():
    points, _ = bumpy(icosphere(3), 0.1, seed=4)
    off = np.abs(np.linalg.norm(points, axis=1) - 1)
    assert 0.01 < off.max() <= 0.1
