"""Subdivision shells in collisions, with others and with themselves, at the paper's two steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import meshes
import shellcore as sc
from shellcore.contact.intersections import intersections

# The paper's scheme.
EULER: dict[str, Any] = {"integrator": "implicit_euler", "substeps": 1, "strain_limit": 1e-3}
METAL = sc.Material.solid(young=1e8, poisson=0.05, thickness=1e-3, density=2700.0)
"""E·t = 1e5 N/m, ν = 0.05, 1 mm, as in figure 11 of the paper."""


@pytest.mark.parametrize(("step", "frames"), [(0.01, 12), (0.001, 40)])
def test_a_metal_sleeve_strikes_the_floor(step: float, frames: int) -> None:
    points, faces = meshes.cylinder(14, 8, 0.05, 0.1)
    down = np.tile([0.0, 0.0, -1.0], (len(points), 1))
    shell = sc.Shell(sc.fit_control(points, faces), faces, METAL, bending="subdivision", velocities=down)
    floor = sc.Plane((0, 0, -5e-3), (0, 0, 1))
    scene = sc.Scene([shell], colliders=[floor])
    energy = 0.5 * shell.mass.sum()
    for frame in sc.simulate(scene, frames=frames, fps=1.0 / step, solver="auto", **EULER):
        assert shell.limit(frame.control())[:, 2].min() > -5e-3
        assert 0.5 * (shell.mass[:, None] * frame.velocities**2).sum() < 1.05 * energy + 9.81 * 0.01 * shell.mass.sum()
        assert np.abs(frame.fields["strain"]).max() < 0.05


@pytest.mark.parametrize(("step", "speed", "frames"), [(0.001, 2.0, 50), (0.01, 0.2, 20)])
@pytest.mark.parametrize("stuff", [pytest.param("cotton", marks=pytest.mark.long), "metal"])
def test_a_sleeve_is_crushed(stuff: str, step: float, speed: float, frames: int) -> None:
    # The paper's mesh of 494 vertices, pushed together by half or a fifth of its length; its folds touch.
    points, faces = meshes.cylinder(26, 18, 0.05, 0.2)
    cotton = sc.Material(
        stretch=5000.0, poisson=0.25, bend=4.2e-4, bend_poisson=0.25, areal_density=0.15, thickness=1e-3
    )
    material = METAL if stuff == "metal" else cotton
    seeded, _ = meshes.bumpy((points, faces), 5e-5)
    damping = sc.Damping(viscosity=1e-3)
    shell = sc.Shell(sc.fit_control(seeded, faces), faces, material, bending="subdivision", damping=damping)
    low, top = np.arange(26), np.arange(len(points) - 26, len(points))
    shell.clamp(low, points[low])
    shell.clamp(top, lambda t: points[top] - np.array([0.0, 0.0, speed * t]))
    scene = sc.Scene([shell], contact_distance=1e-3)
    for frame in sc.simulate(scene, frames=frames, fps=1.0 / step, solver="newton", iterations=1, **EULER):
        limit = shell.limit(frame.control())
        assert len(intersections(limit, faces)) == 0
        radius = np.hypot(limit[:, 0], limit[:, 1])
        assert 0.0 < radius.min() and radius.max() < 0.1
    assert radius.min() < 0.04
    assert np.abs(frame.fields["strain"]).max() < 0.3
