"""The loop: frames of steps, steps of solver iterations."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .checks import choice, not_negative, number, positive, shown, whole
from .cracks import Cracks
from .dynamics.schemes import scheme
from .dynamics.sdirk import Sdirk2
from .dynamics.step_size import StepSize, share_of
from .dynamics.step_solver import StageSolver
from .errors import ShellError, StepFailed
from .explicit_guard import ExplicitGuard
from .frame import Fields, Frame
from .integrators import INTEGRATORS, Integrator, State
from .linalg.threads import between_yields, limited
from .linalg.vectors import by_columns
from .road import MOST, Road
from .saved import restored, saved
from .scene import Scene, as_scene
from .solver import Solution
from .step import StepSolver
from .stretch_cap import STRAIN_LIMIT
from .system import System
from .types import Floats

# Steps [s] whose squares neither vanish nor run over.
SHORTEST, LONGEST = 1e-12, 1e12
# Part of a step that must still show in its time.
ROOM = 1e-3
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
    substeps: int | None = None,
    integrator: str = "implicit_euler",
    beta: float = 0.25,
    gamma: float = 0.5,
    jacobian: str = "constant",
    solver: str = "auto",
    iterations: int | None = None,
    tolerance: float | None = None,
    resume: Mapping[str, Any] | None = None,
    strain_limit: float | None = None,
    accuracy: str | float = "default",
    threads: int | None = None,
) -> Iterator[Progress]:
    """The finer generator beneath `simulate`.

    - `fps` [1/s], `substeps` a frame (1; "sdirk2" takes as many as `accuracy` asks for); `integrator`:
      "implicit_euler", "sdirk2" (of second order, by Newton's method), "newmark" (`beta`, `gamma`; β = 0 is explicit),
      "explicit" (symplectic Euler), "imex_bending" (bending implicit, membrane explicit), "imex_membrane" (reversed).
    - `accuracy` of "sdirk2": "draft", "default", "final", or the share of a shell's size that it may stray by in the
      time that a rod of its length takes to swing once; sets steps, and how far they are solved without a `tolerance`.
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
    - `threads`: how many may work, by default as many as find work. Results are the same to the last bit.
    """
    scene = as_scene(scene)
    frames, fps = whole(frames, "frames", 0), positive(fps, "fps")
    integrator = choice(integrator, "integrator", INTEGRATORS)
    adapts = integrator == "sdirk2" and substeps is None and iterations is None
    substeps = 1 if substeps is None else whole(substeps, "substeps", 1)
    if not SHORTEST <= 1.0 / (fps * substeps) <= LONGEST:
        raise ShellError(
            f"fps={fps:g} with {substeps} steps a frame makes steps of {1.0 / (fps * substeps):.3g} s: they must lie "
            f"between {SHORTEST:g} and {LONGEST:g} s"
        )
    if iterations is not None:
        iterations = whole(iterations, "iterations", 1)
    solver = choice(solver, "solver", ("auto", *MOST))
    if integrator == "sdirk2" and solver not in ("auto", "newton"):
        raise ShellError(
            f'integrator="sdirk2" solves by Newton\'s method: solver must be "auto" or "newton", not {solver!r}'
        )
    beta, gamma = number(beta, "beta", "a finite number"), number(gamma, "gamma", "a finite number")
    if tolerance is not None:
        tolerance = number(tolerance, "tolerance", "positive [m]", lambda given: given > 0.0)
    if strain_limit is None:
        strain_limit = STRAIN_LIMIT if tolerance is None else 0.0
    else:
        strain_limit = not_negative(strain_limit, "strain_limit")
    if not (resume is None or isinstance(resume, Mapping)):
        better = ": give its `state`" if isinstance(resume, Frame) else ""
        raise ShellError(f"resume must be the state of a frame, not {shown(resume)}{better}")
    share = share_of(accuracy)
    with limited(threads):
        system = System(scene, strain_limit)
        if resume is None:
            system.start = system.contact.check_start(system.targets(0.0, system.start), 0.0)
        by = scheme(system, integrator, beta, gamma, jacobian)
        run = _Run(scene, by, solver, iterations, tolerance, share, adapts, fps)
    return between_yields(run.frames(frames, fps, substeps, None if resume is None else dict(resume)), threads)


class _Run:
    """One simulation under way."""

    def __init__(
        self,
        scene: Scene,
        integrator: Integrator,
        solver: str,
        iterations: int | None,
        tolerance: float | None,
        share: float,
        adapts: bool,
        fps: float,
    ) -> None:
        self.integrator = integrator
        self.cracks = Cracks(scene)
        self.steps: StepSolver | StageSolver
        self.road: Road | StageSolver
        self.step_size: StepSize | None = None
        """Where steps are as long as their errors allow."""
        if isinstance(integrator, Sdirk2):
            sizes = StepSize(integrator.system, share, 1.0 / fps)
            self.step_size, sizes.adapts = sizes if adapts else None, adapts
            self.steps = self.road = StageSolver(integrator, sizes, iterations, tolerance)
        else:
            self.road = Road(scene, integrator, self.cracks.possible, solver, iterations, tolerance)
            self.steps = StepSolver(scene, integrator, self.road)
        self.stats: dict[str, Any] = {}
        self._guard: ExplicitGuard | None = None
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
            if self.step_size is not None:
                self.step_size.restore(resume)
        h = 1.0 / (fps * substeps)
        if not state.time + ROOM * h > state.time:
            raise ShellError(f"resume: time {state.time:g} s is too late for steps of {h:.3g} s to add to it")
        # A state of a failed step may lie between frames, or between steps: the first step then ends on the next.
        first = int(state.time / h + 1e-6) // substeps
        for index in range(first + 1, first + count + 1):
            self._reset_stats()
            began = time.perf_counter()
            self.integrator.preconditioner.refresh = True
            if isinstance(self.steps, StageSolver):
                self.steps.begin_frame()
            self.parent = np.arange(self.system.visible)
            self.system.follow_loads(index / fps, state.x, state.v)
            while index / fps - state.time > 1e-6 * h:
                due = self._due(state.time, index, fps, substeps)
                left = due - state.time
                for event in self._advance(
                    state, left if self.step_size is not None or left < 0.999 * h else h, index, HALVINGS
                ):
                    if isinstance(event, State):
                        state = event
                    else:
                        yield event
                state.time = due
            self.system.contact.end_frame(state.x, state.time)
            if self.step_size is not None:
                self.step_size.end_frame()
            self.stats["seconds"] = time.perf_counter() - began
            yield Progress("frame", state.time, index, frame=self._frame(state))

    def _due(self, t: float, index: int, fps: float, substeps: int) -> float:
        """When the step from t [s] in frame `index` ends."""
        if self.step_size is not None:
            substeps = self.step_size.steps
        # Times are multiples of the step, not sums of it: no drift over a long run.
        h = 1.0 / (fps * substeps)
        done = int((t - (index - 1) / fps) / h + 1e-6)
        return (index - 1) / fps + (done + 1) * h

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
            ahead = self._explicit(state, h)
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
        if self.step_size is not None and solution.converged:
            assert isinstance(self.integrator, Sdirk2)
            error = self.integrator.error
            if not self.step_size.good(h, error):
                solution.converged, taken = False, False
            else:
                self.step_size.take(h, error)
        elif self.step_size is not None and self.step_size.may_shorten:
            self.step_size.shorten()
            taken = False
        if solution.converged or (taken and np.isfinite(solution.x).all() and not contact.late):
            contact.report["unsettled"] += not solution.converged
            ahead = self.steps.finish(solution)
            if not (np.isfinite(ahead.v).all() and np.isfinite(ahead.a).all()):
                raise StepFailed(
                    f"the step at {state.time:.6g} s ends with velocities beyond all numbers: look at its loads",
                    time=state.time,
                    state=self._saved(state),
                )
            yield self._after_step(ahead, h)
            return
        if halvings == 0:
            partly = self.integrator.name.startswith("imex")
            hint = "; what is explicit of it may need more substeps" if partly else ""
            raise StepFailed(
                f"the step at {state.time:.6g} s did not converge even at {h:.3g} s: {solution.why}"
                f"{self._furthest(state.x, solution)}{hint}",
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

    def _furthest(self, x: Floats, solution: Solution) -> str:
        """Which shell a solve got stuck at, or took furthest from x (n, 3), in words."""
        if solution.why == self.system.contact.blocked:
            return ""  # names it already
        way = np.abs(self.system.control(solution.x) - self.system.control(x)).max(axis=1)[: self.system.visible]
        stuck = 0 <= solution.worst < len(way)
        worst = solution.worst if stuck else int(np.argmax(np.where(np.isfinite(way), way, np.inf)))
        shell = int(np.searchsorted(self.system.offsets, worst, side="right")) - 1
        own, what = worst - int(self.system.offsets[shell]), "worst off is" if stuck else "furthest went"
        return (
            f"; {what} vertex {own} of shell {shell}: use more substeps, or look at its loads, pins and material there"
        )

    def _explicit(self, state: State, h: float) -> State:
        """The end of an explicit step from `state` over h [s]; raises where it is too long to be stable."""
        ahead = self.integrator.explicit_step(state, h)
        self.stats["steps"] += 1
        self.stats["gradients"] += 1
        if self._guard is None or not self._guard.fits(self.system.mass):
            self._guard = ExplicitGuard(self.system.mass, self.road.size)
        finite = bool(np.isfinite(ahead.x).all() and np.isfinite(ahead.v).all())
        fault = "" if finite else "overflowed"
        if finite and self._guard.unstable(state.x, state.v, ahead.x, ahead.v):
            fault = "is unstable: it is longer than the fastest vibration of the shells allows"
        elif finite and self.system.contact.late:
            fault = "leaves a collider short of where it goes, with shells in its way"
        if fault:
            raise StepFailed(
                f"the explicit step at {state.time:.6g} s {fault}: use more substeps or an implicit integrator",
                time=state.time,
                state=self._saved(state),
            )
        return ahead

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
        if isinstance(self.steps, StageSolver):
            self.steps.follow(system, parent)
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
        kept = saved(state, self.integrator, self.cracks, self.steps)
        return kept if self.step_size is None else kept | self.step_size.kept()

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
