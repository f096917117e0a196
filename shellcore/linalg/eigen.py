"""Lowest eigenpairs of sparse symmetric matrices."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_matrix, identity
from scipy.sparse.linalg import LinearOperator, eigsh

from ..types import Floats, Sparse
from .factor import Lu

# Below this size all eigenpairs at once are as quick as a few by Lanczos.
DENSE = 300


def lowest_eigenpairs(
    matrix: Sparse, count: int, shift: float, left_out: Floats | None = None
) -> tuple[Floats, Floats, int]:
    """Lowest eigenvalues (k,) and orthonormal eigenvectors (n, k) of a symmetric matrix, and how many eigenvalues lie
    below −shift.

    `left_out` (n, r): orthonormal eigenvectors known beforehand (rigid motions) that shall not be found. Lanczos on
    (matrix + shift)⁻¹ from a start vector that is always the same; a last Rayleigh-Ritz step makes the vectors
    orthogonal to round-off. Nothing is computed where eigenvalues lie below −shift.
    """
    n = matrix.shape[0]
    known = np.zeros((n, 0)) if left_out is None else left_out
    count = min(count, n - known.shape[1])
    factor = Lu(matrix + shift * identity(n, format="csc"))
    if factor.negative_pivots:
        return np.zeros(0), np.zeros((n, 0)), factor.negative_pivots
    if count >= n - 1 or n <= DENSE:
        # A shift beyond all others moves the known vectors out of the way.
        far = 2.0 * float(abs(matrix).sum(axis=1).max()) + 1.0
        values, vectors = np.linalg.eigh(matrix.toarray() + far * (known @ known.T))
        return values[:count], vectors[:, :count], 0

    def inverse(v: Floats) -> Floats:
        v = v - known @ (known.T @ v)
        solution = factor.solve(v)
        return solution - known @ (known.T @ solution)

    start = np.random.default_rng(0).standard_normal(n)
    operator = LinearOperator((n, n), matvec=inverse, dtype=np.float64)
    _, vectors = eigsh(operator, count, which="LM", v0=inverse(start), tol=0.0)
    vectors -= known @ (known.T @ vectors)
    vectors, _ = np.linalg.qr(vectors)
    projected = vectors.T @ (matrix @ vectors)
    values, turn = np.linalg.eigh(0.5 * (projected + projected.T))
    return values, vectors @ turn, 0


def lowest_modes_through(
    matrix: Sparse, reading: Sparse, count: int, shift: float, left_out: Floats | None = None
) -> tuple[Floats, Floats, int]:
    """Lowest λ of K y = λ SᵀS y with `matrix` K (m, m) and `reading` S (n, m): values (k,), vectors y (m, k) for which
    S y are orthonormal, and how many eigenvalues of K + shift SᵀS lie below zero.

    SᵀS need not be definite: what S does not read has no inertia and follows. Lanczos on S (K + shift SᵀS)⁻¹ Sᵀ, whose
    eigenvalues are 1/(λ + shift); `left_out` (n, r) as in `lowest_eigenpairs`.
    """
    n = reading.shape[0]
    known = np.zeros((n, 0)) if left_out is None else left_out
    back = csc_matrix(reading.T)
    factor = Lu(matrix + shift * (back @ reading))
    if factor.negative_pivots:
        return np.zeros(0), np.zeros((matrix.shape[0], 0)), factor.negative_pivots

    def flexibility(v: Floats) -> Floats:
        v = v - known @ (known.T @ v)
        image: Floats = reading @ factor.solve(np.ascontiguousarray(back @ v))
        return image - known @ (known.T @ image)

    if n <= DENSE or count >= n - 1:
        dense = flexibility(np.eye(n))
        values, vectors = np.linalg.eigh(0.5 * (dense + dense.T))
    else:
        start = np.random.default_rng(0).standard_normal(n)
        operator = LinearOperator((n, n), matvec=flexibility, dtype=np.float64)
        values, vectors = eigsh(operator, count, which="LM", v0=flexibility(start), tol=0.0)
    order = np.argsort(-values)[:count]
    # What is left beyond the rank of S: nodes that are held.
    order = order[values[order] > 1e-14 * values[order[0]]]
    values, vectors = values[order], vectors[:, order]
    return 1.0 / values - shift, factor.solve(np.ascontiguousarray(back @ vectors)) / values, 0
