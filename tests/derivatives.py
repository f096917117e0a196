"""Derivatives by differences, and the length they must be taken over."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Central differences of sixth order: f' h = Σ weight (f(x + k h) − f(x − k h)).
STENCIL = ((1, 45.0 / 60.0), (2, -9.0 / 60.0), (3, 1.0 / 60.0))


def smallest_height(x: Floats, faces: NDArray[np.int64]) -> float:
    """Shortest altitude of any triangle [m]: the length over which energies of triangles and hinges change."""
    corners = x[faces]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    twice_area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return float((twice_area / edges.max(axis=1)).min())


def differences(function: Callable[[Floats], Floats | float], x: Floats, step: float) -> Floats:
    """∂function/∂x, shape x.shape + the shape of the function's answer."""
    rows = []
    for index in np.ndindex(x.shape):
        total = 0.0
        for k, weight in STENCIL:
            ahead, behind = x.copy(), x.copy()
            ahead[index] += k * step
            behind[index] -= k * step
            total = total + weight * (np.asarray(function(ahead)) - np.asarray(function(behind)))
        rows.append(total / step)
    return np.array(rows).reshape(*x.shape, *np.shape(rows[0]))


def relative_gap(claimed: Floats, measured: Floats) -> float:
    """Largest difference as a share of the largest entry."""
    return float(np.abs(claimed - measured).max() / np.abs(measured).max())


def gradient_gap(energy: object, x: Floats, step: float) -> float:
    """How far an energy's gradient is from differences of its value."""
    return relative_gap(energy.gradient(x), differences(energy.value, x, step))


def hessian_gap(energy: object, x: Floats, step: float) -> float:
    """How far an energy's exact Hessian is from differences of its gradient."""
    claimed = energy.hessian(x, psd=False).matrix().toarray()
    return relative_gap(claimed, differences(energy.gradient, x, step).reshape(x.size, x.size))


def softest(matrix: Floats) -> float:
    """Smallest eigenvalue of a symmetric matrix as a share of its largest (−∞ where it is not symmetric)."""
    if np.abs(matrix - matrix.T).max() > 1e-12 * np.abs(matrix).max():
        return -np.inf
    values = np.linalg.eigvalsh(matrix)
    return float(values[0] / max(values[-1], 1e-300))
