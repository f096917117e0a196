"""Incremental potentials: their derivatives, and what each scheme does to motion with an exact answer."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import numpy as np
import pytest
from derivatives import differences, relative_gap, smallest_height

import shellcore as sc
from meshes import bumpy, grid, unstructured
from shellcore.integrators import INTEGRATORS, Integrator, State
from shellcore.system import System

SOFT = sc.Material(stretch=40.0, poisson=0.3, bend=0.02, areal_density=0.2, thickness=1e-3)
IMPLICIT = [name for name in INTEGRATORS if name != "explicit"]
GRAVITY = np.array([0.3, -0.2, -9.81])


def stretched_scene(damping=None, pressure=None, bending="hinge"):
    """A sheet in tension that grows: held, tied, blown at and in contact; with its state and where it grows to."""
    points, faces = bumpy(unstructured(20, 1.0, 0.8, seed=2), 0.05, seed=1)
    rng = np.random.default_rng(3)
    start = 1.1 * points + 0.003 * rng.normal(size=points.shape)
    ahead = 1.05 * start + 0.003 * rng.normal(size=points.shape)
    shell = sc.Shell(points, faces, SOFT, bending=bending, start=start, damping=damping, pressure=pressure)
    shell.pin([0], axes=(True, False, True))
    shell.pin([1, 2], stiffness=30.0)
    shell.load([3, 4], np.array([0.0, 0.1, -0.2]))
    # Contact begins in a gap between vertices: its Hessian jumps there.
    normal = np.array([0.6, 0.0, 0.8])
    depths = np.sort(ahead @ normal)
    gap = int(np.argmax(np.diff(depths)))
    scene = sc.Scene(
        [shell],
        attachments=[sc.Attach(shell, [5], shell, [9], stiffness=3.0)],
        colliders=[sc.Plane(depths[gap : gap + 2].mean() * normal, normal)],
        wind=sc.Wind((3.0, 1.0, 1.0)),
        contact="penalty",
    )
    return scene, State(0.2, start, 0.3 * start + 0.1, rng.normal(size=start.shape)), ahead


def begun(name, jacobian="exact", **options):
    scene, state, ahead = stretched_scene(**options)
    system = System(scene)
    # Then the membrane's positive part is all of it.
    s11, s22, s12 = system.strain_fields[0].stress(*system.strain_fields[0].strain(ahead))
    assert (s11 * s22 > s12**2).all() and (s11 > 0).all()
    return Integrator(system, name, 0.25, 0.5, jacobian).begin(state, 0.02)[0], ahead, scene


class TestPotentials:
    @pytest.mark.parametrize("name", IMPLICIT)
    def test_gradient_agrees_with_differences(self, name):
        damping = sc.Damping(mass=0.5, stiffness=0.01, hinge=0.002)
        potential, x, scene = begun(name, damping=damping, pressure=2.0)
        step = 0.01 * smallest_height(x, scene.shells[0].faces)
        measured = differences(lambda y: potential.value_and_gradient(y)[0], x, step)
        measured[~potential.free] = 0.0
        assert not potential.free.all()
        assert relative_gap(potential.value_and_gradient(x)[1], measured) < 1e-6

    @pytest.mark.parametrize("bending", ["hinge", "cubic"])
    @pytest.mark.parametrize("name", IMPLICIT)
    def test_hessian_agrees_with_differences_where_nothing_is_left_out(self, name, bending):
        potential, x, scene = begun(name, bending=bending, damping=sc.Damping(mass=0.5))
        step = 0.01 * smallest_height(x, scene.shells[0].faces)
        free = potential.free.ravel()
        measured = differences(lambda y: potential.value_and_gradient(y)[1], x, step).reshape(x.size, x.size)
        claimed = potential.hessian(x).matrix().toarray()
        assert relative_gap(claimed[free][:, free], measured[free][:, free]) < 1e-6

    @pytest.mark.parametrize("name", IMPLICIT)
    def test_the_factor_solves_the_constant_matrix(self, name):
        potential, x, _ = begun(name, jacobian="constant")
        residual = np.random.default_rng(0).normal(size=x.shape)
        image = potential.precondition(residual)
        assert (image[~potential.free] == 0.0).all()
        # Positive definite where free: it can only descend.
        assert np.vdot(residual, image) > 0.0

    def test_minimum_is_where_the_solver_stops(self):
        """The equation of motion holds at the end of an implicit Euler step: M (v₁ − v₀)/h = f(x₁)."""
        points, faces = grid(3, 3, 1.0, 1.0)
        shell = sc.Shell(points, faces, SOFT, velocities=0.5 * np.sin(7.0 * points[:, ::-1]))
        frame = next(sc.simulate(sc.Scene([shell]), 1, fps=50, solver="newton", tolerance=1e-13))
        system = System(sc.Scene([shell]))
        force = system.dead_force(0.0) - sum(energy.gradient(frame.positions) for energy in system.elastic())
        assert (frame.velocities - shell.velocities) * 50 == pytest.approx(force / shell.mass[:, None], abs=1e-7)


def fallen(integrator, count=40, fps=200.0, **options):
    points, faces = bumpy(grid(2, 2, 1.0, 1.0), 0.1)
    shell = sc.Shell(points, faces, SOFT, velocities=np.tile([1.0, 2.0, 3.0], (9, 1)))
    scene = sc.Scene([shell], gravity=GRAVITY)
    frames = list(sc.simulate(scene, count, fps=fps, integrator=integrator, **options))
    return np.array([f.time for f in frames]), np.array([f.positions - points for f in frames])


class TestFreeFall:
    @pytest.mark.parametrize("beta", [0.25, 0.0])
    def test_newmark_is_exact(self, beta):
        t, moved = fallen("newmark", beta=beta)
        exact = t[:, None] * np.array([1.0, 2.0, 3.0]) + 0.5 * t[:, None] ** 2 * GRAVITY
        assert moved == pytest.approx(np.broadcast_to(exact[:, None], moved.shape), abs=1e-12)

    @pytest.mark.parametrize("integrator", ["implicit_euler", "imex_bending", "imex_membrane", "explicit"])
    def test_euler_falls_ahead_by_half_a_step(self, integrator):
        t, moved = fallen(integrator)
        exact = t[:, None] * np.array([1.0, 2.0, 3.0]) + 0.5 * (t * (t + t[0]))[:, None] * GRAVITY
        assert moved == pytest.approx(np.broadcast_to(exact[:, None], moved.shape), abs=1e-12)


OMEGA = 2.0 * np.pi


def oscillator(h, count, integrator, **options):
    """Displacement and velocity, (count + 1,), of a triangle on equal soft pins: a linear oscillator of rate OMEGA."""
    points, faces = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0)]), np.array([[0, 1, 2]])
    shell = sc.Shell(points, faces, SOFT, start=points + np.array([0, 0, 0.1]))
    shell.pin([0, 1, 2], points, stiffness=OMEGA**2 * shell.mass)
    frames = sc.simulate(sc.Scene([shell], gravity=(0, 0, 0)), count, fps=1 / h, integrator=integrator, **options)
    states = [(f.positions, f.velocities) for f in frames]
    for x, v in states:
        assert np.ptp(x[:, 2]) < 1e-14 and np.ptp(v[:, 2]) < 1e-13
    z, v = np.array([(x[0, 2], v[0, 2]) for x, v in states]).T
    return np.concatenate([[0.1], z]), np.concatenate([[0.0], v])


def order(errors):
    """Rates of errors at steps halved each time."""
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


class TestLinearOscillator:
    EXACT: ClassVar = dict(solver="newton", tolerance=1e-15)

    def energies(self, h, count, integrator, **options):
        z, v = oscillator(h, count, integrator, **options, **self.EXACT)
        return 0.5 * v**2 + 0.5 * (OMEGA * z) ** 2

    def test_newmark_keeps_the_energy_to_round_off(self):
        energy = self.energies(0.02, 400, "newmark")
        assert np.abs(energy / energy[0] - 1.0).max() < 1e-11

    @pytest.mark.parametrize("h", [0.01, 0.05])
    def test_implicit_euler_loses_its_share_every_step(self, h):
        energy = self.energies(h, 50, "implicit_euler")
        assert energy[1:] / energy[:-1] == pytest.approx(1.0 / (1.0 + (OMEGA * h) ** 2), rel=1e-11)

    @pytest.mark.parametrize(
        "integrator, rate",
        [("newmark", 2), ("implicit_euler", 1), ("imex_bending", 1), ("imex_membrane", 1), ("explicit", 1)],
    )
    def test_order(self, integrator, rate):
        assert self.measured_order(integrator, **self.EXACT) == pytest.approx(rate, abs=0.1)

    def test_central_differences_are_of_second_order(self):
        assert self.measured_order("newmark", beta=0.0) == pytest.approx(2, abs=0.1)

    @staticmethod
    def measured_order(integrator, **options):
        """Of the state after 0.85 periods: after a whole one, symplectic Euler happens to be of second order."""
        errors = []
        for count in (40, 80, 160):
            z, v = oscillator(0.85 / count, count, integrator, **options)
            phase = 0.85 * OMEGA
            errors.append(np.hypot(z[-1] - 0.1 * np.cos(phase), v[-1] / OMEGA + 0.1 * np.sin(phase)))
        return order(errors)[-1]

    def test_newmark_lengthens_the_period_by_a_twelfth(self):
        h = 0.02
        z, v = oscillator(h, 500, "newmark", **self.EXACT)
        phase = np.unwrap(np.arctan2(-v / OMEGA, z))
        rate = (phase[-1] - phase[0]) / (500 * h)
        assert OMEGA / rate - 1.0 == pytest.approx((OMEGA * h) ** 2 / 12.0, rel=0.01)


class TestConvergence:
    """Every scheme approaches the same motion: the distance to implicit Euler falls with the step."""

    @staticmethod
    @cache
    def swung(integrator, count, beta=0.25):
        points, faces = bumpy(grid(2, 2, 0.5, 0.5), 0.05)
        shell = sc.Shell(points, faces, SOFT, damping=sc.Damping(mass=0.5, stiffness=1e-3, hinge=1e-3))
        shell.pin([0, 1, 2])
        scene = sc.Scene([shell], wind=sc.Wind((0.0, 2.0, 0.0)))
        options = dict(integrator=integrator, beta=beta, solver="newton", tolerance=1e-9)
        return next(sc.simulate(scene, 1, fps=5.0, substeps=count, **options)).positions

    @pytest.mark.parametrize(
        "integrator, beta",
        [("explicit", 0.25), ("imex_bending", 0.25), ("imex_membrane", 0.25), ("newmark", 0.25), ("newmark", 0.0)],
    )
    def test_schemes_agree_as_the_step_shrinks(self, integrator, beta):
        gaps = []
        for count in (40, 80, 160):
            gaps.append(np.linalg.norm(self.swung(integrator, count, beta) - self.swung("implicit_euler", count)))
        assert gaps[-1] < 0.02
        assert order(gaps)[-1] == pytest.approx(1.0, abs=0.15)


def test_explicit_steps_on_a_penalty_floor_gain_no_energy():
    points, faces = grid(4, 4, 0.4, 0.4)
    shell = sc.Shell(points, faces, SOFT, start=points + np.array([0.0, 0.0, 0.02]))
    scene = sc.Scene([shell], [sc.Plane((0, 0, 0), (0, 0, 1), friction=0.3)], self_contact=False, contact="penalty")
    system = System(scene)

    def held(x, v):
        potential = sum(part.value(x) for part in system.elastic()) - float((system.weight * x).sum())
        return potential + 0.5 * float(system.mass @ (v**2).sum(axis=1))

    begun = held(system.start, system.velocities)
    for frame in sc.simulate(scene, 12, substeps=100, integrator="explicit", strain_limit=0.0):
        assert held(frame.positions, frame.velocities) <= 1.01 * begun
        assert frame.positions[:, 2].min() > -5e-3
    assert frame.positions[:, 2].max() < 0.02


class TestRefusals:
    @pytest.mark.parametrize(
        "options, words",
        [
            ({"name": "leapfrog"}, "integrator='leapfrog'.*newmark"),
            ({"jacobian": "secant"}, "jacobian='secant'.*constant"),
            ({"name": "newmark", "beta": -0.1}, "beta.*-0.1"),
            ({"name": "newmark", "beta": 0.6}, "beta.*0.6"),
            ({"name": "newmark", "gamma": 1.1}, "gamma.*1.1"),
            ({"name": "newmark", "gamma": np.nan}, "gamma.*nan"),
        ],
    )
    def test_options_are_named(self, options, words):
        system = System(sc.Scene([sc.Shell(*grid(1, 1, 1.0, 1.0), SOFT)]))
        chosen = {"name": "implicit_euler", "beta": 0.25, "gamma": 0.5, "jacobian": "exact"} | options
        with pytest.raises(sc.ShellError, match=words):
            Integrator(system, **chosen)
