"""The default scheme: two stages, of second order, that damp what is stiff and keep what swings.

Alexander's SDIRK2 (Alexander 1977, "Diagonally implicit Runge-Kutta methods for stiff ODE's", γ = 1 − 1/√2) is L-stable
and its second stage is the end of the step. With positions X, velocities V and accelerations A of a stage,

    X₁ = x₀ + γh V₁,                       V₁ = v₀ + γh A₁,
    X₂ = x₀ + (1 − γ)h V₁ + γh V₂,         V₂ = v₀ + (1 − γ)h A₁ + γh A₂,

each is the minimum of an incremental potential with the inertia M/(γh)² about base + γh · drive, where the base and the
drive are what is known of X and of V. No force at the start of the step is needed: nothing has to be remembered.

Contacts and friction are held to be what they are in the inequality that they stand for: they stop what moves against
them, and throw nothing back. With δ = (1 − 2γ)h the second stage is

    X₂ = X₁ + δ V₁ + γh V₂,                V₂ = V₁ + δ A₁ + γh A₂,

the same as above, and it goes on with what contacts leave of V₁ and A₁ (`impacts.Grip`): nothing along normals that
press, nothing across them where friction sticks. So does the next step with V₂. What lies stays where it is, what
slides loses the speed that it should (exactly), what strikes in either stage has no speed along the normal at the end,
and forces of an impact act in their own stage only: handed on, they would throw things back with up to 1.41 of their
speed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..energies.base import Energy
from ..energies.pins import SoftPins
from ..impacts import Grip, touches
from ..integrators import Integrator, State
from ..linalg.assembly import Hessian
from ..linalg.vectors import by_columns
from ..shell_energies import Bending
from ..step_potential import StepPotential
from ..types import Bools, Floats
from .stage import Stage

GAMMA = 1.0 - float(np.sqrt(0.5))
# A step's positions err by this times h² (A₂ − A₁): ∑ b A c of the scheme is γ²(3 − 2γ) where that of the solution is
# 1/6, and the stages are (1 − γ)h apart.
ERROR = (GAMMA**2 * (3.0 - 2.0 * GAMMA) - 1.0 / 6.0) / (1.0 - GAMMA)


@dataclass
class Halfway(State):
    """Where the first stage of a step has ended, with what contacts have left of its velocities and accelerations."""

    step: State
    """Where the step began."""
    touched: Bools
    """Unknowns (n,) that contacts act on."""


class Sdirk2(Integrator):
    """Alexander's scheme of second order."""

    preconditioned = False

    error: Floats
    """What the last step's positions err by [m], (n, 3)."""

    def solved(self, h: float) -> float:
        return GAMMA * h

    def needs_factor(self, t: float, h: float) -> bool:
        """Never one of a constant matrix: Newton's method factors its own."""
        return False

    def begin(self, state: State, h: float, onward: float = 0.0) -> tuple[StepPotential, Floats]:
        g = GAMMA * h
        second = isinstance(state, Halfway)
        stage = self._stage = self._second(state, h) if isinstance(state, Halfway) else self._first(state, h)
        drive = state.v + ((1.0 - 2.0 * GAMMA) * h) * state.a if second else state.v
        terms = self.system.begin_step(stage)
        centre = stage.base + g * drive
        alpha = self.system.mass_damping
        damping: list[Energy] = []
        if alpha.any():
            damping = [SoftPins(np.repeat((alpha / g)[:, None], 3, axis=1), stage.base)]
        potential = self._potential(terms, damping, stage.start, g, centre, 1.0 / (g * g), centre + (g * g) * state.a)
        return potential, self.guess(potential, onward)

    def _first(self, state: State, h: float) -> Stage:
        t, g, x, v, a = state.time, GAMMA * h, state.x, state.v, state.a
        at, moving = x + g * v + (0.5 * g * g) * a, v + g * a
        return self._led(Stage(t, t, t + g, g, x, v, x, a, t + g, at, moving, smooth=True))

    def _second(self, state: Halfway, h: float) -> Stage:
        x, v, a, step = state.x, state.v, state.a, state.step
        rest, ends = (1.0 - GAMMA) * h, step.time + h
        base = x + ((1.0 - 2.0 * GAMMA) * h) * v
        at, moving = x + rest * v + (0.5 * rest * rest) * a, v + rest * a
        carry = (1.0 - GAMMA) / GAMMA
        return self._led(
            Stage(step.time, state.time, ends, GAMMA * h, x, v, base, a, ends, at, moving, step.x, carry, smooth=True)
        )

    def _led(self, stage: Stage) -> Stage:
        """With the velocities of held components where a stage ends."""
        system = self.system
        if system.free.all():
            return stage
        base = system.targets(stage.closes, stage.start) - stage.h * system.target_speeds(stage)
        return stage.based(by_columns(np.where(system.free, stage.base, base)))

    def _curved(self, energy: Energy, x: Floats, psd: bool) -> Hessian:
        return energy.hessian(x, psd)

    def _bent(self, bending: Bending, x: Floats, psd: bool) -> Hessian:
        if self.jacobian == "constant":
            # Folds turn hinges far from where their constant matrix was made: it would serve, slowly.
            return bending.energy.hessian(x, psd)
        return bending.hessian(x, self.jacobian)

    def finish(self, state: State, potential: StepPotential, x: Floats, h: float) -> State:
        system, stage = self.system, self._stage
        v = (x - stage.base) / stage.h
        a = np.where(system.free, (x - potential.centre) / stage.h**2, 0.0)
        touched = np.zeros(len(x), dtype=bool)
        if touches(system, x):
            grip = Grip(system, x, stage.h)
            v, a, touched = grip.velocity(v), grip.acceleration(a), grip.touched
        if not isinstance(state, Halfway):
            return Halfway(stage.closes, x, v, a, state, touched)
        # What is struck or let go has another acceleration at once: no shorter step would follow it better.
        smooth = ~(touched | state.touched)[:, None]
        self.error = by_columns((ERROR * h * h) * np.where(smooth & system.free, a - state.a, 0.0))
        return State(state.step.time + h, x, v, a)
