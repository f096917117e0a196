"""What a shell refuses, by name, and what it derives: mass, areas, rest angles, pins, clamps, loads."""

from __future__ import annotations

import numpy as np
import pytest

import shellcore as sc
from meshes import bumpy, cylinder, equilateral, grid, hemisphere
from shellcore.system import System

MATERIAL = sc.Material(stretch=60.0, poisson=0.3, bend=0.01, areal_density=0.2, thickness=1e-3)


def sheet(**options):
    return sc.Shell(*grid(3, 2, 0.6, 0.4), MATERIAL, **options)


class TestRefusals:
    @pytest.mark.parametrize(
        "options, words",
        [
            (dict(bending="spline"), "bending='spline'.*cubic"),
            (dict(membrane="cloth"), "membrane='cloth'.*fem"),
            (dict(hinge_energy="cosine"), "hinge_energy='cosine'.*sine"),
            (dict(hinge_area="voronoi"), "hinge_area='voronoi'.*circumcentric"),
            (dict(quadratic_form="edge"), "quadratic_form='edge'.*vertex"),
            (dict(rest_angles="round"), "rest_angles='round'.*flat"),
            (dict(rest_angles=np.zeros(3)), r"rest_angles.*13 angles, not \(3,\)"),
            (dict(start=np.zeros((2, 3))), r"start must have shape \(12, 3\), not \(2, 3\)"),
            (dict(velocities=np.zeros(3)), "velocities must have shape"),
            (dict(axes=np.zeros((12, 3))), "faces 0, 1, 2, 3, 4 and 7 more.*warp direction"),
            (dict(pressure=np.nan), "pressure must be a finite number .*not nan"),
        ],
    )
    def test_arguments_are_named(self, options, words):
        with pytest.raises(sc.ShellError, match=words):
            sheet(**options)

    def test_material_of_another_kind(self):
        with pytest.raises(sc.ShellError, match=r"material must be a Material, as .* not 'silk'"):
            sc.Shell(*grid(1, 1, 1.0, 1.0), "silk")

    def test_material_for_another_mesh(self):
        halves = sc.Material(stretch=np.full(5, 10.0), bend=0.01, areal_density=0.1, thickness=1e-3)
        with pytest.raises(sc.ShellError, match="stretch has 5 values but the mesh has 12 faces"):
            sc.Shell(*grid(3, 2, 0.6, 0.4), halves)

    @pytest.mark.parametrize("name", ["start", "velocities"])
    def test_what_is_not_finite_names_the_vertex(self, name):
        field = grid(3, 2, 0.6, 0.4)[0].copy()
        field[[2, 7], 1] = np.nan, np.inf
        with pytest.raises(sc.ShellError, match=f"{name} of vertices 2, 7 is not finite") as error:
            sheet(**{name: field})
        assert error.value.vertices == [2, 7]

    def test_a_rest_angle_that_is_not_finite_names_the_edge(self):
        shell = sheet()
        angles = np.zeros(len(shell.hinges))
        angles[4] = np.nan
        a, b = shell.hinges[4, :2]
        with pytest.raises(sc.ShellError, match=rf"rest angle at edge \({a}, {b}\) is not finite") as error:
            sheet(rest_angles=angles)
        assert error.value.edges == [(a, b)]

    @pytest.mark.parametrize("name", ["mass", "stiffness", "hinge", "viscosity"])
    @pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
    def test_damping(self, name, value):
        with pytest.raises(sc.ShellError, match=f"damping {name}"):
            sc.Damping(**{name: value})

    @pytest.mark.parametrize("what", ["pin", "clamp", "load"])
    @pytest.mark.parametrize(
        "vertices, words", [([0, 12], "names vertices 12, outside 0..11"), ([-1], "-1, outside"), ([0.5], "float64")]
    )
    def test_vertices_out_of_range(self, what, vertices, words):
        with pytest.raises(sc.ShellError, match=f"{what}.*{words}"):
            getattr(sheet(), what)(vertices, *([np.zeros(3)] if what == "load" else []))

    @pytest.mark.parametrize(
        "options, words",
        [
            (dict(targets=np.zeros((3, 3))), r"pin targets must have shape \(2, 3\), not \(3, 3\)"),
            (dict(targets=lambda t: np.zeros((3, 3))), "pin targets must have shape"),
            (dict(targets=np.full((2, 3), np.nan)), "pin targets are not finite at time 0 s"),
            (dict(axes=(True, False)), "pin axes must be three booleans"),
            (dict(stiffness=-1.0), "pin stiffness must be finite and not negative"),
            (dict(stiffness=np.nan), "pin stiffness"),
            (dict(stiffness=[1.0, 2.0, 3.0]), r"pin stiffness.*\(3,\)"),
        ],
    )
    def test_pins(self, options, words):
        with pytest.raises(sc.ShellError, match=words):
            sheet().pin([0, 1], **options)

    def test_clamp_targets(self):
        with pytest.raises(sc.ShellError, match="targets must have shape"):
            sheet().clamp([0, 1], np.zeros((5, 3)))

    def test_loads(self):
        with pytest.raises(sc.ShellError, match=r"load forces must have shape \(2, 3\), not \(2, 2\)"):
            sheet().load([0, 1], np.zeros((2, 2)))
        with pytest.raises(sc.ShellError, match="load forces are not finite"):
            sheet().load([0, 1], np.full(3, np.inf))


class TestQuadratic:
    """A plate model: curved rest angles are refused with a way out."""

    @pytest.mark.parametrize("mesh", [hemisphere(3), cylinder(8, 3, 0.3, 1.0), bumpy(grid(3, 3, 1.0, 1.0), 0.1)])
    def test_curved_rest_angles_name_cubic_and_the_edge(self, mesh):
        with pytest.raises(sc.ShellError, match=r"plate.*bending='cubic'.*rest_angles='flat'") as error:
            sc.Shell(*mesh, MATERIAL, bending="quadratic")
        assert len(error.value.edges) == 1

    def test_a_garment_cut_flat_is_fine(self):
        """A half tube cut flat springs open."""
        flat, faces = grid(8, 3, np.pi, 1.0)
        points = np.column_stack([0.3 * np.sin(flat[:, 0]), flat[:, 1], 0.3 * np.cos(flat[:, 0])])
        shell = sc.Shell(points, faces, MATERIAL, bending="quadratic", rest_angles="flat")
        assert (shell.rest_angles_at(0.0) == 0.0).all() and np.abs(shell.shape_angles).max() > 0.1
        *_, last = sc.simulate(sc.Scene([shell], gravity=(0, 0, 0)), 5)
        opened = np.ptp(last.positions[[0, 8]], axis=0)
        assert np.linalg.norm(opened) > 0.6 + 0.02

    def test_angles_set_later_are_checked_too(self):
        shell = sc.Shell(*grid(2, 2, 1.0, 1.0), MATERIAL, bending="quadratic")
        with pytest.raises(sc.ShellError, match="cubic"):
            shell.set_rest_angles(np.full(len(shell.hinges), 0.1))
        with pytest.raises(sc.ShellError, match="cubic"):
            shell.set_rest_angles(lambda t: np.full(len(shell.hinges), 0.1))

    def test_a_tilted_plane_is_flat(self):
        points, faces = grid(4, 4, 1.0, 1.0)
        tilted = points @ np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0].T + 300.0
        sc.Shell(tilted, faces, MATERIAL, bending="quadratic")


class TestDerived:
    def test_mass_is_area_times_density(self):
        shell = sheet()
        assert shell.areas.sum() == pytest.approx(0.24, rel=1e-14)
        assert shell.mass.sum() == pytest.approx(0.24 * 0.2, rel=1e-14)

    def test_windings_are_made_consistent(self):
        points, faces = grid(2, 2, 1.0, 1.0)
        mixed = faces.copy()
        mixed[3] = mixed[3, ::-1]
        shell = sc.Shell(points, mixed, MATERIAL)
        assert {tuple(sorted(f)) for f in shell.faces} == {tuple(sorted(f)) for f in faces}
        assert np.abs(shell.shape_angles).max() == 0.0

    def test_arrays_of_the_caller_are_not_kept(self):
        points, faces = grid(2, 2, 1.0, 1.0)
        shell = sc.Shell(points, faces, MATERIAL)
        points[:] = 7.0
        faces[:] = 0
        assert np.ptp(shell.rest_positions) == 1.0 and shell.faces.max() == 8


class TestHolding:
    def test_pins_hold_the_chosen_components_only(self):
        shell = sheet()
        shell.pin([0], axes=(False, False, True))
        *_, last = sc.simulate(sc.Scene([shell], gravity=(1.0, 0.0, -9.81)), 5)
        assert last.positions[0, 2] == 0.0
        assert last.positions[0, 0] > 0.01

    @pytest.mark.parametrize("integrator", ["implicit_euler", "newmark", "explicit"])
    def test_animated_pins_are_where_they_should_be_at_every_frame(self, integrator):
        shell = sheet()

        def path(t):
            return shell.rest_positions[[0, 3]] + np.array([0.2 * t, 0.0, 0.1 * np.sin(5.0 * t)])

        shell.pin([0, 3], path)
        for frame in sc.simulate(sc.Scene([shell]), 6, substeps=20, integrator=integrator):
            assert np.array_equal(frame.positions[[0, 3]], path(frame.time))

    def test_soft_pins_sag_by_weight_over_stiffness(self):
        shell = sheet()
        shell.pin(np.arange(12), stiffness=50.0 * shell.mass / shell.mass.mean())
        x = sc.equilibrium(sc.Scene([shell]))
        sag = shell.mass.mean() * 9.81 / 50.0
        assert x - shell.rest_positions == pytest.approx(np.tile([0, 0, -sag], (12, 1)), abs=1e-9)

    def test_soft_pins_follow_moving_targets(self):
        shell = sheet()
        shell.pin(np.arange(12), lambda t: shell.rest_positions + np.array([0.0, 0.3 * t, 0.0]), stiffness=1e5)
        *_, last = sc.simulate(sc.Scene([shell], gravity=(0, 0, 0)), 12, fps=24.0)
        assert (last.positions - shell.rest_positions)[:, 1] == pytest.approx(0.15, abs=1e-3)

    def test_two_soft_pins_on_a_vertex_add_up(self):
        shell = sheet()
        everywhere = np.arange(12)
        shell.pin(everywhere, shell.rest_positions, stiffness=30.0)
        shell.pin(everywhere, shell.rest_positions + np.array([0, 0, 0.4]), stiffness=10.0)
        x = sc.equilibrium(sc.Scene([shell], gravity=(0, 0, 0)))
        assert x[:, 2] == pytest.approx(0.1, abs=1e-6)

    def test_a_clamp_holds_the_slope_and_turns_with_its_targets(self):
        """A strip clamped at one end follows a turn of the clamp as a whole; a pinned one would not."""
        points, faces = grid(6, 2, 0.6, 0.2)
        shell = sc.Shell(points, faces, sc.Material(stretch=500.0, bend=0.05, areal_density=0.1, thickness=1e-3))

        def turned(x, angle):
            c, s = np.cos(angle), np.sin(angle)
            return x @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]).T

        two_columns = np.flatnonzero(points[:, 0] < 0.11)
        shell.clamp(two_columns, lambda t: turned(points[two_columns], 0.5 * min(t, 1.0)))
        x = sc.equilibrium(sc.Scene([shell], gravity=(0, 0, 0)), time=1.0)
        assert x == pytest.approx(turned(points, 0.5), abs=1e-6)

    def test_a_clamped_edge_carries_a_cantilever(self):
        """The slope at the wall: a pinned edge alone would let the strip swing down freely.

        Equilateral hinges have a Poisson ratio of −1/3 in bending: a free strip has 1 − 1/9 of the plate's rigidity.
        """
        points, faces = equilateral(8, 4, 0.05)
        material = sc.Material(stretch=2e4, bend=0.2, areal_density=0.05, thickness=1e-3)
        shell = sc.Shell(points, faces, material)
        shell.clamp(np.flatnonzero(points[:, 0] == 0.0))
        drop = -sc.equilibrium(sc.Scene([shell]))[:, 2].min()
        assert drop == pytest.approx(0.05 * 9.81 * 0.4**4 / (8 * 0.2 * 8 / 9), rel=0.03)

    def test_loads_of_time_points_and_lines(self):
        """The sum of loads is what the pins carry: a point load, a line load spread by length, one that grows."""
        shell = sheet()
        edge = np.flatnonzero(shell.rest_positions[:, 0] == 0.6)
        share = 0.4 * np.array([0.25, 0.5, 0.25])
        shell.load([5], np.array([[0.0, 0.0, 2.0]]))
        shell.load(edge, np.outer(share, [3.0, 0.0, 0.0]))
        shell.load([6], lambda t: np.array([0.0, t, 0.0]))
        shell.load([5, 5], np.array([0.0, 0.0, 0.25]))
        force = System(sc.Scene([shell], gravity=(0, 0, 0))).dead_force(0.5)
        assert force.sum(axis=0) == pytest.approx([1.2, 0.5, 2.5], rel=1e-14)
        assert force[5] == pytest.approx([0, 0, 2.5], rel=1e-14)
        assert force[edge[1]] == pytest.approx([0.6, 0, 0], rel=1e-14)


@pytest.mark.parametrize("bending", ["hinge", "quadratic", "cubic"])
def test_elastic_energies_are_those_that_move_a_shell(bending):
    points, faces = grid(3, 3, 1.0, 1.0)
    shell = sc.Shell(points, faces, sc.Material.preset("cotton"), bending=bending)
    bent = points + 0.05 * np.random.default_rng(0).normal(size=points.shape)
    elastic, system = sc.elastic_energies(shell), System(sc.Scene([shell]))
    ours = [*elastic.membranes, elastic.bending.energy]
    assert [part.value(bent) for part in ours] == [part.value(bent) for part in system.elastic()]
    assert elastic.bending.energy.value(bent) > 0.0


def test_elastic_energies_of_a_subdivision_shell_are_refused():
    shell = sc.Shell(*grid(3, 3, 1.0, 1.0), sc.Material.preset("cotton"), bending="subdivision")
    with pytest.raises(sc.ShellError, match="elastic_energies"):
        sc.elastic_energies(shell)
