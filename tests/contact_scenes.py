"""Scenes that try contact, at any size: each returns a Scene, how many frames it needs and options of `simulate`."""

from __future__ import annotations

from typing import Any

import numpy as np

import shellcore as sc
from meshes import cylinder, grid

Built = tuple[sc.Scene, int, dict[str, Any]]


def cloth(thickness: float = 1e-3, stretch: float = 2e3, bend: float = 5e-5, density: float = 0.15) -> sc.Material:
    """The reference sheet of our measurements, with a thickness to touch with."""
    plate = stretch / (1 - 0.25**2)
    return sc.Material(
        stretch=(plate, plate),
        shear=stretch / 2.5,
        poisson=0.25,
        bend=(bend, bend),
        bend_shear=0.375 * bend,
        bend_poisson=0.25,
        areal_density=density,
        thickness=thickness,
    )


def sheet(cells: int, size: float, centre: tuple[float, float, float], **options: Any) -> sc.Shell:
    points, faces = grid(cells, cells, size, size)
    points = points - [size / 2, size / 2, 0.0] + np.array(centre)
    material = options.pop("material", cloth())
    return sc.Shell(points, faces, material, bending="quadratic", **options)


def box(size: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """A cube about the origin."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float) * size / 2
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def turned(points: np.ndarray, axis: tuple[float, float, float], angle: float) -> np.ndarray:
    """Rotated about the origin."""
    k = np.array(axis, dtype=float) / np.linalg.norm(axis)
    cross = np.cross(k, points)
    return points * np.cos(angle) + cross * np.sin(angle) + np.outer(points @ k, k) * (1 - np.cos(angle))


def on_sphere(cells: int = 20, frames: int = 16) -> Built:
    ball = sc.Sphere((0.0, 0.0, -0.25), 0.2)
    return sc.Scene([sheet(cells, 1.0, (0.02, 0.01, 0.0))], colliders=[ball]), frames, {}


def on_corner(cells: int = 20, frames: int = 16) -> Built:
    points, faces = box(0.4)
    # The diagonal of the cube upright: it stands on one corner.
    points = turned(points, (1.0, -1.0, 0.0), -np.arccos(1 / np.sqrt(3.0)))
    points[:, 2] -= points[:, 2].max() + 0.01
    return sc.Scene([sheet(cells, 1.0, (0.013, 0.007, 0.0))], colliders=[sc.Collider(points, faces)]), frames, {}


def on_needle(cells: int = 20, frames: int = 12) -> Built:
    around = np.linspace(0, 2 * np.pi, 7)[:-1]
    ring = np.column_stack([0.01 * np.cos(around), 0.01 * np.sin(around), np.full(6, -0.6)])
    points = np.vstack([[0.0, 0.0, -0.02], ring])
    faces = np.array([(0, 1 + i, 1 + (i + 1) % 6) for i in range(6)])
    return sc.Scene([sheet(cells, 1.0, (0.013, 0.007, 0.0))], colliders=[sc.Collider(points, faces)]), frames, {}


def folded(cells: int = 16, frames: int = 56, size: float = 0.4, bend: float = 1e-5) -> Built:
    """A sheet folded over x = 0 and then, both layers together, over y = 0 by pins: four layers.

    Pinned are both edges and, as hands would, the first fold. They turn rigidly about the fold that they make, so that
    what moves never has to pass what stays. `cells` must be even.
    """
    shell = sheet(cells, size, (0.0, 0.0, 0.0), material=cloth(bend=bend))
    x = shell.rest_positions
    gap, total = 0.01 * size, frames / 24

    def about(points: np.ndarray, axis: int, height: float, s: float) -> np.ndarray:
        angle, moved = np.pi * np.clip(s, 0.0, 1.0), points.copy()
        out, up = points[:, axis], points[:, 2] - height
        moved[:, axis] = out * np.cos(angle) - up * np.sin(angle)
        moved[:, 2] = height + up * np.cos(angle) + out * np.sin(angle)
        return moved

    def path(points: np.ndarray, t: float) -> np.ndarray:
        s = 2.6 * t / total
        moved = points.copy()
        moved[np.abs(points[:, 0]) < 1e-9, 2] += 0.5 * gap * np.clip(s, 0.0, 1.0)
        right, back = points[:, 0] > 1e-9, points[:, 1] > 0
        moved[right] = about(points[right], 0, 0.5 * gap, s)
        moved[back] = about(moved[back], 1, 1.5 * gap, s - 1.1)
        return moved

    # Near the second fold the sheet finds its own way.
    columns = (np.abs(np.abs(x[:, 0]) - size / 2) < 1e-9) | (np.abs(x[:, 0]) < 1e-9)
    held = np.flatnonzero(columns & (np.abs(x[:, 1]) > 0.15 * size))
    shell.pin(held, lambda t: path(x[held], t))
    floor = sc.Plane((0.0, 0.0, -0.002), (0.0, 0.0, 1.0))
    return sc.Scene([shell], colliders=[floor]), frames, {}


def crossing(cells: int = 10, frames: int = 8, speed: float = 5.0) -> Built:
    """Two sheets fly through each other's place, edge-on against face-on."""
    points, faces = grid(cells, cells, 0.4, 0.4)
    points -= [0.2, 0.2, 0.0]
    upright = turned(points, (1.0, 0.3, 0.0), np.pi / 2) + [0.0, 0.0, 0.35]
    material = cloth()
    first = sc.Shell(points, faces, material, bending="quadratic")
    first.velocities = np.tile([0.0, 0.0, speed], (len(points), 1))
    second = sc.Shell(upright, faces, material, bending="quadratic")
    second.velocities = np.tile([0.0, 0.3, -speed], (len(points), 1))
    return sc.Scene([first, second], gravity=(0.0, 0.0, 0.0)), frames, {}


def ribbon(
    cells: int = 60,
    frames: int = 48,
    speed: float = 0.5,
    spacing: float = 0.01,
    chute: float | None = None,
    bend: float = 2e-6,
) -> Built:
    """A ribbon fed downwards on to the floor; its top row is held and lowered at constant speed.

    In a smooth upright `chute` [m], so wide across the folds, it lies down to and fro; in the open it wanders.
    """
    length, width = cells * spacing, 3 * spacing
    points, faces = grid(2, cells, width, length)
    start = np.column_stack([points[:, 0], np.zeros(len(points)), points[:, 1] + 0.005])
    # A slight lean, so that the fold knows where to go.
    start[:, 1] += (0.02 if chute is None else min(0.02, 0.3 * chute / length)) * start[:, 2]
    shell = sc.Shell(start, faces, cloth(bend=bend), bending="hinge", rest_angles="flat")
    top = np.flatnonzero(start[:, 2] > start[:, 2].max() - 1.5 * spacing)
    shell.pin(top, lambda t: start[top] - [0.0, 0.0, min(speed * t, length - 0.05)])
    solids = [sc.Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), friction=0.5)]
    if chute is not None:
        sides = [(-0.5 * chute, 1.0), (0.5 * chute, -1.0)]
        solids += [sc.Plane((0.0, y, 0.0), (0.0, n, 0.0), friction=0.0) for y, n in sides]
        ends = [(-0.1 * width, 1.0), (1.1 * width, -1.0)]
        solids += [sc.Plane((x, 0.0, 0.0), (n, 0.0, 0.0), friction=0.0) for x, n in ends]
    return sc.Scene([shell], colliders=solids), frames, {}


def sleeve(around: int = 24, along: int = 16, frames: int = 48, turns: float = 3.0) -> Built:
    """A tube with both ends held: one turns while both come together by half."""
    points, faces = cylinder(around, along, 0.1, 0.4)
    shell = sc.Shell(points, faces, cloth(thickness=5e-4), bending="hinge", rest_angles="flat")
    low = np.flatnonzero(points[:, 2] < 1e-9)
    high = np.flatnonzero(points[:, 2] > 0.4 - 1e-9)
    total = frames / 24
    shell.pin(low)

    def end(t: float) -> np.ndarray:
        s = t / total
        moved = turned(points[high], (0.0, 0.0, 1.0), 2 * np.pi * turns * s)
        return moved - [0.0, 0.0, 0.2 * s]

    shell.pin(high, end)
    return sc.Scene([shell], gravity=(0.0, 0.0, 0.0)), frames, {}


def poncho(cells: int = 20, frames: int = 30) -> Built:
    """A sheet with a hole dropped over a head on shoulders that start to walk and turn."""
    points, faces = grid(cells, cells, 1.0, 1.0)
    points -= [0.5, 0.5, 0.0]
    centre = points[faces].mean(axis=1)
    faces = faces[np.linalg.norm(centre[:, :2], axis=1) > 0.13]
    used, faces = np.unique(faces, return_inverse=True)
    points, faces = points[used], faces.reshape(-1, 3)
    from meshes import icosphere

    head, head_faces = icosphere(2, 0.1)
    body, body_faces = icosphere(2, 1.0)
    body = body * [0.18, 0.26, 0.3] - [0.0, 0.0, 0.42]
    whole = np.vstack([head - [0.0, 0.0, 0.02], body])
    both = np.vstack([head_faces, body_faces + len(head)])

    def walk(t: float) -> np.ndarray:
        s = max(t - 0.4, 0.0)
        return turned(whole, (0.0, 0.0, 1.0), 1.0 * s) + [0.6 * s, 0.0, 0.03 * np.sin(8 * s)]

    shell = sc.Shell(points, faces, cloth(), bending="quadratic")
    return sc.Scene([shell], colliders=[sc.Collider(whole, both, motion=walk)]), frames, {}


def pinch(gap: float, cells: int = 10, frames: int = 12, thickness: float = 2e-3, meshes: bool = True) -> Built:
    """Two plates close on a sheet down to `gap` thicknesses."""
    shell = sheet(cells, 0.3, (0.0, 0.0, 0.0), material=cloth(thickness))
    total = frames / 24
    plate, plate_faces = grid(2, 2, 0.5, 0.5)
    plate -= [0.25, 0.25, 0.0]

    def at(side: float):
        def height(t: float) -> float:
            far = 0.01
            near = 0.5 * gap * thickness
            return side * (far + (near - far) * min(t / (0.8 * total), 1.0))

        if meshes:
            return sc.Collider(plate, plate_faces, thickness=0.0, motion=lambda t: plate + [0.0, 0.0, height(t)])
        return sc.Plane(lambda t: (0.0, 0.0, height(t)), (0.0, 0.0, -side))

    return sc.Scene([shell], colliders=[at(-1.0), at(1.0)]), frames, {}


def layers(frame: sc.Frame, steepest: float = 60.0) -> int:
    """Most faces that lie, rather than stand by more than `steepest` degrees, above one point of the floor."""
    triangles = frame.positions[frame.faces]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    lying = np.abs(normals[:, 2]) > np.cos(np.radians(steepest)) * np.linalg.norm(normals, axis=1)
    triangles = triangles[lying, :, :2]
    best = 0
    for point in triangles.mean(axis=1):
        a, b, c = (triangles[:, k] - point for k in range(3))
        signs = [p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0] for p, q in ((a, b), (b, c), (c, a))]
        low, high = np.minimum.reduce(signs), np.maximum.reduce(signs)
        best = max(best, int(((low > 0) | (high < 0)).sum()))
    return best
