"""The factor of a matrix before a cut as preconditioner for the one after it.

A cut gives some vertices copies; the matrix changes at them and their neighbours only. With P the map that moves
copies as one, the old matrix is PᵀAP plus what broke. So old factor and a small one about the cut take turns:

    z = Lr,   z += P A₀⁻¹ Pᵀ(r − Az),   z += L(r − Az),   L: solve among the vertices about the cut.

Symmetric, and positive definite because A₀ ≥ PᵀAP. Together the two spaces are everything, so little is left undone.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ..types import Bools, Floats, Ints, Sparse
from .factor import CoordinateFactor
from .vectors import applied


def about_cuts(matrix: Sparse, parent: Ints) -> Ints:
    """Vertices that have copies, or are one, and all that the (n, n) `matrix` couples to them.

    `parent` (n,): vertex before the cut of each vertex.
    """
    twin = (np.bincount(parent) > 1)[parent]
    coupled = csr_matrix((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
    return np.flatnonzero(coupled @ twin.astype(np.float64) > 0.0)


class CutFactor:
    """Approximate solves with `matrix` (n, n) from the factor of the matrix before the cuts."""

    def __init__(self, old: CoordinateFactor, parent: Ints, matrix: Sparse, free: Bools, near: Ints) -> None:
        self._old = old
        self._parent = parent
        count = int(parent.max()) + 1
        self._sum = csr_matrix((np.ones(len(parent)), (parent, np.arange(len(parent)))), shape=(count, len(parent)))
        self._near = near
        self._rows = csr_matrix(matrix)[near]
        self._columns = csr_matrix(self._rows.T)
        # Edges that broke without parting leave nothing to do here: the old matrix is a little stiffer, no more.
        self._local = CoordinateFactor(self._rows[:, near], free[near]) if len(near) else None
        self._held = None if free.all() else ~free

    def solve(self, right: Floats) -> Floats:
        """Approximate solution (n, 3); zero where a coordinate is held."""
        if self._local is None:
            return np.asfortranarray(self._old.solve(applied(self._sum, right))[self._parent])
        first = self._local.solve(right[self._near])
        left = right - applied(self._columns, first)
        solution = np.asfortranarray(self._old.solve(applied(self._sum, left))[self._parent])
        solution[self._near] += first
        solution[self._near] += self._local.solve(right[self._near] - self._rows @ solution)
        if self._held is not None:
            solution[self._held] = 0.0
        return solution
