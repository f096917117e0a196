"""Smooth random vectors in space and time, for turbulence: the same on every machine for the same seed."""

from typing import Any

import numpy as np


def vectors(points: Any, seed: int) -> Any:
    """Value noise in -1..1 per component at points (n, 3), lattice spacing 1, (n, 3)."""
    cell = np.floor(points)
    part = points - cell
    smooth = part * part * part * (part * (6.0 * part - 15.0) + 10.0)
    cell = cell.astype(np.int64)
    total = np.zeros_like(points)
    for corner in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(corner, smooth, 1.0 - smooth), axis=1)
        total += weight[:, None] * _random(cell + np.array(corner), seed)
    return total


def _random(cells: Any, seed: int) -> Any:
    """Numbers in -1..1 for integer cells (n, 3), three each, by mixing bits (splitmix64)."""
    with np.errstate(over="ignore"):
        key = cells.astype(np.uint64) @ np.array(
            [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64
        )
        key = (
            key[:, None]
            + np.uint64(seed & 0xFFFFFFFF)
            + np.array([1, 2, 3], dtype=np.uint64) * np.uint64(0xD1B54A32D192ED03)
        )
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            key = (key ^ (key >> np.uint64(shift))) * np.uint64(factor)
        key ^= key >> np.uint64(31)
    return (key >> np.uint64(11)).astype(np.float64) * (2.0 / (1 << 53)) - 1.0
