"""A small scene in which everything that can change over time does, and a frame as bytes to compare."""

from __future__ import annotations

import numpy as np

import shellcore as sc
from meshes import bumpy, grid

MATERIAL = sc.Material(stretch=60.0, poisson=0.3, bend=0.01, areal_density=0.2, thickness=1e-3)


def busy_scene(**options):
    """Everything that changes over time at once: moving pins and rest angles, a seam that opens, wind, damping."""
    points, faces = bumpy(grid(3, 3, 0.6, 0.6), 0.05)
    damping = sc.Damping(mass=0.2, stiffness=1e-3, hinge=1e-4)
    sheet = sc.Shell(points, faces, MATERIAL, damping=damping, pressure=lambda t: 1.0 + t)
    sheet.pin([0, 3], lambda t: points[[0, 3]] + np.array([0.0, 0.0, 0.1 * np.sin(9.0 * t)]))
    sheet.pin([12], points[[12]] + 0.05, stiffness=5.0)
    sheet.load([15], lambda t: np.array([0.0, 0.02 * t, 0.01]))
    angles = sheet.shape_angles
    sheet.set_rest_angles(lambda t: angles * (1.0 + 5.0 * t))
    flap = sc.Shell(points + np.array([0.7, 0.0, 0.0]), faces, MATERIAL, bending="hinge", membrane="springs")
    seam = sc.Attach(sheet, [7, 11], flap, [4, 8], stiffness=20.0, release=[0.052, np.inf])
    ground = sc.Plane((0.0, 0.0, -0.05), (0.0, 0.0, 1.0))
    wind = sc.Wind((0.0, 3.0, 1.0))
    return sc.Scene([sheet, flap], colliders=[ground], attachments=[seam], wind=wind, **options)


def bytes_of(frame):
    return b"".join(
        np.ascontiguousarray(part).tobytes()
        for part in (frame.time, frame.positions, frame.velocities, *frame.state.values())
    )
