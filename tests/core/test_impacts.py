"""Newmark's scheme where things touch, and where its steps are too long: nothing is thrown about, nothing rings."""

from functools import cache

import numpy as np
import pytest

import shellcore as sc
from meshes import grid
from shellcore import balance

CLOTH = sc.Material.preset("cotton")
G = 9.81
SCHEMES = [(0.25, 0.5), (0.3025, 0.6), (0.4, 0.5)]


def sheet(cells=6, size=0.3, height=0.0, material=CLOTH, **more):
    points, faces = grid(cells, cells, size, size)
    return sc.Shell(points + np.array([-size / 2, -size / 2, height]), faces, material, **more)


def plane(friction):
    return sc.Plane((0, 0, 0), (0, 0, 1), friction=friction)


def run(scene, frames, **options):
    return list(sc.simulate(scene, frames, integrator="newmark", **options))


def kinetic(frame, mass):
    return 0.5 * float(mass @ (frame.velocities**2).sum(axis=1))


class TestOnAPlane:
    @pytest.mark.parametrize("contact", ["auto", "penalty"])
    @pytest.mark.parametrize("beta, gamma", SCHEMES)
    def test_lies_still_and_weighs_what_it_weighs(self, contact, beta, gamma):
        shell = sheet(height=0.001)
        scene = sc.Scene([shell], colliders=[plane(0.3)], contact=contact, self_contact=False)
        frame = run(scene, 12, beta=beta, gamma=gamma, substeps=2)[-1]
        assert np.abs(frame.velocities).max() < 2e-3
        assert frame.fields["contact"].sum() == pytest.approx(G * shell.mass.sum(), rel=0.02)

    @pytest.mark.parametrize("contact", ["auto", "penalty"])
    @pytest.mark.parametrize("friction, degrees", [(0.0, 10.0), (0.3, 25.0)])
    def test_slides_down_an_incline(self, contact, friction, degrees):
        angle = np.radians(degrees)
        shell = sheet(cells=4, height=0.0005)
        pull = (G * np.sin(angle), 0.0, -G * np.cos(angle))
        scene = sc.Scene([shell], colliders=[plane(friction)], gravity=pull, contact=contact, self_contact=False)
        frames = run(scene, 16, substeps=4)
        speeds = [frame.velocities[:, 0].mean() for frame in frames]
        rate = 24.0 * (speeds[-1] - speeds[3]) / 12
        assert rate == pytest.approx(G * (np.sin(angle) - friction * np.cos(angle)), rel=0.03)

    @pytest.mark.parametrize("contact", ["auto", "penalty"])
    def test_sticks_below_the_angle_of_friction(self, contact):
        angle = np.radians(20.0)
        shell = sheet(cells=4, height=0.0005)
        pull = (G * np.sin(angle), 0.0, -G * np.cos(angle))
        scene = sc.Scene([shell], colliders=[plane(0.6)], gravity=pull, contact=contact, self_contact=False)
        frames = run(scene, 12, substeps=4)
        moved = frames[-1].positions[:, 0].mean() - frames[-5].positions[:, 0].mean()
        assert 24.0 * moved / 4 < 1e-3
        assert np.abs(frames[-1].velocities).max() < 5e-3

    @pytest.mark.parametrize("contact, shape", [("auto", "plane"), ("penalty", "plane"), ("auto", "mesh")])
    def test_goes_up_with_a_plane(self, contact, shape):
        speed = 0.4
        shell = sheet(cells=4, height=0.0005)
        rising = sc.Plane(lambda t: (0.0, 0.0, speed * t), (0, 0, 1))
        if shape == "mesh":
            table, faces = grid(1, 1, 1.0, 1.0)
            table -= [0.5, 0.5, 0.0]
            rising = sc.Collider(table, faces, motion=lambda t: table + np.array([0.0, 0.0, speed * t]))
        scene = sc.Scene([shell], colliders=[rising], contact=contact, self_contact=False)
        frame = run(scene, 8, substeps=2)[-1]
        assert frame.velocities[:, 2] == pytest.approx(speed, rel=0.02)


@cache
def met():
    """Masses, and frames of two sheets that fly into each other."""
    above = sheet(cells=5, height=0.02, velocities=np.tile([0.2, 0.0, -0.8], (36, 1)))
    below = sheet(cells=4, size=0.25, height=0.0, velocities=np.tile([0.0, 0.1, 0.5], (25, 1)))
    scene = sc.Scene([above, below], gravity=(0.0, 0.0, 0.0))
    return np.concatenate([above.mass, below.mass]), run(scene, 4, substeps=4, tolerance=1e-9)


class TestSheetsThatMeet:
    def test_momentum_is_kept(self):
        mass, frames = met()
        momenta = np.array([mass @ frame.velocities for frame in frames])
        before = mass[:36].sum() * np.array([0.2, 0.0, -0.8]) + mass[36:].sum() * np.array([0.0, 0.1, 0.5])
        assert any(frame.stats["contacts"] for frame in frames)
        assert np.abs(momenta - before).max() < 1e-9 * mass.sum()

    def test_energy_is_not_gained(self):
        mass, frames = met()
        before = 0.5 * (mass[:36].sum() * (0.2**2 + 0.8**2) + mass[36:].sum() * (0.1**2 + 0.5**2))
        energies = [kinetic(frame, mass) for frame in frames]
        assert max(energies) < 1.001 * before and min(energies) < 0.9 * before


def hung():
    """A sheet of a metre on two corners, whose stretch one step a frame leaves unresolved; its mass."""
    points, faces = grid(12, 12, 1.0, 1.0)
    shell = sc.Shell(points, faces, sc.Material.preset("reference"))
    shell.pin([0, 12])
    return sc.Scene([shell], self_contact=False), shell.mass


@cache
def swing(substeps=1, integrator="newmark"):
    """Kinetic energies and frames of it."""
    scene, mass = hung()
    frames = list(sc.simulate(scene, 28, integrator=integrator, substeps=substeps))
    return np.array([kinetic(frame, mass) for frame in frames]), frames


class TestGains:
    def test_rests_grow_until_it_has_kept_up_for_long(self):
        gains, rests = balance.Gains(), []
        for _ in range(7):
            gains = gains.rested()
            rests.append(gains.left)
            while gains.left:
                gains = gains.rested()
        assert rests == [1, 3, 7, 15, 31, 63, 63]
        for _ in range(2 * 63 + 1):
            gains = gains.kept_up()
        assert gains.rest == 63 and gains.kept_up().rest == 0

    def test_small_gains_are_not_minded_large_ones_are(self):
        start = balance.Gains().after_step(0.0, 1.0, 1.0)
        assert not start.after_step(0.009, 1.0, 1.0).overdrawn(start)
        assert start.after_step(0.011, 1.0, 1.0).overdrawn(start)

    def test_losses_buy_little(self):
        lost = balance.Gains().after_step(-0.5, 1.0, 0.5)
        assert lost.gained == -0.05
        assert not lost.after_step(0.059, 0.5, 0.5).overdrawn(lost)
        assert lost.after_step(0.061, 0.5, 0.5).overdrawn(lost)

    def test_a_step_that_lowers_the_sum_is_good(self):
        high = balance.Gains(gained=0.2, most=1.0)
        assert not high.after_step(-0.05, 1.0, 1.0).overdrawn(high)

    def test_what_was_gained_is_no_measure_of_motion(self):
        assert balance.Gains().after_step(5.0, 1.0, 6.5).most == 1.5


class TestLongSteps:
    def test_swings_as_it_should(self):
        energies, frames = swing()
        resolved = swing(12)[0]
        assert energies[:18] == pytest.approx(resolved[:18], rel=0.2, abs=0.02 * resolved.max())
        assert energies[18:].mean() < 2.0 * resolved[18:].mean()
        assert 0 < sum(frame.stats["damped_steps"] for frame in frames) < 14

    def test_is_livelier_than_implicit_euler(self):
        assert swing(integrator="implicit_euler")[0][15] < 0.8 * swing()[0][15]

    def test_would_be_torn_apart_otherwise(self, monkeypatch):
        monkeypatch.setattr(balance, "MOST_GAINED", np.inf)
        scene, mass = hung()
        energies = [kinetic(frame, mass) for frame in run(scene, 28)]
        assert energies[-1] > 3.0 * max(energies[:16])

    def test_well_resolved_runs_are_left_alone(self):
        assert sum(frame.stats["damped_steps"] for frame in swing(12)[1]) == 0

    def test_resumes_with_identical_results(self):
        _, frames = swing()
        first = next(i for i, frame in enumerate(frames) if frame.stats["damped_steps"])
        again = run(hung()[0], 27 - first, resume=frames[first].state)
        assert np.array_equal(again[-1].positions, frames[-1].positions)

    @pytest.mark.parametrize("state", [np.zeros(4), np.array([0.0, -1.0, 0, 0, 0]), np.full(5, np.nan)])
    def test_other_states_are_refused(self, state):
        with pytest.raises(sc.ShellError, match="gained_energy"):
            run(hung()[0], 1, resume=swing()[1][-1].state | {"gained_energy": state})


class TestOnABall:
    @pytest.mark.parametrize("substeps", [1, 4])
    @pytest.mark.parametrize("contact", ["auto", "penalty"])
    def test_comes_to_rest(self, substeps, contact):
        shell = sheet(cells=10, size=1.0, height=0.3)
        ball = sc.Sphere((0.02, 0.01, 0.0), 0.25, friction=0.5)
        scene = sc.Scene([shell], colliders=[ball], self_contact=False, contact=contact)
        frames = run(scene, 30, substeps=substeps)
        fall = max(kinetic(frame, shell.mass) for frame in frames[:8])
        assert max(kinetic(frame, shell.mass) for frame in frames) < 1.5 * fall
        assert np.mean([kinetic(frame, shell.mass) for frame in frames[-6:]]) < 0.15 * fall
        assert max(np.abs(frame.fields["strain"]).mean() for frame in frames) < 0.05
