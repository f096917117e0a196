"""Inertia and all energies that are quadratic with a constant matrix, in one sparse product a gradient.

About the point x̃ that inertia pulls to, with offset d = x − x̃ and A = cM + ∑Q,

    ½ c dᵀMd + ∑ ½ xᵀQx − f·d = ½ dᵀAd + (∑ Qx̃ − f)·d + constant

The offset is small beside the sheet, so this also keeps digits that the sum of the parts would lose.
"""

from __future__ import annotations

import numpy as np

from .types import Floats, Sparse
from .vectors import applied, inner


class Parabola:
    """`matrix` A [N/m], (n, n); `centre` x̃ [m] and `pull` ∑ Qx̃ − f [N], (n, 3); `entries` ∑ |Q|, for round-off."""

    def __init__(self, matrix: Sparse, entries: float, centre: Floats, pull: Floats) -> None:
        self._matrix = matrix
        self._entries = entries
        self._centre = centre
        self._pull = pull

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        """Value [J] up to the constant, and gradient [N], (n, 3)."""
        offset = x - self._centre
        gradient = applied(self._matrix, offset)
        value = 0.5 * inner(gradient, offset) + inner(self._pull, offset)
        gradient += self._pull
        return value, gradient

    def round_off(self, x: Floats) -> float:
        """Rounding error of the value [J]: large terms of the quadratic energies cancel."""
        extent = float(np.abs(x - self._centre).max())
        return float(np.finfo(np.float64).eps) * self._entries * extent * extent
