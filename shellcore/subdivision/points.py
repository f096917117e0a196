"""Quadrature points of a Loop surface at rest: derivatives of the basis along warp and weft, areas, rest curvature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import diags

from ..types import Floats, Ints, Sparse
from .loop import LoopMesh
from .patches import RULES, rows_at


@dataclass(frozen=True)
class Points:
    """k points with rows over the n control vertices (ghosts included)."""

    faces: Ints
    """Face of each point, (k,); the points of a face are adjacent."""
    areas: Floats
    """Rest area each stands for [m²], (k,)."""
    values: Sparse
    """Basis functions, (k, n)."""
    derivatives: list[Sparse]
    """∂₁, ∂₂ along warp and weft [1/m], then the covariant ∂₁₁, ∂₂₂, ∂₁₂ [1/m²], each (k, n)."""
    curvature: Floats
    """Second fundamental form κ₁₁, κ₂₂, κ₁₂ at rest [1/m], (3, k)."""


def quadrature(mesh: LoopMesh, face_count: int, rest: Floats, axes: Floats, rule: int) -> Points:
    """Points of the first `face_count` faces at rest positions (n, 3); `axes` (m, 3) is the warp direction."""
    count = len(RULES[rule])
    faces = np.repeat(np.arange(face_count), count)
    rows = rows_at(mesh, faces, np.tile(RULES[rule], (face_count, 1)))
    a1, a2, a11, a22, a12 = (row @ rest for row in rows[1:])
    normal = np.cross(a1, a2)
    jacobian = np.linalg.norm(normal, axis=1)
    normal /= jacobian[:, None]
    warp = axes[faces] - (axes[faces] * normal).sum(axis=1)[:, None] * normal
    warp /= np.linalg.norm(warp, axis=1)[:, None]
    weft = np.cross(normal, warp)
    # a_α = J_αi e_i, so ∂_i = (J⁻¹)_iα ∂_α.
    along = np.stack([(a * e).sum(axis=1) for a in (a1, a2) for e in (warp, weft)], axis=1).reshape(-1, 2, 2)
    inverse = np.linalg.inv(along)

    def scaled(factor: Floats, row: Sparse) -> Sparse:
        return diags(factor) @ row

    first = [scaled(inverse[:, i, 0], rows[1]) + scaled(inverse[:, i, 1], rows[2]) for i in range(2)]
    # Less Christoffel's part, which lies in the tangent plane: nothing for κ, but second derivatives of an affine map
    # vanish then on any flat mesh.
    covariant = [
        row - scaled((a * warp).sum(axis=1), first[0]) - scaled((a * weft).sum(axis=1), first[1])
        for row, a in zip(rows[3:], (a11, a22, a12), strict=True)
    ]

    def second(i: int, j: int) -> Sparse:
        mixed = inverse[:, i, 0] * inverse[:, j, 1] + inverse[:, i, 1] * inverse[:, j, 0]
        straight = [inverse[:, i, a] * inverse[:, j, a] for a in range(2)]
        return scaled(straight[0], covariant[0]) + scaled(straight[1], covariant[1]) + scaled(mixed, covariant[2])

    seconds = [second(0, 0), second(1, 1), second(0, 1)]
    curvature = np.stack([((row @ rest) * normal).sum(axis=1) for row in seconds])
    areas = 0.5 * jacobian / count
    return Points(faces, areas, rows[0].tocsr(), [row.tocsr() for row in first + seconds], curvature)
