"""One implicit step: what its solver found, made something that contact and energy agree with."""

from __future__ import annotations

from typing import Any

import numpy as np

from .balance import Balance, Gains, kinetic
from .integrators import Integrator, State
from .road import ONWARD, Road, Solving
from .scene import Scene
from .solver import Solution, rms
from .step_potential import StepPotential
from .system import System
from .types import Floats

# Times a step is solved again with contacts looked up anew before it is halved.
ROUNDS = 8
# Times a solve that would add energy is sharpened tenfold.
SHARPER = 4
# Shares of the tolerance to which one that ended early goes on before it starts again where the step began: with the
# first alone drapes that swung gently stood still from one frame to the next.
SHARPENED = (0.25, 0.05, 0.01)
# Share of its kinetic energy that a step of a stiff shell may gain before it is suspected of a leap over a barrier.
LEAP = 0.03
# Share of the energy that loads add in a step below which it is not halved for what its motion cannot give back.
FAINT = 1e-7
# Sizes of the scene that a vertex may go in a step.
RUNAWAY = 1e6
# From this round on a step that arrives is taken even if normals turned meanwhile.
ENOUGH = 2


class StepSolver:
    """Solves the steps of a run, one after the other."""

    def __init__(self, scene: Scene, integrator: Integrator, road: Road) -> None:
        self.balance = Balance()
        self._road = road
        self._scene = scene
        self._integrator = integrator
        # Of the step under way:
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
            if not (self._road.undamped and self._gains.overdrawn(before)):
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
        potential, guess = self._road.begin(self._integrator, state, h)
        way = self._near if self._system.contact.exists else self._alone
        solution = yield from way(potential, guess, state)
        if not _overflowed(solution) and float(np.abs(solution.x - state.x).max()) > RUNAWAY * self._road.size:
            solution.converged, solution.change, solution.why = False, np.inf, "positions run away"
        if _overflowed(solution):
            # Not even a step that is taken as it is.
            solution.x = np.full_like(solution.x, np.nan)
        self._end = self._integrator.finish(state, potential, solution.x, h)
        self._returned = self.balance.close(self._system, self._end, solution.excess)
        solution.owed = max(solution.excess - self._returned - FAINT * potential.fallen, 0.0)
        self._gains, self._damped = self.balance.gains, 0
        if self._road.undamped and self._road.iterations is None and np.isfinite(solution.x).all():
            before, after = (kinetic(self._system, v) for v in (state.v, self._end.v))
            self._gains = self._gains.after_step(after - before + potential.risen(solution.x), before, after)
        return solution

    def finish(self, solution: Solution) -> State:
        """The state that ends the step at a solution: the last one found."""
        self.balance.gains = self._gains
        self.balance.stored = self._system.stored(self._end.x) if self._road.keeps_energy() else None
        stats = self._road.stats
        stats["excess_energy"] += self._returned
        stats["steps"] += 1
        stats["damped_steps"] += self._damped
        stats["change"] = max(stats["change"], solution.change)
        return self._end

    def kept(self) -> dict[str, Any]:
        """Plain numbers for a saved state."""
        return self.balance.kept() | self._road.trust.kept()

    def restore(self, saved: dict[str, Any]) -> None:
        """Take up what `kept` gave."""
        self.balance.restore(saved)
        self._road.trust.restore(saved)

    def _alone(self, potential: StepPotential, guess: Floats, state: State) -> Solving:
        """The step of shells that touch nothing but, at most, planes and spheres by a penalty."""
        solution = yield from self._road.alone(potential, guess)
        if not np.isfinite(solution.x).all():
            return solution
        start = np.where(potential.free, state.x, guess)
        if self._system.penalties and self._road.keeps_energy():
            available = self.balance.open(self._system, potential, start)
            solution = yield from self._downhill(solution, potential, start, available, False, state)
            solution.excess = max(potential.excess(solution.x, start, available), 0.0)
        elif self._system.curved and self._road.iterations is None:
            if potential.value_and_gradient(solution.x)[0] > potential.value_and_gradient(start)[0]:
                # A guess may lie beyond a barrier (a dent that is pushed through): then downhill from the start.
                solution = yield from self._road.minimised(potential, start)
        return solution

    def _near(self, potential: StepPotential, guess: Floats, state: State) -> Solving:
        """The step of shells in exact contact: as if they were alone for as long as nothing presses on them."""
        contact = self._system.contact
        ahead = contact.predict(guess)
        apart = ahead is guess and not contact.presses(guess)
        if apart and not (self._scene.colliders and self._road.keeps_energy()):
            solution = yield from self._alone(potential, guess, state)
            if _overflowed(solution):
                return solution
            found = solution.x
            yield "contact", 0, 0.0
            solution.x, arrived, settled = contact.follow(found, 0.5 * self._road.tolerance)
            if arrived and settled and not contact.presses(solution.x):
                return solution
            ahead = contact.predict(np.where(potential.free, found, guess))
        if self._road.meet(potential):
            guess = self._integrator.guess(potential, ONWARD)
            ahead = contact.predict(guess)
        return (yield from self._in_contact(potential, guess, ahead, state))

    def _in_contact(self, potential: StepPotential, flight: Floats, guess: Floats, state: State) -> Solving:
        """The step of shells that touch: minimise, follow as far as nothing crosses, look again.

        `flight`: where they would go if nothing was in the way; `guess`: the same, with what would collide pushed.
        """
        contact = self._system.contact
        # What an impact will do shows in how far it pushed the guess.
        self._road.feel(rms(guess - flight))
        start = np.where(potential.free, state.x, guess)
        available = self.balance.open(self._system, potential, start)
        for attempt in range(ROUNDS):
            solution = yield from self._road.in_round(potential, guess, attempt, available)
            if _overflowed(solution):
                return solution
            if self._road.iterations is None:
                again = attempt > 0 or contact.refrozen
                solution = yield from self._downhill(solution, potential, start, available, again, state)
            found = solution.x
            yield "contact", 0, 0.0
            solution.x, arrived, settled = contact.follow(found, 0.5 * self._road.tolerance)
            if arrived and (settled or attempt >= ENOUGH):
                break
            # The solver's answer is right but where something was in its way. Pins that yielded may return, until it
            # is clear that they cannot: then they stay where the shadow is.
            pins = flight if attempt < ENOUGH else solution.x
            guess = contact.predict(np.where(potential.free, found, pins))
        else:
            solution.converged, solution.why = False, contact.blocked
        if self._road.keeps_energy():
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
        road = self._road
        value, gradient = potential.value_and_gradient(solution.x)
        if value > available and again:
            # Contacts looked up anew hold energy that was not there at the start; none of it is the shells'.
            value -= self._system.contact.value_and_gradient(solution.x)[0]
        for share in SHARPENED if road.ends_early else ():
            # Most often it only stopped early; what starts again where the step began comes out too slow.
            if value > available:
                solution = yield from road.again(potential, solution.x, share)
                value, gradient = potential.value_and_gradient(solution.x)
        if value > available:
            solution = yield from road.again(potential, start)
            value, gradient = potential.value_and_gradient(solution.x)
        # Pins and colliders that move do work themselves: there is no energy to keep.
        still = self._system.still and np.array_equal(start[~potential.free], state.x[~potential.free])
        held = still and not road.ends_early and self._integrator.name == "implicit_euler"
        for k in range(SHARPER if held and solution.converged else 0):
            if not potential.gains(solution.x, gradient):
                break
            solution = yield from road.again(potential, solution.x, 0.1 ** (k + 1))
            value, gradient = potential.value_and_gradient(solution.x)
            # It had converged to what was asked for; sharper is better, not more.
            solution.converged = True
        if held and potential.excess(solution.x, start, available) > LEAP * potential.kinetic(solution.x):
            other = yield from road.again(potential, start)
            if (
                other.converged
                and potential.value_and_gradient(other.x)[0] < potential.value_and_gradient(solution.x)[0]
            ):
                return other
        return solution


def _overflowed(solution: Solution) -> bool:
    """Whether a solve met numbers without bounds."""
    return not (np.isfinite(solution.x).all() and (solution.converged or np.isfinite(solution.change)))
