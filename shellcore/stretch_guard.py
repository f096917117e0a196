"""Refuses steps that stretch a curved cubic shell beyond its model.

Cubic energies of curved shells are unbounded below (Cubic Shells, section 8); a line search could fall down that well.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from .linalg.vectors import Product, components
from .types import Floats, Ints

# Edges may grow by this share.
LARGEST_STRETCH = 0.2


class StretchGuard:
    """Watches the edges of one shell: `edges` (e, 2) of its `count` vertices, and these at rest [m], (e, 3);
    `offset` in the stack."""

    def __init__(self, edges: Ints, rest: Floats, offset: int, count: int) -> None:
        self._edges = edges + offset
        self._to_edges: Product | None = None
        self._part = slice(offset, offset + count)
        self._rest_2 = np.einsum("ij,ij->i", rest, rest)
        self._shortest = float(np.sqrt(self._rest_2.min()))
        self._bound: float | None = None
        self._last: tuple[Floats | None, float] = (None, 0.0)

    @property
    def mean_length_2(self) -> float:
        """Mean squared rest length [m²]."""
        return float(self._rest_2.mean())

    def begin_step(self) -> None:
        """Forget what is known of the last positions."""
        self._bound = None
        self._last = (None, 0.0)

    def allows(self, x: Floats, trial: Floats) -> bool:
        """Whether the edges at `trial` stay within the limit, or at least stretch no further than at x.

        Measured only when it could be in doubt: moving ends by d lengthens an edge by 2d at most. (A bound for the
        last trial also holds for the x it left, so a rejected trial does no harm.)
        """
        limit = 1.0 + LARGEST_STRETCH
        if self._bound is None:
            self._bound = self._worst(x)
        moved = float(np.abs(trial[self._part] - x[self._part]).max()) * np.sqrt(3.0)
        self._bound += 2.0 * moved / self._shortest
        if self._bound <= limit:
            return True
        before = self._worst(x)
        worst = self._worst(trial)
        if worst <= limit or worst <= before:
            self._bound = max(worst, before)
            return True
        return False

    def _worst(self, x: Floats) -> float:
        """Largest length over rest length."""
        # A trial that was measured and taken is the next x.
        if self._last[0] is x:
            return self._last[1]
        if self._to_edges is None:
            count = len(self._edges)
            signs, starts = np.tile([-1.0, 1.0], count), np.arange(0, 2 * count + 1, 2)
            matrix = csr_matrix((signs, self._edges.ravel(), starts), shape=(count, len(x)))
            self._to_edges = Product(matrix, often=True)
            self._along = np.empty((3, count))
        along = self._to_edges(components(x), self._along)
        worst = float(np.sqrt((np.einsum("ij,ij->j", along, along) / self._rest_2).max()))
        self._last = (x, worst)
        return worst
