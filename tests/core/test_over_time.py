"""Gravity, friction and stiffness that are functions of time."""

from __future__ import annotations

import numpy as np
import pytest

import shellcore as sc
from meshes import grid
from shellcore.system import System

STUFF = sc.Material(stretch=40.0, poisson=0.3, bend=0.02, areal_density=0.2, thickness=1e-3)
EULER = {"integrator": "implicit_euler", "substeps": 1}


def sheet(**options):
    points, faces = grid(3, 3, 0.3, 0.3)
    return sc.Shell(points, faces, STUFF, **options)


def moved(scene, frames=12, **options):
    return list(sc.simulate(scene, frames, **({"fps": 48.0} | EULER | options)))


def middle(frame):
    return frame.positions.mean(axis=0)


@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark", "explicit"])
def test_gravity_is_that_of_each_step(integrator):
    def pull(t):
        return (0.0, 0.0, -9.81 * np.cos(6.0 * t))

    frames = moved(sc.Scene([sheet()], gravity=pull, self_contact=False), fps=400.0, integrator=integrator)
    # z̈ = −g cos ωt from rest: z = −g (1 − cos ωt)/ω².
    for frame in frames:
        exact = -9.81 * (1.0 - np.cos(6.0 * frame.time)) / 36.0
        assert middle(frame)[2] == pytest.approx(exact, abs=9.81 * frame.time / 400.0)
    assert middle(frames[-1])[2] < -3e-3


def test_gravity_that_does_not_change_is_a_number_to_the_bit():
    plain = moved(sc.Scene([sheet()], self_contact=False))
    same = moved(sc.Scene([sheet()], gravity=lambda t: (0.0, 0.0, -9.81), self_contact=False))
    assert [f.positions.tobytes() for f in plain] == [f.positions.tobytes() for f in same]


# By penalty shells pass through each other.
@pytest.mark.parametrize(("whose", "contact"), [("collider", "exact"), ("collider", "penalty"), ("shell", "exact")])
def test_friction_is_that_of_each_step(whose, contact):
    rough, slippery = 0.5, 0.0

    def slides(friction):
        speed = np.tile([1.0, 0.0, 0.0], (16, 1))
        moving = sheet(velocities=speed, start=sheet().rest_positions + np.array([0.0, 0.0, 5e-4]))
        return sc.Scene(
            [moving], [sc.Plane((0, 0, 0), (0, 0, 1), friction=friction)], self_contact=False, contact=contact
        )

    if whose == "shell":
        # A collider has its own; between shells it is the geometric mean.
        points, faces = grid(3, 3, 0.6, 0.6)

        def slides(friction):
            floor = sc.Shell(points - [0.15, 0.15, 0.0], faces, STUFF, friction=1.0)
            floor.pin(np.arange(16))
            speed = np.tile([1.0, 0.0, 0.0], (16, 1))
            start = sheet().rest_positions + np.array([0.0, 0.0, 9.5e-4])
            return sc.Scene([sheet(velocities=speed, start=start, friction=friction), floor], contact=contact)

    def speed(friction):
        return float(moved(slides(friction), 10)[-1].velocities[:16, 0].mean())

    changing = speed(lambda t: slippery if t < 0.1 else rough)
    assert speed(rough) < changing < speed(slippery)
    if whose == "collider":
        assert speed(slippery) == pytest.approx(1.0, abs=1e-3)
    assert speed(lambda t: rough) == speed(rough)


def test_a_pin_that_softens_lets_go():
    hung = sheet()
    hung.pin([12, 15], stiffness=lambda t: 200.0 if t < 0.1 else 0.0)
    frames = moved(sc.Scene([hung], self_contact=False))
    held = sheet()
    held.pin([12, 15], stiffness=200.0)
    whole = moved(sc.Scene([held], self_contact=False))
    assert np.abs(frames[3].positions - whole[3].positions).max() < 1e-3
    # From then on it falls freely.
    speeds = [float(np.average(f.velocities[:, 2], weights=hung.mass)) for f in frames]
    assert np.diff(speeds[6:]) == pytest.approx(-9.81 / 48.0, rel=1e-3)


def test_a_tie_that_stiffens_draws_together():
    first, second = sheet(), sheet(start=sheet().rest_positions + np.array([0.0, 0.0, 0.05]))
    first.pin(np.arange(16))
    tie = sc.Attach(first, [5], second, [5], stiffness=lambda t: 0.0 if t < 0.1 else 2.0)
    frames = moved(sc.Scene([first, second], attachments=[tie], gravity=(0, 0, 0), self_contact=False))
    heights = np.array([f.positions[16:, 2].mean() for f in frames])
    assert heights[:4] == pytest.approx(0.05, abs=1e-9)
    assert heights[-1] < 0.045


def test_a_resumed_run_goes_on_identically():
    def scene():
        hung = sheet(friction=lambda t: 0.3 + t)
        hung.pin([12, 15], stiffness=lambda t: 200.0 / (1.0 + 20.0 * t))
        floor = sc.Plane((0, 0, -0.02), (0, 0, 1), friction=lambda t: 0.2 + t)
        return sc.Scene([hung], [floor], gravity=lambda t: (0.0, 0.0, -9.81 * min(5.0 * t, 1.0)), self_contact=False)

    whole = moved(scene(), 12)
    again = moved(scene(), 6, resume=whole[5].state)
    assert [f.positions.tobytes() for f in again] == [f.positions.tobytes() for f in whole[6:]]


def test_equilibrium_takes_them_at_its_time():
    hung = sheet()
    hung.pin([0, 3, 12, 15], stiffness=lambda t: 100.0 * (1.0 + t))
    system = System(sc.Scene([hung]))
    weight = float(system.mass.sum()) * 9.81
    for time in (0.0, 1.0):
        x = sc.equilibrium(sc.Scene([hung], gravity=lambda t: (0.0, 0.0, -9.81 * (1.0 + t))), time=time)
        # Load and springs grow alike.
        assert x[[0, 3, 12, 15], 2].mean() == pytest.approx(-weight / 400.0, rel=1e-3)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: sc.Scene([sheet()], gravity=lambda t: (0.0, 1.0)), "gravity at time 0 s must be three finite numbers"),
        (lambda: sheet(friction=lambda t: -t - 1.0), "friction at time 0 s must be zero or more, not -1"),
        (lambda: sc.Sphere((0, 0, 0), 1.0, friction=lambda t: np.nan), "Sphere's friction at time 0 s must be"),
        (lambda: sheet().pin([0], stiffness=lambda t: -1.0), "pin stiffness must be finite and not negative at time 0"),
        (
            lambda: sc.Attach(sheet(), [0], sheet(), [0], stiffness=lambda t: [1.0, 2.0]),
            r"Attach stiffness must be one number or 1",
        ),
    ],
)
def test_functions_that_give_nonsense_are_named(build, words):
    with pytest.raises(sc.ShellError, match=words):
        build()


def test_nonsense_that_comes_later_is_named_then():
    scene = sc.Scene([sheet()], gravity=lambda t: (0.0, 0.0, np.nan if t > 0.05 else -9.81), self_contact=False)
    with pytest.raises(sc.ShellError, match=r"gravity at time 0\.0625 s must be three finite numbers"):
        moved(scene)


def test_modes_need_stiffness_that_stays():
    held = sheet()
    held.pin([0, 1], stiffness=lambda t: 10.0)
    with pytest.raises(sc.ShellError, match="ModalShell takes stiffness of pins that does not change"):
        sc.ModalShell(held, 3)


def test_a_sheet_that_tears_keeps_its_changing_pins_and_ties():
    def torn(stiffness):
        points, faces = grid(4, 2, 0.4, 0.2)
        shell = sc.Shell(points, faces, STUFF)
        shell.seam([(2, 7), (7, 12)], 0.04)
        shell.pin([0, 5, 10], stiffness=stiffness)
        shell.pin([4, 9, 14], stiffness=stiffness)
        tie = sc.Attach(shell, [12], shell, [13], stiffness=stiffness)
        return moved(sc.Scene([shell], attachments=[tie], self_contact=False), 6)

    plain, function = torn(50.0), torn(lambda t: 50.0)
    assert plain[-1].stats["copies"] == 3 == function[-1].stats["copies"]
    assert function[-1].positions == pytest.approx(plain[-1].positions, abs=1e-5)
