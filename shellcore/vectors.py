"""Vector algebra on many vectors at once, components first: (3, k).

Contiguous components are 1.5 to 3 times as fast as (k, 3) rows in numpy, so inner loops use this layout. Arrays that
pass between rooms are (n, 3); inside a run they are kept column by column in memory, so `components` is free.
"""

from __future__ import annotations

import numpy as np

from .types import Floats, Ints, Sparse


def inner(a: Floats, b: Floats) -> float:
    """∑ aᵢ bᵢ of arrays of one shape.

    np.vdot hands long arrays to BLAS threads, which spin for milliseconds when another process has the cores.
    """
    return float(np.einsum("i,i->", a.T.ravel(), b.T.ravel()))


def components(x: Floats) -> Floats:
    """Vectors (n, 3) as contiguous components (3, n); no copy where they are kept by columns."""
    return np.ascontiguousarray(x.T)


def by_columns(x: Floats) -> Floats:
    """Vectors (n, 3) kept column by column in memory."""
    return np.asfortranarray(x)


def picked(v: Floats, indices: Ints) -> Floats:
    """Columns of (3, k) components at valid indices: 4 times as fast as indexing (no checks, no strides)."""
    return v.take(indices, axis=1, mode="clip")


def applied(matrix: Sparse, x: Floats) -> Floats:
    """Sparse (k, n) matrix times vectors (n, 3), component by component: (k, 3) by columns.

    Three products with contiguous vectors take three quarters of the time of one with three columns, except where
    the cost is the call itself.
    """
    if matrix.nnz < 12_000:
        return np.asfortranarray(matrix @ np.ascontiguousarray(x))
    result = np.empty((3, matrix.shape[0]))
    for i, component in enumerate(components(x)):
        result[i] = matrix @ component
    return result.T


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
