"""Time stepping as minimisation: every integrator is one incremental potential.

    Φ(x) = ½ (x − x̃)ᵀ M (x − x̃) c + ∑ energies(x) − f·x

with x̃ and c of the scheme (implicit Euler: x̃ = xₙ + h vₙ, c = 1/h²; Newmark: c = 1/βh² and the explicit part of its
position update). What is treated explicitly enters as a force at the start of the step; when nothing is
implicit, the minimum is known in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, diags

from .checks import choice
from .dynamics.stage import Stage
from .energies.base import Energy, VertexEnergy
from .energies.carried import acting
from .energies.fem import Fem
from .energies.pins import SoftPins
from .errors import ShellError
from .impacts import without_rebound
from .linalg.assembly import Hessian
from .linalg.vectors import Product, by_columns
from .mixed import MixedStress
from .parabola import Parabola
from .preconditioner import Preconditioner
from .sheet_newton import SheetNewton
from .shell_energies import Bending
from .solver import rms
from .step_potential import StepPotential
from .system import StepTerms, System
from .types import Floats, Ints, Sparse

# Where bending adds less than this share to every diagonal entry, the constant matrix is factored without it: hinges
# reach twice as far as triangles, and the factor is three times as full with them. On the reference sheet of 25.6k
# vertices (0.2 ‰) a solve takes 2.3 instead of 6.9 ms and as many iterations are needed.
FAINT_BENDING = 0.05

# Vertices from which, and up to which, soft sheets have Newton's method for themselves.
FEW_SHEETS, MANY_SHEETS = 300, 40_000

JACOBIANS = ("exact", "cubic", "constant")
INTEGRATORS = ("sdirk2", "implicit_euler", "newmark", "explicit", "imex_bending", "imex_membrane")


@dataclass
class State:
    """What changes over time. Positions x [m], velocities v [m/s], accelerations a [m/s²], each (n, 3)."""

    time: float
    x: Floats
    v: Floats
    a: Floats

    def __post_init__(self) -> None:
        # One layout in memory: a state just reached and one restored from a file must add up in the same order.
        self.x, self.v, self.a = by_columns(self.x), by_columns(self.v), by_columns(self.a)


class Integrator:
    """Builds the potential of a step and takes its minimum to the next state."""

    preconditioned = True
    """Whether steps have a constant matrix factored."""

    def __init__(self, system: System, name: str, beta: float, gamma: float, jacobian: str) -> None:
        name, jacobian = choice(name, "integrator", INTEGRATORS), choice(jacobian, "jacobian", JACOBIANS)
        if name == "newmark" and not (0.0 <= beta <= 0.5 and 0.0 <= gamma <= 1.0):
            raise ShellError(f"Newmark needs 0 <= beta <= ½ and 0 <= gamma <= 1, not {beta} and {gamma}")
        if name.startswith("imex") and any(bend.has_membrane for bend in system.bendings):
            raise ShellError(f"integrator={name!r} splits stretch from bending, which bending='subdivision' has as one")
        self.system = system
        self.name = name
        self.beta, self.gamma = beta, gamma
        self.hands_on = name == "newmark"
        """Whether the next step takes over accelerations: those by contact are not (`impacts.py`)."""
        self.jacobian = jacobian
        self.preconditioner = Preconditioner()
        self._quadratic: tuple[Product, float] | None = None
        self._sheets: tuple[int, SheetNewton] | None = None
        self._faint_bending = False
        self._quadratic_parts: tuple[Floats, list[Sparse]] = (np.zeros(0), [])
        self.soften_contact()

    def soften_contact(self) -> None:
        """Have springs of contacts that explicit steps can follow, if these are explicit."""
        if not self.explicit:
            return
        if self.system.contact.exists:
            self.system.contact.soften()
        for penalty in self.system.penalties:
            penalty.soften()

    def go_on_with(self, system: System, parent: Ints) -> None:
        """Take up the system after a cut; `parent` (n,) is the old unknown of each new one."""
        self.system = system
        self.preconditioner.go_on_with(system.version, system.steady, parent)
        self.soften_contact()

    @property
    def explicit(self) -> bool:
        """Whether a step needs no solve."""
        return self.name == "explicit" or (self.name == "newmark" and self.beta == 0.0)

    def solved(self, h: float) -> float:
        """What a step of h [s] has in the place of h in its solves [s]."""
        return h

    def needs_factor(self, t: float, h: float) -> bool:
        """Whether the step from t over h [s] factors a new matrix."""
        if self.explicit:
            return False
        changing = self.preconditioner.refresh and self.system.stiffness_changes(t, h)
        return changing or self.preconditioner.due(self.solved(h), self.system.version)

    def begin(self, state: State, h: float, onward: float = 0.0) -> tuple[StepPotential, Floats]:
        """Potential of the step from `state` over h [s], and where to start the search (see `guess`)."""
        system, x, v = self.system, state.x, state.v
        newmark = self.name == "newmark"
        terms = system.begin_step(Stage.euler(state.time, h, x, v, None if newmark else state.a))
        scale = 1.0 / (self.beta * h * h) if newmark else 1.0 / (h * h)
        centre = x + h * v
        if newmark:
            centre = centre + (h * h * (0.5 - self.beta)) * state.a
            system.contact_share = 2.0 * self.beta
        damping = self._mass_damping(state, centre, h)
        ahead = x + h * v + (h * h) * state.a
        potential = self._potential(terms, damping, x, h, centre, scale, ahead)
        return potential, self.guess(potential, onward)

    def _potential(
        self, terms: StepTerms, damping: list[Energy], x: Floats, h: float, centre: Floats, scale: float, ahead: Floats
    ) -> StepPotential:
        """The potential of a solve that begins at x (n, 3), with the inertia m · `scale` [1/s²] about `centre` (n, 3);
        `ahead` (n, 3): where the last acceleration would lead."""
        system = self.system
        energies = list(terms.energies) + damping
        membrane, bending = self.name != "imex_bending", self.name != "imex_membrane"
        membranes = [energy for group in system.membranes for energy in group]
        bendings = [bend.energy for bend in terms.bendings]
        for part, implicit in ((membranes, membrane), (bendings, bending)):
            if implicit:
                energies += part
            else:
                for energy in part:
                    terms.force -= energy.gradient(x)
        inertia = system.mass * scale

        def hessian_parts(at: Floats, stresses: MixedStress | None, psd: bool) -> list[Hessian]:
            parts = [self._curved(energy, at, psd) for energy in terms.energies + damping]
            if membrane and stresses is None:
                parts += [self._curved(energy, at, psd) for energy in membranes]
            elif membrane and stresses is not None:
                parts.append(stresses.hessian(at, psd))
                others = [energy for energy in membranes if energy not in stresses.membranes]
                parts += [self._curved(energy, at, psd) for energy in others]
            if bending:
                done = [] if stresses is None else stresses.membranes
                parts += [self._bent(bend, at, psd) for bend in terms.bendings if bend.energy not in done]
            return parts

        if self.preconditioned:
            self.preconditioner.prepare(
                h, system.version, system.free, lambda: self._matrix(terms, inertia, damping, membrane, bending)
            )
        contacts: list[Energy] = [system.contact, *system.penalties]
        of_shells = [energy for energy in energies if not any(acting(energy) is acting(part) for part in contacts)]
        parabola, energies = self._parabola(energies, inertia, by_columns(centre), terms.force)
        sheets = (lambda: self._sheet_newton(terms)) if self._soft_sheets(energies) else None
        potential = StepPotential(system, inertia, parabola, energies, hessian_parts, self.preconditioner, sheets)
        potential.of_shells = of_shells
        # Tied ghosts have no mass of their own, and go where their shell does.
        moved = np.divide(terms.force, inertia[:, None], out=np.zeros_like(terms.force), where=inertia[:, None] > 0.0)
        flight: Floats = np.add(centre, moved)
        potential.h, potential.start, potential.centre, potential.force = h, x, centre, terms.force
        potential.ahead = ahead
        potential.departure = rms(np.where(system.free, ahead - flight, 0.0))
        potential.carried = rms(np.where(system.free, flight - centre, 0.0))
        potential.flight, potential.targets = flight, terms.targets
        return potential

    def _curved(self, energy: Energy, x: Floats, psd: bool) -> Hessian:
        """What an energy that is not of bending adds to the Hessian, `psd` or as it is, if the scheme can use that."""
        return energy.hessian(x)

    def _bent(self, bending: Bending, x: Floats, psd: bool) -> Hessian:
        """The same of bending."""
        return bending.hessian(x, self.jacobian)

    def _soft_sheets(self, energies: list[Energy]) -> bool:
        """Whether the Hessian of a step is one that `sheet_newton.py` factors: flat sheets whose stretch outweighs
        their bending, and all else on single vertices. `energies`: those that are not quadratic."""
        system = self.system
        flat = not (system.models or system.curved)
        if self.name not in ("sdirk2", "implicit_euler", "newmark") or not (
            flat and system.steady and self._faint_bending
        ):
            return False
        if not MANY_SHEETS >= system.vertex_count >= FEW_SHEETS:
            return False
        elastic = system.elastic()
        membranes = [energy for group in system.membranes for energy in group]
        if not all(isinstance(energy, Fem) and energy.plastic is None for energy in membranes):
            return False
        others = [energy for energy in energies if energy is not system.contact]
        return all(any(energy is part for part in elastic) or isinstance(energy, VertexEnergy) for energy in others)

    def _sheet_newton(self, terms: StepTerms) -> SheetNewton:
        """Kept while stiffness stays."""
        system = self.system
        if self._sheets is None or self._sheets[0] != system.version:
            membranes = [energy for group in system.membranes for energy in group if isinstance(energy, Fem)]
            rest = np.concatenate([shell.rest_positions for shell in system.scene.shells])
            bending = system.bending_stiffness(terms)
            self._sheets = system.version, SheetNewton(membranes, rest, bending, system.free)
        return self._sheets[1]

    def _parabola(
        self, energies: list[Energy], inertia: Floats, centre: Floats, force: Floats
    ) -> tuple[Parabola, list[Energy]]:
        """Inertia, dead forces and what is quadratic among the energies as one; the energies that are left."""
        parts = [(part, part.quadratic()) for energy in energies for part in energy.parts()]
        quadratic = [(energy, matrix) for energy, matrix in parts if matrix is not None]
        pull = -force
        for energy, _ in quadratic:
            pull += energy.gradient(centre)
        known_inertia, known = self._quadratic_parts
        same = len(known) == len(quadratic) and all(a is b for a, (_, b) in zip(known, quadratic, strict=True))
        if self._quadratic is None or not same or not np.array_equal(known_inertia, inertia):
            total: Sparse = csr_matrix(diags(inertia))
            for _, matrix in quadratic:
                total = total + matrix
            entries = sum(float(abs(matrix).sum()) for _, matrix in quadratic)
            self._quadratic = Product(total.tocsr(), often=True), entries
            self._quadratic_parts = inertia, [matrix for _, matrix in quadratic]
        parabola = Parabola(*self._quadratic, inertia, self.system.anchors, centre, by_columns(pull))
        return parabola, [energy for energy, matrix in parts if matrix is None]

    def guess(self, potential: StepPotential, onward: float) -> Floats:
        """Where the search starts: in free flight or, by the share `onward`, where the last acceleration leads.

        Free flight ignores what holds the sheet, the last acceleration repeats the errors of the last solves. A shell
        that nothing holds keeps free flight's mean: its momentum is then right however early the solve ends. Not where
        it lies on something: a drape then began 0.9 of its motion from free flight off, without 0.4 to 0.6.

        Newmark starts from free flight: its accelerations carry noise that the extrapolation would feed back. So
        does Newton's method: where one inexact iteration is enough, a shell at rest would amplify round-off.
        """
        flight = potential.flight
        guess = flight
        if onward and self.name != "newmark":
            guess = onward * potential.ahead + (1.0 - onward) * flight
            lies = self.system.contact.exists and self.system.contact.bears
            for part, loose in self.system.parts:
                if loose and not lies:
                    mass = self.system.mass[part, None]
                    guess[part] += (mass * (flight[part] - guess[part])).sum(axis=0) / mass.sum()
        return np.where(self.system.free, guess, potential.targets)

    def _mass_damping(self, state: State, centre: Floats, h: float) -> list[Energy]:
        """Rayleigh's mass part −α₁ M v at the end of the step; v is affine in x in every scheme."""
        alpha = self.system.mass_damping
        if not alpha.any():
            return []
        if self.name == "newmark":
            ahead = state.v + h * (1.0 - self.gamma) * state.a
            slope = self.gamma / (self.beta * h)
            if slope == 0.0:
                return []
            return [SoftPins(np.repeat((alpha * slope)[:, None], 3, axis=1), centre - ahead / slope)]
        return [SoftPins(np.repeat((alpha / h)[:, None], 3, axis=1), state.x)]

    def _matrix(
        self, terms: StepTerms, inertia: Floats, damping: list[Energy], membrane: bool, bending: bool
    ) -> Sparse:
        """The constant matrix of a step, (n, n)."""
        matrix: Sparse = self.system.stiffness(terms, membrane) + diags(inertia)
        for energy in damping:
            matrix = matrix + energy.stiffness()
        if bending:
            whole: Sparse = matrix + self.system.bending_stiffness(terms)
            self._faint_bending = not (whole.diagonal() > (1.0 + FAINT_BENDING) * matrix.diagonal()).any()
            if not self._faint_bending:
                matrix = whole
        return matrix

    def finish(self, state: State, potential: StepPotential, x: Floats, h: float) -> State:
        """State at the end of an implicit step whose potential has its minimum at x."""
        newmark = self.name == "newmark"
        if newmark:
            a = (x - potential.centre) / (self.beta * h * h)
            v = state.v + h * ((1.0 - self.gamma) * state.a + self.gamma * a)
        else:
            v = (x - state.x) / h
            a = (v - state.v) / h
        pushed = potential.contact_force(x) if self.hands_on else None
        if pushed is not None:
            by_contact = pushed * self.system.per_mass
            a = a - by_contact
            if newmark:
                v = without_rebound(self.system, x, v + (h * (2.0 * self.beta - self.gamma)) * by_contact, h)
        if newmark:
            # Held components follow their targets: the scheme's own velocity would ring on them.
            v = np.where(self.system.free, v, (x - state.x) / h)
            a = np.where(self.system.free, a, 0.0)
        return State(state.time + h, x, v, a)

    # An unstable step overflows: the caller looks at what comes out.
    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def explicit_step(self, state: State, h: float) -> State:
        """Symplectic Euler (velocity first), or Newmark with β = 0 (central differences)."""
        system = self.system
        if self.name == "newmark":
            x = state.x + h * state.v + 0.5 * h * h * state.a
            if not system.free.all():
                x = np.where(system.free, x, system.targets(state.time + h, state.x))
            a = self.acceleration(state.time + h, x, state.v, h)
            v = state.v + h * ((1.0 - self.gamma) * state.a + self.gamma * a)
        else:
            a = self.acceleration(state.time, state.x, state.v, h)
            v = h * a
            v += state.v
            if system.damped:
                v *= (1.0 / (1.0 + h * system.damping_rates))[:, None]
            x = h * v
            x += state.x
        held = system.held
        if len(held):
            before, goal, ahead, speed, rate = (
                by_columns(part).T.reshape(-1) for part in (state.x, system.targets(state.time + h, state.x), x, v, a)
            )
            ahead[held] = goal[held]
            speed[held] = (goal[held] - before[held]) / h
            rate[held] = 0.0
        if system.contact.exists:
            system.contact.begin_step(Stage.euler(state.time, h, state.x, v), x, np.zeros(3))
            stopped = system.contact.follow(x, np.inf)[0]
            if stopped is not x:
                if system.isolated and system.free.all():
                    # Who is stopped by whom is not even: moving all alike gives back the momentum and crosses nothing.
                    stopped = stopped + system.mass @ (x - stopped) / system.mass.sum()
                x, v = stopped, v + (stopped - x) / h
        return State(state.time + h, x, v, a)

    def acceleration(self, t: float, x: Floats, v: Floats, h: float) -> Floats:
        """M⁻¹ times all forces at (t, x, v), (n, 3). Rates of strain are differences to x − h v."""
        system = self.system
        terms = system.begin_step(Stage.euler(t - h, h, x - h * v, v))
        force = terms.force
        membranes = [energy for group in system.membranes for energy in group]
        for energy in terms.energies + membranes + [bend.energy for bend in terms.bendings]:
            force -= energy.gradient(x)
        if self.name == "newmark":
            force -= system.mass_damping[:, None] * v
        force *= system.per_mass
        return force
