"""Hessians of a step, factored one after the other in one layout: that of the shells.

Contacts between sheets come and go, and with them blocks of the matrix; a layout for all of them fills up as ten sheets
do that lie on each other. Blocks that the layout has no place for are moved to the diagonal, which makes what is
factored larger than the Hessian, and conjugate gradients make up for it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..linalg.assembly import BlockSum, Hessian
from ..linalg.fronts import Elimination
from ..linalg.krylov import conjugate_gradients
from ..linalg.multifrontal import Cholesky
from ..types import Bools, Floats, Ints, Sparse

# Share that conjugate gradients leave of a residual, and products after which they give what they have.
RESIDUAL, PRODUCTS = 0.05, 40


class Factored:
    """Factors on n vertices near `positions` (n, 3)."""

    def __init__(self, positions: Floats) -> None:
        self._positions, self._vertices = positions, np.arange(len(positions))
        self._whole = BlockSum(len(positions))
        self._plan: Elimination | None = None
        self._keys = np.zeros(0, dtype=np.int64)
        self._tied: object = None
        self._factor: Cholesky
        self._matrix: Sparse | None = None
        """The Hessian, where it is not what was factored."""
        self.products = 0
        """Of conjugate gradients so far."""

    def factor(
        self, hessian: Hessian, free: Bools, tied: object, of_shells: Callable[[], Hessian], single: bool = False
    ) -> None:
        """Of the rows and columns that are `free` (n, 3), with ones on the diagonal elsewhere; `of_shells`: a Hessian
        without contacts, whose layout serves as long as what is `tied` stays so; `single`: in single precision.
        Raises NotDefinite."""
        matrix = self._whole(hessian)
        if not free.all():
            _hold(matrix, free)
        if self._plan is None or tied != self._tied:
            self._tied = tied
            own = BlockSum(len(free))(of_shells())
            self._plan, self._keys = Elimination(own, self._positions), self._keys_of(own)
        keys = self._keys_of(matrix)
        self._matrix = None
        if np.array_equal(keys, self._keys):
            self._factor = Cholesky(self._plan, matrix.data, single)
            return
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        there = self._keys[place] == keys
        data = np.zeros((len(self._keys), 3, 3))
        data[place[there]] = matrix.data[there]
        if not there.all():
            data[np.searchsorted(self._keys, self._vertices * (len(free) + 1))] += self._moved(matrix, ~there)
            self._matrix = matrix
        self._factor = Cholesky(self._plan, data, single)

    def solve(self, right: Floats) -> Floats:
        """Solution for one right-hand side (3n,)."""
        if self._matrix is None:
            return self._factor.solve(right)
        matrix = self._matrix
        steps = conjugate_gradients(lambda v: matrix @ v, right, self._factor.solve, RESIDUAL, PRODUCTS)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                solution: Floats
                solution, spent = end.value
                self.products += spent
                return solution

    def _keys_of(self, matrix: Sparse) -> Ints:
        """A number for each block of a matrix, rising."""
        keys: Ints = np.repeat(self._vertices, np.diff(matrix.indptr)) * len(self._vertices) + matrix.indices
        return keys

    def _moved(self, matrix: Sparse, which: Bools) -> Floats:
        """Blocks `which` of a matrix, those of contacts with one sign each, summed up by row as if they were positive,
        (n, 3, 3)."""
        rows, blocks = np.repeat(self._vertices, np.diff(matrix.indptr))[which], matrix.data[which]
        blocks = np.sign(np.trace(blocks, axis1=1, axis2=2))[:, None, None] * blocks
        count = len(self._vertices)
        sums = np.zeros((count, 9))
        for k, part in enumerate(blocks.reshape(-1, 9).T):
            sums[:, k] = np.bincount(rows, weights=part, minlength=count)
        return sums.reshape(-1, 3, 3)


def _hold(matrix: Sparse, free: Bools) -> None:
    """Make rows and columns that are not free those of the identity, in place."""
    rows = np.repeat(np.arange(len(free)), np.diff(matrix.indptr))
    loose = free.astype(np.float64)
    matrix.data *= loose[rows][:, :, None]
    matrix.data *= loose[matrix.indices][:, None, :]
    diagonal = np.flatnonzero(rows == matrix.indices)
    at = rows[diagonal]
    for axis in range(3):
        matrix.data[diagonal, axis, axis] += 1.0 - loose[at, axis]
