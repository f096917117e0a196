"""What acts on subdivision shells from outside acts on their limit points: contact, springs, pressure, wind."""

from __future__ import annotations

import numpy as np
import pytest

import meshes
import shellcore as sc
from shellcore.dynamics.stage import Stage
from shellcore.energies.carried import Carried
from shellcore.energies.pressure import Pressure
from shellcore.system import System

CLOTH = sc.Material(stretch=500.0, poisson=0.3, bend=1e-4, bend_poisson=0.3, areal_density=0.2, thickness=4e-3)


def sheet(n: int = 8, height: float = 0.0, **options) -> sc.Shell:
    points, faces = meshes.grid(n, n, 1.0, 1.0, "one")
    return sc.Shell(points - np.array([0.5, 0.5, -height]), faces, CLOTH, bending="subdivision", **options)


def test_points_are_read_carried_and_placed() -> None:
    shell = sheet()
    shell.clamp(np.flatnonzero(shell.rest_positions[:, 0] < -0.499))
    shell.pin([40], axes=(False, True, True))
    other = sc.Shell(*meshes.grid(2, 2, 1.0, 1.0), CLOTH)
    system = System(sc.Scene([other, shell]))
    surface = system.surface
    assert surface is not None
    rng = np.random.default_rng(0)
    y = rng.normal(size=system.start.shape)
    points = surface.read(y)
    np.testing.assert_array_equal(points[:9], y[:9])
    control = system.control(y)
    whole = np.concatenate([control[9 : system.visible], control[system.visible :]])
    np.testing.assert_allclose(points[9:], shell.limit(whole), atol=1e-12)
    forces = rng.normal(size=points.shape)
    assert (surface.carry(forces) * y).sum() == pytest.approx((forces * points).sum())
    goal = points + rng.normal(size=points.shape)
    np.testing.assert_allclose(surface.read(surface.placed(y, goal)), goal, atol=1e-10)


def test_carried_energies_keep_their_derivatives() -> None:
    shell = sheet(4, pressure=3.0)
    shell.pin([3, 7], stiffness=50.0)
    shell.clamp(np.flatnonzero(shell.rest_positions[:, 0] < -0.499))
    ball, wind = sc.Sphere((0, 0, -0.3), 0.31), sc.Wind((3.0, 1.0, 2.0), lift=0.5)
    system = System(sc.Scene([shell], wind=wind, colliders=[ball], contact="penalty"))
    x = system.start + 0.02 * np.random.default_rng(1).normal(size=system.start.shape)
    direction = np.random.default_rng(2).normal(size=x.shape)
    terms = system.begin_step(Stage.euler(0.0, 0.01, x, 0 * x))
    carried = [energy for energy in terms.energies if isinstance(energy, Carried)]
    assert len(carried) == 4
    for energy in carried:
        e = 1e-6
        slope = (energy.value(x + e * direction) - energy.value(x - e * direction)) / (2 * e)
        assert (energy.gradient(x) * direction).sum() == pytest.approx(slope, rel=1e-5)
        change = (energy.gradient(x + e * direction) - energy.gradient(x - e * direction)) / (2 * e)
        exact = energy.hessian(x, psd=False).product(direction)
        assert np.abs(exact - change).max() < 1e-5 * np.abs(change).max()


def test_soft_pins_leave_a_curved_shell_at_rest() -> None:
    # They hold limit points, where their targets are taken from; a control vertex lies outside.
    points, faces = meshes.icosphere(1)
    shell = sc.Shell(points, faces, CLOTH, bending="subdivision")
    shell.pin(np.arange(5), stiffness=1e3)
    *_, frame = sc.simulate(sc.Scene([shell], gravity=(0, 0, 0)), frames=2, fps=50)
    np.testing.assert_allclose(frame.positions, points, atol=1e-9)


def test_pressure_works_on_the_limit_surface() -> None:
    points, faces = meshes.icosphere(2)
    shell = sc.Shell(sc.fit_control(points, faces), faces, CLOTH, bending="subdivision", pressure=10.0)
    system = System(sc.Scene([shell]))
    terms = system.begin_step(Stage.euler(0.0, 0.01, system.start, 0 * system.start))
    (pressure,) = (e for e in terms.energies if isinstance(e, Carried) and isinstance(e.energy, Pressure))
    volume = np.einsum("ij,ij->", points[faces[:, 0]], np.cross(points[faces[:, 1]], points[faces[:, 2]])) / 6
    assert pressure.value(system.start) == pytest.approx(-10.0 * volume)


def test_a_draped_sheet_stays_outside_a_mesh_collider() -> None:
    ball, facets = meshes.icosphere(2, 0.25)
    shell = sheet(9, 0.27, damping=sc.Damping(viscosity=1e-3))
    scene = sc.Scene([shell], colliders=[sc.Collider(ball, facets, thickness=2e-3)])
    frames = list(sc.simulate(scene, frames=10, fps=25))
    for frame in frames:
        limit = shell.limit(frame.control())
        # Outside every facet's plane on the side that faces it: the ball is convex.
        normals = np.cross(ball[facets[:, 1]] - ball[facets[:, 0]], ball[facets[:, 2]] - ball[facets[:, 0]])
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        height = np.einsum("pfk,fk->pf", limit[:, None] - ball[facets[:, 0]][None], normals)
        assert height.max(axis=1).min() > 0.0
        assert frame.stats["nearest"] > 0.0
    assert limit[:, 2].min() < 0.1 and limit[:, 2].max() > 0.24
    assert frames[-1].fields["contact"].max() > 0.0
    assert frames[-1].fields["contact"].shape == (100,)
    resumed = list(sc.simulate(scene, frames=2, fps=25, resume=frames[7].state))
    np.testing.assert_array_equal(resumed[-1].positions, frames[-1].positions)


def test_two_sheets_meet_between_limit_points() -> None:
    low, high = sheet(3), sheet(3, 0.02, velocities=np.tile([0.0, 0, -1.0], (16, 1)))
    scene = sc.Scene([low, high], gravity=(0, 0, 0), contact_distance=5e-3)
    frames = list(sc.simulate(scene, frames=4, fps=100))
    gap = [high.limit(f.control(1))[:, 2].min() - low.limit(f.control(0))[:, 2].max() for f in frames]
    assert min(gap) > 0.0
    # Momentum goes from one to the other.
    assert np.mean(frames[-1].velocities[:16, 2]) < -0.2


def test_borders_that_are_attached_make_a_crease() -> None:
    points, faces = meshes.grid(3, 3, 0.3, 0.3, "one")
    first = sc.Shell(points, faces, CLOTH, bending="subdivision")
    second = sc.Shell(points + np.array([0.3, 0, 0]), faces, CLOTH, bending="subdivision")
    right, left = np.flatnonzero(points[:, 0] > 0.299), np.flatnonzero(points[:, 0] < 1e-9)
    first.clamp(left)
    first.pin(right)
    scene = sc.Scene([first, second], attachments=[sc.Attach(first, right, second, left, stiffness=1e4)])
    *_, frame = sc.simulate(scene, frames=5, fps=50)
    a, b = first.limit(frame.control(0)), second.limit(frame.control(1))
    assert np.abs(a[right] - b[left]).max() < 1e-4
    # The slope across the line is one on this side and another on that.
    before, after = (a[right] - a[right - 1]) / 0.1, (b[left + 1] - b[left]) / 0.1
    assert (before[:, 2] - after[:, 2]).min() > 0.3
