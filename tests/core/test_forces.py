"""Wind: what a still sheet feels, how fast a falling one ends up, lift, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from states import rotation

import shellcore as sc
from meshes import bumpy, grid, icosphere
from shellcore.system import System

MATERIAL = sc.Material(stretch=60.0, poisson=0.3, bend=0.01, areal_density=0.2, thickness=1e-3)
RHO = 1.225


def normals_of(shell):
    return System(sc.Scene([shell])).area_normals(shell.rest_positions)


class TestDrag:
    @pytest.mark.parametrize("degrees", [0.0, 30.0, 75.0, 180.0])
    def test_a_still_sheet_feels_the_pressure_of_the_air(self, degrees):
        """½ρC (v cos α)² A along its normal, away from where the wind comes from."""
        shell = sc.Shell(*grid(3, 3, 0.5, 0.4), MATERIAL)
        angle = np.radians(degrees)
        wind = sc.Wind(7.0 * np.array([np.sin(angle), 0.0, np.cos(angle)]), drag=1.3)
        still = np.zeros_like(shell.rest_positions)
        total = wind.force(0.0, shell.rest_positions, still, normals_of(shell)).sum(axis=0)
        size = 0.5 * RHO * 1.3 * (7.0 * np.cos(angle)) ** 2 * 0.2
        assert total == pytest.approx([0.0, 0.0, np.sign(np.cos(angle)) * size], abs=1e-13)

    def test_drag_does_not_depend_on_which_side_is_up_or_where_the_sheet_is(self):
        points, faces = bumpy(grid(3, 3, 0.5, 0.4), 0.05)
        turn = rotation(np.random.default_rng(2))
        wind, still = np.array([3.0, -2.0, 4.0]), np.zeros_like(points)
        force = sc.Wind(wind).force(0.0, points, still, normals_of(sc.Shell(points, faces, MATERIAL)))
        over = sc.Wind(wind).force(0.0, points, still, normals_of(sc.Shell(points, faces[:, ::-1], MATERIAL)))
        moved = points @ turn.T + 5.0
        turned = sc.Wind(turn @ wind).force(0.0, moved, still, normals_of(sc.Shell(moved, faces, MATERIAL)))
        assert over == pytest.approx(force, abs=1e-14)
        assert turned == pytest.approx(force @ turn.T, abs=1e-13)

    @pytest.mark.parametrize("integrator", ["implicit_euler", "newmark", "explicit", "imex_bending"])
    def test_a_falling_sheet_reaches_its_terminal_velocity(self, integrator):
        shell = sc.Shell(*grid(2, 2, 0.5, 0.5), MATERIAL)
        scene = sc.Scene([shell], wind=sc.Wind((0.0, 0.0, 0.0), drag=1.2))
        *_, last = sc.simulate(
            scene, 60, fps=24.0, substeps=5 if integrator == "implicit_euler" else 20, integrator=integrator
        )
        terminal = np.sqrt(2 * 0.2 * 9.81 / (RHO * 1.2))
        assert last.velocities[:, 2] == pytest.approx(-terminal, rel=1e-6)

    def test_a_free_sheet_ends_up_moving_with_the_wind(self):
        shell = sc.Shell(*grid(2, 2, 0.5, 0.5), MATERIAL)
        scene = sc.Scene([shell], gravity=(0, 0, 0), wind=sc.Wind((0.0, 0.0, 4.0)))
        frames = list(sc.simulate(scene, 100, fps=24.0))
        speed = np.array([f.velocities[:, 2].mean() for f in frames])
        # dv/dt = c (w − v)², c = ρ/2σ: w − v = w/(1 + c w t).
        c = 0.5 * RHO / 0.2
        exact = 4.0 - 4.0 / (1.0 + c * 4.0 * frames[-1].time)
        assert (np.diff(speed) > 0).all() and speed[-1] < 4.0
        assert speed[-1] == pytest.approx(exact, rel=0.01)

    def test_light_cloth_in_a_storm_stays_stable_at_one_step_a_frame(self):
        light = sc.Material(stretch=60.0, bend=1e-4, areal_density=0.01, thickness=1e-4)
        points, faces = grid(6, 6, 0.6, 0.6)
        shell = sc.Shell(points, faces, light)
        shell.pin(np.flatnonzero(points[:, 0] == 0.0))
        speeds = [
            np.abs(f.velocities).max() for f in sc.simulate(sc.Scene([shell], wind=sc.Wind((20.0, 1.0, 3.0))), 24)
        ]
        assert max(speeds) < 40.0

    def test_wind_may_vary_in_space_and_time(self):
        shell = sc.Shell(*grid(4, 1, 1.0, 0.25), MATERIAL)
        gust = sc.Wind(lambda t, x: np.outer(x[:, 0] * t, [0.0, 0.0, 1.0]))
        force = gust.force(2.0, shell.rest_positions, np.zeros_like(shell.rest_positions), normals_of(shell))
        area = np.linalg.norm(normals_of(shell), axis=1)
        assert force[:, 2] == pytest.approx(0.5 * RHO * area * (2.0 * shell.rest_positions[:, 0]) ** 2, rel=1e-12)


class TestLift:
    def test_lift_is_square_to_the_air_and_none_head_on_or_edge_on(self):
        x = np.zeros((1, 3))
        for degrees, share in ((0.0, 0.0), (90.0, 0.0), (45.0, 0.5), (20.0, np.sin(np.radians(40.0)) / 2)):
            angle = np.radians(degrees)
            air = 6.0 * np.array([np.cos(angle), 0.0, np.sin(angle)])
            lift = sc.Wind(air, drag=0.0, lift=0.8).force(0.0, x, x, np.array([[0.0, 0.0, 2.0]]))[0]
            assert lift @ air == pytest.approx(0.0, abs=1e-12)
            assert np.linalg.norm(lift) == pytest.approx(0.5 * RHO * 0.8 * 36.0 * 2.0 * share, abs=1e-12)

    def test_lift_holds_up_a_sheet_that_leans_back(self):
        lift = sc.Wind((6.0, 0.0, 0.0), drag=0.0, lift=1.0)
        normal = np.array([[-np.sin(0.3), 0.0, np.cos(0.3)]])
        zero = np.zeros((1, 3))
        # The nose points up: its upper side leans away from the wind, which pushes it up from below.
        assert lift.force(0.0, zero, zero, normal)[0, 2] * normal[0, 0] > 0


class TestRefusals:
    @pytest.mark.parametrize(
        "options, words",
        [
            (dict(drag=-1.0), "wind drag must be zero or more, not -1"),
            (dict(lift=np.nan), "wind lift must be zero or more, not nan"),
            (dict(density=np.inf), "wind density must be zero or more, not inf"),
            (dict(velocity=(1.0, 2.0)), r"wind velocity must have shape \(3,\)"),
            (dict(velocity=(1.0, np.nan, 0.0)), "wind velocity is not finite"),
        ],
    )
    def test_arguments_are_named(self, options, words):
        with pytest.raises(sc.ShellError, match=words):
            sc.Wind(**options)

    def test_a_function_of_the_wrong_shape(self):
        wind = sc.Wind(lambda t, x: np.zeros((2, 3)))
        shell = sc.Shell(*grid(2, 2, 1.0, 1.0), MATERIAL)
        with pytest.raises(sc.ShellError, match=r"wind velocity must have shape \(3,\) or \(9, 3\), not \(2, 3\)"):
            list(sc.simulate(sc.Scene([shell], wind=wind), 1))


class TestOwnForces:
    def test_a_force_gets_time_positions_velocities_and_normals(self):
        seen = []

        class Probe:
            def force(self, t, x, v, area_normals):
                seen.append((t, x.copy(), v.copy(), area_normals.copy()))
                return 3.0 * area_normals

        points, faces = icosphere(1, 0.5)
        shell = sc.Shell(points, faces, MATERIAL)
        first, second = sc.simulate(sc.Scene([shell], gravity=(0, 0, 0), forces=[Probe()]), 2, fps=50.0)
        (t, x, v, normals), later = seen[0], seen[-1]
        assert t == 0.0 and np.array_equal(x, points) and not v.any()
        volume = np.linalg.det(points[shell.faces]).sum() / 6.0
        assert (x * normals).sum() / 3.0 == pytest.approx(volume, rel=1e-12)
        assert later[0] == first.time and np.array_equal(later[1], first.positions)
        # It blows the ball up.
        assert np.linalg.norm(second.positions, axis=1).mean() > 0.5
