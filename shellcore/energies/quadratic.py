"""Quadratic (isometric) bending of plates: ½ xᵀQx with a constant Hessian (Bergou et al. 2006).

Two discretisations of ½ D ∫ |Δx|² for sheets that are flat at rest:

- Crouzeix-Raviart, one row K of four numbers a hinge: Q = ∑ (D/A) KᵀK. On isometric folds it equals the
  hinge energy D(|e|²/A)(1 − cos θ) exactly. (The paper prints 3/(2A) with an energy without ½;
  Cubic Shells' 3λ/A with ½ is the same, and 3λ = D.)
- vertex (Lagrange) form: Q = D LᵀM⁻¹L over interior vertices, L the cotangent Laplacian.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, diags

from ..linalg.assembly import element_matrix
from ..mesh import Topology
from ..types import Floats, Sparse
from .base import QuadraticEnergy


def hinge_rows(positions: Floats, mesh: Topology) -> tuple[Floats, Floats]:
    """Rows K (h, 4) over hinge vertices, so that |Kx| = 2|e| sin(θ/2) under isometry, and areas A [m²], (h,).

    K = (c₀₃ + c₀₄, c₀₁ + c₀₂, −c₀₁ − c₀₃, −c₀₂ − c₀₄) with cotangents of the interior angles at the edge.
    """
    start, end, left, right = (positions[mesh.hinges[:, j]] for j in range(4))

    def cotangent(corner: Floats, p: Floats, q: Floats) -> Floats:
        u, v = p - corner, q - corner
        result: Floats = np.einsum("ij,ij->i", u, v) / np.linalg.norm(np.cross(u, v), axis=1)
        return result

    c01, c02 = cotangent(start, end, left), cotangent(start, end, right)
    c03, c04 = cotangent(end, start, left), cotangent(end, start, right)
    rows = np.stack([c03 + c04, c01 + c02, -c01 - c03, -c02 - c04], axis=1)
    edge = end - start
    area = 0.5 * (
        np.linalg.norm(np.cross(edge, left - start), axis=1) + np.linalg.norm(np.cross(edge, right - start), axis=1)
    )
    return rows, area


def crouzeix_raviart(
    positions: Floats,
    mesh: Topology,
    rigidity: Floats,
    offset: int = 0,
    vertex_count: int = 0,
    rest: Topology | None = None,
) -> QuadraticEnergy:
    """Plate bending from hinges; `rigidity` D [N·m], (h,).

    `rest`: the mesh as places among `positions`, where these are not its vertices (`rest_shape`).
    """
    rows, area = hinge_rows(positions, mesh if rest is None else rest)
    blocks = (rigidity / area)[:, None, None] * rows[:, :, None] * rows[:, None, :]
    return QuadraticEnergy(element_matrix(mesh.hinges + offset, blocks, vertex_count or mesh.vertex_count), offset)


def vertex_form(
    positions: Floats,
    mesh: Topology,
    rigidity: Floats,
    offset: int = 0,
    vertex_count: int = 0,
    rest: Topology | None = None,
) -> QuadraticEnergy:
    """Plate bending from the Laplacian at interior vertices; `rigidity` D [N·m], (h,), is averaged to vertices.

    Boundary rows of the Laplacian hold the boundary's normal derivative, not curvature: they are left out,
    which also keeps affine shapes free of energy.
    """
    n = mesh.vertex_count
    laplacian, area = cotangent_laplacian(positions, mesh, rest)
    touched = np.bincount(mesh.hinges[:, :2].ravel(), minlength=n)
    summed = np.bincount(mesh.hinges[:, :2].ravel(), weights=np.repeat(rigidity, 2), minlength=n)
    inside = np.ones(n)
    inside[mesh.boundary_vertices] = 0.0
    density = inside * summed / np.maximum(touched, 1) / area
    form = laplacian.T @ diags(density) @ laplacian
    total = vertex_count or n
    if total != n:
        form = form.tocoo()
        form = csr_matrix((form.data, (form.row + offset, form.col + offset)), shape=(total, total))
    return QuadraticEnergy(form.tocsr(), offset)


def cotangent_laplacian(positions: Floats, mesh: Topology, rest: Topology | None = None) -> tuple[Sparse, Floats]:
    """Positive semidefinite cotangent Laplacian (n, n) and barycentric vertex areas [m²], (n,); `rest` as above."""
    corners = positions[(mesh if rest is None else rest).faces]
    edges = np.roll(corners, -2, axis=1) - np.roll(corners, -1, axis=1)
    twice_area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    stiffness = np.einsum("fid,fjd->fij", edges, edges) / (2.0 * twice_area)[:, None, None]
    area = np.bincount(mesh.faces.ravel(), weights=np.repeat(twice_area / 6.0, 3), minlength=mesh.vertex_count)
    return element_matrix(mesh.faces, stiffness, mesh.vertex_count), area.astype(np.float64)
