"""One implicit step: which road to the minimum of its potential, how near is near enough, what contact makes of it."""

from __future__ import annotations

from collections.abc import Generator
from functools import cached_property
from typing import Any

import numpy as np

from .balance import Balance, Gains, kinetic
from .integrators import Integrator, State
from .lbfgs import Memory
from .scene import Scene
from .sheet_newton import Trust
from .sheet_steps import (
    BRIEFLY,
    EXACT_SHEET_STEPS,
    FINE,
    FINELY,
    SHEET_STEPS,
    TOUCHING_STEPS,
    exact_sheet_newton,
    sheet_newton,
)
from .shell import Shell
from .solver import FACTORED, Solution, Steps, mixed_newton, newton, quasi_newton, rms
from .step_potential import StepPotential
from .system import System
from .types import Floats

# Default tolerance on the position error of a step: this share of how far elastic forces moved the sheet in the last
# step, or of the scene's size at 24 steps a second where that is larger.
TOLERANCE = 0.02
# The same for the quasi-Newton road without contact, which judges its error by the energy it still gains. 0.02, 0.04,
# 0.06, 0.08 take 56, 35, 29, 25 gradients a frame of a pinned sheet and are 0.4, 0.8, 0.7, 0.9% of its size off after a
# second, with 0.99 to 1.02 of the kinetic energy; paper with 0.04, 0.06, 0.08 takes 52, 38, 33 for 1.6, 2.2, 3.6%.
# In wind: frames of a flag are 4 to 6% off by L-BFGS with 0.04, up to 16% with 0.06.
GAIN, GAIN_IN_WIND = 0.06, 0.04
# What Newton steps of soft sheets may leave, of the same measure. Most flags take one step a frame; 0.03 leaves up to
# 1.3 times the bending energy of the converged run after a second, 0.02 0.93 to 0.99 of it. Hanging sheets take one
# with either.
LEFT, LEFT_IN_WIND = 0.06, 0.02
# The same where things touch and Newton's method was asked for: 0.02, 0.04, 0.08 take 6.2, 5.9, 3.0 factors a frame of
# a drape, and its energies are as near to the converged run's. And what L-BFGS may leave where that fails: with 0.06,
# 0.03 a sheet that begins to buckle over a ball has 0.8, 0.95 of the converged kinetic energy (with 0.12 it has 0.2).
LEFT_TOUCHING, GAIN_SHARP = 0.08, 0.03
# Where things touch: 0.08 and 20 took 6% more gradients of a drape for 24.0 instead of 24.2% of error in a frame.
GAIN_TOUCHING, TIRING = 0.12, 15.0
# Where elastic forces move a sheet by less than this share of what its loads do (most of it is in free fall), the loads
# are the measure: halves the cost of the first frames after a release.
FELT = 1.0
# Share of the last acceleration in the guess. From states of a converged run a solve of a flag starts 52% off with ½,
# 38 with ¾ and 15 with 1. But in a run that is solved only as far as it needs, accelerations carry the errors of the
# last positions over h²: ½, 0.65, 1 took 48, 42, 39 gradients a frame of a flag, 37, 35, 44 of a pinned sheet, and from
# ¾ on fine wrinkles hold more bending energy than they should (extrapolating the acceleration too took 72 and 69).
# Newton steps in wind, which pulls wrinkles flat, make the most of a better guess; sheets that hang are 1.5 to 2% of
# their size off after a second with 0.9, 0.4 to 0.8 with 0.65.
ONWARD, ONWARD_IN_WIND = 0.65, 0.9
# Newmark damps nothing, so what a solve leaves undone stays for good.
UNDAMPED = 1e-4
# Largest tolerance where things touch, as a share of the scene's size.
CONTACT = 1e-4
SMALLEST = 1e-11
MOST = {"quasi_newton": 400, "newton": 200, "newton_cg": 200}
# The same for L-BFGS where a tolerance asks for accuracy. The reference sheet at 1e-8 of its size takes 400 to 2700; a
# step that is halved because it is not there yet has another, less damped motion and is no reference for anything.
PATIENT = 20_000
# Square of the sheet's sizes that a membrane wave travels in a step, from which Newton is the cheaper road.
STIFF = 40.0
# Times a step is solved again with contacts looked up anew before it is halved.
ROUNDS = 8
# Times a solve that would add energy is sharpened tenfold.
SHARPER = 4
# Share of its kinetic energy that a step of a stiff shell may gain before it is suspected of a leap over a barrier.
LEAP = 0.03
# Share of the energy that loads add in a step below which it is not halved for what its motion cannot give back.
FAINT = 1e-7
# Sizes of the scene that a vertex may go in a step.
RUNAWAY = 1e6
# From this round on a step that arrives is taken even if normals turned meanwhile.
ENOUGH = 2

Solving = Generator[tuple[str, int, float], None, Solution]
"""Yields stage, iteration and size of the solver's last step [m]; returns the solution."""


class StepSolver:
    """Solves the steps of a run, one after the other.

    `fragile`: whether shells may break. `solver`, `iterations`, `tolerance` [m] as given to `simulate`.
    """

    def __init__(
        self,
        scene: Scene,
        integrator: Integrator,
        fragile: bool,
        solver: str,
        iterations: int | None,
        tolerance: float | None,
    ) -> None:
        self.balance = Balance()
        self.stats: dict[str, Any] = {}
        """Of the frame under way: what solves cost is added here."""
        self.iterations = iterations
        self._scene = scene
        self._integrator = integrator
        # Newmark damps nothing: a run of it, whatever single steps are taken by.
        self._undamped = integrator.name == "newmark"
        self._fragile = fragile
        self._size = float(np.linalg.norm(np.ptp(self._system.start, axis=0)))
        self._given = tolerance
        self._solver = solver
        self._memory = Memory(0)
        self._trust = Trust()
        # Of the step under way:
        self.tolerance = SMALLEST * self._size if tolerance is None else tolerance
        """What the position may err by [m], root mean square."""
        self._gain: float | None = None
        self._method = ""
        self._sheets = self._asked = False
        """Whether Newton's method is that of soft flat sheets; whether because Newton's was asked for."""
        self._most = 0
        self._stiffened = 1.0
        self._touching = False
        self._end: State
        self._returned = 0.0
        self._gains = Gains()
        self._damped = 0

    @property
    def _system(self) -> System:
        # Not kept: a cut makes another.
        return self._integrator.system

    def solve(self, state: State, h: float) -> Solving:
        """Where the step from `state` over h [s] ends."""
        before = self.balance.gains
        if not before.left:
            solution = yield from self._ended(state, h)
            if not (self._undamped and self._gains.overdrawn(before)):
                self._gains = self._gains.kept_up()
                return solution
        # Newmark gains energy: by implicit Euler, which takes what the sheet rings with. Made anew, it has no memory.
        undamped = self._integrator
        self._integrator = Integrator(self._system, "implicit_euler", 0.0, 0.0, undamped.jacobian)
        self._integrator.hands_on = True
        try:
            solution = yield from self._ended(state, h)
        finally:
            self._integrator = undamped
        self._gains, self._damped = self._gains.rested(), 1
        return solution

    def _ended(self, state: State, h: float) -> Solving:
        """The same by the scheme as it is; also finds the state at the end."""
        potential, guess = self._begin(state, h)
        way = self._near if self._system.contact.exists else self._alone
        solution = yield from way(potential, guess, state)
        if not _overflowed(solution) and float(np.abs(solution.x - state.x).max()) > RUNAWAY * self._size:
            solution.converged, solution.change, solution.why = False, np.inf, "positions run away"
        if _overflowed(solution):
            # Not even a step that is taken as it is.
            solution.x = np.full_like(solution.x, np.nan)
        self._end = self._integrator.finish(state, potential, solution.x, h)
        self._returned = self.balance.close(self._system, self._end, solution.excess)
        solution.owed = max(solution.excess - self._returned - FAINT * potential.fallen, 0.0)
        self._gains, self._damped = self.balance.gains, 0
        if self._undamped and self.iterations is None and np.isfinite(solution.x).all():
            before, after = (kinetic(self._system, v) for v in (state.v, self._end.v))
            self._gains = self._gains.after_step(after - before + potential.risen(solution.x), before, after)
        return solution

    def finish(self, solution: Solution) -> State:
        """The state that ends the step at a solution: the last one found."""
        self.balance.gains = self._gains
        self.balance.stored = self._system.stored(self._end.x) if self._keeps_energy() else None
        self.stats["excess_energy"] += self._returned
        self.stats["steps"] += 1
        self.stats["damped_steps"] += self._damped
        self.stats["change"] = max(self.stats["change"], solution.change)
        return self._end

    def kept(self) -> dict[str, Any]:
        """Plain numbers for a saved state."""
        return self.balance.kept() | self._trust.kept()

    def restore(self, saved: dict[str, Any]) -> None:
        """Take up what `kept` gave."""
        self.balance.restore(saved)
        self._trust.restore(saved)

    def _begin(self, state: State, h: float) -> tuple[StepPotential, Floats]:
        """The potential of a step and where to start; choose the road, and what is near enough."""
        waves = self._waves(h)
        # How much stiffer than inertia the constant matrix takes the slowest motion along normals to be: L-BFGS's steps
        # are that much shorter than what is left to go. Where they were taken at their word, a sheet about to buckle
        # was left 2% of a frame's motion short of it.
        self._stiffened = 1.0 + np.pi**2 * waves
        self._method = self.stats["solver"] = self._road(waves)
        quasi = self._method == "quasi_newton"
        if self._system.contact.exists:
            self._system.contact.keep_springs(self.iterations is None and self._road_in_contact() != "quasi_newton")
        potential, guess = self._integrator.begin(state, h)
        soft = potential.soft_sheets and self.iterations is None and not self._fragile
        alike = self._integrator.jacobian == "constant" and not self._undamped and waves <= STIFF
        self._asked = soft and self._solver == "newton" and alike
        fit = soft and self._solver == "auto" and (quasi or self._undamped)
        self._sheets = self._asked or (fit and (self._given is not None or self._trust.asked()))
        if quasi or self._asked:
            stretched = self._sheets and potential.windy
            guess = self._integrator.guess(state, potential, h, ONWARD_IN_WIND if stretched else ONWARD)
        # Where there is something to fall on, flight is judged like contact: it is over soon.
        self._choose_tolerance(potential, h, touching=self._system.contact.exists and bool(self._scene.colliders))
        if self._memory.vertex_count != self._system.vertex_count:
            self._memory = Memory(self._system.vertex_count)
        # Pairs of the last step stand for directions that have turned since: kept, they cost 5 to 40% more gradients.
        self._memory.clear()
        return potential, guess

    def _choose_tolerance(self, potential: StepPotential, h: float, touching: bool) -> None:
        """What is near enough for a step of h [s], and how many iterations it may take."""
        quasi = self._method == "quasi_newton"
        if self._given is None:
            newmark = self._undamped
            # Positions err by an acceleration times h²: what a step may err by shrinks with it.
            least = SMALLEST * self._size * min(1.0, (24.0 * h) ** 2)
            self.tolerance = max(least, (UNDAMPED if newmark else TOLERANCE) * potential.departure)
            judged = not newmark and self.iterations is None and quasi
            moved = self._moved(potential)
            share = GAIN_TOUCHING if touching else GAIN_IN_WIND if potential.windy else GAIN
            self._gain = max(least, share * moved) if judged else None
            if self._gain is not None and not touching:
                self.tolerance = 0.1 * self._gain
            if touching:
                # A contact layer is thin: a looser solve leaves sheets hovering, without normal force or friction.
                self.tolerance = min(self.tolerance, CONTACT * self._size)
        patient = quasi and self._given is not None and not touching
        self._most = self.iterations or (PATIENT if patient else MOST[self._method])
        self._touching = touching

    def _alone(self, potential: StepPotential, guess: Floats, state: State) -> Solving:
        """The step of shells that touch nothing but, at most, planes and spheres by a penalty."""
        solution = yield from self._minimised(potential, guess, far=True, sheets=self._sheets)
        if not np.isfinite(solution.x).all():
            return solution
        start = np.where(potential.free, state.x, guess)
        if self._system.penalties and self._keeps_energy():
            available = self.balance.open(self._system, potential, start)
            solution = yield from self._downhill(solution, potential, start, available, False, state)
            solution.excess = max(potential.excess(solution.x, start, available), 0.0)
        elif self._system.curved and self.iterations is None:
            if potential.value_and_gradient(solution.x)[0] > potential.value_and_gradient(start)[0]:
                # A guess may lie beyond a barrier (a dent that is pushed through): then downhill from the start.
                solution = yield from self._minimised(potential, start)
        return solution

    def _near(self, potential: StepPotential, guess: Floats, state: State) -> Solving:
        """The step of shells in exact contact: as if they were alone for as long as nothing presses on them."""
        contact, h = self._system.contact, potential.h
        ahead = contact.predict(guess)
        apart = ahead is guess and not contact.presses(guess)
        if apart and not (self._scene.colliders and self._keeps_energy()):
            solution = yield from self._alone(potential, guess, state)
            if _overflowed(solution):
                return solution
            found = solution.x
            yield "contact", 0, 0.0
            solution.x, arrived, settled = contact.follow(found, 0.5 * self.tolerance)
            if arrived and settled and not contact.presses(solution.x):
                return solution
            ahead = contact.predict(np.where(potential.free, found, guess))
        if self._method != (method := self._road_in_contact()):
            self._method = self.stats["solver"] = method
            guess = self._integrator.guess(state, potential, h, ONWARD)
            ahead = contact.predict(guess)
        self._choose_tolerance(potential, h, touching=True)
        return (yield from self._in_contact(potential, guess, ahead, state))

    def _in_contact(self, potential: StepPotential, flight: Floats, guess: Floats, state: State) -> Solving:
        """The step of shells that touch: minimise, follow as far as nothing crosses, look again.

        `flight`: where they would go if nothing was in the way; `guess`: the same, with what would collide pushed.
        """
        contact = self._system.contact
        if self._given is None:
            # What an impact will do shows in how far it pushed the guess: the last step, in free flight, knew nothing.
            share = UNDAMPED if self._undamped else TOLERANCE
            self.tolerance = max(self.tolerance, min(share * rms(guess - flight), CONTACT * self._size))
        start = np.where(potential.free, state.x, guess)
        available = self.balance.open(self._system, potential, start)
        for attempt in range(ROUNDS):
            solution = yield from self._minimised(potential, guess, far=attempt == 0, sheets=self._asked)
            if _overflowed(solution):
                return solution
            if self.iterations is None:
                again = attempt > 0 or contact.refrozen
                solution = yield from self._downhill(solution, potential, start, available, again, state)
            found = solution.x
            yield "contact", 0, 0.0
            solution.x, arrived, settled = contact.follow(found, 0.5 * self.tolerance)
            if arrived and (settled or attempt >= ENOUGH):
                break
            # The solver's answer is right but where something was in its way. Pins that yielded may return, until it
            # is clear that they cannot: then they stay where the shadow is.
            pins = flight if attempt < ENOUGH else solution.x
            guess = contact.predict(np.where(potential.free, found, pins))
        else:
            solution.converged, solution.why = False, contact.blocked
        if self._keeps_energy():
            solution.excess = max(potential.excess(solution.x, start, available), 0.0)
        return solution

    def _downhill(
        self,
        solution: Solution,
        potential: StepPotential,
        start: Floats,
        available: float,
        again: bool,
        state: State,
    ) -> Solving:
        """A solution whose energy can be had: no more than was `available` [J] at the start of the step.

        A guess that contact pushed may lie beyond a barrier (a bowl inside out): then once more from the start,
        downhill all the way. Stiff shells turn small errors into energy: what is left over must not add any.
        """
        value, gradient = potential.value_and_gradient(solution.x)
        stiff = "quasi_newton" if self._ends_early else "newton_cg" if self._method == "newton" else self._method
        tolerance = self.tolerance
        if value > available and again:
            # Contacts looked up anew hold energy that was not there at the start; none of it is the shells'.
            value -= self._system.contact.value_and_gradient(solution.x)[0]
        if value > available and self._ends_early:
            # Most often it only stopped early; what starts again where the step began comes out too slow.
            self.tolerance *= 0.25
            solution = yield from self._minimised(potential, solution.x, stiff)
            value, gradient = potential.value_and_gradient(solution.x)
            self.tolerance = tolerance
        if value > available:
            solution = yield from self._minimised(potential, start, stiff)
            value, gradient = potential.value_and_gradient(solution.x)
        # Pins and colliders that move do work themselves: there is no energy to keep.
        still = self._system.still and np.array_equal(start[~potential.free], state.x[~potential.free])
        held = still and not self._ends_early and self._integrator.name == "implicit_euler"
        for _ in range(SHARPER if held and solution.converged else 0):
            if not potential.gains(solution.x, gradient):
                break
            self.tolerance *= 0.1
            solution = yield from self._minimised(potential, solution.x, stiff)
            value, gradient = potential.value_and_gradient(solution.x)
            # It had converged to what was asked for; sharper is better, not more.
            solution.converged = True
        self.tolerance = tolerance
        if held and potential.excess(solution.x, start, available) > LEAP * potential.kinetic(solution.x):
            other = yield from self._minimised(potential, start, stiff)
            if (
                other.converged
                and potential.value_and_gradient(other.x)[0] < potential.value_and_gradient(solution.x)[0]
            ):
                return other
        return solution

    def _minimised(
        self, potential: StepPotential, x: Floats, again: str = "", far: bool = False, sheets: bool = False
    ) -> Solving:
        """Minimum of the potential from x, which may be `far` from it; once more by the method `again`, if given.
        `sheets`: by Newton's method for soft flat sheets first."""
        method, most = (again, MOST[again]) if again else (self._method, self._most)
        contact = self._system.contact
        touching = contact.exists and contact.presses(x)
        if sheets:
            solution = yield from self._watched(self._sheet_steps(potential, x, touching))
            if solution.converged:
                self.stats["solver"] = "sheet_newton"
                return solution
            if method == "quasi_newton":
                x, far = solution.x, False
            elif self._ends_early:
                # Sheets that touch themselves, or buckle on and on: whole Hessians of theirs take seconds a frame.
                self.stats["solver"] = "quasi_newton"
                left = GAIN_SHARP * self._moved(potential)
                most = MOST["quasi_newton"]
                steps = quasi_newton(potential, solution.x, min(self.tolerance, 0.1 * left), most, self._memory, left)
                return (yield from self._watched(steps))
        whole = method == "newton" and self._system.vertex_count <= FACTORED
        if whole and (not touching or (self.iterations is None and not self._system.curved)):
            solution = yield from self._watched(mixed_newton(potential, x, self.tolerance, most))
            if solution.converged or self.iterations is not None:
                return solution
        if method in ("newton", "newton_cg"):
            stiff = contact.exists and self._method == "newton"
            steps = newton(potential, x, self.tolerance, most, certain=stiff)
        else:
            tiring = TIRING if self._touching else np.inf
            tolerance = self.tolerance if self._gain is None else min(self.tolerance, 0.1 * self._gain)
            if most == PATIENT:
                tolerance /= self._stiffened
            steps = quasi_newton(potential, x, tolerance, most, self._memory, self._gain, tiring, far)
        solution = yield from self._watched(steps)
        slow = method == "newton" and not (solution.converged or contact.exists) and self._given is not None
        if slow and self.iterations is None and np.isfinite(solution.x).all():
            # Where sheets buckle Newton's Hessian lacks compression and its steps shrink slowly; L-BFGS learns it.
            tolerance = self.tolerance / self._stiffened
            solution = yield from self._watched(quasi_newton(potential, solution.x, tolerance, PATIENT, self._memory))
        return solution

    def _sheet_steps(self, potential: StepPotential, x: Floats, touching: bool) -> Steps:
        """Newton's method for soft flat sheets: as far as a frame needs, or to the tolerance."""
        moved = self._moved(potential)
        if touching:
            left = self.tolerance if self._given is not None else max(self.tolerance, LEFT_TOUCHING * moved)
            steps = sheet_newton(potential, x, left, moved, TOUCHING_STEPS, touching=True)
        elif self._gain is None:
            steps = exact_sheet_newton(potential, x, self.tolerance, moved, EXACT_SHEET_STEPS)
        else:
            left = (LEFT_IN_WIND if potential.windy else LEFT) * moved
            refined = FINELY if potential.windy and len(x) >= FINE else BRIEFLY
            steps = sheet_newton(potential, x, left, moved, SHEET_STEPS, refined=refined)
        solution = yield from steps
        if self._given is None and not self._asked:
            self._trust.report(solution.converged)
        return solution

    def _watched(self, steps: Steps) -> Solving:
        """Progress of a solve, then its solution, with what it cost added to the stats."""
        iteration = 0
        while True:
            try:
                stage, change = next(steps)
            except StopIteration as end:
                solution: Solution = end.value
                break
            iteration += 1
            yield stage, iteration, change
        for name in ("iterations", "gradients", "products", "factorisations"):
            self.stats[name] += getattr(solution.counts, name)
        return solution

    def _keeps_energy(self) -> bool:
        """Whether steps must not gain any. Not where colliders move, which do work, nor where solves of soft flat
        sheets end early: the strain that they leave in folds comes and goes, and the motion would pay for it."""
        bound = self._integrator.name == "implicit_euler" and self.iterations is None and self._system.still
        return bound and (not self._ends_early or self._system.curved)

    @property
    def _ends_early(self) -> bool:
        """Whether solves end where motion is right, before energy is: those of soft flat sheets."""
        return self._method == "quasi_newton" or (self._asked and self._given is None)

    def _moved(self, potential: StepPotential) -> float:
        """How far elastic forces, or loads, move sheets in a step [m]: what errors are measured by."""
        return max(potential.departure, FELT * potential.carried)

    def _waves(self, h: float) -> float:
        """(Distance a membrane wave travels in h [s] / size of the sheet)², of the shell where it is largest."""
        scales = self._system.stretch_scales
        return max(scale * h * h * rate for scale, rate in zip(scales, self._rates, strict=True))

    @cached_property
    def _rates(self) -> list[float]:
        """(Speed of membrane waves / size of the sheet)² [1/s²] of every shell, before its stretch was lowered."""
        return [_wave_rate(shell) for shell in self._scene.shells]

    def _road(self, waves: float) -> str:
        if self._solver != "auto":
            return self._solver
        if self._undamped and self._system.vertex_count <= FACTORED:
            return "newton"
        return "newton" if waves > STIFF else "quasi_newton"

    def _road_in_contact(self) -> str:
        alone = not self._scene.colliders and not self._fragile and all(shell.pins for shell in self._scene.shells)
        if alone and self._solver == "auto" and not self._undamped:
            # Held sheets that touch nothing but themselves: what Newton gains in sharpness, which friction on a floor
            # needs (a stiff sheet on an incline) and lips of cracks, it loses over and over as contacts come and go.
            return "quasi_newton"
        return self._method


def _wave_rate(shell: Shell) -> float:
    """(Speed of membrane waves / size of the sheet)² [1/s²]."""
    stretch = max(float(np.max(a)) for a in shell.material.stretch)
    density = float(np.min(shell.material.areal_density))
    size = float(np.linalg.norm(np.ptp(shell.rest_positions, axis=0))) / np.sqrt(2.0)
    return float(stretch / (density * size * size))


def _overflowed(solution: Solution) -> bool:
    """Whether a solve met numbers without bounds."""
    return not (np.isfinite(solution.x).all() and (solution.converged or np.isfinite(solution.change)))
