"""The membrane's Hessian from edges against the one from deformation gradients."""

from __future__ import annotations

import numpy as np
import pytest

import meshes
from shellcore.energies.edge_tangent import EdgeTangent
from shellcore.energies.fem import Fem
from shellcore.linalg.vectors import by_columns
from shellcore.mixed import MixedStress

MESHES = {
    "grid": meshes.grid(6, 5, 1.0, 0.7),
    "scattered": meshes.unstructured(60, 1.0, 1.0),
    "sphere": meshes.icosphere(2),
}


def membrane(name: str) -> Fem:
    """Orthotropic, stiffness different in every face, warp in no special direction."""
    points, faces = MESHES[name]
    rng = np.random.default_rng(0)
    corners = points[faces]
    axes = corners[:, 1] - corners[:, 0]
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    scale = rng.uniform(1.0, 2.0, len(faces))
    return Fem(points, faces, axes, (900.0 * scale, 400.0 * scale, 100.0 * scale, 150.0 * scale))


def unlike(fem: Fem, points: np.ndarray) -> Fem:
    """The same with faces of different sizes at rest: an edge is not as long in both of its own."""
    corners = points[fem.faces] * np.random.default_rng(2).uniform(0.95, 1.05, (len(fem.faces), 1, 1))
    own = np.arange(3 * len(fem.faces)).reshape(-1, 3)
    axes = corners[:, 1] - corners[:, 0]
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    return Fem(corners.reshape(-1, 3), own, axes, fem.moduli, 0, fem.vertex_count, fem.faces)


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("sizes", [False, True])
@pytest.mark.parametrize("name", MESHES)
def test_blocks_are_those_of_the_mixed_hessian(name: str, sizes: bool, flipped: bool) -> None:
    fem = membrane(name)
    if sizes:
        fem = unlike(fem, MESHES[name][0])
    if flipped:
        # Some triangles seen from the other side: an edge may run the same way in both of its own.
        fem.faces[::3] = fem.faces[::3][:, [0, 2, 1]]
        fem.hat_gradients[::3] = fem.hat_gradients[::3][:, [0, 2, 1]]
        fem.rest_squares[::3] = fem.rest_squares[::3][:, [0, 2, 1]]
        fem = fem.recut(fem.faces, fem.vertex_count)
    rng = np.random.default_rng(1)
    rest = MESHES[name][0]
    start = by_columns(rest * [1.05, 0.98, 1.0] + 0.02 * rng.standard_normal(rest.shape))
    x = by_columns(start + 0.03 * rng.standard_normal(rest.shape))
    step = by_columns(0.02 * rng.standard_normal(rest.shape))
    carried = MixedStress([fem], start)
    tangent = EdgeTangent(fem)
    tangent.begin(start, x)
    for moved in (False, True):
        if moved:
            carried.advance(x, step)
            tangent.carry(step)
            x = x + step
            tangent.arrive(x)
        dense = carried.hessian(x, psd=True).matrix().toarray().reshape(len(x), 3, len(x), 3)
        exact = dense[tangent.edges[:, 0], :, tangent.edges[:, 1]].reshape(-1, 9).T
        found = np.zeros(exact.shape, dtype=np.float32)
        tangent.blocks(found)
        assert np.abs(found - exact).max() < 2e-6 * np.abs(exact).max()
