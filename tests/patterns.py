"""Flat pieces and the shapes they are sewn to: start positions, faces, and where their corners lie in the pattern."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from meshes import grid

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Pattern = tuple[Floats, Ints, Floats]


def sewn(points: Floats, faces: Ints, flat: Floats) -> Pattern:
    """Vertices that lie on each other at `points` (n, 3) made one; `flat` (n, 2): where they lie in the pattern."""
    size = np.ptp(points, axis=0).max()
    _, first, place = np.unique(np.round(points / (1e-9 * size)), axis=0, return_index=True, return_inverse=True)
    # In the order in which they come.
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return points[first[order]], rank[place.ravel()][faces], flat[faces]


def tube(around: int, along: int, width: float, height: float) -> Pattern:
    """A rectangle rolled to a prism of `around` sides about z, its two ends sewn together: an isometry."""
    flat, faces = grid(around, along, width, height)
    turn = 2.0 * np.pi * flat[:, 0] / width
    radius = width / around / (2.0 * np.sin(np.pi / around))
    points = np.column_stack([radius * np.cos(turn), radius * np.sin(turn), flat[:, 1]])
    return sewn(np.where(np.abs(points) < 1e-12, 0.0, points), faces, flat[:, :2])


def cone(around: int, along: int, inner: float, outer: float, sector: float) -> Pattern:
    """A fan of `sector` radians between two radii, rolled to a pyramid's frustum about z: an isometry."""
    cells, faces = grid(around, along, sector, outer - inner)
    angle, slant = cells[:, 0], inner + cells[:, 1]
    # Sides of the rings are chords of the fan.
    sine = np.sin(sector / around / 2.0) / np.sin(np.pi / around)
    turn = 2.0 * np.pi * angle / sector
    points = np.column_stack(
        [slant * sine * np.cos(turn), slant * sine * np.sin(turn), -slant * np.sqrt(1.0 - sine * sine)]
    )
    flat = np.column_stack([slant * np.cos(angle), slant * np.sin(angle)])
    return sewn(np.where(np.abs(points) < 1e-12, 0.0, points), faces, flat)


def gores(count: int, rows: int, radius: float) -> Pattern:
    """A hemisphere's gores, as wide as the cloister vault about it: bent along their middle alone they close to it."""
    polar = 0.5 * np.pi * np.arange(rows + 1) / rows
    apothem, height = radius * np.sin(polar), radius * np.cos(polar)
    along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(apothem), np.diff(height)))])
    half = apothem * np.tan(np.pi / count)
    row = np.concatenate([[0], np.repeat(np.arange(1, rows + 1), 3)])
    side = np.concatenate([[0.0], np.tile([-1.0, 0.0, 1.0], rows)])
    first = [np.array([[0, 1, 2], [0, 2, 3]])]
    for k in range(1, rows):
        a, b = 3 * k - 2, 3 * k + 1
        first.append(np.array([[a, b, b + 1], [a, b + 1, a + 1], [a + 1, b + 1, a + 2], [a + 2, b + 1, b + 2]]))
    own = np.concatenate(first)
    points, faces, flat = [], [], []
    for k in range(count):
        turn = 2.0 * np.pi * k / count
        outward, across = np.array([np.cos(turn), np.sin(turn), 0.0]), np.array([-np.sin(turn), np.cos(turn), 0.0])
        place = apothem[row, None] * outward + (side * half[row])[:, None] * across
        place[:, 2] = height[row]
        points.append(place)
        faces.append(own + k * len(row))
        # Side by side, each turned its own way round the pattern.
        cosine, sine = np.cos(turn), np.sin(turn)
        u, v = side * half[row], along[row]
        flat.append(np.column_stack([cosine * u - sine * v + 4.0 * radius * k, sine * u + cosine * v]))
    return sewn(np.concatenate(points), np.concatenate(faces), np.concatenate(flat))


def apart(flat: Floats, faces: Ints, mirrored: bool, seed: int = 0) -> Floats:
    """Every face of a flat mesh (n, 2) an island of its own: turned, moved, overlapping, and every other mirrored."""
    rng = np.random.default_rng(seed)
    turn = rng.uniform(0.0, 2.0 * np.pi, len(faces))
    matrix = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]).transpose(2, 0, 1)
    if mirrored:
        matrix[::2] = matrix[::2] @ np.diag([1.0, -1.0])
    return flat[faces] @ matrix.transpose(0, 2, 1) + rng.uniform(-1.0, 1.0, (len(faces), 1, 2))
