"""Nearest points: vertex to face, edge to edge.

Both answer barycentric weights w such that the vector between the nearest points is ∑ wₖ xₖ over the pair's four
vertices: (1, −a, −b, −c) for vertex and face, (1 − s, s, t − 1, −t) for two edges. The weights sum to zero, so forces
along that vector are equal and opposite; and w is also the derivative of the distance: ∂d/∂xₖ = wₖ n.
"""

from __future__ import annotations

import numpy as np

from ..linalg.vectors import dot
from ..types import Floats


def vertex_face(p: Floats, a: Floats, b: Floats, c: Floats) -> Floats:
    """Weights (4, n) of the vector from the nearest point of face abc to p; each argument (3, n).

    The regions of the triangle as in Ericson, Real-Time Collision Detection, section 5.1.5; all branches are computed.
    """
    ab, ac, ap = b - a, c - a, p - a
    d1, d2 = dot(ab, ap), dot(ac, ap)
    ab_ab, ab_ac, ac_ac = dot(ab, ab), dot(ab, ac), dot(ac, ac)
    d3, d4 = d1 - ab_ab, d2 - ab_ac
    d5, d6 = d1 - ab_ac, d2 - ac_ac
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    weights = np.empty((4, p.shape[1]))
    weights[0] = 1.0
    v, w = weights[2], weights[3]
    with np.errstate(divide="ignore", invalid="ignore"):
        total = 1.0 / np.maximum(va + vb + vc, 1e-300)
        np.multiply(vb, total, out=v)
        np.multiply(vc, total, out=w)
        # Later assignments win, so corners come last.
        at = np.flatnonzero((va <= 0) & (d4 - d3 >= 0) & (d5 - d6 >= 0))
        along = (d4[at] - d3[at]) / np.maximum((d4[at] - d3[at]) + (d5[at] - d6[at]), 1e-300)
        v[at], w[at] = 1.0 - along, along
        at = np.flatnonzero((vb <= 0) & (d2 >= 0) & (d6 <= 0))
        v[at], w[at] = 0.0, d2[at] / np.maximum(ac_ac[at], 1e-300)
        at = np.flatnonzero((vc <= 0) & (d1 >= 0) & (d3 <= 0))
        v[at], w[at] = d1[at] / np.maximum(ab_ab[at], 1e-300), 0.0
    for corner, at_b, at_c in (
        ((d6 >= 0) & (d5 <= d6), 0.0, 1.0),
        ((d3 >= 0) & (d4 <= d3), 1.0, 0.0),
        ((d1 <= 0) & (d2 <= 0), 0.0, 0.0),
    ):
        v[corner], w[corner] = at_b, at_c
    np.add(v, w, out=weights[1])
    weights[1] -= 1.0
    np.negative(weights[2:], out=weights[2:])
    return weights


def edge_edge(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """Weights (4, n) of the vector from the nearest point of edge cd to that of edge ab; each argument (3, n)."""
    u, v, r = b - a, d - c, a - c
    uu, vv, uv, ur, vr = dot(u, u), dot(v, v), dot(u, v), dot(u, r), dot(v, r)
    area = uu * vv - uv * uv
    uu, vv = np.maximum(uu, 1e-300), np.maximum(vv, 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.where(area > 1e-14 * uu * vv, _clipped((uv * vr - ur * vv) / area), 0.5)
        t = _clipped((uv * s + vr) / vv)
        s = _clipped((uv * t - ur) / uu)
        t = _clipped((uv * s + vr) / vv)
    return np.stack([1.0 - s, s, t - 1.0, -t])


def _clipped(share: Floats) -> Floats:
    """Between 0 and 1 (np.clip spends as long again on checks)."""
    np.maximum(share, 0.0, out=share)
    return np.minimum(share, 1.0, out=share)
