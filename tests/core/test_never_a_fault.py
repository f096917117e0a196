"""Scenes at the edge of sense: what stands for them is a result or a refusal that says what to do."""

from __future__ import annotations

import numpy as np
import pytest

import shellcore as sc
from meshes import grid, hemisphere
from shellcore.integrators import Integrator, State
from shellcore.linalg.assembly import Hessian
from shellcore.system import System

STUFF = sc.Material(stretch=40.0, poisson=0.3, bend=0.02, areal_density=0.2, thickness=1e-3)
TRIANGLE = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0)]), np.array([[0, 1, 2]])
BOW_TIE = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0)]), np.array([[0, 1, 2], [0, 3, 4]])


def sheet(cells=3, **options):
    points, faces = grid(cells, cells, 1.0, 1.0)
    return sc.Shell(points, faces, STUFF, **options)


def last(scene, frames=2, **options):
    *_, frame = sc.simulate(scene, frames, **options)
    return frame


class TestWithoutHinges:
    @pytest.mark.parametrize("mesh", [TRIANGLE, BOW_TIE], ids=["triangle", "bow-tie"])
    def test_a_shell_without_a_hinge_moves_rests_and_has_modes(self, mesh):
        def held():
            shell = sc.Shell(*mesh, STUFF, bending="hinge")
            shell.pin([0, 1])
            return shell

        for solver, jacobian in (("newton", "exact"), ("newton", "constant"), ("auto", "constant")):
            frame = last(sc.Scene([held()]), solver=solver, jacobian=jacobian)
            assert np.isfinite(frame.positions).all() and frame.positions[2, 2] < 0.0
        # It hangs from the line through its pins.
        assert sc.equilibrium(held())[2, 2] < -0.9
        assert sc.ModalShell(held(), 3).eigenvalues.min() >= 0.0


class TestSubdivision:
    def test_all_vertices_pinned(self):
        shell = sheet(bending="subdivision")
        shell.pin(np.arange(16))
        assert shell.limit(last(sc.Scene([shell])).control()) == pytest.approx(shell.limit(shell.start), abs=1e-9)
        stats: dict = {}
        rest = sc.equilibrium(shell, stats=stats)
        whole = np.concatenate([rest, *stats["hidden"]])
        assert shell.limit(whole) == pytest.approx(shell.limit(shell.start), abs=1e-9)

    @pytest.mark.parametrize("integrator", ["implicit_euler", "newmark"])
    def test_tied_ghosts_fall_like_the_rest(self, integrator):
        # Warnings are errors here: 0/0 was one.
        frame = last(sc.Scene([sheet(bending="subdivision", ghosts="tied")]), integrator=integrator, substeps=1)
        exact = 0.5 * 9.81 * (2 / 24) * (2 / 24 + (1 / 24 if integrator == "implicit_euler" else 0.0))
        assert frame.positions[:, 2] == pytest.approx(-exact, abs=1e-6)


class TestSingularHessians:
    def test_the_constant_matrix_stands_in(self):
        system = System(sc.Scene([sheet()]))
        integrator = Integrator(system, "implicit_euler", 0.25, 0.5, "exact")
        state = State(0.0, system.start, system.velocities, np.zeros_like(system.start))
        potential, _ = integrator.begin(state, 1 / 24)
        nothing, residual = Hessian(16), np.random.default_rng(0).normal(size=(16, 3))
        assert potential.factored(nothing, definite=True) is None
        found = potential.factored(nothing)(residual)
        assert found == pytest.approx(potential.precondition(residual)) and np.abs(found).max() > 0.0

    @pytest.mark.parametrize("thin", [1e-3, 1e-4])
    def test_a_sliver_strip_held_along_itself_moves(self, thin):
        points, faces = grid(8, 1, 1.0, thin)
        strip = sc.Shell(points, faces, STUFF, bending="hinge")
        strip.pin(np.arange(len(points)), axes=(True, False, False))
        frame = last(sc.Scene([strip]), 3, solver="newton", jacobian="exact")
        assert (frame.positions[:, 2] < 0.0).all()


class TestConflictingPins:
    def test_two_places_are_refused_by_name(self):
        shell = sheet()
        shell.pin([0, 3])
        shell.pin([3, 4], shell.start[[3, 4]] + np.array([0.0, 0.0, 0.1]))
        with pytest.raises(sc.ShellError, match=r"shell 0: pins hold vertices 3 at two places, 0.1 m apart, at"):
            next(sc.simulate(shell, 1))
        with pytest.raises(sc.ShellError, match="at two places"):
            sc.equilibrium(shell)

    def test_within_one_pin_and_later(self):
        shell = sheet()
        shell.pin([1, 1], np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
        with pytest.raises(sc.ShellError, match="vertices 1 at two places"):
            next(sc.simulate(shell, 1))
        parting = sheet()
        parting.pin([0])
        parting.pin([0], lambda t: parting.start[:1] + max(t - 0.05, 0.0))
        with pytest.raises(sc.ShellError, match=r"vertices 0 at two places, .* at time 0.0833333 s"):
            list(sc.simulate(parting, 3, integrator="implicit_euler", substeps=1))

    def test_the_same_place_other_axes_and_springs_are_fine(self):
        shell = sheet()
        shell.clamp([0, 1])
        shell.pin([0], shell.start[:1])
        shell.pin([5], axes=(True, False, False))
        shell.pin([5], shell.start[5:6] + np.array([0.0, 0.0, 0.1]), axes=(False, False, True))
        shell.pin([0], shell.start[:1] + 1.0, stiffness=10.0)
        assert last(shell, 1).positions[5, 2] == pytest.approx(0.1)


class TestStateOfAnotherScene:
    def state(self):
        return last(sheet(), 1).state

    def test_other_faces_with_as_many_vertices_are_refused(self):
        points, faces = grid(3, 3, 1.0, 1.0, "one")
        with pytest.raises(sc.ShellError, match="state is that of another scene, whose shells have other faces"):
            next(sc.simulate(sc.Shell(points, faces, STUFF), 1, resume=self.state()))

    def test_another_size_is_refused(self):
        points, faces = grid(3, 3, 2.0, 1.0)
        with pytest.raises(sc.ShellError, match="whose shells have another size at rest"):
            next(sc.simulate(sc.Shell(points, faces, STUFF), 1, resume=self.state()))

    def test_another_material_or_one_that_does_not_say_is_taken(self):
        points, faces = grid(3, 3, 1.0, 1.0)
        next(sc.simulate(sc.Shell(points, faces, sc.Material.preset("silk")), 1, resume=self.state()))
        plain = {name: self.state()[name] for name in ("time", "positions", "velocities", "accelerations")}
        assert next(sc.simulate(sheet(), 1, resume=plain)).time == pytest.approx(2 / 24)


class TestExplicit:
    def test_a_ball_in_long_steps_is_refused(self):
        points, faces = hemisphere(6, 0.1)
        rubber = sc.Material.solid(young=5e6, poisson=0.3, thickness=1e-3, density=1000.0)
        shell = sc.Shell(points, faces, rubber, start=points + np.array([0.0, 0.0, 0.2]))
        scene = sc.Scene([shell], [sc.Plane((0, 0, 0), (0, 0, 1))])
        seen = []
        with pytest.raises(sc.StepFailed, match="is unstable: it is longer than the fastest vibration") as failed:
            seen.extend(sc.simulate(scene, 30, fps=30, integrator="explicit"))
        # Its fall is at most 2 m/s, and no frame shows more; the state goes on with shorter steps.
        assert all(np.abs(frame.velocities).max() < 4.0 for frame in seen)
        frame = next(sc.simulate(scene, 1, fps=30, substeps=200, integrator="explicit", resume=failed.value.state))
        assert np.abs(frame.velocities).max() < 5.0

    def test_stiff_sheets_with_a_tie_do_not_pass_a_plane(self):
        points, faces = grid(6, 6, 0.5, 0.5)
        paper = sc.Material.preset("paper")
        low, high = (sc.Shell(points, faces, paper, start=points + np.array([0.0, 0.0, z])) for z in (0.05, 0.1))
        scene = sc.Scene([low, high], [sc.Plane((0, 0, 0), (0, 0, 1))], attachments=[sc.Attach(low, [3], high, [3])])
        with pytest.raises(sc.StepFailed, match="unstable"):
            for frame in sc.simulate(scene, 5, integrator="explicit"):
                assert frame.positions[:, 2].min() > 0.0

    def test_steps_that_are_short_enough_pass(self):
        points, faces = grid(4, 4, 0.4, 0.4)
        turning = np.cross([0.0, 0.0, 20.0], points - points.mean(axis=0))
        shell = sc.Shell(points, faces, STUFF, velocities=turning + np.array([3.0, 0.0, 0.0]))
        scene = sc.Scene([shell], [sc.Plane((0, 0, -0.1), (0, 0, 1))])
        frames = list(sc.simulate(scene, 24, substeps=400, integrator="explicit"))
        assert np.isfinite(frames[-1].velocities).all()


class TestEquilibrium:
    def test_a_loose_shell_beside_a_held_one_is_named_before_anything_is_solved(self):
        held, loose = sheet(), sheet(start=sheet().start + np.array([3.0, 0.0, 0.0]))
        held.pin([0, 3])
        seen = []
        with pytest.raises(sc.StepFailed, match=r"nothing holds shell 1: loads carry it off along \(0, 0, -1\)"):
            sc.equilibrium(sc.Scene([held, loose]), progress=seen.append)
        assert seen == []

    def test_pins_that_leave_the_loaded_axis_free_hold_nothing(self):
        shell = sheet()
        shell.pin([0, 3, 12], axes=(True, True, False))
        with pytest.raises(sc.StepFailed, match="nothing holds shell 0"):
            sc.equilibrium(shell)

    @pytest.mark.parametrize("what", ["tie", "plane", "ball", "spring", "no load"])
    def test_what_may_hold_is_let_be(self, what):
        first, second = sheet(), sheet(start=sheet().start + np.array([0.0, 0.0, 0.2]))
        first.pin([0, 3, 12, 15])
        options = {"attachments": [], "colliders": [], "gravity": (0, 0, -9.81)}
        if what == "tie":
            options["attachments"] = [sc.Attach(first, [0, 3, 12, 15], second, [0, 3, 12, 15], stiffness=50.0)]
        if what == "plane":
            options["colliders"] = [sc.Plane((0, 0, -5), (0, 0, 1))]
        if what == "ball":
            options["colliders"] = [sc.Sphere((0.5, 0.5, -5), 1.0)]
        if what == "spring":
            second.pin([0, 3, 12], stiffness=20.0)
        if what == "no load":
            options["gravity"] = (0, 0, 0)
        # Whether it comes to rest is another matter: it is looked for.
        seen = []
        with pytest.raises(sc.StepFailed, match="was cancelled"):
            sc.equilibrium(
                sc.Scene([first, second], self_contact=False, **options),
                progress=lambda report: seen.append(report) or len(seen) < 2,
                start=np.concatenate([first.start, second.start]) + 0.01,
            )
        assert len(seen) == 2

    def test_progress_can_cancel_and_the_state_goes_on(self):
        shell = sheet(8)
        shell.pin([0, 8])
        seen = []

        def told(report):
            seen.append(report)
            return len(seen) < 3

        with pytest.raises(sc.StepFailed, match="was cancelled, after 3 iterations, with a residual of") as ended:
            sc.equilibrium(shell, progress=told)
        assert [report["iterations"] for report in seen] == [1, 2, 3]
        whole = sc.equilibrium(shell)
        assert sc.equilibrium(shell, start=ended.value.state) == pytest.approx(whole, abs=1e-4)

    def test_a_budget_ends_it(self):
        shell = sheet(8)
        shell.pin([0, 8])
        with pytest.raises(sc.StepFailed, match="took longer than its budget of 1e-09 s"):
            sc.equilibrium(shell, budget=1e-9)
        with pytest.raises(sc.ShellError, match="budget must be positive"):
            sc.equilibrium(shell, budget=0.0)


class TestExtremes:
    def test_a_crease_that_comes_at_once_later(self):
        # At its start 0/0 was one.
        shell = sheet()
        shell.pin([0, 3])
        shell.crease([(1, 5)], 0.5, 0.05)
        rest = [shell.rest_angles_at(t) for t in (0.0, 0.05, 0.06)]
        assert not rest[0].any() and np.abs(rest[1]).max() == np.abs(rest[2]).max() == 0.5
        assert np.isfinite(last(shell, 3).positions).all()

    @pytest.mark.parametrize("size", [1e-6, 1e9])
    def test_sheets_of_any_size(self, size):
        points, faces = grid(3, 3, size, size)
        frame = last(sc.Scene([sc.Shell(points, faces, STUFF)], self_contact=False))
        assert np.isfinite(frame.positions).all()

    def test_a_mesh_in_another_unit_is_refused(self):
        points, faces = grid(3, 3, 1e-9, 1e-9)
        with pytest.raises(sc.ShellError, match="only 1e-09 m large; they are in metres"):
            sc.Shell(points, faces, STUFF)

    @pytest.mark.parametrize(
        "build",
        [
            lambda: sc.Scene([sheet()], gravity=(0, 0, 1e200)),
            lambda: sc.Scene([sheet()], wind=sc.Wind((1e160, 0, 0))),
            lambda: sheet().load([0], (0, 0, 1e200)),
            lambda: sc.Sphere((0, 0, 0), 1e290),
            lambda: sc.Plane((0, 0, 0), (0, 0, 1e300)),
            lambda: sc.Scene([sheet()], contact_distance=1e300),
            lambda: sheet().pin([0], stiffness=1e300),
            lambda: sc.Damping(mass=1e300),
        ],
    )
    def test_numbers_that_nothing_has_are_refused(self, build):
        with pytest.raises(sc.ShellError):
            build()


class TestMessages:
    def test_a_step_that_fails_names_the_shell(self):
        calm, torn = sheet(), sheet(start=sheet().start + np.array([3.0, 0.0, 0.0]))
        calm.pin([0])
        torn.load([5], lambda t: (0.0, 0.0, 1e30))
        with pytest.raises(sc.StepFailed, match=r"(worst off is|furthest went) vertex \d+ of shell 1: use more"):
            last(sc.Scene([calm, torn], self_contact=False), 1, integrator="implicit_euler", substeps=1)

    def test_handles_that_cannot_be_met_are_told_not_raised(self):
        modal = sc.ModalShell(sheet(4), 1)
        points = modal.positions
        modal.position_handle([0], points[0] + [0, 0, 0.1])
        modal.position_handle([24], points[24] - [0, 0, 0.1])
        modal.orientation_handle([12], np.eye(3))
        for _ in range(5):
            assert np.isfinite(modal.step(0.02)).all()

    def test_hard_handles_on_a_free_shell_of_one_mode(self):
        # Some are exactly singular: two ends that the one mode does not tell apart.
        for seed in range(60):
            draw = np.random.default_rng(seed)
            points, faces = grid(int(draw.integers(2, 5)), int(draw.integers(2, 5)), 1.0, 1.0)
            bending = ("hinge", "cubic", "quadratic")[draw.integers(3)]
            modal = sc.ModalShell(sc.Shell(points, faces, STUFF, bending=bending), 1, gravity=(0, 0, 0))
            for vertex in draw.choice(len(points), 2, replace=False):
                modal.position_handle([vertex], points[vertex] + draw.normal(size=3) * draw.choice([0, 0.1, 1, 100.0]))
            for _ in range(4):
                assert np.isfinite(modal.step(float(draw.choice([1e-4, 0.03, 1.0, 100.0])))).all()

    @pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
    def test_a_free_subdivision_shell_has_modes_whatever_its_size(self, size):
        points, faces = grid(3, 3, size, size)
        soft = sc.Material(stretch=1e-3, bend=1e-12, areal_density=0.2, thickness=1e-3)
        shell = sc.Shell(points, faces, soft, bending="subdivision")
        assert sc.ModalShell(shell, 4).eigenvalues.min() >= 0.0
