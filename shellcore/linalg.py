"""Linear solvers: the only file that imports scipy.sparse.linalg."""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np
from scipy.sparse import csc_matrix, diags, identity
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from .fronts import Cholesky, Dissection, NotDefinite
from .types import Bools, Floats, Sparse
from .vectors import inner

# Unknowns below which SuperLU is as quick as finding an order for fronts.
SMALL = 4000


class Lu:
    """A direct factorisation of a sparse symmetric matrix, used for many right-hand sides.

    SuperLU with a symmetric minimum-degree order and no pivoting: on symmetric matrices U's diagonal
    then carries the signs of the eigenvalues (Sylvester), so `negative_pivots` is the inertia.
    """

    def __init__(self, matrix: Sparse) -> None:
        self.size = matrix.shape[0]
        self._lu = splu(
            csc_matrix(matrix),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
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

    By dense fronts (`fronts.py`), whose order is kept for the next one; small ones and those that are not definite by
    SuperLU, the latter not before a solution is asked for.
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
            self._how = Cholesky(_dissection(self._matrix), self._matrix.data)
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


# The orders of the last matrices, whose patterns are likely to come again. Which are kept has no influence on results.
_KNOWN: list[Dissection] = []
_KEPT = 2


def _dissection(matrix: Sparse) -> Dissection:
    for known in _KNOWN:
        if known.fits(matrix):
            return known
    made = Dissection(matrix)
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
                self._groups.append(([axis], Lu(_released(matrix, free[:, axis]))))

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


def conjugate_gradients(
    product: Callable[[Floats], Floats],
    right: Floats,
    precondition: Callable[[Floats], Floats],
    tolerance: float,
    most: int,
) -> Generator[None, None, tuple[Floats, int]]:
    """Approximate solution of a symmetric system and the number of products spent.

    Stops when the preconditioned residual, ⟨r, P⁻¹r⟩, has fallen by `tolerance` squared, after `most`
    products, or at a direction of negative curvature (the solution so far still descends: Steihaug).
    Yields after every product so that a caller can show progress or stop.
    """
    solution = np.zeros_like(right)
    residual = right.copy()
    z = precondition(residual)
    direction = z
    rho = inner(residual, z)
    goal = tolerance * tolerance * rho
    for spent in range(1, most + 1):
        image = product(direction)
        curvature = inner(direction, image)
        if curvature <= 0.0:
            return (solution if spent > 1 else direction), spent
        step = rho / curvature
        solution = solution + step * direction
        residual = residual - step * image
        yield
        z = precondition(residual)
        rho, previous = inner(residual, z), rho
        if rho <= goal:
            return solution, spent
        direction = z + (rho / previous) * direction
    return solution, most


def solved(matrix: Sparse, right: Floats) -> Floats:
    """Solution of one sparse system, symmetric or not, for right-hand sides (n, k)."""
    solution: Floats = splu(csc_matrix(matrix)).solve(right)
    return solution


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
