"""Subdivision shells on meshes that are irregular everywhere: what stays wrong at any resolution, and how it is mended.

Loop's surface has no quadratics around vertices of other than six edges. On a mesh that repeats itself the bending that
is left out can be computed exactly: give the plate a constant curvature, let its control vertices move about it in any
way that repeats, and what energy remains is the effective stiffness. It has no length in it, so no resolution
changes it; only more regular vertices between the irregular ones do (`refine_control`).
"""

from __future__ import annotations

import cases
import numpy as np
import pytest
from loop_plates import plate
from scipy.sparse import csr_matrix

import meshes
import shellcore as sc
from shellcore.subdivision.points import quadrature
from shellcore.subdivision.surface import LoopSurface

POISSON = 0.3
ISOTROPIC = np.array([[1.0, POISSON, 0.0], [POISSON, 1.0, 0.0], [0.0, 0.0, 2.0 * (1.0 - POISSON)]])
"""D of κ₁₁, κ₂₂, κ₁₂ for a plate of unit rigidity."""


def effective_stiffness(mesh: meshes.Mesh, period: float, corner: float) -> np.ndarray:
    """D (3, 3) of a flat mesh that repeats every `period` [m] along x and y, from the tile at (corner, corner)."""
    points, faces = mesh
    surface = LoopSurface(faces, len(points))
    x = surface.complete(points)
    at = quadrature(surface.mesh, len(faces), x, np.tile([1.0, 0.0, 0.0], (len(faces), 1)), 3)
    middle = points[faces].mean(axis=1)[:, :2]
    tile = ((middle > corner) & (middle < corner + period)).all(axis=1)
    mine = np.flatnonzero(tile[at.faces])
    areas = at.areas[mine]
    place = np.round(x[:, :2] / period * 1e6).astype(np.int64) % 1_000_000
    _, image = np.unique(place, axis=0, return_inverse=True)
    repeats = csr_matrix((np.ones(len(x)), (np.arange(len(x)), image.ravel())))
    quadratics = np.column_stack([0.5 * x[:, 0] ** 2, 0.5 * x[:, 1] ** 2, x[:, 0] * x[:, 1]])
    bent = np.stack([row[mine] @ quadratics for row in at.derivatives[2:]])
    loose = np.stack([(row[mine] @ repeats).toarray() for row in at.derivatives[2:]])

    def work(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.einsum("ipa,ij,p,jpb->ab", a, ISOTROPIC, areas, b, optimize=True)

    moved = -np.linalg.lstsq(work(loose, loose), work(loose, bent), rcond=1e-10)[0]
    return (work(bent, bent) + work(bent, loose) @ moved) / areas.sum()


@pytest.mark.parametrize("pattern", ["one", "alternating"])
def test_stiffness_of_repeating_meshes(pattern: str) -> None:
    twist = []
    for refinements in range(3):
        found = []
        for scale in (1.0, 0.25):
            points, faces = meshes.grid(12, 12, 12.0 * scale, 12.0 * scale, pattern)
            for _ in range(refinements):
                points, faces = sc.refine_control(points, faces)
            found.append(effective_stiffness((points, faces), 2.0 * scale, 4.0 * scale))
        # No resolution changes it.
        np.testing.assert_allclose(found[0], found[1], atol=1e-9)
        np.testing.assert_allclose(found[0][:2, :2], ISOTROPIC[:2, :2], atol=0.006)
        twist.append(found[0][2, 2] / ISOTROPIC[2, 2] - 1.0)
    if pattern == "one":
        np.testing.assert_allclose(twist, 0.0, atol=1e-9)
    else:
        # Vertices of four and eight edges by turns: bending along the axes is right, twist a third too stiff.
        assert twist[0] == pytest.approx(0.382, abs=0.005)
        assert 0.0 < twist[2] < 0.01
        assert 0.5 * np.log2(twist[0] / twist[2]) > 2.0, twist


@pytest.mark.parametrize("pattern", ["alternating", "unstructured"])
def test_refined_control_meshes_of_irregular_plates(pattern: str) -> None:
    # Remeshed finer they stay too stiff; the same meshes refined once are six to ten times closer.
    errors = []
    for n in (8, 16):
        points, faces = (
            meshes.grid(n, n, 1.0, 1.0, pattern) if pattern == "alternating" else meshes.unstructured(n * n, 1.0, 1.0)
        )
        points = sc.fit_control(points, faces)
        row = []
        for _ in range(2):
            row.append(1.0 - plate(0, "clamped", mesh=(points, faces)) / cases.PLATE["clamped"])
            points, faces = sc.refine_control(points, faces)
        errors.append(row)
    coarse, fine = np.array(errors)
    assert 0.0 < fine[0] < coarse[0] and 0.0 < fine[1] < coarse[1]
    assert (np.array([coarse[0], fine[0]]) > 4.0 * np.array([coarse[1], fine[1]])).all(), errors


@pytest.mark.parametrize("name", ["alternating", "unstructured"])
def test_irregular_plates_are_too_stiff_by_less_on_finer_meshes(name: str) -> None:
    # Vertices of other than six edges everywhere, then only the given ones: the basis has no quadratics there.
    mesh = meshes.grid(4, 4, 1.0, 1.0, "alternating") if name == "alternating" else meshes.unstructured(40, 1.0, 1.0)
    points, faces = sc.fit_control(*mesh), mesh[1]
    errors = []
    for _ in range(3):
        errors.append(1.0 - plate(0, "clamped", mesh=(points, faces)) / cases.PLATE["clamped"])
        points, faces = sc.refine_control(points, faces)
    assert errors[0] > errors[1] > errors[2] > 0.0
    assert 0.5 * np.log2(errors[0] / errors[2]) > 1.0, errors
