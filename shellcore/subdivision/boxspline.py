"""The quartic box spline of regular Loop patches: twelve basis functions on a triangle (Loop 1987; Stam 1998).

A patch has barycentric coordinates (u, v, w) and, by corner k = 0, 1, 2, four control vertices: the corner itself, the
vertex across the edge from it to the next corner, and two outer ones. The functions of corners 1 and 2
are those of corner 0 with (u, v, w) turned.
"""

from __future__ import annotations

import numpy as np

from ..types import Floats

Monomials = tuple[tuple[int, int, int, int], ...]

# 12 × coefficient and exponents of u, v, w.
_CORNER: Monomials = (
    (6, 4, 0, 0),
    (24, 3, 1, 0),
    (24, 3, 0, 1),
    (24, 2, 2, 0),
    (60, 2, 1, 1),
    (24, 2, 0, 2),
    (8, 1, 3, 0),
    (36, 1, 2, 1),
    (36, 1, 1, 2),
    (8, 1, 0, 3),
    (1, 0, 4, 0),
    (6, 0, 3, 1),
    (12, 0, 2, 2),
    (6, 0, 1, 3),
    (1, 0, 0, 4),
)
_ACROSS: Monomials = (
    (1, 4, 0, 0),
    (6, 3, 1, 0),
    (2, 3, 0, 1),
    (12, 2, 2, 0),
    (6, 2, 1, 1),
    (6, 1, 3, 0),
    (6, 1, 2, 1),
    (1, 0, 4, 0),
    (2, 0, 3, 1),
)
_OUTER_W: Monomials = ((1, 4, 0, 0), (2, 3, 0, 1))
_OUTER_V: Monomials = ((1, 4, 0, 0), (2, 3, 1, 0))
_FUNCTIONS = (_CORNER, _ACROSS, _OUTER_W, _OUTER_V)


def basis(coordinates: Floats) -> Floats:
    """Values and derivatives at barycentric coordinates (k, 3): (6, k, 12).

    Rows: N, N₁, N₂, N₁₁, N₂₂, N₁₂ along θ¹ = v and θ² = w (u = 1 − v − w). Columns: by corner, in the order above.
    """
    result = np.zeros((6, len(coordinates), 12))
    for corner in range(3):
        turned = np.roll(coordinates, -corner, axis=1)
        powers = np.stack([turned**p for p in range(5)])
        for i, function in enumerate(_FUNCTIONS):
            result[:, :, 4 * corner + i] = _derivatives(function, powers, corner)
    return result


def _derivatives(function: Monomials, powers: Floats, corner: int) -> Floats:
    """(6, k): the function of (u, v, w) turned by `corner`, differentiated along the patch's own v and w."""
    value = _sum(function, powers, ())
    first = [_sum(function, powers, (a,)) for a in range(3)]
    second = [[_sum(function, powers, (a, b)) for b in range(3)] for a in range(3)]
    # Turned coordinate j is the patch's coordinate corner + j.
    u, v, w = ((k - corner) % 3 for k in range(3))

    def twice(a: int, b: int) -> Floats:
        mixed: Floats = second[a][b] - second[a][u] - second[u][b] + second[u][u]
        return mixed

    return np.stack([value, first[v] - first[u], first[w] - first[u], twice(v, v), twice(w, w), twice(v, w)])


def _sum(function: Monomials, powers: Floats, along: tuple[int, ...]) -> Floats:
    total = np.zeros(powers.shape[1])
    for coefficient, *exponents in function:
        factor, left = coefficient / 12.0, list(exponents)
        for axis in along:
            factor *= left[axis]
            left[axis] -= 1
        if factor:
            total += factor * powers[left[0], :, 0] * powers[left[1], :, 1] * powers[left[2], :, 2]
    return total
