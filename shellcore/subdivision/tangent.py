"""Second derivatives of the energy at points by the five vectors a₁, a₂, h₁₁, h₂₂, h₁₂ there.

Blocks (5 × 5) of 3 × 3 matrices over points, symmetric as a whole. Only half is stored: of the entries (r, r) of blocks
the pairs a ≤ b, of the entries (r, s) with r < s all pairs; entry (s, r) of block (a, b) is entry (r, s) of (b, a).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..linalg.vectors import cross, dot
from ..types import Floats
from .strains import Curvature

UPPER = [(a, b) for a in range(5) for b in range(a, 5)]
_UPPER_AT = {pair: i for i, pair in enumerate(UPPER)}
COMPONENTS = ((0, 1), (0, 2), (1, 2))
"""Entries (r, s) with r < s."""

Entry = Callable[[int, int], Floats]


class Tangent:
    """Half of the second derivatives at k points."""

    def __init__(self, count: int) -> None:
        self.straight = np.zeros((3, len(UPPER), count))
        """Entries (r, r): by r, pair a ≤ b."""
        self.mixed = np.zeros((3, 25, count))
        """Entries (r, s) of `COMPONENTS`: by those, pair 5a + b."""

    def add(self, a: int, b: int, entry: Entry) -> None:
        """Add block (a, b), a ≤ b, whose entries are `entry(r, s)` (k,); symmetric if a = b."""
        at = _UPPER_AT[a, b]
        for r in range(3):
            self.straight[r, at] += entry(r, r)
        for i, (r, s) in enumerate(COMPONENTS):
            self.mixed[i, 5 * a + b] += entry(r, s)
            if a != b:
                self.mixed[i, 5 * b + a] += entry(s, r)

    def scaled(self, factor: Floats) -> Tangent:
        """Itself, times a number (k,) at each point."""
        self.straight *= factor
        self.mixed *= factor
        return self

    def whole(self, part: slice) -> Floats:
        """All blocks at some points, (points, 5, 5, 3, 3)."""
        count = self.straight[:, :, part].shape[2]
        full = np.empty((5, 5, 3, 3, count))
        for i, (a, b) in enumerate(UPPER):
            for r in range(3):
                full[a, b, r, r] = full[b, a, r, r] = self.straight[r, i, part]
        for i, (r, s) in enumerate(COMPONENTS):
            mixed = self.mixed[i, :, part].reshape(5, 5, count)
            full[:, :, r, s] = mixed
            full[:, :, s, r] = mixed.transpose(1, 0, 2)
        return np.ascontiguousarray(full.transpose(4, 0, 1, 2, 3))


def strain_part(vectors: Floats, moduli: Floats, bending: Floats, stress: Floats, at: Curvature) -> Tangent:
    """First derivatives of metric and curvature through tangent moduli, (3, 3, k) each, and `stress` (3, k) by the
    metric through its own second derivative."""
    a1, a2, h, n = vectors[0], vectors[1], vectors[2:], at.normal
    total = Tangent(a1.shape[1])
    levers = [at.lever(h[c]) for c in range(3)]
    # ∂κ_c/∂a₁ and ∂κ_c/∂a₂, and what the moments they cause are.
    by_1, by_2 = [cross(a2, lever) for lever in levers], [cross(lever, a1) for lever in levers]

    def moments(rows: list[Floats]) -> list[Floats]:
        return [bending[c, 0] * rows[0] + bending[c, 1] * rows[1] + bending[c, 2] * rows[2] for c in range(3)]

    moved_1, moved_2 = moments(by_1), moments(by_2)
    # ∂(metric)/∂a₁ = (2a₁, 0, a₂), ∂(metric)/∂a₂ = (0, 2a₂, a₁).
    m = moduli
    s11 = 4.0 * m[0, 0] * a1 + 2.0 * m[0, 2] * a2
    s12 = 2.0 * m[0, 2] * a1 + m[2, 2] * a2
    s21 = 4.0 * m[1, 1] * a2 + 2.0 * m[1, 2] * a1
    s22 = 2.0 * m[1, 2] * a2 + m[2, 2] * a1
    c11 = 4.0 * m[0, 1] * a2 + 2.0 * m[0, 2] * a1
    c12 = 2.0 * m[1, 2] * a2 + m[2, 2] * a1

    def turned(left: list[Floats], right: list[Floats], r: int, s: int) -> Floats:
        value: Floats = left[0][r] * right[0][s] + left[1][r] * right[1][s] + left[2][r] * right[2][s]
        return value

    def first(r: int, s: int) -> Floats:
        value: Floats = s11[r] * a1[s] + s12[r] * a2[s] + turned(moved_1, by_1, r, s)
        if r == s:
            value += 2.0 * stress[0]
        return value

    def second(r: int, s: int) -> Floats:
        value: Floats = s21[r] * a2[s] + s22[r] * a1[s] + turned(moved_2, by_2, r, s)
        if r == s:
            value += 2.0 * stress[1]
        return value

    def between(r: int, s: int) -> Floats:
        value: Floats = a1[r] * c11[s] + a2[r] * c12[s] + turned(by_1, moved_2, r, s)
        if r == s:
            value += stress[2]
        return value

    total.add(0, 0, first)
    total.add(1, 1, second)
    total.add(0, 1, between)
    square = {(r, s): n[r] * n[s] for r in range(3) for s in range(r, 3)}
    for c in range(3):
        total.add(0, 2 + c, lambda r, s, c=c: moved_1[c][r] * n[s])  # type: ignore[misc]
        total.add(1, 2 + c, lambda r, s, c=c: moved_2[c][r] * n[s])  # type: ignore[misc]
        for d in range(c, 3):
            total.add(2 + c, 2 + d, lambda r, s, c=c, d=d: bending[c, d] * square[min(r, s), max(r, s)])  # type: ignore[misc]
    return total


def add_normal_part(total: Tangent, vectors: Floats, moment: Floats, at: Curvature) -> None:
    """Add what moments (3, k) have through the turning of the normal n of w = a₁ × a₂.

    With v = ∑ mₐhₐ the energy is v·n; n moves by (I − nnᵀ)δw/|w|, δw = δa₁ × a₂ + a₁ × δa₂.
    """
    a1, a2, h, n = vectors[0], vectors[1], vectors[2:], at.normal
    over = 1.0 / at.area
    vector = moment[0] * h[0] + moment[1] * h[1] + moment[2] * h[2]
    arm = at.lever(vector)
    pull = dot(vector, n) * over
    arms, normals = (cross(a2, arm), cross(arm, a1)), (cross(a2, n), cross(n, a1))
    squares = (dot(a2, a2), dot(a1, a1))
    tangents = (a2, a1)
    skewed = {(0, 1): (2, -1.0), (0, 2): (1, 1.0), (1, 2): (0, -1.0)}

    def skew(v: Floats, r: int, s: int) -> Floats | float:
        if r == s:
            return 0.0
        i, sign = skewed[min(r, s), max(r, s)]
        entry: Floats = (sign if r < s else -sign) * v[i]
        return entry

    for i in range(2):

        def own(r: int, s: int, i: int = i) -> Floats:
            value = arms[i][r] * normals[i][s] + normals[i][r] * arms[i][s]
            plane = -tangents[i][r] * tangents[i][s] - normals[i][r] * normals[i][s]
            if r == s:
                plane = plane + squares[i]
            result: Floats = -over * (value + pull * plane)
            return result

        total.add(i, i, own)
        # (I − nnᵀ) times what turns δaᵢ into δw.
        side, across = (-1.0, -normals[0]) if i == 0 else (1.0, -normals[1])
        for c in range(3):
            lean = moment[c] * over

            def swing(
                r: int, s: int, i: int = i, side: float = side, across: Floats = across, lean: Floats = lean
            ) -> Floats:
                # Transposed: rows are of aᵢ, columns of h.
                result: Floats = lean * (side * skew(tangents[i], s, r) + n[s] * across[r])
                return result

            total.add(i, 2 + c, swing)
    both = dot(a1, a2)

    def between(r: int, s: int) -> Floats:
        value = arms[0][r] * normals[1][s] + normals[0][r] * arms[1][s]
        plane = a1[r] * a2[s] - normals[0][r] * normals[1][s]
        if r == s:
            plane = plane - both
        result: Floats = -over * (value + pull * plane) - skew(arm, r, s)
        return result

    total.add(0, 1, between)
