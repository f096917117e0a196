"""The loop: frames of steps, steps of solver iterations."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .balance import Balance
from .cracks import Cracks
from .errors import ShellError, StepFailed
from .frame import Fields, Frame
from .integrators import Integrator, State, StepPotential
from .lbfgs import HISTORY, Memory
from .scene import Scene, as_scene
from .solver import FACTORED, Solution, Steps, mixed_newton, newton, quasi_newton, rms
from .stretch_cap import STRAIN_LIMIT
from .system import System
from .types import Floats
from .vectors import by_columns

# A step that does not converge is halved at most this often.
HALVINGS = 6
# Default tolerance on the position error of a step: this share of how far elastic forces moved the sheet in the last
# step, or of the scene's size at 24 steps a second where that is larger.
TOLERANCE = 0.02
# The same for the quasi-Newton road without contact, which judges its error by the energy it still gains: 4 to 6% off
# on a frame of a flag; 0.06 was up to 16% off.
GAIN = 0.04
# Where things touch: 0.08 and 20 took 6% more gradients of a drape for 24.0 instead of 24.2% of error in a frame.
GAIN_TOUCHING, TIRING = 0.12, 15.0
# Where elastic forces move a sheet by less than this share of what its loads do (most of it is in free fall), the loads
# are the measure: halves the cost of the first frames after a release.
FELT = 1.0
# Newmark damps nothing, so what a solve leaves undone stays for good.
UNDAMPED = 1e-4
# Largest tolerance where things touch, as a share of the scene's size.
CONTACT = 1e-4
SMALLEST = 1e-11
MOST = {"quasi_newton": 400, "newton": 200, "newton_cg": 200}
# (Distance a membrane wave travels in a step / size of the sheet)², from which Newton is the cheaper road.
STIFF = 40.0
# Times a step is solved again with contacts looked up anew before it is halved.
ROUNDS = 8
# Times a solve that would add energy is sharpened tenfold.
SHARPER = 4
# Share of its kinetic energy that a step of a stiff shell may gain before it is suspected of a leap over a barrier.
LEAP = 0.03
# Share of the energy that loads add in a step below which it is not halved for what its motion cannot give back.
FAINT = 1e-7
# From this round on a step that arrives is taken even if normals turned meanwhile.
ENOUGH = 2
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
      elastic forces moved them from free flight in the last step.
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
        self.scene = scene
        self.integrator = integrator
        self.system = integrator.system
        extent = np.ptp(self.system.start, axis=0)
        self.size = float(np.linalg.norm(extent))
        self.given_tolerance = tolerance
        self.tolerance = SMALLEST * self.size if tolerance is None else tolerance
        self.gain: float | None = None
        self.solver = solver
        self.iterations = iterations
        self.stats: dict[str, Any] = {}
        self.cracks = Cracks(scene)
        self.balance = Balance()
        # Vertex of the last frame that each vertex comes from.
        self.parent = np.arange(self.system.visible)

    def frames(self, count: int, fps: float, substeps: int, resume: dict[str, Any] | None) -> Iterator[Progress]:
        if resume is not None:
            self.system = self.integrator.system = self.cracks.restore(resume, self.system)
        state = self._start(1.0 / (fps * substeps)) if resume is None else _restored(resume, self.system)
        if resume is not None:
            self.integrator.preconditioner.restore(resume, self.system.version, self.system.free)
            self.balance.restore(resume)
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
        taken = self.iterations is not None or (contact.exists and halvings <= HALVINGS - INSIST)
        ahead = self.integrator.finish(state, solution.x, h)
        given = self.balance.close(self.system, ahead, solution.excess)
        if solution.excess - given > solution.slack and halvings > HALVINGS - INSIST:
            solution.converged, solution.why = False, "its energy would grow"
        if solution.converged or (taken and np.isfinite(solution.x).all() and not contact.late):
            contact.report["unsettled"] += not solution.converged
            self.balance.stored = self.system.stored(ahead.x) if self._keeps_energy(self.stats["solver"]) else None
            self.stats["excess_energy"] += given
            ahead.memory = state.memory
            self.stats["steps"] += 1
            self.stats["change"] = max(self.stats["change"], solution.change)
            yield self._after_step(ahead, h)
            return
        # What a failed solve has learnt led nowhere.
        state.memory.clear()
        if halvings == 0:
            raise StepFailed(
                f"the step at {state.time:.6g} s did not converge even at {h:.3g} s: {solution.why}",
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
        before = self.system.mass
        system, parent, lost = cut
        self.stats["dissipated"] += lost
        self.system = system
        self.integrator.go_on_with(system, parent)
        self.parent = self.parent[parent[: system.visible]]
        x, v, a = (by_columns(array[parent]) for array in (state.x, state.v, state.a))
        ahead = State(state.time, x, v, a)
        steps, changes, newest = state.memory.arrays()
        if len(steps):
            # Copies move as one did; a change of force is shared by mass, so that no pair's curvature changes.
            steps, changes = steps[:, parent], changes[:, parent] * (system.mass / before[parent])[None, :, None]
            ahead.memory = Memory.restored(len(x), steps, changes, newest)
        return ahead

    def _solve(self, state: State, h: float, index: int) -> Generator[Progress, None, Solution]:
        method = self.stats["solver"] = self._method(h)
        potential, guess = self.integrator.begin(state, h, extrapolate=method == "quasi_newton")
        if self.given_tolerance is None:
            # Positions err by an acceleration times h²: what a step may err by shrinks with it.
            least = SMALLEST * self.size * min(1.0, (24.0 * h) ** 2)
            share = UNDAMPED if self.integrator.name == "newmark" else TOLERANCE
            self.tolerance = max(least, share * potential.departure)
            judged = self.integrator.name != "newmark" and self.iterations is None and method == "quasi_newton"
            moved = max(potential.departure, FELT * potential.carried)
            share_left = GAIN_TOUCHING if self.system.contact.exists else GAIN
            self.gain = max(least, share_left * moved) if judged else None
            if self.gain is not None and not self.system.contact.exists:
                self.tolerance = 0.1 * self.gain
            if self.system.contact.exists:
                # A contact layer is thin: a looser solve leaves sheets hovering, without normal force or friction.
                self.tolerance = min(self.tolerance, CONTACT * self.size)
        most = MOST[method] if self.iterations is None else self.iterations
        contact = self.system.contact
        if not contact.exists:
            solution = yield from self._minimised(potential, guess, method, most, state, index, far=True)
            if self.system.penalties and self._keeps_energy(method) and np.isfinite(solution.x).all():
                start = np.where(potential.free, state.x, guess)
                available = self.balance.open(self.system, potential, start)
                solution = yield from self._downhill(solution, potential, start, available, False, method, state, index)
                self._judge(solution, potential, start, available)
            return solution
        flight, guess = guess, contact.predict(guess)
        if self.given_tolerance is None:
            # What an impact will do shows in how far it pushed the guess: the last step, in free flight, knew nothing.
            self.tolerance = max(self.tolerance, min(share * rms(guess - flight), CONTACT * self.size))
        start = np.where(potential.free, state.x, guess)
        available = self.balance.open(self.system, potential, start)
        for attempt in range(ROUNDS):
            solution = yield from self._minimised(potential, guess, method, most, state, index, far=attempt == 0)
            if not np.isfinite(solution.x).all():
                return solution
            if self.iterations is None:
                solution = yield from self._downhill(
                    solution, potential, start, available, attempt > 0, method, state, index
                )
            found = solution.x
            solution.x, arrived, settled = contact.follow(found, 0.5 * self.tolerance)
            if arrived and (settled or attempt >= ENOUGH):
                break
            # The solver's answer is right but where something was in its way. Pins that yielded may return, until it
            # is clear that they cannot: then they stay where the shadow is.
            pins = flight if attempt < ENOUGH else solution.x
            guess = contact.predict(np.where(potential.free, found, pins))
        else:
            solution.converged, solution.why = False, contact.blocked
        if self._keeps_energy(method):
            self._judge(solution, potential, start, available)
        return solution

    def _downhill(
        self,
        solution: Solution,
        potential: StepPotential,
        start: Floats,
        available: float,
        again: bool,
        method: str,
        state: State,
        index: int,
    ) -> Generator[Progress, None, Solution]:
        """A solution whose energy can be had: no more than was `available` [J] at the start of the step.

        A guess that contact pushed may lie beyond a barrier (a bowl inside out): then once more from the start,
        downhill all the way. Stiff shells turn small errors into energy: what is left over must not add any.
        """
        value, gradient = potential.value_and_gradient(solution.x)
        stiff = "newton_cg" if method == "newton" else method
        tolerance = self.tolerance
        if value > available and again:
            # Contacts looked up anew hold energy that was not there at the start; none of it is the shells'.
            value -= self.system.contact.value_and_gradient(solution.x)[0]
        if value > available and method == "quasi_newton":
            # Most often it only stopped early; what starts again where the step began comes out too slow.
            self.tolerance *= 0.25
            solution = yield from self._minimised(potential, solution.x, stiff, MOST[stiff], state, index)
            value, gradient = potential.value_and_gradient(solution.x)
            self.tolerance = tolerance
        if value > available:
            solution = yield from self._minimised(potential, start, stiff, MOST[stiff], state, index)
            value, gradient = potential.value_and_gradient(solution.x)
        # Pins that move do work themselves: there is no energy to keep.
        still = np.array_equal(start[~potential.free], state.x[~potential.free])
        held = still and method != "quasi_newton" and self.integrator.name == "implicit_euler"
        for _ in range(SHARPER if held and solution.converged else 0):
            if not potential.gains(solution.x, gradient):
                break
            self.tolerance *= 0.1
            solution = yield from self._minimised(potential, solution.x, stiff, MOST[stiff], state, index)
            value, gradient = potential.value_and_gradient(solution.x)
            # It had converged to what was asked for; sharper is better, not more.
            solution.converged = True
        self.tolerance = tolerance
        if held and potential.excess(solution.x, start, available) > LEAP * potential.kinetic(solution.x):
            other = yield from self._minimised(potential, start, stiff, MOST[stiff], state, index)
            if (
                other.converged
                and potential.value_and_gradient(other.x)[0] < potential.value_and_gradient(solution.x)[0]
            ):
                return other
        return solution

    def _judge(self, solution: Solution, potential: StepPotential, start: Floats, available: float) -> None:
        """Say what energy a solution adds to what was `available` [J] at the `start`."""
        solution.excess = max(potential.excess(solution.x, start, available), 0.0)
        solution.slack = FAINT * potential.fallen

    def _keeps_energy(self, method: str) -> bool:
        """Whether steps by a `method` must not gain any. Not where solves of soft flat sheets end early: the strain
        that they leave in folds comes and goes, and the motion would pay for it."""
        bound = self.integrator.name == "implicit_euler" and self.iterations is None
        return bound and (method != "quasi_newton" or self.system.curved)

    def _watched(self, steps: Steps, state: State, index: int) -> Generator[Progress, None, Solution]:
        """Progress of a solve, then its solution, with what it cost added to the stats."""
        iteration = 0
        while True:
            try:
                stage, change = next(steps)
            except StopIteration as end:
                solution: Solution = end.value
                break
            iteration += 1
            yield Progress(stage, state.time, index, iteration, change)
        for name in ("iterations", "gradients", "products", "factorisations"):
            self.stats[name] += getattr(solution.counts, name)
        return solution

    def _minimised(
        self, potential: StepPotential, x: Floats, method: str, most: int, state: State, index: int, far: bool = False
    ) -> Generator[Progress, None, Solution]:
        """Minimum of the potential from x, which may be `far` from it."""
        contact = self.system.contact
        touching = contact.exists and contact.presses(x)
        if method == "newton" and not touching and self.system.vertex_count <= FACTORED:
            solution = yield from self._watched(mixed_newton(potential, x, self.tolerance, most), state, index)
            if solution.converged or self.iterations is not None:
                return solution
        if method in ("newton", "newton_cg"):
            steps = newton(potential, x, self.tolerance, most)
        else:
            tiring = TIRING if contact.exists else np.inf
            tolerance = self.tolerance if self.gain is None else min(self.tolerance, 0.1 * self.gain)
            steps = quasi_newton(potential, x, tolerance, most, state.memory, self.gain, tiring, far)
        solution = yield from self._watched(steps, state, index)
        return solution

    def _method(self, h: float) -> str:
        if self.solver != "auto":
            return self.solver
        if self.integrator.name == "newmark" and self.system.vertex_count <= FACTORED:
            return "newton"
        alone = self.system.contact.exists and not self.scene.colliders and not self.cracks.possible
        if alone and all(shell.pins for shell in self.scene.shells):
            # Held sheets that touch nothing but themselves: what Newton gains in sharpness, which friction on a floor
            # needs (a stiff sheet on an incline) and lips of cracks, it loses over and over as contacts come and go.
            return "quasi_newton"
        ratio = 0.0
        for shell, scale in zip(self.scene.shells, self.system.stretch_scales, strict=True):
            stretch = scale * max(float(np.max(a)) for a in shell.material.stretch)
            density = float(np.min(shell.material.areal_density))
            size = float(np.linalg.norm(np.ptp(shell.rest_positions, axis=0))) / np.sqrt(2.0)
            ratio = max(ratio, stretch * h * h / (density * size * size))
        return "newton" if ratio > STIFF else "quasi_newton"

    def _reset_stats(self) -> None:
        self.stats = dict.fromkeys(("steps", "halvings", "iterations", "gradients", "products", "factorisations"), 0)
        self.stats |= {
            "change": 0.0,
            "dissipated": 0.0,
            "excess_energy": 0.0,
            "solver": "explicit" if self.integrator.explicit else "",
            "tolerance": self.tolerance,
        }
        self.system.contact.new_report()

    def _saved(self, state: State) -> dict[str, Any]:
        steps, changes, newest = state.memory.arrays()
        return (
            self.system.kept()
            | self.cracks.kept()
            | self.integrator.preconditioner.kept()
            | self.balance.kept()
            | {
                "time": state.time,
                "positions": state.x.copy(),
                "velocities": state.v.copy(),
                "accelerations": state.a.copy(),
                "memory_steps": steps,
                "memory_changes": changes,
                "memory_newest": newest,
                "stretch_scales": np.array(self.system.stretch_scales),
            }
        )

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


def _restored(saved: dict[str, Any], system: System) -> State:
    shape = (system.vertex_count, 3)
    moment = float(saved.get("time", np.nan))
    if not (np.isfinite(moment) and moment >= 0.0):
        raise ShellError(f"resume: time must be finite and not negative, not {moment}; is it the state of a frame?")
    arrays: list[Floats] = []
    for name in ("positions", "velocities", "accelerations"):
        array = np.array(saved.get(name, ()), dtype=np.float64, order="F")
        if array.shape != shape or not np.isfinite(array).all():
            raise ShellError(f"resume: {name} must be finite with shape {shape}; is it a state of this scene?")
        arrays.append(array)
    system.restore(saved)
    if "stretch_scales" in saved:
        scales = np.atleast_1d(np.asarray(saved["stretch_scales"], dtype=np.float64))
        if scales.shape != (len(system.scene.shells),) or not ((scales > 0) & (scales <= 1)).all():
            raise ShellError("resume: stretch_scales must be one number per shell above 0 and at most 1")
        system.set_stretch_scales(scales.tolist())
    state = State(moment, arrays[0], arrays[1], arrays[2])
    steps, changes = (np.asarray(saved.get(name, np.zeros((0, 0, 3)))) for name in ("memory_steps", "memory_changes"))
    newest = int(saved.get("memory_newest", max(len(steps) - 1, 0)))
    for name, pairs in (("memory_steps", steps), ("memory_changes", changes)):
        whole = len(pairs) <= HISTORY and len(pairs) == len(steps) and (len(pairs) == 0 or pairs.shape[1:] == shape)
        if not whole or not 0 <= newest < max(len(pairs), 1) or not np.isfinite(pairs).all():
            raise ShellError(f"resume: {name} do not belong to a state of this scene; leave them out to start afresh")
    state.memory = Memory.restored(len(state.x), steps, changes, newest)
    return state
