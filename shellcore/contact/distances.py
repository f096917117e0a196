"""Nearest points: vertex to face, edge to edge.

Both answer barycentric weights w such that the vector between the nearest points is ∑ wₖ xₖ over the pair's four
vertices: (1, −a, −b, −c) for vertex and face, (1 − s, s, t − 1, −t) for two edges. The weights sum to zero, so forces
along that vector are equal and opposite; and w is also the derivative of the distance: ∂d/∂xₖ = wₖ n.
"""

from __future__ import annotations

import numpy as np

from ..types import Floats


def dot(a: Floats, b: Floats) -> Floats:
    """Row by row, (n,)."""
    product: Floats = np.einsum("ij,ij->i", a, b)
    return product


def vertex_face(p: Floats, a: Floats, b: Floats, c: Floats) -> Floats:
    """Weights (n, 4) of the vector from the nearest point of face abc to p; each argument (n, 3).

    The regions of the triangle as in Ericson, Real-Time Collision Detection, section 5.1.5; all branches are computed.
    """
    ab, ac, ap = b - a, c - a, p - a
    d1, d2 = dot(ab, ap), dot(ac, ap)
    ab_ab, ab_ac, ac_ac = dot(ab, ab), dot(ab, ac), dot(ac, ac)
    d3, d4 = d1 - ab_ab, d2 - ab_ac
    d5, d6 = d1 - ab_ac, d2 - ac_ac
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    with np.errstate(divide="ignore", invalid="ignore"):
        total = 1.0 / np.maximum(va + vb + vc, 1e-300)
        v, w = vb * total, vc * total
        along_bc = (d4 - d3) / np.maximum((d4 - d3) + (d5 - d6), 1e-300)
        along_ac = d2 / np.maximum(ac_ac, 1e-300)
        along_ab = d1 / np.maximum(ab_ab, 1e-300)
    # Later assignments win, so corners come last.
    on_bc = (va <= 0) & (d4 - d3 >= 0) & (d5 - d6 >= 0)
    v, w = np.where(on_bc, 1.0 - along_bc, v), np.where(on_bc, along_bc, w)
    on_ac = (vb <= 0) & (d2 >= 0) & (d6 <= 0)
    v, w = np.where(on_ac, 0.0, v), np.where(on_ac, along_ac, w)
    on_ab = (vc <= 0) & (d1 >= 0) & (d3 <= 0)
    v, w = np.where(on_ab, along_ab, v), np.where(on_ab, 0.0, w)
    for corner, (at_b, at_c) in (
        ((d6 >= 0) & (d5 <= d6), (0.0, 1.0)),
        ((d3 >= 0) & (d4 <= d3), (1.0, 0.0)),
        ((d1 <= 0) & (d2 <= 0), (0.0, 0.0)),
    ):
        v, w = np.where(corner, at_b, v), np.where(corner, at_c, w)
    return np.column_stack([np.ones(len(p)), v + w - 1.0, -v, -w])


def edge_edge(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """Weights (n, 4) of the vector from the nearest point of edge cd to that of edge ab; each argument (n, 3)."""
    u, v, r = b - a, d - c, a - c
    uu, vv, uv, ur, vr = dot(u, u), dot(v, v), dot(u, v), dot(u, r), dot(v, r)
    area = uu * vv - uv * uv
    uu, vv = np.maximum(uu, 1e-300), np.maximum(vv, 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.where(area > 1e-14 * uu * vv, np.clip((uv * vr - ur * vv) / area, 0.0, 1.0), 0.5)
        t = np.clip((uv * s + vr) / vv, 0.0, 1.0)
        s = np.clip((uv * t - ur) / uu, 0.0, 1.0)
        t = np.clip((uv * s + vr) / vv, 0.0, 1.0)
    return np.column_stack([1.0 - s, s, t - 1.0, -t])
