"""Vector algebra on many vectors at once, components first: (3, k).

Contiguous components are 1.5 to 3 times as fast as (k, 3) rows in numpy, so inner loops use this layout. Arrays that
pass between rooms are (n, 3); inside a run they are kept column by column in memory, so `components` is free.
"""

from __future__ import annotations

import numpy as np

from .types import Floats, Ints, Sparse

try:  # scipy's kernel behind `@`, not part of its public interface: without it, `@` does.
    from scipy.sparse._sparsetools import csr_matvec
except ImportError:  # pragma: no cover
    csr_matvec = None


# BLAS uses threads for dot products from 10,000 numbers on.
ALONE = 8192


def inner(a: Floats, b: Floats) -> float:
    """∑ aᵢ bᵢ of arrays of one shape.

    Long arrays are kept from BLAS, whose threads spin for milliseconds when another process has the cores; for short
    ones it has none and takes 2 µs where einsum takes 8, a tenth of an iteration at 1.6k vertices.
    """
    u, v = a.T.ravel(), b.T.ravel()
    return float(np.dot(u, v)) if u.size <= ALONE else float(np.einsum("i,i->", u, v))


def components(x: Floats) -> Floats:
    """Vectors (n, 3) as contiguous components (3, n); no copy where they are kept by columns."""
    return np.ascontiguousarray(x.T)


def by_columns(x: Floats) -> Floats:
    """Vectors (n, 3) kept column by column in memory."""
    return np.asfortranarray(x)


def picked(v: Floats, indices: Ints) -> Floats:
    """Columns of (3, k) components at valid indices: 4 times as fast as indexing (no checks, no strides)."""
    return v.take(indices, axis=1, mode="clip")


def products(matrix: Sparse, v: Floats) -> Floats:
    """Sparse (k, n) matrix, by rows, times each of some components (c, n): (c, k).

    `matrix @ vector` spends 5 µs on checks and a copy around a product that itself takes 3 µs at 400 vertices and 35 at
    6,400; scipy's own kernel writes where it is told to. (One product with three columns takes 1.4 times as long.)
    """
    rows, columns = matrix.shape
    if csr_matvec is None or matrix.format != "csr":
        return np.stack([matrix @ component for component in v])
    result = np.zeros((len(v), rows))
    for component, into in zip(v, result, strict=True):
        csr_matvec(rows, columns, matrix.indptr, matrix.indices, matrix.data, component, into)
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


def skew(v: Floats) -> Floats:
    """Matrices (k, 3, 3) with skew(v) w = v × w, of vectors (k, 3)."""
    zero = np.zeros(len(v))
    x, y, z = v.T
    matrices: Floats = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=1).reshape(-1, 3, 3)
    return matrices
