"""A free, tumbling, vibrating shell keeps its momentum, and loses angular momentum only at its integrator's order."""

from __future__ import annotations

import numpy as np
import pytest

import shellcore as sc
from meshes import bumpy, grid

MATERIAL = sc.Material(stretch=50.0, poisson=0.4, bend=0.01, areal_density=0.2, thickness=1e-3)
FREE = np.zeros(3)
MODELS = [dict(bending="hinge"), dict(bending="quadratic"), dict(bending="cubic")]
VARIANTS = [dict(bending="hinge", hinge_energy="angle"), dict(bending="quadratic", quadratic_form="vertex")]


def named(model):
    return " ".join(model.values())


every_model = pytest.mark.parametrize("model", MODELS, ids=named)
every_membrane = pytest.mark.parametrize("membrane", ["fem", "springs"])


def tumbling(model, membrane="fem", damping=None):
    """A small shell that flies, turns about all axes and shakes at the scale of its edges."""
    flat = grid(2, 2, 0.5, 0.5)
    points, faces = flat if model["bending"] == "quadratic" else bumpy(flat, 0.1)
    spin = np.cross([1.0, 2.0, 3.0], points - points.mean(axis=0))
    shake = 0.3 * np.random.default_rng(0).normal(size=points.shape)
    velocities = spin + shake + np.array([1.0, -2.0, 0.5])
    return sc.Shell(points, faces, MATERIAL, membrane=membrane, velocities=velocities, damping=damping, **model)


def run(shell, count, fps, **options):
    # With self-contact the same motion at four times the cost: `test_apart.py` says so.
    return sc.simulate(sc.Scene([shell], gravity=FREE, self_contact=False), count, fps=fps, **options)


def angular_momentum(shell, x, v):
    """About the centre of mass [kg·m²/s], (3,)."""
    mass = shell.mass[:, None]
    return (mass * np.cross(x - (mass * x).sum(axis=0) / mass.sum(), v)).sum(axis=0)


@every_model
@every_membrane
@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark"])
@pytest.mark.parametrize("solver", ["newton", "quasi_newton"])
def test_momentum_is_held_over_a_thousand_steps(model, membrane, integrator, solver):
    # A loose tolerance: momentum is held by every iterate, not only by the minimum.
    check_momentum(tumbling(model, membrane), integrator=integrator, solver=solver, tolerance=1e-3)


@pytest.mark.parametrize("model", VARIANTS, ids=named)
def test_momentum_is_held_by_the_variants_of_the_models(model):
    check_momentum(tumbling(model), integrator="newmark", solver="quasi_newton")


def check_momentum(shell, **options):
    momentum = shell.mass @ shell.velocities
    for frame in run(shell, 1000, 200.0, **options):
        drift = np.abs(shell.mass @ frame.velocities - momentum).max()
        assert drift <= 1e-10 * np.linalg.norm(momentum)
    travelled = (shell.mass @ (frame.positions - shell.start)) / shell.mass.sum()
    assert travelled == pytest.approx(momentum / shell.mass.sum() * frame.time, rel=1e-9)


@pytest.mark.parametrize("integrator", ["explicit", "imex_bending", "imex_membrane"])
def test_momentum_is_held_by_explicit_parts_and_damping(integrator):
    shell = tumbling(MODELS[0], damping=sc.Damping(stiffness=1e-3, hinge=1e-4))
    momentum = shell.mass @ shell.velocities
    for frame in run(shell, 300, 1000.0, integrator=integrator):
        drift = np.abs(shell.mass @ frame.velocities - momentum).max()
        assert drift <= 1e-10 * np.linalg.norm(momentum)


def drift_after(model, membrane, integrator, count):
    """Relative change of angular momentum over 0.1 s in `count` steps."""
    shell = tumbling(model, membrane)
    before = angular_momentum(shell, shell.start, shell.velocities)
    *_, last = run(shell, count, 10.0 * count, integrator=integrator, solver="quasi_newton", tolerance=1e-11)
    return np.linalg.norm(angular_momentum(shell, last.positions, last.velocities) - before) / np.linalg.norm(before)


@every_membrane
@every_model
@pytest.mark.parametrize("integrator, rate", [("implicit_euler", 1.0), ("newmark", 2.0)])
def test_angular_momentum_drifts_at_the_order_of_the_integrator(model, membrane, integrator, rate):
    drifts = np.array([drift_after(model, membrane, integrator, count) for count in (40, 80, 160)])
    rates = np.log2(drifts[:-1] / drifts[1:])
    assert rates[-1] == pytest.approx(rate, abs=0.15)
    assert rates.mean() == pytest.approx(rate, abs=0.25)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[2]], ids=named)
def test_newmark_has_no_secular_drift_of_angular_momentum(model):
    """The error rises while energy spreads over the modes, then swings about a level. A drift would make the last
    quarter's mean 7/3 of the second's."""
    shell = tumbling(model)
    before = angular_momentum(shell, shell.start, shell.velocities)
    error = [
        np.linalg.norm(angular_momentum(shell, frame.positions, frame.velocities) - before)
        for frame in run(shell, 2400, 300.0, integrator="newmark", solver="quasi_newton", tolerance=1e-10)
    ]
    _, second, _, last = np.array(error).reshape(4, -1).mean(axis=1)
    assert last < 1.4 * second
    assert max(error) < 1e-3 * np.linalg.norm(before)
