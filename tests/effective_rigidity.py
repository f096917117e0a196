"""What a sheet of hinges really costs to bend: its effective rigidity by direction, and the meshes to measure it on.

Measured as for an infinite sheet: one period of a periodic mesh is bent to a cylinder, and its vertices then move
periodically to the least energy. Exact for small curvature; no boundary enters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay

import meshes
from shellcore.mesh import Topology, topology
from shellcore.unfolding import unfold

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PeriodicSheet:
    """Several periods of a mesh; the one about `origin` is measured, the rest keep it far from the boundary."""

    positions: Floats
    mesh: Topology
    period: Floats
    """Width and height of a period [m]."""
    origin: Floats
    """Lower left corner of the period to measure [m]."""

    @staticmethod
    def of(positions: Floats, faces: NDArray[np.int64], period: tuple[float, float]) -> PeriodicSheet:
        size = np.array(period)
        middle = np.ptp(positions[:, :2], axis=0) / 2
        # Off the lattice by an odd share, so that no edge's middle lies on the border.
        origin = (np.floor(middle / size) - 0.5) * size + 0.0137 * size
        return PeriodicSheet(positions, topology(faces, len(positions)), size, origin)


def equilateral(count: int = 24) -> PeriodicSheet:
    side = 1.0 / count
    rows = 2 * round(count / np.sqrt(3.0))
    return PeriodicSheet.of(*meshes.equilateral(count, rows, side), (side, np.sqrt(3.0) * side))


def right(count: int = 24, aspect: float = 1.0) -> PeriodicSheet:
    return PeriodicSheet.of(*meshes.grid(count, count, 1.0, aspect, "one"), (1.0 / count, aspect / count))


def crossed(count: int = 16) -> PeriodicSheet:
    return PeriodicSheet.of(*meshes.grid(count, count, 1.0, 1.0, "crossed"), (1.0 / count, 1.0 / count))


def alternating(count: int = 24) -> PeriodicSheet:
    return PeriodicSheet.of(*meshes.grid(count, count, 1.0, 1.0, "alternating"), (2.0 / count, 2.0 / count))


def jittered(seed: int, count: int = 12, amount: float = 0.3) -> PeriodicSheet:
    """Delaunay triangulation of a square lattice with every point moved at random by up to `amount` cells."""
    rng = np.random.default_rng(seed)
    lattice = np.stack(np.meshgrid(np.arange(count), np.arange(count)), axis=-1).reshape(-1, 2) + 0.5
    return _tiled((lattice + rng.uniform(-amount, amount, lattice.shape)) / count)


def scattered(seed: int, count: int = 160) -> PeriodicSheet:
    """Delaunay triangulation of points with no lattice behind them, smoothed until no angle is below 20 degrees."""
    rng = np.random.default_rng(seed)
    points = rng.random((1, 2))
    # Best candidate of several: random, yet no two points close together.
    while len(points) < count:
        candidates = rng.random((32, 2))
        offset = candidates[:, None] - points[None]
        offset -= np.round(offset)
        points = np.vstack([points, candidates[np.argmax((offset**2).sum(axis=2).min(axis=1))]])
    for _ in range(50):
        sheet = _tiled(points)
        if meshes.smallest_angle(sheet.positions, _inner_faces(sheet)) >= 20.0:
            return sheet
        points = _smoothed(points, sheet)
    raise ValueError(f"seed {seed} stays below 20 degrees")


def effective_rigidity(sheet: PeriodicSheet, rigidity: Floats, directions: Floats, relaxed: bool = True) -> Floats:
    """Twice the energy per area of unit cylinders along `directions` [rad, from x], for hinges of `rigidity`."""
    mesh, x = sheet.mesh, sheet.positions
    unfolding = unfold(mesh, x)
    place = (x[mesh.hinges[:, :2]].mean(axis=1)[:, :2] - sheet.origin) / sheet.period
    inside = np.flatnonzero((np.floor(place) == 0).all(axis=1))
    edge = mesh.hinge_edges[inside]
    vertices = mesh.hinges[inside]
    stencil = unfolding.stencil()[edge]
    along = np.cos(directions) * x[:, :1] + np.sin(directions) * x[:, 1:2]
    angles = np.einsum("hv,hvd->hd", stencil, 0.5 * along[vertices] ** 2)
    weight = (rigidity[inside] * unfolding.length[edge] ** 2 / unfolding.area[edge])[:, None]
    if relaxed:
        # Vertices a period apart are one.
        cell = np.round((x[:, :2] - sheet.origin) / sheet.period % 1.0 * 1e6) % 1e6
        _, image = np.unique(cell, axis=0, return_inverse=True)
        used, image = np.unique(image.reshape(-1)[vertices], return_inverse=True)
        to_angles = np.zeros((len(inside), len(used)))
        np.add.at(to_angles, (np.arange(len(inside))[:, None], image.reshape(vertices.shape)), stencil)
        to_angles[np.abs(to_angles) < 1e-9 * np.abs(stencil).max()] = 0.0
        root = np.sqrt(weight)
        heights = np.linalg.lstsq(root * to_angles, root * angles, rcond=1e-10)[0]
        angles = angles - to_angles @ heights
    result: Floats = (weight * angles**2).sum(axis=0) / sheet.period.prod()
    return result


def _tiled(points: Floats) -> PeriodicSheet:
    """Points of the unit square repeated three times either way and triangulated; a period is the square."""
    shifts = np.stack(np.meshgrid(np.arange(3.0), np.arange(3.0)), axis=-1).reshape(-1, 2)
    every = (points % 1.0 + shifts[:, None, :]).reshape(-1, 2)
    faces = _proper_faces(every, Delaunay(every).simplices.astype(np.int64))
    sheet = PeriodicSheet.of(np.column_stack([every, np.zeros(len(every))]), faces, (1.0, 1.0))
    return PeriodicSheet(sheet.positions, sheet.mesh, sheet.period, np.array([1.0, 1.0]) + 1e-9)


def _proper_faces(points: Floats, faces: NDArray[np.int64]) -> NDArray[np.int64]:
    """Faces turned counterclockwise, without the needles that close the hull far from where anything is measured."""
    corners = points[faces]
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    twice_area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    longest = ((corners - np.roll(corners, 1, axis=1)) ** 2).sum(axis=2).max(axis=1)
    outer = (np.abs(corners.mean(axis=1) - 1.5) > 1.0).any(axis=1)
    turned = np.where((twice_area < 0)[:, None], faces[:, [0, 2, 1]], faces)
    return turned[~(outer & (np.abs(twice_area) < 0.2 * longest))]


def _inner_faces(sheet: PeriodicSheet) -> NDArray[np.int64]:
    centre = sheet.positions[sheet.mesh.faces].mean(axis=1)[:, :2]
    return sheet.mesh.faces[(np.abs(centre - 1.5) < 0.6).all(axis=1)]


def _smoothed(points: Floats, sheet: PeriodicSheet) -> Floats:
    """Each point half way to the mean of its neighbours in the middle copy."""
    start, end = sheet.mesh.edges.T
    n = len(sheet.positions)
    total = np.zeros((n, 2))
    np.add.at(total, start, sheet.positions[end, :2])
    np.add.at(total, end, sheet.positions[start, :2])
    degree = np.bincount(sheet.mesh.edges.ravel(), minlength=n)
    middle = slice(4 * len(points), 5 * len(points))
    return 0.5 * (sheet.positions[middle, :2] + total[middle] / degree[middle, None]) % 1.0
