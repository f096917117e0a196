"""A step of the scheme of second order: stages are solved, followed as far as nothing crosses, and looked at again.

What rings too fast for its steps may gain energy in a scheme of second order, where it turns with the sheet. The books
of all steps together are kept (`balance.Gains`); a step that would gain too much is taken in shorter ones, and where
these are the shortest by implicit Euler, which takes energy.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from ..balance import Gains, kinetic
from ..integrators import Integrator, State
from ..linalg.multifrontal import NotDefinite
from ..linalg.vectors import by_columns
from ..solver import Solution
from ..solvers.newton import Newton
from ..step_potential import StepPotential
from ..system import System
from ..types import Floats, Ints
from .sdirk import ERROR, Halfway, Sdirk2
from .step_size import StepSize

# Times a stage is solved with contacts looked up anew, and the one from which what arrives is taken even if normals
# turned meanwhile.
ROUNDS, ENOUGH = 8, 2
# Newton steps of a solve before the step is halved.
MOST = 30
# Sizes of the scene that a vertex may go in a step.
RUNAWAY = 1e6

Solving = Generator[tuple[str, int, float], None, Solution]
"""Yields stage, iteration and size of the solver's last step [m]; returns the solution."""


class StageSolver:
    """Solves the steps of a run, one after the other; `iterations`, `tolerance` [m] as given to `simulate`."""

    def __init__(self, scheme: Sdirk2, step_size: StepSize, iterations: int | None, tolerance: float | None) -> None:
        self._scheme, self._step_size = scheme, step_size
        self.iterations, self._given = iterations, tolerance
        self.tolerance = 0.0 if tolerance is None else tolerance
        """What the positions of a solve may err by [m]."""
        self.stats: dict[str, Any] = {}
        """Of the frame under way: what solves cost is added here."""
        self.size = float(np.linalg.norm(np.ptp(scheme.system.start, axis=0)))
        """Of the scene [m]."""
        self._gains = Gains()
        self._found: tuple[State, Gains]
        """Where the step solved last ends, and what has been gained then."""
        self._of: System | None = None
        self._newton: Newton

    def solve(self, state: State, h: float) -> Solving:
        """Where the step from `state` over h [s] ends."""
        system = self._scheme.system
        if self._of is not system:
            rest = np.concatenate([shell.rest_positions for shell in system.scene.shells])
            self._of, self._newton = system, Newton(system.faces, system.with_hidden(rest), system.free)
        self._newton.begin(self._step_size.norm)
        if self._given is None:
            # Half of what a step may err by.
            self.tolerance = 0.5 * min(self._step_size.allowed(h)) * self._step_size.slack
        self.stats["solver"] = "newton"
        before = self._gains
        if not before.left:
            solution = yield from self._by(self._scheme, state, h)
            gains = self._found[1]
            if not solution.converged or not gains.overdrawn(before):
                self._found = self._found[0], gains.kept_up()
                return solution
            if self._step_size.may_shorten:
                solution.converged, solution.why = False, "its energy would grow"
                return solution
        damped = Integrator(system, "implicit_euler", 0.0, 0.0, self._scheme.jacobian)
        damped.preconditioned = False
        solution = yield from self._by(damped, state, h)
        end = self._found[0]
        # What the scheme would have erred by: steps are to be as long as they were when it is tried again.
        self._scheme.error = by_columns((ERROR * h * h) * np.where(system.free, end.a - state.a, 0.0))
        self._found = end, before.rested()
        self.stats["damped_steps"] += 1
        return solution

    def _by(self, scheme: Integrator, state: State, h: float) -> Solving:
        """The same by a scheme; also finds the state at the end."""
        system, begun, risen, converged, why = scheme.system, state, 0.0, True, ""
        while True:
            potential, guess = scheme.begin(state, h, 1.0)
            # The last acceleration leads on where motion is smooth, and astray where things strike.
            if potential.value_and_gradient(potential.flight)[0] < potential.value_and_gradient(guess)[0]:
                guess = np.where(potential.free, potential.flight, potential.targets)
            stage = self._touching if system.contact.exists else self._minimised
            solution = yield from stage(potential, guess)
            if not np.isfinite(solution.x).all() or float(np.abs(solution.x - begun.x).max()) > RUNAWAY * self.size:
                solution.converged, solution.why = False, "positions run away"
                solution.x = np.full_like(solution.x, np.nan)
                self._found = begun, self._gains
                return solution
            converged, why = converged and solution.converged, why or solution.why
            risen += potential.risen(solution.x)
            end = scheme.finish(state, potential, solution.x, h)
            if not isinstance(end, Halfway) or system.contact.late:
                break
            state = end
        solution.converged, solution.why = converged, why
        first, last = kinetic(system, begun.v), kinetic(system, end.v)
        self._found = end, self._gains.after_step(last - first + risen, first, last)
        return solution

    def begin_frame(self) -> None:
        """Begin a frame."""
        if self._of is not None:
            self._newton.begin_frame()

    def finish(self, solution: Solution) -> State:
        """The state that ends the step at a solution: the last one found."""
        end, self._gains = self._found
        self.stats["steps"] += 1
        self.stats["change"] = max(self.stats["change"], solution.change)
        return end

    def follow(self, system: System, parent: Ints) -> None:
        """Go on with a system after a cut; `parent` (n,) is the old unknown of each new one."""
        self._step_size.follow(system, parent)

    def kept(self) -> dict[str, Any]:
        """Plain numbers for a saved state."""
        return self._gains.kept()

    def restore(self, saved: dict[str, Any]) -> None:
        """Take up what `kept` gave."""
        self._gains = Gains.restored(saved)

    def _touching(self, potential: StepPotential, flight: Floats) -> Solving:
        """The stage of shells that may touch: minimise, follow as far as nothing crosses, look again."""
        contact = self._scheme.system.contact
        guess = contact.predict(flight)
        for attempt in range(ROUNDS):
            solution = yield from self._minimised(potential, guess)
            if not np.isfinite(solution.x).all():
                return solution
            found = solution.x
            yield "contact", 0, 0.0
            solution.x, arrived, settled = contact.follow(found, 0.5 * self.tolerance)
            if arrived and (settled or attempt >= ENOUGH):
                break
            # Pins that yielded may return, until it is clear that they cannot: then they stay where they are.
            pins = flight if attempt < ENOUGH else solution.x
            guess = contact.predict(np.where(potential.free, found, pins))
        else:
            solution.converged, solution.why = False, contact.blocked
        return solution

    def _minimised(self, potential: StepPotential, x: Floats) -> Solving:
        """Progress of a solve, then its solution, with what it cost added to the stats."""
        most = self.iterations or MOST
        steps = self._newton.minimised(potential, x, self.tolerance, most, exact=self.iterations is not None)
        iteration = 0
        while True:
            try:
                stage, change = next(steps)
            except StopIteration as end:
                solution: Solution = end.value
                break
            except NotDefinite:
                return Solution(x, False, np.inf, why="the Hessian is not definite")
            iteration += 1
            yield stage, iteration, change
        for name in ("iterations", "gradients", "products", "factorisations"):
            self.stats[name] += getattr(solution.counts, name)
        return solution
