"""Cholesky factors of Hessians of sheets, in single precision.

The Hessian of a membrane couples the vertices of each triangle by 3 × 3 blocks, and comes as one number of all blocks
after the other. A Newton step is checked by what it does to the energy, so six digits are plenty, at two thirds of the
cost of twelve.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import bsr_matrix

from ..types import Floats, Ints, Singles
from .fronts import Elimination
from .multifrontal import Cholesky, NotDefinite

__all__ = ["NotDefinite", "TreeFactor"]

# Edges, positions and layout of the last mesh, which is likely to come again, and vertices up to which it is kept.
_last: tuple[Ints, Floats, Elimination] | None = None
KEPT = 10_000


class TreeFactor:
    """Factors of symmetric matrices of one pattern: 3 × 3 blocks at `edges` (e, 2) and at all n vertices.

    `positions` (n, 3) say which vertices are near each other. A factor lasts until the next.
    """

    def __init__(self, edges: Ints, positions: Floats) -> None:
        self._edges, self._positions = edges, positions
        self._plan: Elimination | None = None
        self._factor: Cholesky | None = None

    def prepare(self) -> Iterator[None]:
        """Lay out the fronts, once and before all else; in pieces, since callers may want to be heard."""
        global _last
        if self._plan is not None:
            return
        if _last is not None and np.array_equal(_last[0], self._edges) and np.array_equal(_last[1], self._positions):
            self._plan = _last[2]
            return
        yield
        self._plan = _laid_out(self._edges, self._positions)
        if len(self._positions) <= KEPT:
            _last = self._edges.copy(), self._positions.copy(), self._plan

    def factor(self, values: Singles) -> None:
        """Factor the matrix with blocks `values` (9, e + n): of the edges, rows of whose first vertices and columns of
        whose second they are, then of the vertices. Raises `NotDefinite`."""
        assert self._plan is not None
        # Its room is the next one's.
        self._factor = None
        self._factor = Cholesky(self._plan, values.reshape(-1), single=True)

    def solve(self, right: Floats) -> Floats:
        """Solution (n, 3), by columns, for one right-hand side."""
        assert self._factor is not None
        return np.asfortranarray(self._factor.solve(right.reshape(-1)).reshape(-1, 3))


def _laid_out(edges: Ints, positions: Floats) -> Elimination:
    """Fronts for blocks at all vertices and at edges, both ways, whose numbers come as `TreeFactor` takes them."""
    n, count = len(positions), len(edges) + len(positions)
    first, second = edges.T
    own = np.arange(n)
    rows, columns = np.concatenate([first, second, own]), np.concatenate([second, first, own])
    block = np.concatenate([np.arange(len(edges))] * 2 + [len(edges) + own])
    order = np.lexsort((columns, rows))
    starts = np.searchsorted(rows[order], np.arange(n + 1))
    nothing = np.zeros((len(order), 3, 3), dtype=np.float32)
    pattern = bsr_matrix((nothing, columns[order], starts), shape=(3 * n, 3 * n))
    plan = Elimination(pattern, positions)
    # Blocks the other way round are transposed.
    number = np.broadcast_to(np.arange(9).reshape(3, 3), nothing.shape).copy()
    turned = (order >= len(edges)) & (order < 2 * len(edges))
    number[turned] = number[turned].transpose(0, 2, 1)
    plan.read_from((number * count + block[order][:, None, None]).ravel())
    return plan
