"""Vector algebra on many vectors at once, components first: (3, k).

Contiguous components are 1.5 to 3 times as fast as (k, 3) rows in numpy, so inner loops use this layout. Arrays that
pass between rooms are (n, 3); inside a run they are kept column by column in memory, so `components` is free.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_matrix

from ..types import Bools, Floats, Ints, Shorts, Singles, Sparse

try:  # scipy's kernel behind `@`, not part of its public interface: without it, `@` does.
    from scipy.sparse._sparsetools import coo_matvec, csc_matvec, csr_matvec
except ImportError:  # pragma: no cover
    coo_matvec = csc_matvec = csr_matvec = None


Reals = TypeVar("Reals", Floats, Singles)
Columns = TypeVar("Columns", Floats, Ints, Bools)

# BLAS uses threads for dot products from 10,000 numbers on.
ALONE = 8192
# Entries up to which three products in one call pay: beyond, the matrix would leave the nearest cache.
SMALL = 20000


def inner(a: Floats, b: Floats) -> float:
    """∑ aᵢ bᵢ of arrays of one shape.

    Long arrays go to BLAS in pieces: its threads spin for milliseconds when another process has the cores, and for
    short ones it has none (6.5 µs at 6.4k vertices where einsum takes 9.6, 19 instead of 34 at 25.6k).
    """
    u, v = a.T.ravel(), b.T.ravel()
    if u.size <= ALONE:
        return float(np.dot(u, v))
    whole = u.size - u.size % ALONE
    pieces = np.matmul(u[:whole].reshape(-1, 1, ALONE), v[:whole].reshape(-1, ALONE, 1))
    return float(pieces.sum() + np.dot(u[whole:], v[whole:]))


def components(x: Floats) -> Floats:
    """Vectors (n, 3) as contiguous components (3, n); no copy where they are kept by columns."""
    return np.ascontiguousarray(x.T)


def by_columns(x: Floats) -> Floats:
    """Vectors (n, 3) kept column by column in memory."""
    return np.asfortranarray(x)


def picked(v: Columns, indices: Ints) -> Columns:
    """Columns of (c, k) components at valid indices: 4 times as fast as indexing (no checks, no strides)."""
    return v.take(indices, axis=1, mode="clip")


def products(matrix: Sparse, v: Floats) -> Floats:
    """Sparse (k, n) matrix, by rows, times each of some components (c, n): (c, k)."""
    return Product(matrix)(v)


class Product:
    """A sparse (k, n) matrix, by rows, ready to multiply components (3, n) many times.

    `matrix @ vector` spends 5 µs on checks and a copy around a product that itself takes 2 µs at 400 vertices and 35 at
    6,400; scipy's own kernel writes where it is told to. (One product with three columns takes 1.4 times as long.)
    """

    _stacked: tuple[int, int, Shorts, Shorts, Floats] | None = None
    """The matrix thrice, for all components at once."""

    def __init__(self, matrix: Sparse, often: bool = False) -> None:
        """`often`: small matrices are repeated for the three components, which saves two calls of three."""
        by_rows = matrix.tocsr()
        self._take(by_rows.shape, by_rows.indptr, by_rows.indices, by_rows.data)
        if often and by_rows.nnz <= SMALL:
            starts, columns = by_rows.indptr, by_rows.indices
            self._stacked = (
                3 * self.rows,
                3 * self.columns,
                np.concatenate([starts[:-1], starts[:-1] + starts[-1], starts + 2 * starts[-1]]),
                np.concatenate([columns, columns + self.columns, columns + 2 * self.columns]),
                np.tile(by_rows.data, 3),
            )

    @staticmethod
    def by_rows(shape: tuple[int, int], starts: Shorts, columns: Shorts, entries: Floats) -> Product:
        """From what a csr_matrix holds, without making one (0.1 ms): row i has `entries` starts[i] to starts[i + 1]."""
        made = object.__new__(Product)
        made._take(shape, starts, columns, entries)
        return made

    def _take(self, shape: tuple[int, int], starts: Shorts, columns: Shorts, entries: Floats) -> None:
        self.rows, self.columns = shape
        self._entries = self.rows, self.columns, starts, columns, entries

    def __call__(self, v: Reals, out: Reals | None = None, add: bool = False) -> Reals:
        """Products (c, k) with contiguous components (c, n), into `out` where given (or added to it)."""
        if out is None:
            result = np.zeros((len(v), self.rows), dtype=v.dtype)
        else:
            result = out
            if not add:
                result.fill(0.0)
        if csr_matvec is None:
            result += np.stack([self._matrix @ component for component in v])
        elif self._stacked is not None and len(v) == 3:
            csr_matvec(*self._stacked, v.reshape(-1), result.reshape(-1))
        else:
            for component, into in zip(v, result, strict=True):
                csr_matvec(*self._entries, component, into)
        return result

    def transposed(self, v: Floats) -> Floats:
        """Products (c, n) of the transpose with contiguous components (c, k)."""
        if csc_matvec is None:
            return np.stack([self._matrix.T @ component for component in v])
        result = np.zeros((len(v), self.columns))
        rows, columns, starts, at, entries = self._entries
        for component, into in zip(v, result, strict=True):
            csc_matvec(columns, rows, starts, at, entries, component, into)
        return result

    @property
    def _matrix(self) -> Sparse:
        rows, columns, starts, at, entries = self._entries
        return csr_matrix((entries, at, starts), shape=(rows, columns))


class Added:
    """Numbers added to others, from places to places (k,) that stay.

    A sparse product of ones, number by number: five times as fast as gathering with `take`, which has to write zeros
    wherever nothing comes, and adding what was gathered.
    """

    def __init__(self, targets: Shorts, sources: Shorts, sign: float = 1.0) -> None:
        self._targets, self._sources = targets, sources
        self._signs = np.full(len(targets), sign, dtype=np.float32)

    def __call__(self, values: Singles, into: Singles) -> None:
        """Add `values` (m,) at the sources, times the sign, to `into` (n,) at the targets."""
        if coo_matvec is None:
            weights = self._signs * values[self._sources]
            into += np.bincount(self._targets, weights=weights, minlength=len(into)).astype(into.dtype)
        else:
            coo_matvec(len(self._signs), self._targets, self._sources, self._signs, values, into)


def add_at(numbers: Floats | Singles, targets: Shorts, sources: Shorts) -> None:
    """numbers[targets] += numbers[sources], repeated targets added up; no source is a target."""
    if coo_matvec is None:
        np.add.at(numbers, targets, numbers[sources])
    else:
        coo_matvec(len(targets), targets, sources, _ones(len(targets), numbers.dtype.char), numbers, numbers)


class Adding:
    """Numbers added to others at places (k,) that stay, none of them twice."""

    def __init__(self, places: Shorts, dtype: Any) -> None:
        count = len(places)
        self._places = places
        self._arguments = count, places, np.arange(count, dtype=np.int32), _ones(count, np.dtype(dtype).char)

    def __call__(self, values: Reals, into: Reals) -> None:
        """into[places] += values."""
        if coo_matvec is None:
            into[self._places] += values
        else:
            coo_matvec(*self._arguments, values, into)


_ONES: dict[str, Any] = {}


def _ones(count: int, letter: str) -> Any:
    """At least so many, of the type of this letter."""
    found = _ONES.get(letter)
    if found is None or len(found) < count:
        found = _ONES[letter] = np.ones(2 * count, dtype=letter)
    return found


class VaryingMatrix:
    """A sparse (k, n) matrix whose entries change from product to product: entry i stands at (rows[i], columns[i])."""

    def __init__(self, rows: Ints, columns: Ints, shape: tuple[int, int]) -> None:
        # In the kernel's order; duplicates stay apart.
        self._order = np.argsort(rows, kind="stable")
        self._indptr = np.searchsorted(rows[self._order], np.arange(shape[0] + 1)).astype(np.int32)
        self._indices = columns[self._order].astype(np.int32)
        self._entries = np.empty(len(rows))
        self._shape = shape

    def __call__(self, entries: Floats, v: Floats) -> Floats:
        """Products (c, k) of the matrix of `entries` with components (c, n)."""
        entries.take(self._order, mode="clip", out=self._entries)
        if csr_matvec is None:
            matrix = csr_matrix((self._entries, self._indices, self._indptr), shape=self._shape)
            return np.stack([matrix @ component for component in v])
        result = np.zeros((len(v), self._shape[0]))
        for component, into in zip(v, result, strict=True):
            csr_matvec(*self._shape, self._indptr, self._indices, self._entries, component, into)
        return result


def applied(matrix: Sparse, x: Floats) -> Floats:
    """Sparse (k, n) matrix times vectors (n, 3): (k, 3) by columns."""
    return products(matrix, components(x)).T


def dot(u: Floats, v: Floats) -> Floats:
    """Dot products, (k,)."""
    product: Floats = u[0] * v[0]
    product += u[1] * v[1]
    product += u[2] * v[2]
    return product


def cross(u: Floats, v: Floats) -> Floats:
    """Cross products, (3, k)."""
    result = np.empty_like(u)
    result[0] = u[1] * v[2] - u[2] * v[1]
    result[1] = u[2] * v[0] - u[0] * v[2]
    result[2] = u[0] * v[1] - u[1] * v[0]
    return result


class Closed:
    """Room for vectors whose components x, y, z, x, y stand in a row, (5, k): their cross products take three passes
    over (3, k) instead of nine over (k,)."""

    def __init__(self, count: int) -> None:
        whole = np.empty((5, count))
        self.xyz, self.yzx, self.zxy = whole[:3], whole[1:4], whole[2:]
        """The same vectors, (3, k), components turned by none, one and two."""
        self._last, self._first = whole[3:], whole[:2]

    def close(self) -> None:
        """Repeat the first two components, once `xyz` is set."""
        np.copyto(self._last, self._first)


def crossed(u: Closed, v: Closed, out: Floats, spare: Floats) -> Floats:
    """Cross products into `out` (3, k); `spare` (3, k) is lost."""
    np.multiply(u.yzx, v.zxy, out=out)
    np.multiply(u.zxy, v.yzx, out=spare)
    np.subtract(out, spare, out=out)
    return out


def skew(v: Floats) -> Floats:
    """Matrices (k, 3, 3) with skew(v) w = v × w, of vectors (k, 3)."""
    zero = np.zeros(len(v))
    x, y, z = v.T
    matrices: Floats = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=1).reshape(-1, 3, 3)
    return matrices
