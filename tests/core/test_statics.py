"""Equilibrium: forces balance where it says so, and bad input is named."""

from __future__ import annotations

import numpy as np
import pytest

import shellcore as sc
from meshes import bumpy, grid
from shellcore.contact.intersections import scene_intersections
from shellcore.dynamics.stage import Stage
from shellcore.system import System

MATERIAL = sc.Material(stretch=500.0, poisson=0.3, bend=0.01, areal_density=0.2, thickness=1e-3)


def hung(bending="hinge", membrane="fem"):
    points, faces = bumpy(grid(5, 5, 0.5, 0.5), 0.02)
    rest = dict(rest_angles="flat") if bending == "quadratic" else {}
    shell = sc.Shell(points, faces, MATERIAL, bending=bending, membrane=membrane, **rest)
    shell.pin([0, 5])
    shell.pin([33], stiffness=3.0)
    shell.load([20], np.array([0.0, 0.05, 0.0]))
    return shell


@pytest.mark.parametrize("bending", ["hinge", "quadratic", "cubic"])
@pytest.mark.parametrize("membrane", ["fem", "springs"])
def test_forces_balance_to_a_millionth_of_the_load(bending, membrane):
    shell = hung(bending, membrane)
    scene = sc.Scene([shell])
    stats = {}
    x = sc.equilibrium(scene, stats=stats)
    system = System(scene)
    terms = system.begin_step(Stage.euler(0.0, 1.0, x, np.zeros_like(x)))
    residual = terms.force - sum(energy.gradient(x) for energy in terms.energies + system.elastic())
    largest = np.linalg.norm(system.dead_force(0.0), axis=1).max()
    assert np.linalg.norm(np.where(system.free, residual, 0.0), axis=1).max() <= 1e-6 * largest
    assert stats["residual"] <= stats["goal"] and stats["bound"] == "tolerance"
    assert np.array_equal(x[[0, 5]], shell.rest_positions[[0, 5]])
    # What the pins carry is what pulls: the weight, the load and the soft pin.
    carried = residual[[0, 5]].sum(axis=0)
    pulled = system.dead_force(0.0).sum(axis=0) - terms.energies[0].gradient(x).sum(axis=0)
    assert carried == pytest.approx(pulled, abs=1e-5)


def test_a_run_that_dies_out_ends_in_the_equilibrium():
    shell = hung()
    x = sc.equilibrium(sc.Scene([shell]))
    damped = hung()
    damped.damping = sc.Damping(mass=8.0)
    *_, last = sc.simulate(sc.Scene([damped]), 30, fps=8.0, solver="newton", tolerance=1e-7)
    assert last.positions == pytest.approx(x, abs=1e-4)


def test_loads_and_targets_are_taken_at_the_time_asked_for():
    shell = sc.Shell(*grid(3, 3, 0.3, 0.3), MATERIAL)
    shell.pin(np.arange(16), lambda t: shell.rest_positions + np.array([t, 0.0, 0.0]))
    assert sc.equilibrium(sc.Scene([shell]), time=2.0) == pytest.approx(shell.rest_positions + np.array([2.0, 0, 0]))


@pytest.mark.parametrize("contact", ["penalty", "exact"])
def test_a_loose_cloth_rests_on_a_ball_by_friction(contact):
    points, faces = grid(8, 8, 1.0, 1.0)
    points = points - [0.5, 0.5, 0.0]
    shell = sc.Shell(
        points, faces, sc.Material.preset("reference"), "quadratic", start=points + np.array([0.0, 0.0, 0.31])
    )
    stats = {}
    ball = sc.Sphere((0.0, 0.0, 0.0), 0.3, friction=0.3)
    scene = sc.Scene([shell], colliders=[ball], contact=contact)
    x = sc.equilibrium(scene, stats=stats)
    assert stats["residual"] <= stats["goal"]
    # How high a fold stands beside is decided by the last bit.
    top = x[np.hypot(x[:, 0], x[:, 1]).argmin()]
    assert x[:, 2].min() < -0.1 and 0.25 < top[2] < 0.32
    if contact == "penalty":
        assert np.abs(x.mean(axis=0)[:2]).max() < 1e-6  # as symmetric as it began
        assert x[:, 2].max() < 0.3
    else:
        assert scene_intersections(scene, x, 0.0, shells=False).count == 0


class TestRefusals:
    @pytest.mark.parametrize(
        "options, words",
        [
            (dict(start=np.zeros((2, 3))), r"start must have shape \(36, 3\), not \(2, 3\)"),
            (dict(tolerance=0.0), "tolerance must be positive.*not 0"),
            (dict(tolerance=np.nan), "tolerance must be positive.*not nan"),
            (dict(time=np.nan), "time must be a finite number"),
        ],
    )
    def test_arguments_are_named(self, options, words):
        with pytest.raises(sc.ShellError, match=words):
            sc.equilibrium(sc.Scene([hung()]), **options)

    def test_a_start_that_is_not_finite_names_the_vertices(self):
        start = hung().rest_positions.copy()
        start[[3, 8], 0] = np.nan
        with pytest.raises(sc.ShellError, match="start of vertices 3, 8 is not finite") as error:
            sc.equilibrium(sc.Scene([hung()]), start=start)
        assert error.value.vertices == [3, 8]

    def test_a_falling_sheet_has_no_equilibrium(self):
        shell = sc.Shell(*grid(2, 2, 0.5, 0.5), MATERIAL)
        with pytest.raises(sc.StepFailed):
            sc.equilibrium(sc.Scene([shell]))
