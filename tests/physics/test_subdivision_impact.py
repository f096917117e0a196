"""Subdivision shells in collisions, at the paper's two steps. Asked for with -m long."""

from __future__ import annotations

import numpy as np
import pytest

import meshes
import shellcore as sc

pytestmark = pytest.mark.long


@pytest.mark.parametrize(("step", "frames"), [(0.01, 12), (0.001, 40)])
def test_a_metal_sleeve_strikes_the_floor(step: float, frames: int) -> None:
    # E·t = 1e5 N/m, ν = 0.05, 1 mm, as in figure 11 of the paper.
    points, faces = meshes.cylinder(14, 8, 0.05, 0.1)
    metal = sc.Material.solid(young=1e8, poisson=0.05, thickness=1e-3, density=2700.0)
    down = np.tile([0.0, 0.0, -1.0], (len(points), 1))
    shell = sc.Shell(
        sc.fit_control(points, faces), faces, metal, bending="subdivision", velocities=down
    )  # fmt: skip
    floor = sc.Plane((0, 0, -5e-3), (0, 0, 1))
    scene = sc.Scene([shell], colliders=[floor], contact="exact")
    energy = 0.5 * shell.mass.sum()
    for frame in sc.simulate(scene, frames=frames, fps=1.0 / step):
        assert shell.limit(frame.control())[:, 2].min() > -5e-3
        assert 0.5 * (shell.mass[:, None] * frame.velocities**2).sum() < 1.05 * energy + 9.81 * 0.01 * shell.mass.sum()
        assert np.abs(frame.fields["strain"]).max() < 0.05
