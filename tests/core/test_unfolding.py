"""Unfolded hinges: their stencil is the derivative of the angle, and knows what a curved sheet does to it."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import meshes
from shellcore.mesh import topology
from shellcore.unfolding import unfold


def _fold_angles(x: np.ndarray, hinges: np.ndarray) -> np.ndarray:
    """Angle between the normals of the two faces, positive when they fold towards the normals."""
    a, b, c, d = (x[hinges[:, k]] for k in range(4))
    left, right = np.cross(b - a, c - a), np.cross(d - a, b - a)
    edge = (b - a) / np.linalg.norm(b - a, axis=1)[:, None]
    return np.arctan2((np.cross(right, left) * edge).sum(axis=1), (left * right).sum(axis=1))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000))
def test_stencil_is_the_change_of_angle_of_a_flat_sheet(seed: int) -> None:
    x, faces = meshes.unstructured(60, 1.0, 0.7, seed % 20)
    mesh = topology(faces, len(x))
    heights = 1e-6 * np.random.default_rng(seed).normal(size=len(x))
    lifted = x + heights[:, None] * np.array([0.0, 0.0, 1.0])
    unfolding = unfold(mesh, x)
    angles = (unfolding.stencil() * heights[unfolding.vertices]).sum(axis=1)[mesh.hinge_edges]
    expected = _fold_angles(lifted, mesh.hinges)
    np.testing.assert_allclose(np.abs(angles), np.abs(expected), atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(angles, np.sign(angles[0] * expected[0]) * expected, atol=1e-8 * np.abs(expected).max())


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000))
def test_functional_is_the_angle_on_a_surface_of_constant_curvature(seed: int) -> None:
    x, faces = meshes.unstructured(60, 1.0, 0.7, seed % 20)
    mesh = topology(faces, len(x))
    unfolding = unfold(mesh, x)
    a, b, c = np.random.default_rng(seed).normal(size=3)
    curvature = np.array([[a, c], [c, b]])
    heights = 0.5 * np.einsum("ni,ij,nj->n", x[:, :2], curvature, x[:, :2])
    angles = (unfolding.stencil() * heights[unfolding.vertices]).sum(axis=1)
    t, n = unfolding.tangent[:, :2], unfolding.left[:, 0, :2]
    parts = [np.einsum("ei,ij,ej->e", p, curvature, q) for p, q in ((t, t), (n, n), (t, n))]
    expected = (unfolding.curvature_functional() * np.column_stack([parts[0], parts[1], 2 * parts[2]])).sum(axis=1)
    inside = mesh.hinge_edges
    np.testing.assert_allclose(angles[inside], expected[inside], atol=1e-9 * np.abs(expected).max())


def test_sides_share_one_frame_on_a_flat_sheet() -> None:
    x, faces = meshes.grid(3, 2, 1.0, 1.0)
    unfolding = unfold(topology(faces, len(x)), x)
    up = np.cross(unfolding.tangent[:, None, :], unfolding.left)
    np.testing.assert_allclose(up, np.broadcast_to([0.0, 0.0, 1.0], up.shape), atol=1e-12)
    cosine, sine = unfolding.components(np.tile([0.6, 0.8, 0.0], (len(faces), 1)))
    np.testing.assert_allclose(cosine[:, 0], cosine[:, 1], atol=1e-12)
    np.testing.assert_allclose(sine[:, 0], sine[:, 1], atol=1e-12)
    assert unfolding.mirrored.sum() == 10
    # A third of either triangle's area belongs to an edge, half of the mirrored pair to the sheet.
    share = np.where(unfolding.mirrored, 0.5, 1.0)
    assert np.isclose((share * unfolding.area / 3).sum(), 1.0)
