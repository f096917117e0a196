"""Everyday scenes whose cost `everyday.py` measures: each builder returns a Scene and options of `simulate`.

24 frames a second, materials by preset, bending as the panel has it ("cubic") unless a scene says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import spsolve

import meshes
import shellcore as sc

Built = tuple[sc.Scene, dict[str, Any]]
FLOOR = sc.Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), name="floor")


@dataclass(frozen=True)
class Everyday:
    """A scene, its frames, and the units a frame and vertex it may cost."""

    build: Callable[[], Built]
    frames: int
    bar: float


def _turned(points: np.ndarray, axis: tuple[float, float, float], angle: float) -> np.ndarray:
    """About the origin by `angle` [rad]."""
    k = np.asarray(axis) / np.linalg.norm(axis)
    cross = np.cross(k, points)
    return points * np.cos(angle) + cross * np.sin(angle) + np.outer(points @ k, k) * (1.0 - np.cos(angle))


def _square(cells: int, size: float) -> tuple[np.ndarray, np.ndarray]:
    points, faces = meshes.grid(cells, cells, size, size)
    return points - [0.5 * size, 0.5 * size, 0.0], faces


def _preset(name: str) -> sc.Material:
    return sc.Material.preset(name)


def paper() -> Built:
    """51 × 51, 0.3 m, tilted by 60°, dropped from 0.2 m."""
    points, faces = _square(50, 0.3)
    start = _turned(points, (1.0, 0.0, 0.0), np.radians(60))
    start[:, 2] += 0.2 - start[:, 2].min()
    shell = sc.Shell(points, faces, _preset("paper"), start=start)
    return sc.Scene([shell], colliders=[FLOOR], self_contact=False), {}


def _can(touching: bool) -> Built:
    points, faces = meshes.cylinder(90, 60, 0.033, 0.115)
    shell = sc.Shell(points, faces, _preset("can_wall"), plasticity=sc.Plasticity.preset("can_wall"))
    low, high = points[:, 2] < 1e-9, points[:, 2] > 0.115 - 1e-9
    shell.pin(np.flatnonzero(low))
    top = points[high]
    shell.pin(np.flatnonzero(high), targets=lambda t: top - [0.0, 0.0, 0.03 * min(t, 1.0)])
    return sc.Scene([shell], self_contact=touching), {}


def _bowl(preset: str, mesh: bool) -> Built:
    points, faces = meshes.hemisphere(20, 0.1)
    points = points * [1.0, 1.0, -1.0] + [0.0, 0.0, 0.15]
    shell = sc.Shell(points, faces[:, ::-1], _preset(preset))
    ground, cells = meshes.grid(10, 10, 0.6, 0.6, "one")
    floor = sc.Collider(ground - [0.31, 0.29, 0.0], cells) if mesh else FLOOR
    return sc.Scene([shell], colliders=[floor], self_contact=False), {}


def tube() -> Built:
    """100 × 60, R = 0.25 m, t-shirt, cut flat, on an ellipsoid that swings by 0.3 m at 4 rad/s."""
    points, faces = meshes.cylinder(100, 60, 0.25, 0.8)
    points = (points - [0.0, 0.0, 0.4])[:, [2, 0, 1]]
    body, triangles = meshes.icosphere(3)
    body = body * [0.6, 0.2, 0.2]

    def motion(t: float) -> np.ndarray:
        return body + [0.0, 0.3 * np.sin(4.0 * t), 0.0]

    shell = sc.Shell(points, faces, _preset("tshirt"), rest_angles="flat")
    return sc.Scene([shell], colliders=[sc.Collider(body, triangles, motion=motion)], self_contact=False), {}


def curtain() -> Built:
    """81 × 81, silk, 2 m; its top is gathered to 40% in a second, in folds of eight cells."""
    points, faces = meshes.grid(80, 80, 2.0, 2.0)
    upright = points[:, [0, 2, 1]]
    shell = sc.Shell(upright, faces, _preset("silk"))
    top = np.flatnonzero(points[:, 1] > 2.0 - 1e-9)
    zigzag = np.abs((np.arange(81) + 2) % 8 - 4) - 2.0

    def gathered(t: float) -> np.ndarray:
        along = 1.0 - 0.6 * min(t, 1.0)
        across = np.sqrt(1.0 - along**2) * 2.0 / 80
        x = upright[top, 0]
        return np.column_stack([1.0 + along * (x - 1.0), across * zigzag, np.full(81, 2.0)])

    shell.pin(top, targets=gathered)
    return sc.Scene([shell], self_contact=False), {}


def torn() -> Built:
    """Paper of 0.4 × 0.6 m, 2.8k scattered, that breaks at 2% of strain; two corners are pulled apart."""
    points, faces = meshes.unstructured(2800, 0.4, 0.6, seed=1)
    upright = points[:, [0, 2, 1]]
    shell = sc.Shell(upright, faces, _preset("paper"), fracture=sc.Fracture(np.inf, stretch=0.02))
    corners = np.array([np.argmin(points[:, 0] - points[:, 1]), np.argmax(points[:, 0] + points[:, 1])])
    held, way = upright[corners], np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    shell.pin(corners, targets=lambda t: held + 0.1 * t * way)
    return sc.Scene([shell], self_contact=False), {}


def wrung() -> Built:
    """A subdivision tube of 48 × 32, cotton, wrung at 2 rad/s."""
    points, faces = meshes.cylinder(48, 32, 0.1, 0.4)
    points = points[:, [2, 0, 1]]
    shell = sc.Shell(points, faces, _preset("cotton"), bending="subdivision")
    near, far = np.flatnonzero(points[:, 0] < 1e-9), np.flatnonzero(points[:, 0] > 0.4 - 1e-9)
    ends = shell.limit(points)
    shell.pin(near)
    shell.pin(far, targets=lambda t: _turned(ends[far], (1.0, 0.0, 0.0), 2.0 * t))
    return sc.Scene([shell], self_contact=False), {}


def balloon() -> Built:
    """A sphere of 2.6k, PET film; its pressure rises to 2 kPa in a second."""
    points, faces = meshes.icosphere(4, 0.1)
    shell = sc.Shell(points, faces, _preset("pet_film"), pressure=lambda t: 2e3 * min(t, 1.0))
    return sc.Scene([shell], self_contact=False), {}


def hung() -> Built:
    """Cotton, 41 × 41, 1 m, let go at two corners, by Newmark's scheme."""
    points, faces = meshes.grid(40, 40, 1.0, 1.0)
    shell = sc.Shell(points, faces, _preset("cotton"))
    shell.pin([40 * 41, 41 * 41 - 1])
    return sc.Scene([shell], self_contact=False), {"integrator": "newmark"}


def leaf() -> Built:
    """41 × 41, 0.1 m, held at a corner in wind of 3 m/s that turns at 9 rad/s."""
    points, faces = meshes.grid(40, 40, 0.1, 0.1)
    shell = sc.Shell(points, faces, _preset("leaf"))
    shell.pin([0])

    def velocity(t: float, x: np.ndarray) -> np.ndarray:
        return np.broadcast_to(3.0 * np.array([np.cos(9.0 * t), np.sin(9.0 * t), 0.0]), x.shape)

    return sc.Scene([shell], wind=sc.Wind(velocity), self_contact=False), {}


def stack() -> Built:
    """Ten cotton sheets of 21 × 21, 4 mm apart, that fall on each other and the floor."""
    points, faces = _square(20, 0.3)
    shells = [
        sc.Shell(_turned(points, (0.0, 0.0, 1.0), 0.2 * k) + [0.0, 0.0, 0.004 * (k + 1)], faces, _preset("cotton"))
        for k in range(10)
    ]
    return sc.Scene(shells, colliders=[FLOOR]), {}


def letter() -> Built:
    """31 × 22, paper, hinges, with two creases that cross, of 150° and 100°."""
    points, faces = meshes.grid(30, 21, 0.297, 0.21)
    shell = sc.Shell(points, faces, _preset("paper"), bending="hinge")
    for axis, place, angle in ((0, points[15, 0], 150.0), (1, points[10 * 31, 1], 100.0)):
        on = np.abs(points[:, axis] - place) < 1e-9
        edges = shell.hinges[:, :2]
        shell.crease(edges[on[edges].all(axis=1)], np.radians(angle), 0.0, 1.0)
    middle = np.flatnonzero(np.linalg.norm(points - [points[15, 0], points[310, 1], 0.0], axis=1) < 0.015)
    shell.pin(middle[:1])
    return sc.Scene([shell], self_contact=False), {}


# Sewn from two panels


def _sewn(
    inside: Callable[[np.ndarray], np.ndarray], open_at: Callable[[np.ndarray], np.ndarray], cells: tuple[int, int],
    size: tuple[float, float], flatness: float,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Front and back of a garment, in the plane of x and z and bulging along y, sewn where the border is not open.

    `inside`, `open_at`: which cells' middles and border vertices (k, 2). The bulge is that of a soap film, so that
    sleeves are round (`flatness` 1) or flatter.
    """
    points, faces = meshes.grid(*cells, *size)
    points = points - [0.5 * size[0], 0.5 * size[1], 0.0]
    faces = faces[inside(points[faces].mean(axis=1)[:, :2])]
    used, faces = np.unique(faces, return_inverse=True)
    points, faces = points[used], faces.reshape(-1, 3)
    edges = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    pairs, counts = np.unique(edges, axis=0, return_counts=True)
    border = pairs[counts == 1]
    free = open_at(points[border].mean(axis=1)[:, :2])
    seam = np.zeros(len(points), dtype=bool)
    seam[border[~free]] = True
    # −Δu = 1 with u = 0 at seams: √2u is the half axis of an ellipse across a strip.
    n, cell = len(points), size[0] / cells[0]
    straight = (np.abs(points[pairs[:, 0]] - points[pairs[:, 1]]).min(axis=1) < 1e-12) & (
        np.count_nonzero(np.abs(points[pairs[:, 0]] - points[pairs[:, 1]]) > 1e-12, axis=1) == 1
    )
    a, b = pairs[straight].T
    ones = np.ones(len(a))
    near = csr_array((np.tile(ones, 2), (np.concatenate([a, b]), np.concatenate([b, a]))), (n, n))
    assert connected_components(near)[0] == 1
    laplacian = (diags_array(np.asarray(near.sum(axis=1)).ravel()) - near).tocsr()
    bulge = np.zeros(n)
    loose = np.flatnonzero(~seam)
    bulge[loose] = spsolve(laplacian[loose][:, loose].tocsc(), np.full(len(loose), cell**2))
    depth = flatness * np.sqrt(2.0 * np.maximum(bulge, 0.0))
    front = np.column_stack([points[:, 0], -depth, points[:, 1]])
    back = np.arange(n)
    back[loose] = n + np.arange(len(loose))
    both = np.vstack([front, front[loose] * [1.0, -1.0, 1.0]])
    return both, np.vstack([faces, back[faces][:, ::-1]])


def _merged(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.concatenate([[0], np.cumsum([len(points) for points, _ in parts])])
    return np.vstack([points for points, _ in parts]), np.vstack(
        [faces + at for (_, faces), at in zip(parts, starts, strict=False)]
    )


def shirt() -> Built:
    """A shirt of 2k vertices, cut flat, on a figure that lowers its arms and sways."""
    half, sleeve, high = 0.25, 0.11, 0.3

    def inside(at: np.ndarray) -> np.ndarray:
        x = np.abs(at[:, 0])
        return (x < half) | (at[:, 1] > high - 2.0 * sleeve) & (x < 0.48)

    def open_at(at: np.ndarray) -> np.ndarray:
        x, z = at.T
        neck = (np.abs(x) < 0.1) & (z > high - 1e-6)
        return neck | (z < -high + 1e-6) | (np.abs(x) > 0.48 - 0.02)

    points, faces = _sewn(inside, open_at, (50, 30), (1.0, 0.6), 0.75)
    ball, triangles = meshes.icosphere(3)
    body = ball * [0.17, 0.1, 0.33]
    arms = [ball * [0.32, 0.045, 0.045] + [side * 0.34, 0.0, high - sleeve] for side in (-1.0, 1.0)]

    def figure(t: float) -> np.ndarray:
        down = 0.25 * (1.0 - np.cos(np.pi * min(t, 1.0)))
        posed = [body]
        for side, arm in zip((-1.0, 1.0), arms, strict=True):
            shoulder = np.array([side * 0.12, 0.0, high - sleeve])
            posed.append(_turned(arm - shoulder, (0.0, 1.0, 0.0), side * down) + shoulder)
        sway = 0.15 * (1.0 - np.cos(5.0 * t))
        return _turned(np.vstack(posed), (0.0, 0.0, 1.0), sway) + [0.2 * sway, 0.0, 0.0]

    at_rest, triangles = _merged([(part, triangles) for part in (body, *arms)])
    shell = sc.Shell(points, faces, _preset("tshirt"), rest_angles="flat")
    return sc.Scene([shell], colliders=[sc.Collider(at_rest, triangles, motion=figure)], self_contact=False), {}


def bag() -> Built:
    """A bag of PET film, 1.9k vertices, that hangs by two corners while its pressure rises to 300 Pa in a second."""
    points, faces = _sewn(
        lambda at: np.ones(len(at), dtype=bool), lambda at: np.zeros(len(at), dtype=bool), (30, 30), (0.3, 0.3), 0.1
    )
    shell = sc.Shell(points, faces, _preset("pet_film"), rest_angles="flat", pressure=lambda t: 300.0 * min(t, 1.0))
    shell.pin(np.flatnonzero((np.abs(points[:, 0]) > 0.15 - 1e-9) & (points[:, 2] > 0.15 - 1e-9)))
    return sc.Scene([shell], self_contact=False), {}


def tablecloth() -> Built:
    """Cotton, 51 × 51, 1 m, on a table of 0.7 m; from a quarter of a second on one edge is pulled away at 8 m/s²."""
    points, faces = _square(50, 1.0)
    points[:, 2] = 0.002
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 0)]) * [0.35, 0.35, 0.05]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    box = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    shell = sc.Shell(points, faces, _preset("cotton"))
    edge = np.flatnonzero(points[:, 0] > 0.5 - 1e-9)
    held = points[edge]
    shell.pin(edge, targets=lambda t: held + [4.0 * max(0.0, t - 0.25) ** 2, 0.0, 0.0])
    return sc.Scene([shell], colliders=[sc.Collider(corners, box, friction=0.2, name="table")], self_contact=False), {}


def book() -> Built:
    """Eight sheets of paper, 12 × 17, bound at a spine and fanned, that fall shut on the floor."""
    points, faces = meshes.grid(11, 16, 0.15, 0.21)
    shells = []
    for k in range(8):
        spine = np.array([0.0, 0.0, 0.003 + 0.003 * k])
        angle = np.radians(10.0 + 8.0 * k)
        page = sc.Shell(points, faces, _preset("paper"), start=_turned(points, (0.0, 1.0, 0.0), -angle) + spine)
        page.pin(np.flatnonzero(points[:, 0] < 1e-9))
        shells.append(page)
    return sc.Scene(shells, colliders=[FLOOR]), {}


def ribbon() -> Built:
    """Polyester, 0.03 × 1.2 m, 4 × 121 vertices, wound up by a spool of 25 mm that turns at 12 rad/s."""
    points, faces = meshes.grid(120, 3, 1.2, 0.03)
    radius, gap = 0.025, 1.2e-3
    reel, triangles = meshes.cylinder(48, 4, radius, 0.06)
    reel = reel[:, [0, 2, 1]] - [0.0, 0.03, 0.0]
    # It leaves the spool at its top, level, and is wound over it.
    points = points - [0.0, 0.015, 0.0] + [0.0, 0.0, radius + gap]
    shell = sc.Shell(points, faces, _preset("polyester"))
    end = np.flatnonzero(points[:, 0] < 0.011)
    held = points[end]

    def turn(x: np.ndarray, t: float) -> np.ndarray:
        return _turned(x, (0.0, 1.0, 0.0), -6.0 * (1.0 - np.exp(-2.0 * t)) * t * 2.0)

    shell.pin(end, targets=lambda t: turn(held, t))
    spool = sc.Collider(reel, triangles, motion=lambda t: turn(reel, t), name="spool")
    return sc.Scene([shell], colliders=[spool], self_contact=True), {}


SCENES: dict[str, Everyday] = {
    "paper": Everyday(paper, 36, 8),
    "can": Everyday(lambda: _can(False), 24, 8),
    "can touching": Everyday(lambda: _can(True), 24, 12),
    "rubber bowl": Everyday(lambda: _bowl("rubber", False), 24, 12),
    "felt bowl": Everyday(lambda: _bowl("felt", True), 24, 12),
    "tube": Everyday(tube, 24, 10),
    "curtain": Everyday(curtain, 24, 6),
    "torn paper": Everyday(torn, 24, 12),
    "wrung": Everyday(wrung, 24, 40),
    "balloon": Everyday(balloon, 24, 12),
    "newmark": Everyday(hung, 24, 10),
    "leaf": Everyday(leaf, 24, 10),
    "stack": Everyday(stack, 24, 12),
    "letter": Everyday(letter, 30, 12),
    "shirt": Everyday(shirt, 24, 12),
    "bag": Everyday(bag, 24, 12),
    "tablecloth": Everyday(tablecloth, 24, 12),
    "book": Everyday(book, 24, 12),
    "ribbon": Everyday(ribbon, 24, 12),
}
