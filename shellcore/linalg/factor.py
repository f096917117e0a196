"""Direct solves of sparse systems."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_matrix, diags
from scipy.sparse.linalg import splu

from ..types import Bools, Floats, Sparse
from .fronts import Elimination
from .multifrontal import Cholesky, NotDefinite

# Unknowns below which SuperLU is as quick as laying out fronts.
SMALL = 300


class Lu:
    """A direct factorisation of a sparse symmetric matrix, used for many right-hand sides.

    SuperLU with a symmetric minimum-degree order and no pivoting: on symmetric matrices U's diagonal
    then carries the signs of the eigenvalues (Sylvester), so `negative_pivots` is the inertia.
    """

    def __init__(self, matrix: Sparse, panel: int | None = None) -> None:
        self.size = matrix.shape[0]
        self._lu = splu(
            csc_matrix(matrix),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            panel_size=panel,
            options={"SymmetricMode": True},
        )

    def solve(self, right: Floats) -> Floats:
        """Solution for one (n,) or several (n, k) right-hand sides."""
        solution: Floats = self._lu.solve(right)
        return solution

    @property
    def fill(self) -> int:
        """How many numbers both factors store: the work of a solve, and a measure of that of the factorisation."""
        return int(self._lu.nnz)

    @property
    def negative_pivots(self) -> int:
        """How many eigenvalues of the matrix are negative."""
        return int((self._lu.U.diagonal() < 0).sum())


class Factor:
    """A factorisation of a Hessian: of a matrix that will come again with other numbers.

    By dense fronts (`multifrontal.py`), whose layout is kept for the next one; small ones and those that are not
    definite by SuperLU, the latter not before a solution is asked for.
    """

    def __init__(self, matrix: Sparse) -> None:
        self._matrix = csc_matrix(matrix)
        self.size = matrix.shape[0]
        self._how: Cholesky | Lu | None = None
        if self.size < SMALL:
            self._how = Lu(self._matrix)
            return
        self._matrix.sort_indices()
        try:
            self._how = Cholesky(_elimination(self._matrix), self._matrix.data)
        except NotDefinite:
            pass

    def solve(self, right: Floats) -> Floats:
        """Solution for one (n,) or several (n, k) right-hand sides."""
        if self._how is None:
            self._how = Lu(self._matrix)
        return self._how.solve(right)

    @property
    def negative_pivots(self) -> int:
        """How many eigenvalues of the matrix are not positive; 1 stands for any number where the search ended at the
        first."""
        if isinstance(self._how, Lu):
            return self._how.negative_pivots
        return int(self._how is None)


# The layouts of the last matrices, whose patterns are likely to come again. Which are kept has no influence on results.
_KNOWN: list[Elimination] = []
_KEPT = 2


def _elimination(matrix: Sparse) -> Elimination:
    for known in _KNOWN:
        if known.fits(matrix):
            return known
    made = Elimination(matrix)
    _KNOWN.insert(0, made)
    del _KNOWN[_KEPT:]
    return made


class CoordinateFactor:
    """The same (n, n) matrix for x, y and z, with vertices held fixed per coordinate.

    Coordinates that hold the same vertices share a factorisation: one when pins hold points,
    at most three when they hold single components.
    """

    def __init__(self, matrix: Sparse, free: Bools) -> None:
        self._groups: list[tuple[list[int], Lu]] = []
        self._held = [np.flatnonzero(~free[:, axis]) for axis in range(3)]
        for axis in range(3):
            for axes, _ in self._groups:
                if np.array_equal(self._held[axes[0]], self._held[axis]):
                    axes.append(axis)
                    break
            else:
                # Single columns: these fill too little for panels.
                self._groups.append(([axis], Lu(_released(matrix, free[:, axis]), panel=1)))

    def solve(self, right: Floats) -> Floats:
        """Solution (n, 3), by columns; zero where a coordinate is held."""
        solution = np.array(right, order="F")
        for axis, held in enumerate(self._held):
            solution[held, axis] = 0.0
        if len(self._groups) == 1:
            return self._groups[0][1].solve(solution)
        for axes, factor in self._groups:
            solution[:, axes] = factor.solve(solution[:, axes])
        return solution


def _released(matrix: Sparse, free: Bools) -> Sparse:
    """The matrix with the rows and columns of what is held replaced by those of the identity.

    Cutting them out instead would cost a gather and a scatter with every solve.
    """
    if free.all():
        return matrix
    keep = diags(free.astype(np.float64))
    return keep @ matrix @ keep + diags((~free).astype(np.float64))


def solved(matrix: Sparse, right: Floats) -> Floats:
    """Solution of one sparse system, symmetric or not, for right-hand sides (n, k)."""
    solution: Floats = splu(csc_matrix(matrix)).solve(right)
    return solution
