"""A step of the scheme of second order: stages are solved, followed as far as nothing crosses, and looked at again."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from ..integrators import State
from ..linalg.multifrontal import NotDefinite
from ..solver import Solution
from ..solvers.newton import Newton
from ..step_potential import StepPotential
from ..system import System
from ..types import Floats, Ints
from .sdirk import Halfway, Sdirk2
from .step_size import StepSize

# Times a stage is solved with contacts looked up anew, and the one from which what arrives is taken even if normals
# turned meanwhile.
ROUNDS, ENOUGH = 8, 2
# Newton steps of a solve before the step is halved.
MOST = 60
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
        self._of: System | None = None
        self._newton: Newton
        self._end: State

    def solve(self, state: State, h: float) -> Solving:
        """Where the step from `state` over h [s] ends."""
        system = self._scheme.system
        if self._of is not system:
            rest = np.concatenate([shell.rest_positions for shell in system.scene.shells])
            self._of, self._newton = system, Newton(system.with_hidden(rest))
        self._newton.begin(self._step_size.norm)
        if self._given is None:
            # Half of what a step may err by.
            self.tolerance = 0.5 * min(self._step_size.allowed(h)) * self._step_size.slack
        self.stats["solver"] = "newton"
        begun = state
        worst: Solution | None = None
        while True:
            potential, guess = self._scheme.begin(state, h, 1.0)
            # The last acceleration leads on where motion is smooth, and astray where things strike.
            if potential.value_and_gradient(potential.flight)[0] < potential.value_and_gradient(guess)[0]:
                guess = np.where(potential.free, potential.flight, potential.targets)
            stage = self._touching if system.contact.exists else self._minimised
            solution = yield from stage(potential, guess)
            if not np.isfinite(solution.x).all() or float(np.abs(solution.x - begun.x).max()) > RUNAWAY * self.size:
                solution.converged, solution.why = False, "positions run away"
                solution.x = np.full_like(solution.x, np.nan)
                return solution
            if worst is not None and not worst.converged:
                solution.converged, solution.why = False, worst.why
            self._end = self._scheme.finish(state, potential, solution.x, h)
            if not isinstance(self._end, Halfway) or system.contact.late:
                return solution
            worst, state = solution, self._end

    def finish(self, solution: Solution) -> State:
        """The state that ends the step at a solution: the last one found."""
        self.stats["steps"] += 1
        self.stats["change"] = max(self.stats["change"], solution.change)
        return self._end

    def follow(self, system: System, parent: Ints) -> None:
        """Go on with a system after a cut; `parent` (n,) is the old unknown of each new one."""
        self._step_size.follow(system, parent)

    def kept(self) -> dict[str, Any]:
        """Nothing has to be kept."""
        return {}

    def restore(self, saved: dict[str, Any]) -> None:
        """Nothing was."""

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
