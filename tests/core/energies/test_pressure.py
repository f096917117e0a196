"""Pressure: area normals on closed and open meshes, and a balloon with a known radius."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from states import samples

import shellcore as sc
from meshes import bumpy, grid, hemisphere, icosphere
from shellcore.energies.pressure import Pressure

P = 2.5


def pressed(mesh, x):
    energy = Pressure(mesh.faces, mesh.closed, mesh.vertex_count)
    energy.pressure = P
    energy.begin_step(x)
    return energy


def thirds(mesh, x):
    """p/3 Σ area normals at every vertex, summed face by face."""
    total = np.zeros_like(x)
    for a, b, c in mesh.faces:
        total[[a, b, c]] += P / 6.0 * np.cross(x[b] - x[a], x[c] - x[a])
    return total


@settings(max_examples=30)
@given(samples())
def test_the_force_is_a_third_of_the_area_normals_at_every_vertex(sample):
    expected = thirds(sample.mesh, sample.x)
    force = -pressed(sample.mesh, sample.x).gradient(sample.x)
    assert force == pytest.approx(expected, abs=1e-13 * max(1.0, np.abs(expected).max()))


def test_an_open_sheet_is_pushed_alike_wherever_it_is():
    points, faces = bumpy(grid(4, 3, 1.0, 0.8), 0.1)
    for shift in (0.0, 50.0):
        shell = sc.Shell(points + shift, faces, sc.Material.preset("paper"), pressure=P)
        force = -pressed(shell.mesh, points + shift).gradient(points + shift)
        assert force == pytest.approx(thirds(shell.mesh, points), abs=1e-11)


def test_the_energy_of_a_closed_mesh_is_its_volume():
    points, faces = icosphere(4, 0.7)
    shell = sc.Shell(points, faces, sc.Material.preset("paper"))
    assert -pressed(shell.mesh, points).value(points) / P == pytest.approx(4 / 3 * np.pi * 0.7**3, rel=0.005)


@pytest.mark.parametrize("bending", ["hinge", "cubic"])
def test_a_balloon_reaches_the_radius_of_a_thin_sphere(bending):
    """Δr = p r² (1 − ν)/(2 E t) at small strain; the mesh's own error falls with its square."""
    young, poisson, thickness, radius = 1e6, 0.3, 1e-3, 0.5
    material = sc.Material.solid(young=young, poisson=poisson, thickness=thickness, density=1000.0)
    pressure = 4.0
    exact = pressure * radius**2 * (1 - poisson) / (2 * young * thickness)
    errors = []
    for level in (1, 2, 3):
        points, faces = icosphere(level, radius)
        shell = sc.Shell(points, faces, material, bending=bending, pressure=pressure)
        x = sc.equilibrium(sc.Scene([shell], gravity=(0, 0, 0)), tolerance=1e-9)
        grown = np.linalg.norm(x - x.mean(axis=0), axis=1) - radius
        weights = shell.areas[:, None] * np.ones(3)
        mass = np.bincount(shell.faces.ravel(), weights=weights.ravel())
        errors.append(abs((mass @ grown) / mass.sum() / exact - 1.0))
    assert errors[-1] < 0.02
    assert np.log2(errors[0] / errors[-1]) / 2 == pytest.approx(2.0, abs=0.4)


@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark"])
def test_a_pressurised_free_balloon_does_not_fly_off(integrator):
    points, faces = icosphere(1, 0.5)
    material = sc.Material(stretch=100.0, poisson=0.3, bend=1e-3, areal_density=0.1, thickness=1e-3)
    shell = sc.Shell(points, faces, material, pressure=lambda t: 5.0 * min(t, 0.5))
    *_, last = sc.simulate(sc.Scene([shell], gravity=(0, 0, 0)), 30, integrator=integrator)
    assert np.abs(shell.mass @ last.velocities).max() < 1e-12
    assert np.linalg.norm(last.positions, axis=1).mean() > 0.501


def test_pressure_on_an_open_bowl_lifts_it_by_its_mouth():
    """The resultant on an open surface is p times its mouth, along the axis: here on a free hemisphere."""
    points, faces = hemisphere(6, 0.5)
    shell = sc.Shell(points, faces, sc.Material.preset("paper"), pressure=P)
    rim = points[shell.mesh.boundary_vertices][:, :2]
    order = np.argsort(np.arctan2(rim[:, 1], rim[:, 0]))
    a, b = rim[order], np.roll(rim[order], -1, axis=0)
    mouth = 0.5 * abs((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum())
    force = -pressed(shell.mesh, points).gradient(points)
    assert force.sum(axis=0) == pytest.approx([0.0, 0.0, P * mouth], abs=1e-12)
