"""Vector algebra on many vectors at once, components first: (3, k).

Contiguous components are 1.5 to 3 times as fast as (k, 3) rows in numpy, so inner loops use this layout.
"""

from __future__ import annotations

import numpy as np

from .types import Floats


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
