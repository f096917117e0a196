"""A figure of smooth solids to dress: torso with neck, two arms stretched out, a head. Needs numpy alone."""

from __future__ import annotations

import numpy as np

TORSO = (
    (0.0, -0.14), (0.10, -0.14), (0.165, -0.12), (0.178, -0.04), (0.165, 0.08), (0.168, 0.20), (0.178, 0.30),
    (0.172, 0.37), (0.140, 0.42), (0.090, 0.455), (0.062, 0.475), (0.056, 0.51), (0.054, 0.56), (0.0, 0.57),
)  # fmt: skip
"""Half of its width and height of each section [m]; it is 0.68 times as deep."""
DEEP = 0.68
ARM, SHOULDER, HAND, HIGH = 0.040, 0.10, 0.60, 0.405
"""Radius of an arm, where it begins and ends, its height [m]."""


def torso(around: int = 28) -> tuple[np.ndarray, np.ndarray]:
    """Closed, about Z: positions (n, 3) and triangles."""
    profile = np.array(TORSO)
    points, faces = _turned(profile, around)
    points[:, 1] *= DEEP
    return points, faces


def arm(side: float, around: int = 14) -> tuple[np.ndarray, np.ndarray]:
    """A capsule along X at shoulder height; `side` −1 or 1."""
    bend = np.linspace(0, np.pi / 2, 4)
    first = np.column_stack([ARM * np.sin(bend), SHOULDER + ARM - ARM * np.cos(bend)])
    last = np.column_stack([0.8 * ARM * np.cos(bend), HAND - ARM + ARM * np.sin(bend)])
    middle = np.column_stack([np.linspace(ARM, 0.8 * ARM, 9), np.linspace(SHOULDER + ARM, HAND - ARM, 9)])[1:-1]
    points, faces = _turned(np.concatenate([first, middle, last]), around)
    x, y, z = points.T
    points = np.column_stack([z, y, HIGH - x]) if side > 0 else np.column_stack([-z, y, HIGH + x])
    return points, faces


def _turned(profile: np.ndarray, around: int) -> tuple[np.ndarray, np.ndarray]:
    """A profile (radius, height) that begins and ends on the axis, turned about Z; normals outward."""
    angle = np.linspace(0, 2 * np.pi, around, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(around)])
    inner = profile[1:-1]
    points = [np.array([[0, 0, profile[0, 1]]])]
    points += [radius * ring + (0, 0, height) for radius, height in inner]
    points += [np.array([[0, 0, profile[-1, 1]]])]
    i, ahead = np.arange(around), (np.arange(around) + 1) % around
    faces = [np.column_stack([np.zeros(around, dtype=int), 1 + ahead, 1 + i])]
    for row in range(len(inner) - 1):
        low, high = 1 + row * around, 1 + (row + 1) * around
        faces += [
            np.column_stack([low + i, low + ahead, high + ahead]),
            np.column_stack([low + i, high + ahead, high + i]),
        ]
    top = 1 + len(inner) * around
    faces += [np.column_stack([top - around + i, top - around + ahead, np.full(around, top)])]
    return np.concatenate(points), np.concatenate(faces)
