"""Quadrature points of a Loop surface at rest: derivatives of the basis, areas, rest curvature.

Derivatives are kept along the coordinates (θ¹, θ²) of each face, where all regular faces have the same ones; metric and
curvature, six numbers a point, are taken to warp and weft by `to_warp`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, diags, vstack

from ..types import Floats, Ints, Sparse
from .boxspline import basis
from .loop import LoopMesh
from .patches import RULES, patch_vertices, rows_at


@dataclass(frozen=True)
class Points:
    """k points with rows over the n control vertices (ghosts included).

    First those of regular faces, the first point of each face, then the second, …; then those of the others,
    points of a face adjacent.
    """

    faces: Ints
    """Face of each point, (k,)."""
    areas: Floats
    """Rest area each stands for [m²], (k,)."""
    values: Sparse
    """Basis functions, (k, n)."""
    derivatives: list[Sparse]
    """∂₁, ∂₂ along warp and weft [1/m], then the covariant ∂₁₁, ∂₂₂, ∂₁₂ [1/m²], each (k, n)."""
    curvature: Floats
    """Second fundamental form κ₁₁, κ₂₂, κ₁₂ along warp and weft at rest [1/m], (3, k)."""
    to_warp: Floats
    """(3, 3, k): takes a symmetric tensor (11, 22, 12) by (θ¹, θ²) to one by warp and weft."""
    patches: Ints
    """Control vertices of the regular faces, (r, 12)."""
    tables: Floats
    """Derivatives 1, 2, 11, 22, 12 by (θ¹, θ²) of the twelve basis functions at the points of any of them,
    (rule, 5, 12)."""
    irregular: Sparse
    """The same derivatives at the points of other faces, one after the other, (5 (k − rule·r), n)."""


def quadrature(mesh: LoopMesh, face_count: int, rest: Floats, axes: Floats, rule: int) -> Points:
    """Points of the first `face_count` faces at rest positions (n, 3); `axes` (m, 3) is the warp direction."""
    count = len(RULES[rule])
    corners_regular = (mesh.valence[mesh.faces[:face_count]] == 6).all(axis=1)
    plain, others = np.flatnonzero(corners_regular), np.flatnonzero(~corners_regular)
    faces = np.concatenate([np.tile(plain, count), np.repeat(others, count)])
    places = [np.repeat(RULES[rule], len(plain), axis=0), np.tile(RULES[rule], (len(others), 1))]
    rows = rows_at(mesh, faces, np.concatenate(places))
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
    i11, i12, i21, i22 = inverse.reshape(-1, 4).T
    to_warp = np.array(
        [
            [i11 * i11, i12 * i12, 2.0 * i11 * i12],
            [i21 * i21, i22 * i22, 2.0 * i21 * i22],
            [i11 * i21, i12 * i22, i11 * i22 + i12 * i21],
        ]
    )
    bent = np.stack([(a * normal).sum(axis=1) for a in (a11, a22, a12)])
    first_other = count * len(plain)
    return Points(
        faces=faces,
        areas=0.5 * jacobian / count,
        values=rows[0].tocsr(),
        derivatives=[row.tocsr() for row in first + seconds],
        curvature=contracted(to_warp, bent),
        to_warp=to_warp,
        patches=patch_vertices(mesh, plain),
        tables=np.ascontiguousarray(basis(RULES[rule])[1:].transpose(1, 0, 2)),
        irregular=csr_matrix(vstack([row[first_other:] for row in rows[1:]])),
    )


def contracted(matrices: Floats, triples: Floats) -> Floats:
    """Matrices (3, 3, k) times triples (3, k)."""
    result: Floats = matrices[:, 0] * triples[0]
    result += matrices[:, 1] * triples[1]
    result += matrices[:, 2] * triples[2]
    return result
