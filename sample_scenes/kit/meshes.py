"""Shapes as arrays: positions (n, 3) [m], faces (polygons as lists of rows), corner UVs per vertex (n, 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mathutils import Vector
from mathutils.geometry import delaunay_2d_cdt


@dataclass
class Shape:
    """A mesh with a UV coordinate a vertex (a seam is a double column, never shared)."""

    points: np.ndarray
    faces: np.ndarray
    uv: np.ndarray
    rows: int = 0
    """Points of one row where the shape is a grid; index = row · `rows` + column."""

    def moved(self, *offset: float) -> Shape:
        return Shape(self.points + np.array(offset), self.faces, self.uv, self.rows)


def _quads(rows: int, columns: int, wrap: bool) -> np.ndarray:
    """Quads of a grid of points, `rows` along the second direction; `wrap` joins the last column to the first."""
    j, i = np.mgrid[0 : rows - 1, 0 : columns - (0 if wrap else 1)]
    right = (i + 1) % columns
    return np.stack(
        [j * columns + i, j * columns + right, (j + 1) * columns + right, (j + 1) * columns + i], -1
    ).reshape(-1, 4)


def sheet(width: float, height: float, columns: int, rows: int) -> Shape:
    """A rectangle in XY, centred; cells, not points."""
    u, v = np.meshgrid(np.linspace(0, 1, columns + 1), np.linspace(0, 1, rows + 1))
    uv = np.column_stack([u.ravel(), v.ravel()])
    points = np.column_stack([(uv - 0.5) * (width, height), np.zeros(len(uv))])
    return Shape(points, _quads(rows + 1, columns + 1, False), uv, columns + 1)


def equilateral(width: float, height: float, columns: int) -> Shape:
    """A rectangle of near-equilateral triangles: every other row is shifted by half a cell, its ends kept straight."""
    side = width / columns
    rows = max(2, round(height / (side * np.sqrt(3) / 2)))
    points, start = [], []
    for row in range(rows + 1):
        odd = row % 2
        x = np.linspace(0, width, columns + 1)
        if odd:
            x = np.concatenate([[0.0], x[:-1] + side / 2, [width]])
        start.append(len(points))
        points += [(value, row * height / rows) for value in x]
    faces = []
    for row in range(rows):
        even, odd = (row, row + 1) if row % 2 == 0 else (row + 1, row)
        a, b = start[even], start[odd]
        for i in range(columns):
            faces.append((a + i, a + i + 1, b + i + 1))
        for i in range(columns + 1):
            faces.append((a + i, b + i + 1, b + i))
        if row % 2:
            faces[-(2 * columns + 1) :] = [face[::-1] for face in faces[-(2 * columns + 1) :]]
    flat = np.array(points)
    uv = flat / (width, height)
    return Shape(np.column_stack([flat - (width / 2, height / 2), np.zeros(len(flat))]), np.array(faces), uv)


def revolved(profile: np.ndarray, around: int) -> Shape:
    """A profile of (radius, height) turned about Z; U runs around, V along; a radius of zero becomes one point."""
    angle = np.linspace(0, 2 * np.pi, around, endpoint=False)
    radius, height = profile[:, 0], profile[:, 1]
    points = np.stack(
        [np.outer(radius, np.cos(angle)), np.outer(radius, np.sin(angle)), np.outer(height, np.ones(around))], -1
    ).reshape(-1, 3)
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(profile, axis=0), axis=1))])
    uv = np.column_stack([np.tile(angle / (2 * np.pi), len(profile)), np.repeat(along / along[-1], around)])
    quads = _quads(len(profile), around, True)
    if radius[0] > 0:
        return Shape(points, quads, uv, around)
    quads = np.where(quads < around, 0, quads - around + 1)
    kept = np.concatenate([[0], np.arange(around, len(points))])
    return Shape(points[kept], quads, uv[kept])


def tube(radius: float, length: float, around: int, along: int) -> Shape:
    """An open cylinder about Z, its foot at 0, of triangles with six edges at every inner vertex."""
    made = revolved(np.column_stack([np.full(along + 1, radius), np.linspace(0, length, along + 1)]), around)
    turn = 2 * np.pi / around * 0.5 * np.repeat(np.arange(along + 1), around)
    c, s = np.cos(turn), np.sin(turn)
    x, y = made.points[:, 0].copy(), made.points[:, 1].copy()
    made.points[:, 0], made.points[:, 1] = c * x - s * y, s * x + c * y
    # Every row is turned by half a cell against the last: one diagonal all the way makes equilateral triangles.
    a, b, c4, d = made.faces.T
    made.faces = np.concatenate([np.column_stack([a, b, d]), np.column_stack([b, c4, d])])
    return made


def upright(flat: Shape) -> Shape:
    """A sheet stood up in XZ, one edge at x = 0: a flag at its mast."""
    x, y, _ = flat.points.T
    return Shape(np.column_stack([x - x.min(), 0 * x, y]), flat.faces, flat.uv, flat.rows)


def sunflower(radius: float, count: int) -> Shape:
    """A flat disc of about `count` points that lie as the seeds of a sunflower do: no direction is favoured."""
    rim = round(np.sqrt(4 * np.pi * count))
    angle = np.arange(rim) * 2 * np.pi / rim
    k = np.arange(count - rim) + 0.5
    # What is left inside the rim by half a spacing.
    inner = (1 - 0.8 * np.sqrt(np.pi / count)) * np.sqrt(k / len(k))
    golden = k * np.pi * (3 - np.sqrt(5))
    flat = np.concatenate(
        [
            np.column_stack([np.cos(angle), np.sin(angle)]),
            inner[:, None] * np.column_stack([np.cos(golden), np.sin(golden)]),
        ]
    )
    made = delaunay_2d_cdt([Vector(p) for p in radius * flat], [], [], 0, 1e-9)
    points = np.array([tuple(p) for p in made[0]])
    return Shape(np.column_stack([points, np.zeros(len(points))]), np.array(made[2]), 0.5 + points / (2 * radius))


def scattered(width: float, height: float, count: int, seed: int) -> Shape:
    """A rectangle of uneven triangles, centred: about `count` points, moved apart from each other, then joined."""
    rng = np.random.default_rng(seed)
    spacing = np.sqrt(width * height / count)
    across, up = round(width / spacing), round(height / spacing)
    x, y = np.linspace(0, 1, across + 1), np.linspace(0, 1, up + 1)
    edge = np.concatenate(
        [
            np.column_stack([x, 0 * x]),
            np.column_stack([x, 0 * x + 1]),
            np.column_stack([0 * y, y])[1:-1],
            np.column_stack([0 * y + 1, y])[1:-1],
        ]
    )
    grid = np.stack(np.meshgrid(x[1:-1], y[1:-1]), -1).reshape(-1, 2)
    inside = np.clip(grid + rng.uniform(-0.38, 0.38, grid.shape) / (across, up), 0.4 / across, 1 - 0.4 / across)
    uv = np.concatenate([edge, inside])
    # Blender's own triangulation: Python's scipy may be another one than the add-on's.
    faces = delaunay_2d_cdt([Vector(p) for p in uv * (width, height)], [], [], 0, 1e-9)
    points, triangles = np.array([tuple(p) for p in faces[0]]), np.array(faces[2])
    return Shape(
        np.column_stack([points - (width / 2, height / 2), np.zeros(len(points))]), triangles, points / (width, height)
    )
