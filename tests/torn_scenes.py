"""Sheets that are torn and whose sides are pressed together again, and exact checks of what crosses."""

from __future__ import annotations

from typing import Any

import numpy as np

import shellcore as sc
from meshes import icosphere, unstructured
from shellcore.contact import intersections

SIZE, THICKNESS, OPENS = 0.3, 2e-3, 0.05


def torn_sheet(kind: str, seed: int, count: int = 150, **options: Any) -> sc.Shell:
    """A scattered sheet with a crooked seam that opens: from border to border ("tear") or within ("slit").

    Nearly flat: 0.1 mm of noise.
    """
    points, faces = unstructured(count, SIZE, SIZE, seed=seed)
    start = points + [0.0, 0.0, 1e-4] * np.random.default_rng(seed).normal(size=points.shape)
    material = sc.Material.solid(young=1e6, poisson=0.2, thickness=THICKNESS, density=500)
    shell = sc.Shell(points, faces, material, bending="cubic", start=start, **options)
    centre = points[faces].mean(axis=1)
    right = centre[:, 0] - 0.5 * centre[:, 1] > 0.25 * SIZE
    hinges, beside = shell.mesh.hinges, shell.mesh.hinge_faces
    edges = hinges[right[beside[:, 0]] != right[beside[:, 1]], :2]
    if kind == "slit":
        edges = edges[np.abs(points[edges].mean(axis=1)[:, 1] - SIZE / 2) < 0.3 * SIZE]
    shell.seam([(int(a), int(b)) for a, b in edges], OPENS)
    return shell


def pressed_together(kind: str, seed: int, frames: int = 24) -> sc.Scene:
    """The right edge is pushed towards the left one, sheared, lifted and turned, and goes back."""
    shell = torn_sheet(kind, seed)
    points = shell.rest_positions
    left, right = np.flatnonzero(points[:, 0] < 1e-9), np.flatnonzero(points[:, 0] > SIZE - 1e-9)
    random = np.random.default_rng(seed)
    way = random.normal(size=3) * [1.0, 1.0, 0.5]
    way *= 0.25 * SIZE / np.linalg.norm(way)
    way[0] = -0.6 * abs(way[0])
    turn, total = random.normal(), frames / 24

    def carried(t: float) -> np.ndarray:
        s = t / total
        middle = points[right].mean(axis=0)
        x, y, z = (points[right] - middle).T
        cosine, sine = np.cos(turn * s), np.sin(turn * s)
        return middle + np.column_stack([x, cosine * y - sine * z, sine * y + cosine * z]) + way * min(2 * s, 2 - 2 * s)

    shell.pin(left)
    shell.pin(right, carried)
    return sc.Scene([shell], contact="exact", gravity=(0.0, 0.0, 0.0))


def dropped_bowl(level: int = 2) -> sc.Scene:
    """A brittle half ball of 0.1 m just above the floor, falling at 2.8 m/s."""
    points, faces = icosphere(level, 0.1)
    faces = faces[points[faces].mean(axis=1)[:, 2] <= 0.0]
    used, faces = np.unique(faces, return_inverse=True)
    points, faces = points[used], faces.reshape(-1, 3)
    y, z = points[:, 1].copy(), points[:, 2].copy()
    points[:, 1], points[:, 2] = 0.94 * y - 0.34 * z, 0.34 * y + 0.94 * z + 0.102
    material = sc.Material.solid(young=7e9, poisson=0.2, thickness=5e-4, density=2400)
    speed = np.tile([0.0, 0.0, -2.8], (len(points), 1))
    shell = sc.Shell(points, faces, material, fracture=sc.Fracture(0.5), velocities=speed)
    return sc.Scene([shell], colliders=[sc.Plane((0, 0, 0), (0, 0, 1))], contact="exact")


def crossing(frame: sc.Frame, deeper: float = 0.0) -> int:
    """Pairs of faces that cross, exactly.

    Faces that share no vertex, not even as copies of one, count where they touch at all; of others the parts that lie
    more than `deeper` [m] within their borders (they touch where they were cut).
    """
    x, faces = frame.positions, frame.faces
    found = intersections(x, faces)
    source = frame.source[faces]
    kin = (source[found[:, 0]][:, :, None] == source[found[:, 1]][:, None, :]).any(axis=(1, 2))
    corners = x[faces]
    opposite = np.linalg.norm(corners[:, [1, 2, 0]] - corners[:, [2, 0, 1]], axis=2)
    around = opposite.sum(axis=1)
    middle = (opposite[:, :, None] * corners).sum(axis=1) / around[:, None]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    # About the middle of the inscribed circle every border moves in by the same share of its radius.
    left = np.maximum(1.0 - deeper * around / (2.0 * area), 0.0)
    smaller = middle[:, None] + left[:, None, None] * (corners - middle[:, None])
    inner = intersections(smaller.reshape(-1, 3), np.arange(faces.size).reshape(-1, 3))
    return int((~kin).sum()) + len(inner)
