"""The finer generator: every iteration shows, often enough to cancel, and it can be left midway."""

from __future__ import annotations

import pytest
from busy import busy_scene, bytes_of

import shellcore as sc


class TestProgress:
    def test_every_iteration_shows_and_a_run_can_be_left(self):
        run = sc.progress(busy_scene(), 3, fps=100.0, solver="newton")
        steps = [next(run) for _ in range(5)]
        assert steps[0].stage == "factor" and steps[0].frame_index == 1
        assert {step.stage for step in steps[1:]} <= {"factor", "solve", "frame"}
        assert any(step.iteration == 1 for step in steps)
        run.close()
        with pytest.raises(StopIteration):
            next(run)

    def test_every_factorisation_is_announced(self):
        """Rest angles move in every step, a seam opens: one new matrix a frame, a pause the caller may explain."""
        # Not those that contacts add to in the middle of a solve.
        scene = busy_scene(contact="penalty")
        steps = list(sc.progress(scene, 6, fps=100.0, substeps=2, solver="quasi_newton"))
        assert steps[-1].frame.stats["constant_factorisations"] == 6
        assert sum(step.stage == "factor" for step in steps) == 6

    def test_frames_come_with_the_progress(self):
        frames = [step.frame for step in sc.progress(busy_scene(), 3, fps=100.0) if step.frame is not None]
        assert [bytes_of(f) for f in frames] == [bytes_of(f) for f in sc.simulate(busy_scene(), 3, fps=100.0)]
