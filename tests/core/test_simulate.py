"""The loop: identical bytes, resuming anywhere, failing with what was done so far, progress and cancelling."""

from __future__ import annotations

import io
import types

import numpy as np
import pytest
from busy import MATERIAL, busy_scene, bytes_of

import shellcore as sc
from meshes import bumpy, grid
from shellcore.integrators import INTEGRATORS

every_integrator = pytest.mark.parametrize("integrator", INTEGRATORS)


class TestIdenticalBytes:
    OPTIONS = types.MappingProxyType(dict(fps=100.0, substeps=2))

    @every_integrator
    @pytest.mark.parametrize("solver", ["newton", "quasi_newton"])
    def test_two_runs_and_a_resumed_one(self, integrator, solver):
        options = dict(self.OPTIONS, integrator=integrator, solver=solver)
        if integrator == "sdirk2" and solver == "quasi_newton":
            # It has Newton's method alone; so many steps as its error asks for are another thing to resume.
            options |= {"solver": "auto", "substeps": None}
        if integrator.startswith(("explicit", "imex")):
            options["substeps"] = 10
        first = list(sc.simulate(busy_scene(), 8, **options))
        again = list(sc.simulate(busy_scene(), 8, **options))
        assert [bytes_of(f) for f in first] == [bytes_of(f) for f in again]
        assert not np.array_equal(first[0].positions, first[-1].positions)
        for at in (0, 3, 5):
            resumed = list(sc.simulate(busy_scene(), 7 - at, **options, resume=first[at].state))
            assert [bytes_of(f) for f in resumed] == [bytes_of(f) for f in first[at + 1 :]]

    def test_a_state_survives_a_file(self):
        first = list(sc.simulate(busy_scene(), 6, **self.OPTIONS))
        file = io.BytesIO()
        np.savez(file, **first[2].state)
        file.seek(0)
        with np.load(file, allow_pickle=False) as loaded:
            resumed = list(sc.simulate(busy_scene(), 3, **self.OPTIONS, resume=dict(loaded)))
        assert [bytes_of(f) for f in resumed] == [bytes_of(f) for f in first[3:]]

    def test_frames_do_not_share_memory_with_the_run(self):
        frames = []
        for frame in sc.simulate(busy_scene(), 3, **self.OPTIONS):
            frames.append(bytes_of(frame))
            frame.positions[:] = np.nan
            frame.velocities[:] = np.nan
            for array in frame.state.values():
                if isinstance(array, np.ndarray):
                    array[...] = np.nan if array.dtype.kind == "f" else 0
        assert frames == [bytes_of(f) for f in sc.simulate(busy_scene(), 3, **self.OPTIONS)]

    def test_fields_belong_to_their_frame_whenever_they_are_read(self):
        late = list(sc.simulate(busy_scene(), 5, **self.OPTIONS))
        for name in ("strain", "stress", "bending", "contact"):
            early = [f.fields[name].copy() for f in sc.simulate(busy_scene(), 5, **self.OPTIONS)]
            for frame, field in zip(late, early, strict=True):
                assert np.array_equal(frame.fields[name], field)

    @pytest.mark.parametrize("iterations", [1, 3])
    def test_a_limit_of_iterations_is_kept(self, iterations):
        for frame in sc.simulate(busy_scene(), 3, fps=100.0, solver="newton", iterations=iterations):
            assert frame.stats["iterations"] <= iterations
            assert frame.stats["halvings"] == 0


class TestFrames:
    def test_times_slices_and_ancestry(self):
        frames = list(sc.simulate(busy_scene(), 4, fps=30.0))
        assert [f.time for f in frames] == [i / 30.0 for i in range(1, 5)]
        for frame in frames:
            assert frame.slices == [slice(0, 16), slice(16, 32)]
            assert frame.faces.shape == (36, 3) and frame.faces.max() == 31
            assert np.array_equal(frame.source, np.arange(32)) and np.array_equal(frame.parent, np.arange(32))
            assert (frame.birth == -np.inf).all()
            assert np.isfinite(frame.positions).all()

    def test_no_frames(self):
        assert list(sc.simulate(busy_scene(), 0)) == []

    def test_one_triangle_falls(self):
        shell = sc.Shell(np.eye(3), np.array([[0, 1, 2]]), MATERIAL)
        *_, last = sc.simulate(sc.Scene([shell]), 10, fps=10.0)
        assert (last.positions - np.eye(3))[:, 2] == pytest.approx(-0.5 * 9.81 * 1.0 * 1.1, rel=1e-12)
        assert set(last.fields) == {"strain", "stress", "bending", "contact", "plastic", "damage"}
        for name in last.fields:
            assert np.abs(last.fields[name]).max() < 1e-9

    def test_two_components_move_on_their_own(self):
        points, faces = grid(2, 2, 1.0, 1.0)
        both = np.vstack([points, points + np.array([5.0, 0, 0])]), np.vstack([faces, faces + 9])
        joined = sc.Shell(*both, MATERIAL)
        joined.pin([0, 2])
        alone = sc.Shell(points, faces, MATERIAL)
        alone.pin([0, 2])
        options = dict(fps=30.0, solver="newton", tolerance=1e-12)
        *_, pair = sc.simulate(sc.Scene([joined]), 10, **options)
        *_, single = sc.simulate(sc.Scene([alone]), 10, **options)
        assert pair.positions[:9] == pytest.approx(single.positions, abs=1e-7)
        assert np.ptp(pair.positions[9:, 2]) < 1e-9

    @pytest.mark.parametrize("solver", ["newton", "quasi_newton"])
    @pytest.mark.parametrize("bending", ["hinge", "quadratic", "cubic"])
    def test_far_from_the_origin(self, solver, bending):
        """10 km away positions have twelve digits left; the motion keeps six of them."""
        points, faces = grid(4, 4, 1.0, 1.0)

        def hung(shift):
            shell = sc.Shell(points + shift, faces, MATERIAL, bending=bending)
            shell.pin([0, 4])
            options = dict(fps=24.0, solver=solver, tolerance=1e-8)
            return [f.positions - shift for f in sc.simulate(sc.Scene([shell]), 8, **options)]

        near, far = hung(np.zeros(3)), hung(np.array([1e4, -1e4, 1e4]))
        assert np.abs(near[-1] - points).max() > 0.1
        assert far[-1] == pytest.approx(near[-1], abs=2e-5)

    def test_material_per_face(self):
        """A sheet of two halves strains by force over stiffness in each."""
        points, faces = grid(8, 1, 2.0, 0.25)
        left = points[faces][:, :, 0].mean(axis=1) < 1.0
        stiff = np.where(left, 100.0, 400.0)
        halves = sc.Material(stretch=stiff, bend=1e-3, areal_density=np.where(left, 0.1, 0.3), thickness=1e-3)
        shell = sc.Shell(points, faces, halves)
        assert shell.mass.sum() == pytest.approx(0.25 * 0.1 + 0.25 * 0.3, rel=1e-12)
        shell.pin(np.flatnonzero(points[:, 0] == 0.0))
        end = np.flatnonzero(points[:, 0] == 2.0)
        shell.load(end, np.array([0.125 * 0.5, 0, 0]))  # half a newton a metre
        x = sc.equilibrium(sc.Scene([shell], gravity=(0, 0, 0)))
        middle = x[points[:, 0] == 1.0, 0].mean()
        # Green strain E of a stretch s: 0.5 = A s E, E = (s² − 1)/2; to second order s − 1 = 0.5/A − 3/2 (0.5/A)².
        assert middle - 1.0 == pytest.approx(0.005 - 1.5 * 0.005**2, rel=1e-3)
        assert x[end, 0].mean() - middle - 1.0 == pytest.approx(0.00125 - 1.5 * 0.00125**2, rel=1e-3)


class Sick:
    """A force that turns to NaN at 0.1 s."""

    def force(self, t, x, v, area_normals):
        return np.full_like(x, np.nan if t > 0.1 else 0.0)


class TestFailure:
    def test_nan_from_a_force_names_it_and_keeps_the_frames(self):
        points, faces = grid(2, 2, 1.0, 1.0)
        frames = []
        with pytest.raises(sc.ShellError, match=r"Sick\.force is not finite at vertices 0, 1, 2, 3, 4 and 4 more at"):
            for frame in sc.simulate(sc.Scene([sc.Shell(points, faces, MATERIAL)], forces=[Sick()]), 10, fps=20.0):
                frames.append(frame)
        assert len(frames) == 3
        assert all(np.isfinite(frame.positions).all() for frame in frames)

    def test_explicit_stretch_in_long_steps_says_so(self):
        points, faces = grid(6, 6, 1.0, 1.0)
        shell = sc.Shell(points, faces, sc.Material.preset("reference"))
        scene = sc.Scene([shell], colliders=[sc.Sphere((0.5, 0.5, -0.3), 0.28)], self_contact=False)
        with pytest.raises(sc.StepFailed, match="explicit of it may need more substeps"):
            list(sc.simulate(scene, 24, integrator="imex_bending", substeps=10))

    def test_nan_from_a_target_names_it(self):
        points, faces = grid(2, 2, 1.0, 1.0)
        shell = sc.Shell(points, faces, MATERIAL)
        shell.pin([0], lambda t: points[[0]] if t < 0.12 else np.full((1, 3), np.nan))
        with pytest.raises(sc.ShellError, match=r"pin targets are not finite at time 0\.15 s"):
            list(sc.simulate(sc.Scene([shell]), 10, fps=20.0))

    def test_nan_from_a_pressure_names_it(self):
        points, faces = grid(2, 2, 1.0, 1.0)
        shell = sc.Shell(points, faces, MATERIAL, pressure=lambda t: np.nan if t > 0.1 else 1.0)
        with pytest.raises(sc.ShellError, match=r"pressure.*0\.15 s"):
            list(sc.simulate(sc.Scene([shell]), 10, fps=20.0))

    def test_nan_from_the_wind_names_it(self):
        points, faces = grid(2, 2, 1.0, 1.0)
        wind = sc.Wind(lambda t, x: np.full_like(x, np.nan))
        with pytest.raises(sc.ShellError, match="wind velocity is not finite"):
            list(sc.simulate(sc.Scene([sc.Shell(points, faces, MATERIAL)], wind=wind), 1))

    @staticmethod
    def torn(from_time):
        """A sheet whose pins fly apart: from then on the energy overflows at every step length."""
        points, faces = grid(2, 2, 1.0, 1.0)
        shell = sc.Shell(points, faces, MATERIAL)
        shell.pin([0, 8], lambda t: points[[0, 8]] * (1.0 if t <= from_time else 1e200))
        return sc.Scene([shell])

    @pytest.mark.parametrize("solver", ["newton", "quasi_newton"])
    def test_a_step_that_fails_keeps_frames_and_state(self, solver):
        frames = []
        with pytest.raises(sc.StepFailed, match=r"the step at 0\.1\d* s did not converge") as error:
            for frame in sc.simulate(self.torn(0.1), 10, fps=20.0, substeps=2, solver=solver):
                frames.append(frame)
        assert len(frames) == 2
        assert error.value.time == pytest.approx(0.1, abs=0.05)
        assert error.value.state["time"] == error.value.time
        # Where the trouble is taken away, the run goes on from there at the times it would have had.
        resumed = list(sc.simulate(self.torn(np.inf), 2, fps=20.0, substeps=2, solver=solver, resume=error.value.state))
        assert [f.time for f in resumed] == pytest.approx([0.15, 0.2], rel=1e-12)

    def test_a_failure_between_frames_resumes_to_the_next_frame(self):
        smooth = list(sc.simulate(self.torn(np.inf), 5, fps=20.0, substeps=4))
        with pytest.raises(sc.StepFailed) as error:
            list(sc.simulate(self.torn(0.125), 10, fps=20.0, substeps=4))
        assert 0.125 - 1e-9 <= error.value.time < 0.1375
        resumed = list(sc.simulate(self.torn(np.inf), 3, fps=20.0, substeps=4, resume=error.value.state))
        assert [f.time for f in resumed] == [f.time for f in smooth[2:]]
        assert resumed[-1].positions == pytest.approx(smooth[-1].positions, abs=2e-3)

    def test_an_explicit_overflow_is_a_failed_step_not_a_warning(self):
        points, faces = bumpy(grid(2, 2, 0.1, 0.1), 0.02)
        shell = sc.Shell(points, faces, MATERIAL, bending="hinge", velocities=np.sin(100 * points))
        with pytest.raises(sc.StepFailed, match="substeps") as error:
            list(sc.simulate(sc.Scene([shell]), 400, fps=5.0, integrator="explicit"))
        assert np.isfinite(error.value.state["positions"]).all()

    @pytest.mark.parametrize(
        "options, words",
        [
            (dict(frames=-1), "frames must be .*-1"),
            (dict(frames=2.5), "frames must be .*2.5"),
            (dict(frames=np.nan), "frames must be .*nan"),
            (dict(substeps=0), "substeps must be .*0"),
            (dict(substeps="two"), "substeps must be .*two"),
            (dict(fps=0.0), "fps must be positive, not 0"),
            (dict(fps=np.nan), "fps must be positive, not nan"),
            (dict(fps=np.inf), "fps must be positive, not inf"),
            (dict(solver="cholesky"), "solver='cholesky'"),
            (dict(integrator="leapfrog"), "integrator='leapfrog'"),
            (dict(tolerance=0.0), "tolerance must be positive.*not 0"),
            (dict(tolerance=np.nan), "tolerance must be positive.*not nan"),
            (dict(iterations=0), "iterations must be .*0"),
            (dict(iterations=1.5), "iterations must be .*1.5"),
            (dict(resume={}), "resume"),
            (dict(resume={"time": 0.0, "positions": np.zeros((3, 3))}), "resume: positions"),
        ],
    )
    def test_options_are_named(self, options, words):
        scene = sc.Scene([sc.Shell(*grid(1, 1, 1.0, 1.0), MATERIAL)])
        with pytest.raises(sc.ShellError, match=words):
            list(sc.progress(scene, **options))

    def test_a_state_that_is_not_finite_is_refused(self):
        scene = sc.Scene([sc.Shell(*grid(1, 1, 1.0, 1.0), MATERIAL)])
        state = next(sc.simulate(scene, 1)).state
        for name in ("time", "positions", "velocities", "accelerations"):
            with pytest.raises(sc.ShellError, match=f"resume: {name}"):
                list(sc.simulate(scene, 1, resume=state | {name: np.nan * state[name]}))

    def test_what_is_not_a_scene(self):
        with pytest.raises(sc.ShellError, match="expected a Scene or a Shell, not str"):
            sc.progress("sheet")
