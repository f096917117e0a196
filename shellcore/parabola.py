"""Inertia and all energies that are quadratic with a constant matrix, in one sparse product a gradient.

About the point x̃ that inertia pulls to, with offset d = x − x̃ and A = cM + ∑Q,

    ½ c dᵀMd + ∑ ½ xᵀQx − f·d = ½ dᵀAd + (∑ Qx̃ − f)·d + constant

The offset is small beside the sheet, so this also keeps digits that the sum of the parts would lose.
"""

from __future__ import annotations

import numpy as np

from .linalg.vectors import Product, components, inner
from .types import Floats, Ints


class Parabola:
    """`product` with A [N/m], (n, n); `inertia` cM [N/m], (n,); `centre` x̃ [m] and `pull` ∑ Qx̃ − f [N], (n, 3).

    The quadratic energies do not feel translations. Offsets are multiplied after that of an `anchors` vertex, (n,),
    of the same shell is taken off, which only inertia feels: stiff bending would drown it in round-off. `entries` ∑ |Q|
    measures what is left of that.
    """

    def __init__(
        self, product: Product, entries: float, inertia: Floats, anchors: Ints, centre: Floats, pull: Floats
    ) -> None:
        self._product = product
        self._entries = entries
        self._inertia = inertia
        self._anchors = anchors
        self._centre = centre
        self._pull = pull

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        """Value [J] up to the constant, and gradient [N], (n, 3)."""
        offset = components(x - self._centre)
        common = offset[:, self._anchors]
        gradient = self._product(offset - common)
        gradient += self._inertia * common
        value = 0.5 * inner(gradient.T, offset.T) + inner(self._pull, offset.T)
        gradient += self._pull.T
        return value, gradient.T

    def round_off(self, x: Floats) -> float:
        """Rounding error of the value [J]: large terms of the quadratic energies cancel."""
        extent = float(np.abs(x - self._centre).max())
        return float(np.finfo(np.float64).eps) * self._entries * extent * extent
