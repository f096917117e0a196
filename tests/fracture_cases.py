"""Sheets that break on a ball: plates, bowls and discs, and which way their cracks run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import meshes
import shellcore as sc

THICKNESS = 5e-3


def wooden(ratio: float) -> sc.Material:
    """`ratio` times as stiff against bending along the axis as across it; the membrane alike in all directions."""
    plain = sc.Material.solid(young=1e9, poisson=0.2, thickness=THICKNESS, density=1000)
    stiff = float(np.asarray(plain.bend[0]))
    weak = stiff / ratio
    # The twist of an isotropic plate, (1 − ν)D/2, with the geometric mean of the two rigidities.
    return sc.Material(
        stretch=float(np.asarray(plain.stretch[0])),
        poisson=0.2,
        bend=(stiff, weak),
        bend_shear=0.4 * np.sqrt(stiff * weak),
        bend_poisson=0.2,
        areal_density=1000 * THICKNESS,
        thickness=THICKNESS,
    )


@dataclass
class Broken:
    """What came of a throw: the shell, the last frame, and the edges that broke, (k, 3) [m], as they were at rest."""

    shell: sc.Shell
    frame: sc.Frame
    edges: np.ndarray

    @property
    def double_angle(self) -> complex:
        """Length-weighted mean of exp(2iφ) over the broken edges, φ from x seen from above."""
        length = np.linalg.norm(self.edges[:, :2], axis=1)
        angle = np.arctan2(self.edges[:, 1], self.edges[:, 0])
        return complex((length * np.exp(2j * angle)).sum() / length.sum())

    def off(self, axis: float) -> float:
        """Angle between the mean direction of the cracks and an axis at `axis` [rad] to x, in degrees."""
        return abs(float(np.degrees(0.5 * np.angle(self.double_angle * np.exp(-2j * axis)))))


def thrown(
    mesh: meshes.Mesh,
    axis: float = 0.0,
    ratio: float = 1.0,
    curvature: float = 4.0,
    speed: float = 5.0,
    frames: int = 14,
    bending: str = "cubic",
) -> Broken:
    """A sheet about the z axis thrown down at `speed` [m/s] onto a ball under its middle."""
    points, faces = mesh
    corners = points[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    direction = np.array([np.cos(axis), np.sin(axis), 0.0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    axes = direction - (normal @ direction)[:, None] * normal
    velocities = np.tile([0.0, 0.0, -speed], (len(points), 1))
    law = sc.Fracture(curvature)
    shell = sc.Shell(points, faces, wooden(ratio), bending, axes=axes, fracture=law, velocities=velocities)
    near = np.argmin((points[:, :2] ** 2).sum(axis=1))
    ball = sc.Sphere((0.0, 0.0, float(points[near, 2]) - 0.22), 0.2)
    scheme: dict[str, Any] = {"integrator": "implicit_euler", "substeps": 1, "solver": "auto", "strain_limit": 1e-3}
    frame = list(sc.simulate(sc.Scene([shell], colliders=[ball]), frames, fps=96, **scheme))[-1]
    gone = shell.hinges[frame.state["cut_0_states"] > 0]
    return Broken(shell, frame, points[gone[:, 1]] - points[gone[:, 0]])


def plate(seed: int, count: int = 300) -> meshes.Mesh:
    """A square of 1 m about the origin."""
    points, faces = meshes.unstructured(count, 1.0, 1.0, seed=seed)
    return points - np.array([0.5, 0.5, 0.0]), faces


def bowl(seed: int, count: int = 300, radius: float = 1.5) -> meshes.Mesh:
    """A square cut from a sphere of `radius` [m], hollow side up."""
    points, faces = plate(seed, count)
    points[:, 2] = radius - np.sqrt(radius**2 - (points[:, :2] ** 2).sum(axis=1))
    return points, faces
