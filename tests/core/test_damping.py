"""Damping takes energy, never adds it, and leaves rigid motion alone where it is internal."""

from __future__ import annotations

import numpy as np
import pytest

import shellcore as sc
from meshes import bumpy, grid
from shellcore.system import System

MATERIAL = sc.Material(stretch=50.0, poisson=0.3, bend=0.02, areal_density=0.2, thickness=1e-3)
FREE = (0.0, 0.0, 0.0)
KINDS = {"mass": 3.0, "stiffness": 2e-3, "viscosity": 2e-3, "hinge": 4e-3}


def energy_of(shell, frame):
    """Kinetic and elastic [J]."""
    system = System(sc.Scene([shell], gravity=FREE))
    kinetic = 0.5 * float(shell.mass @ (frame.velocities**2).sum(axis=1))
    return kinetic + sum(energy.value(frame.positions) for energy in system.elastic())


def shaken(bending="hinge", membrane="fem", **damping):
    points, faces = bumpy(grid(3, 3, 0.6, 0.6), 0.06)
    velocities = 0.5 * np.random.default_rng(1).normal(size=points.shape)
    # Folding alone, so that hinge damping has all of it to take.
    velocities[:, :2] *= 0.2
    damped = sc.Damping(**damping)
    return sc.Shell(points, faces, MATERIAL, bending=bending, membrane=membrane, velocities=velocities, damping=damped)


def energies(shell, count=25, **options):
    """Every 4 ms, a start included, by the energy-keeping scheme in small steps."""
    options = dict(integrator="newmark", solver="quasi_newton", tolerance=1e-8) | options
    frames = sc.simulate(sc.Scene([shell], gravity=FREE), count, fps=250.0, substeps=8, **options)
    return np.array([energy_of(shell, frame) for frame in frames])


def test_without_damping_newmark_keeps_the_energy():
    energy = energies(shaken())
    assert energy == pytest.approx(energy[0], rel=0.01)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bending, membrane", [("hinge", "fem"), ("cubic", "springs")])
def test_energy_only_falls(kind, bending, membrane):
    energy = energies(shaken(bending, membrane, **{kind: KINDS[kind]}))
    assert (np.diff(energy) < 0).all()
    assert energy[-1] < 0.8 * energy[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("integrator", ["implicit_euler", "explicit"])
def test_energy_falls_with_the_other_integrators(kind, integrator):
    energy = energies(shaken(**{kind: KINDS[kind]}), integrator=integrator)
    free = energies(shaken(), integrator=integrator)
    # Symplectic Euler's energy swings with its own step: it falls over vibrations, not within them.
    seen = energy[::8] if integrator == "explicit" else energy
    assert (np.diff(seen) < 0).all()
    assert energy[-1] < 0.85 * free[-1]


@pytest.mark.parametrize(
    "integrator, factor",
    [
        ("implicit_euler", lambda a: 1 / (1 + a)),
        ("explicit", lambda a: 1 / (1 + a)),
        ("imex_bending", lambda a: 1 / (1 + a)),
        ("newmark", lambda a: (1 - a / 2) / (1 + a / 2)),
    ],
)
def test_mass_damping_slows_flight_by_its_rate(integrator, factor):
    points, faces = grid(2, 2, 0.5, 0.5)
    flight = np.tile([1.0, 2.0, -1.0], (9, 1))
    shell = sc.Shell(points, faces, MATERIAL, velocities=flight, damping=sc.Damping(mass=4.0))
    frames = sc.simulate(sc.Scene([shell], gravity=FREE), 10, fps=200.0, integrator=integrator)
    for n, frame in enumerate(frames, start=1):
        assert frame.velocities == pytest.approx(flight * factor(4.0 / 200.0) ** n, rel=1e-9)


@pytest.mark.parametrize("kind", ["stiffness", "hinge"])
@pytest.mark.parametrize("integrator, count, bound", [("implicit_euler", 60, 1e-4), ("newmark", 200, 1e-3)])
def test_a_spinning_shell_is_not_slowed_by_internal_damping(kind, integrator, count, bound):
    """Damping ten times what kills a vibration: one turn later the spin is what it is without any."""
    points, faces = bumpy(grid(2, 2, 0.5, 0.5), 0.06)
    spin = np.array([0.0, 0.0, 3.0])

    def momentum(damping):
        velocities = np.cross(spin, points - points.mean(axis=0))
        shell = sc.Shell(points, faces, MATERIAL, bending="hinge", velocities=velocities, damping=damping)
        options = dict(integrator=integrator, solver="newton", tolerance=1e-8)
        *_, last = sc.simulate(sc.Scene([shell], gravity=FREE), count, fps=count * 3.0 / (2.0 * np.pi), **options)
        centre = shell.mass @ last.positions / shell.mass.sum()
        return (shell.mass[:, None] * np.cross(last.positions - centre, last.velocities)).sum(axis=0)

    undamped, damped = momentum(None), momentum(sc.Damping(**{kind: 10.0 * KINDS[kind]}))
    assert damped == pytest.approx(undamped, abs=bound * np.linalg.norm(undamped))


def test_hinge_damping_does_not_resist_moving_rest_angles():
    """(θ̇ − dθ̄/dt)∇θ: a sheet that folds with its rest angles feels no drag, so heavy damping arrives as well."""
    points, faces = grid(2, 1, 0.4, 0.2)

    def folded(hinge):
        shell = sc.Shell(points, faces, MATERIAL, bending="hinge", damping=sc.Damping(hinge=hinge))
        fold = np.isin(shell.hinges[:, :2], np.flatnonzero(points[:, 0] == 0.2)).all(axis=1)
        shell.set_rest_angles(lambda t: np.where(fold, 1.0 * min(t, 1.0), 0.0))
        *_, last = sc.simulate(sc.Scene([shell], gravity=FREE), 24, fps=24.0, solver="newton", tolerance=1e-9)
        return System(sc.Scene([shell])).bendings[0].angles.angles(last.positions)[fold]

    assert folded(10.0) == pytest.approx(1.0, abs=0.02)
