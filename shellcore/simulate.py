"""The loop: frames of steps, steps of solver iterations."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .cracks import Cracks
from .errors import ShellError, StepFailed
from .frame import Fields, Frame
from .integrators import Integrator, State
from .road import MOST, Road
from .saved import restored, saved
from .scene import Scene, as_scene
from .solver import Solution
from .step import StepSolver
from .stretch_cap import STRAIN_LIMIT
from .system import System
from .vectors import by_columns

# A step that does not converge is halved at most this often.
HALVINGS = 6
# A step halved this often is taken where the solver and the bound still disagree, if colliders have arrived.
INSIST = 2


@dataclass
class Progress:
    """A moment inside a run. `frame` is set when one is complete; `change` is the solver's last step [m]."""

    stage: str
    time: float
    frame_index: int
    iteration: int = 0
    change: float = 0.0
    frame: Frame | None = None


def simulate(scene: Scene, frames: int = 100, **options: Any) -> Iterator[Frame]:
    """Yield `frames` frames, 1/fps apart, the first one 1/fps after the start (or after `resume`).

    Options as in `progress`, which does the same and also yields after every solver iteration.
    """
    for step in progress(scene, frames, **options):
        if step.frame is not None:
            yield step.frame


def progress(
    scene: Scene,
    frames: int = 100,
    fps: float = 24.0,
    substeps: int = 1,
    integrator: str = "implicit_euler",
    beta: float = 0.25,
    gamma: float = 0.5,
    jacobian: str = "constant",
    solver: str = "auto",
    iterations: int | None = None,
    tolerance: float | None = None,
    resume: dict[str, Any] | None = None,
    strain_limit: float | None = None,
) -> Iterator[Progress]:
    """The finer generator beneath `simulate`.

    - `fps` [1/s], `substeps` a frame; `integrator`: "implicit_euler", "newmark" (`beta`, `gamma`; β = 0 is explicit),
      "explicit" (symplectic Euler), "imex_bending" (bending implicit, membrane explicit), "imex_membrane" (reversed).
    - `jacobian` of bending in Newton's method: "exact", "cubic" or "constant".
    - `solver`: "quasi_newton", "newton", "newton_cg" (Newton that never factors the Hessian first), or "auto" (by
      stiffness); `iterations`: exactly how many at most, result taken as it is (1 with "newton" is the semi-implicit
      step); `tolerance` [m]: stop when a step moves vertices less than this (root mean square), default 2% of how far
      elastic forces moved them from free flight in the last step (soft sheets end steps earlier: where they touch
      with a last Newton step of 8%; with "auto" and more than 1,000 vertices so while they gain speed, of 25% while
      they lose it, and by L-BFGS at 12% and more where they are slow or have more than 3,000).
    - `resume`: `state` of a frame of the same scene.
    - `strain_limit`: flat sheets stiffer than they need to be are made just stiff enough to strain by this under their
      loads; 0 keeps the material's stretch. Default: 0.1%, or 0 when a tolerance asks for accuracy. The stats say
      what was used (`stretch_scales`).
    """
    scene = as_scene(scene)
    for name, value, least in (("frames", frames, 0), ("substeps", substeps, 1), ("iterations", iterations, 1)):
        if value is None and name == "iterations":
            continue
        if not (isinstance(value, (int, float, np.number)) and value >= least and value % 1 == 0):
            raise ShellError(f"{name} must be a whole number, {least} or more, not {value!r}")
    if not (np.isfinite(fps) and fps > 0):
        raise ShellError(f"fps must be positive, not {fps}")
    if solver not in ("auto", *MOST):
        raise ShellError(f"solver={solver!r} is not known: choose one of auto, {', '.join(MOST)}")
    if tolerance is not None and not tolerance > 0:
        raise ShellError(f"tolerance must be positive, not {tolerance}")
    if strain_limit is None:
        strain_limit = STRAIN_LIMIT if tolerance is None else 0.0
    system = System(scene, strain_limit)
    if resume is None:
        system.start = system.contact.check_start(system.targets(0.0, system.start), 0.0)
    run = _Run(scene, Integrator(system, integrator, beta, gamma, jacobian), solver, iterations, tolerance)
    return run.frames(int(frames), float(fps), int(substeps), resume)


class _Run:
    """One simulation under way."""

    def __init__(
        self, scene: Scene, integrator: Integrator, solver: str, iterations: int | None, tolerance: float | None
    ) -> None:
        self.integrator = integrator
        self.cracks = Cracks(scene)
        self.road = Road(scene, integrator, self.cracks.possible, solver, iterations, tolerance)
        self.steps = StepSolver(scene, integrator, self.road)
        self.stats: dict[str, Any] = {}
        # Vertex of the last frame that each vertex comes from.
        self.parent = np.arange(self.system.visible)

    @property
    def system(self) -> System:
        """What moves now: a cut makes another."""
        return self.integrator.system

    def frames(self, count: int, fps: float, substeps: int, resume: dict[str, Any] | None) -> Iterator[Progress]:
        """Progress of `count` frames, each with its Frame at the end."""
        if resume is None:
            state = self._start(1.0 / (fps * substeps))
        else:
            state = restored(resume, self.integrator, self.cracks, self.steps)
        h = 1.0 / (fps * substeps)
        # A state of a failed step may lie between frames, or between steps: the first step then ends on the next.
        first, done = divmod(int(state.time / h + 1e-6), substeps)
        for index in range(first + 1, first + count + 1):
            self._reset_stats()
            began = time.perf_counter()
            self.integrator.preconditioner.refresh = True
            self.parent = np.arange(self.system.visible)
            self.system.follow_loads(index / fps, state.x, state.v)
            for substep in range(done, substeps):
                # Times are multiples of the step, not sums of it: no drift over a long run.
                due = (index - 1) / fps + (substep + 1) * h
                left = due - state.time
                for event in self._advance(state, left if left < 0.999 * h else h, index, HALVINGS):
                    if isinstance(event, State):
                        state = event
                    else:
                        yield event
                state.time = due
            done = 0
            self.system.contact.end_frame(state.x, state.time)
            self.stats["seconds"] = time.perf_counter() - began
            yield Progress("frame", state.time, index, frame=self._frame(state))

    def _start(self, h: float) -> State:
        system = self.system
        x = system.targets(0.0, system.start)
        state = State(0.0, x, system.velocities.copy(), np.zeros_like(x))
        if self.integrator.name == "newmark":
            a = self.integrator.acceleration(0.0, x, state.v, h)
            state.a = np.where(system.free, a, 0.0)
        return state

    def _advance(self, state: State, h: float, index: int, halvings: int) -> Iterator[Progress | State]:
        """Progress of the step from `state` over h [s], then the State at its end; halves what does not converge."""
        if self.integrator.explicit:
            ahead = self.integrator.explicit_step(state, h)
            self.stats["steps"] += 1
            self.stats["gradients"] += 1
            if not np.isfinite(ahead.x).all():
                raise StepFailed(
                    f"the explicit step at {state.time:.6g} s overflowed: use more substeps or an implicit integrator",
                    time=state.time,
                    state=self._saved(state),
                )
            yield self._after_step(ahead, h)
            yield Progress("step", ahead.time, index)
            return
        if self.integrator.needs_factor(state.time, h):
            yield Progress("factor", state.time, index)
        solution = yield from self._solve(state, h, index)
        contact = self.system.contact
        taken = self.road.iterations is not None or (contact.exists and halvings <= HALVINGS - INSIST)
        if solution.owed > 0.0 and halvings > HALVINGS - INSIST:
            solution.converged, solution.why = False, "its energy would grow"
        if solution.converged or (taken and np.isfinite(solution.x).all() and not contact.late):
            contact.report["unsettled"] += not solution.converged
            yield self._after_step(self.steps.finish(solution), h)
            return
        if halvings == 0:
            partly = self.integrator.name.startswith("imex")
            hint = "; what is explicit of it may need more substeps" if partly else ""
            raise StepFailed(
                f"the step at {state.time:.6g} s did not converge even at {h:.3g} s: {solution.why}{hint}",
                time=state.time,
                state=self._saved(state),
            )
        self.stats["halvings"] += 1
        for _ in range(2):
            for event in self._advance(state, 0.5 * h, index, halvings - 1):
                if isinstance(event, State):
                    state = event
                else:
                    yield event
        yield state

    def _after_step(self, state: State, h: float) -> State:
        """Let shells yield and break where a step of h [s] has left them; the state to go on from."""
        self.stats["dissipated"] += self.system.end_step(state.x, h)
        if not self.cracks.possible:
            return state
        self.cracks.part(self.system)
        cut = self.cracks.step(self.system, state.x, state.time)
        if cut is None:
            return state
        system, parent, lost = cut
        self.stats["dissipated"] += lost
        self.integrator.go_on_with(system, parent)
        self.parent = self.parent[parent[: system.visible]]
        x, v, a = (by_columns(array[parent]) for array in (state.x, state.v, state.a))
        return State(state.time, x, v, a)

    def _solve(self, state: State, h: float, index: int) -> Generator[Progress, None, Solution]:
        """Progress of a solve, then its solution."""
        steps = self.steps.solve(state, h)
        while True:
            try:
                stage, iteration, change = next(steps)
            except StopIteration as end:
                solution: Solution = end.value
                return solution
            yield Progress(stage, state.time, index, iteration, change)

    def _reset_stats(self) -> None:
        counts = ("steps", "halvings", "damped_steps", "iterations", "gradients", "products", "factorisations")
        self.stats = dict.fromkeys(counts, 0)
        self.stats |= {
            "change": 0.0,
            "dissipated": 0.0,
            "excess_energy": 0.0,
            "solver": "explicit" if self.integrator.explicit else "",
            "tolerance": self.road.tolerance,
        }
        self.road.stats = self.stats
        self.system.contact.new_report()

    def _saved(self, state: State) -> dict[str, Any]:
        return saved(state, self.integrator, self.cracks, self.steps)

    def _frame(self, state: State) -> Frame:
        n = self.system.visible
        positions, velocities = self.system.control(state.x), self.system.control(state.v)
        bounds = self.system.offsets
        return Frame(
            time=state.time,
            positions=np.array(positions[:n], order="C"),
            velocities=np.array(velocities[:n], order="C"),
            faces=self.system.faces,
            slices=[slice(int(a), int(b)) for a, b in pairwise(bounds)],
            source=self.cracks.source,
            parent=self.parent,
            birth=self.cracks.birth,
            state=self._saved(state),
            fields=Fields(self.system, state.x, self.cracks),
            hidden=[np.array(positions[a:b], order="C") for a, b in pairwise(self.system.hidden_offsets)],
            stats=self.stats
            | {
                "constant_factorisations": self.integrator.preconditioner.factorisations,
                "stretch_scales": list(self.system.stretch_scales),
            }
            | (self.cracks.counts() if self.cracks.possible else {})
            | self.system.contact.summary(state.x)
            | {"contact_energy": self.system.stored(state.x)},
        )
