"""The incremental potential of one step: what the solvers minimise.

    Φ(x) = ½ (x − x̃)ᵀ M (x − x̃) c + ∑ energies(x) − f·x

`integrators.py` says what c, x̃, the energies and f are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import diags

from .contact.frozen import SETTLED
from .contact.rows import Coupled
from .energies.base import Energy
from .energies.carried import acting
from .energies.drag import NormalDrag
from .impacts import touches
from .linalg.assembly import Hessian
from .linalg.factor import Factor
from .linalg.vectors import inner
from .mixed import MixedStress
from .parabola import Parabola
from .preconditioner import Preconditioner
from .sheet_newton import SheetNewton, vertex_blocks
from .subdivision.energy import KirchhoffLove
from .system import System
from .types import Bools, Floats

# Iterations between looks at the stiffness of contacts.
RENEW = 20
# Iteration at which contact may take friction from the solver's forces.
GLANCE = 20
# Iterations of L-BFGS at which rows of contact are frozen anew (6 and 14, or 10 and 20, are no better for twice the
# work).
REFREEZE = (12,)

# Share of the energy implicit Euler takes that a residual may give back, and what is too little to matter.
GAIN, NEGLIGIBLE = 0.25, 1e-7


class StepPotential:
    """The incremental potential of one step."""

    departure = 0.0
    """How far the last step's elastic forces took the sheet from free flight [m], root mean square: the scale that
    errors of this step are to be measured by."""
    carried = 0.0
    """How far dead forces alone carry the sheet in this step [m], root mean square."""
    h: float
    """Length of the step [s]."""
    start: Floats
    """Positions at the start of the step, (n, 3)."""
    centre: Floats
    """Where inertia alone would go, (n, 3)."""
    force: Floats
    """Dead forces [N], (n, 3)."""
    ahead: Floats
    """Where the last acceleration would lead, (n, 3)."""
    flight: Floats
    """Where inertia and dead forces would go, (n, 3)."""
    targets: Floats
    """Where held components go, (n, 3)."""
    of_shells: list[Energy]
    """All energies but those of contacts."""

    def __init__(
        self,
        system: System,
        inertia: Floats,
        parabola: Parabola,
        energies: list[Energy],
        hessian_parts: Callable[[Floats, MixedStress | None, bool], list[Hessian]],
        preconditioner: Preconditioner,
        sheets: Callable[[], SheetNewton] | None,
    ) -> None:
        """`sheets`: Newton's method for soft flat sheets, where these are such."""
        self.free: Bools = system.free
        self._system = system
        self._inertia = inertia[:, None]
        self.inertia = float(inertia.sum())
        self._parabola = parabola
        self._energies = energies
        self._hessian_parts = hessian_parts
        self._preconditioner = preconditioner
        self._held = np.flatnonzero(~self.free.T.ravel())
        self._seen: tuple[Floats, tuple[float, Floats]] | None = None
        self._sheets = sheets

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        # Who solved a step and who judges the solution ask for the same.
        if self._seen is None or self._seen[0] is not x:
            self._seen = x, self._summed(x, [energy.value_and_gradient for energy in self._energies])
        return self._seen[1]

    def value_and_gentle_gradient(self, x: Floats) -> tuple[float, Floats]:
        return self._summed(x, [energy.value_and_gentle_gradient for energy in self._energies])

    # A trial step too far may overflow: the solvers see that the value is not finite and step back.
    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def _summed(self, x: Floats, parts: list[Callable[[Floats], tuple[float, Floats]]]) -> tuple[float, Floats]:
        value, gradient = self._parabola.value_and_gradient(x)
        for part in parts:
            energy, by_x = part(x)
            value += energy
            gradient += by_x
        gradient.T.reshape(-1)[self._held] = 0.0
        return value, gradient

    def contact_force(self, x: Floats) -> Floats | None:
        """What holds x (n, 3) in place beside all but contacts [N], (n, 3), zero where held; None where none presses.

        Not the gradient of contacts: x may be where they stopped the step, and not quite the minimum.
        """
        return self._without_contacts(x)[1] if touches(self._system, x) else None

    def _without_contacts(self, x: Floats) -> tuple[float, Floats]:
        """Value and gradient at x of all but contacts."""
        contacts: list[Energy] = [self._system.contact, *self._system.penalties]
        others = [energy for energy in self._energies if not any(acting(energy) is acting(part) for part in contacts)]
        return self._summed(x, [energy.value_and_gradient for energy in others])

    def hessian(self, x: Floats, stresses: MixedStress | None = None, psd: bool = True) -> Hessian:
        total = Hessian(len(x), scalar=diags(self._inertia.ravel()).tocsr())
        for part in self._hessian_parts(x, stresses, psd):
            total = total + part
        return total

    @property
    def tied(self) -> object:
        """What the pattern of the shells' Hessian goes with."""
        return self._system.tied

    def hessian_of_shells(self, x: Floats) -> Hessian:
        """The same without contacts: its pattern is that of the shells alone."""
        total = Hessian(len(x), scalar=diags(self._inertia.ravel()).tocsr())
        for energy in self.of_shells:
            total = total + energy.hessian(x)
        return total

    def keep_momentum(self, step: Floats, gradient: Floats) -> None:
        # Nearly dependent pairs amplify round-off: without this a free balloon gained 1e-8 of its momentum in 30 steps.
        # Where all energies are blind to translation, the mean of P⁻¹g is known: the net force over the inertia.
        for part, loose in self._system.bodies:
            if loose and self._system.isolated:
                inertia = self._inertia[part]
                step[part] += (gradient[part] - inertia * step[part]).sum(axis=0) / inertia.sum()

    def gains(self, x: Floats, gradient: Floats) -> bool:
        """Whether ending the step at x with a `gradient` left over may add energy.

        A residual r adds r·Δx over the step; implicit Euler takes ½ m |Δv|² (of convex energies, at least).
        """
        offset = x - self.centre
        taken = 0.5 * inner(self._inertia * offset, offset)
        return inner(gradient, x - self.start) > GAIN * taken + NEGLIGIBLE * self.fallen

    @property
    def fallen(self) -> float:
        """Energy [J] that dead forces give to what starts at rest in one step: the scale of what counts."""
        # Tied ghosts have no mass of their own.
        way = np.divide(self.force, self._inertia, out=np.zeros_like(self.force), where=self._inertia > 0.0)
        return 0.5 * inner(way, self.force)

    def kinetic(self, x: Floats) -> float:
        """Kinetic energy [J] of implicit Euler's step to x."""
        way = np.where(self.free, x - self.start, 0.0)
        return 0.5 * inner(self._inertia * way, way)

    def excess(self, x: Floats, start: Floats, available: float) -> float:
        """Energy [J], kinetic and all, at x above what was `available` at `start`, which is the value there."""
        free = self.free
        offset, way = np.where(free, x - self.centre, 0.0), np.where(free, x - start, 0.0)
        inertia = self._inertia
        # The potential has the offset from free flight where energy has the way since the start.
        kinetic = 0.5 * inner(inertia * way, way) - 0.5 * inner(inertia * offset, offset)
        return self.value_and_gradient(x)[0] + kinetic - available

    def risen(self, x: Floats) -> float:
        """Energy [J] of all but inertia and contacts at x above that at the start of the step: less what dead forces
        did, and colliders that move, and with what damping took. (Contacts that are near x would, seen from the start,
        hold energy that was never there.)"""
        start = np.where(self.free, self.start, self.targets)
        values = []
        for at in (x, start):
            offset = np.where(self.free, at - self.centre, 0.0)
            values.append(self._without_contacts(at)[0] - 0.5 * inner(self._inertia * offset, offset))
        pushed = None if self._system.still else self.contact_force(x)
        work = 0.0 if pushed is None else self._system.contact_share * inner(pushed, x - start)
        return values[0] - values[1] - max(work, 0.0)

    def mixed_stress(self, x: Floats) -> MixedStress:
        # Of the last state: it changes far less over a step than what a guess, which stretches what it turns, has of
        # it. A strip takes 7.9 instead of 16 factors a frame, paper in wind 8.1 instead of 14.8.
        stresses = MixedStress(self._energies, self.start)
        # Not of subdivision elements: a limp sleeve that may sag in two ways finds the other one then (2.8 for 10 mm;
        # sharper steps find either).
        stresses.advance(self.start, x - self.start, kind=KirchhoffLove)
        return stresses

    def round_off(self, x: Floats) -> float:
        return self._parabola.round_off(x) + sum(energy.round_off(x) for energy in self._energies)

    def renew(self, x: Floats, iteration: int, quick: bool = False) -> bool:
        contact = self._system.contact
        if not contact.exists:
            return False
        # Not of curved shells: they are held to the energy that they began with, by the rows that they began with.
        if quick and iteration in REFREEZE and not self._system.curved and contact.refreeze(x):
            contact.impact(x)
            self._seen = None
            return True
        if iteration % RENEW == 0:
            self._preconditioner.touch(contact.springs(x))
        # After some iterations the forces of an impact are known well enough for friction.
        if iteration != GLANCE or not contact.impact(x):
            return False
        self._seen = None
        return True

    def coupled(self, x: Floats) -> Coupled | None:
        contact = self._system.contact
        return contact.coupled(x) if contact.exists and contact.presses(x) else None

    def refreeze(self, x: Floats) -> None:
        contact = self._system.contact
        if contact.refreeze(x):
            contact.impact(x)
            self._seen = None

    def settled(self, x: Floats, ended: bool) -> bool:
        """Whether friction has the normal forces of x; if not, it may be given them, which changes the potential."""
        contact = self._system.contact
        if not contact.exists or contact.settle(x, ended):
            return True
        self._seen = None
        return False

    def balanced(self, x: Floats, gradient: Floats) -> bool:
        """Whether the `gradient` (n, 3) that is left at x moves no shell against what holds it up: where friction
        sticks, a short step may hide a large force."""
        contact = self._system.contact
        if not (contact.exists and contact.rubs):
            return True
        pressed = np.sqrt((contact.forces(x) ** 2).sum(axis=1))
        system, least = self._system, NEGLIGIBLE * float(np.abs(self.force).sum())
        for (part, _), first, end in zip(system.parts, system.offsets, system.offsets[1:], strict=False):
            holding = float(pressed[first:end].sum())
            if holding > 0.0 and np.linalg.norm(gradient[part].sum(axis=0)) > SETTLED * holding + least:
                return False
        return True

    def inert(self, times: float) -> Hessian:
        """So many times the inertia, to be added to a Hessian that is not definite."""
        return Hessian(len(self._inertia), scalar=diags(times * self._inertia.ravel()).tocsr())

    def precondition(self, residual: Floats) -> Floats:
        return self._preconditioner.solve(residual)

    def factored(self, hessian: Hessian, definite: bool = False) -> Callable[[Floats], Floats] | None:
        rows = np.flatnonzero(self.free.ravel())
        # Symmetric, so that the transpose, which turns rows into columns at no cost, is the same matrix.
        matrix = hessian.matrix().tocsr()[rows][:, rows].T
        # SuperLU raises RuntimeError where a matrix is exactly singular (slivers): the constant one never is.
        try:
            factor = Factor(matrix)
            negative = definite and factor.negative_pivots
        except RuntimeError:
            return None if definite else self.precondition
        if negative:
            return None

        def solve(residual: Floats) -> Floats:
            solution = np.zeros(residual.size)
            try:
                solution[rows] = factor.solve(residual.ravel()[rows])
            except RuntimeError:
                return self.precondition(residual)
            return solution.reshape(residual.shape)

        return solve

    @property
    def soft_sheets(self) -> bool:
        """Whether `sheets` can be asked for."""
        return self._sheets is not None

    @property
    def windy(self) -> bool:
        """Whether wind blows."""
        return any(isinstance(part := acting(energy), NormalDrag) and part.blows for energy in self._energies)

    def sheets(self, x: Floats) -> SheetNewton:
        """Newton's method for soft flat sheets, at x; the first time in a run it has to be made."""
        assert self._sheets is not None
        newton = self._sheets()
        newton.begin(self.start, x, vertex_blocks(self._inertia[:, 0], self._energies))
        return newton

    def shorter(self, x: Floats, direction: Floats, slope: float) -> float:
        contact = self._system.contact
        return contact.shorter(x, direction, slope) if contact.exists else 0.5

    def share(self, x: Floats, direction: Floats, slope: float) -> float:
        contact = self._system.contact
        return contact.share(x, direction, slope) if contact.exists else 1.0

    def admissible(self, x: Floats, trial: Floats) -> bool:
        return self._system.admissible(x, trial)
