"""Minimising a potential: quasi-Newton with a constant factor, and inexact Newton.

Both descend along −(matrix)⁻¹ gradient and differ in the matrix. The quasi-Newton road starts from the constant
matrix (mass, membrane Laplacian, constant bending) that is factored once, and learns the rest from the last few
gradients (L-BFGS). The Newton road solves with the true Hessian by conjugate gradients, preconditioned
by the same factor; its cost does not grow with stiffness. They stop when the step they would take is small in
metres, because a small force does not mean a small error (`docs/theory/solver.md`).

Both are generators that yield after every matrix product or gradient, so that a caller can show progress.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from .contact.rows import Coupled
from .lbfgs import Memory
from .linalg.assembly import Hessian
from .linalg.krylov import conjugate_gradients
from .linalg.vectors import inner
from .mixed import MixedStress
from .sheet_newton import SheetNewton
from .types import Bools, Floats

ARMIJO = 1e-4
SMALLEST_STEP = 1e-8
# Relative round-off of an energy: decreases below this share of it cannot be seen.
ROUND_OFF = 1e-13
# Before it has learnt the soft directions the quasi-Newton road proposes steps that are too short: it stops
# after this many more of them in a row are below the tolerance, or at once when one is far below.
PATIENCE = 4
SURE = 1e-3
# Steps shorter than this share of the solve's longest teach the round-off of gradients, not their change.
NOISE = 1e-9
# Iterations over which a solve's progress is judged by the energy they gained.
WINDOW = 5
# A step that takes longer than this many iterations is let go at a few times the tolerance.
LONG = 28
LENIENCE = 4.0
# Conjugate gradients: how far the residual falls in one Newton iteration, and at most how many products. A solve
# that reaches the limit a third time has left the constant matrix behind: the Hessian of the moment is factored in
# its place (up to this many vertices: then a factorisation costs as much as the products it saves), and again when CG
# slows. Not before: a factorisation costs as much as 30 products at 600 vertices, 110 at 6.5k. Once or twice is a
# contact that closes; with a factor at the first time a drape of 6.5k vertices took 2.2 instead of 0.8 s.
FORCING = 0.2
PRODUCTS = 60
ENOUGH = 3
SLOW = 20
FACTORED = 12_000
# Whole steps of the mixed method before it gives up: stiff strips take 3, crumpling sheets up to 15.
WHOLE_STEPS = 25


class Potential(Protocol):
    """What the solvers ask of a function of positions (n, 3)."""

    free: Bools
    """Which components may move, (n, 3)."""
    inertia: float
    """c ∑ m [N/m]: how hard the potential resists a translation of everything."""

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        """Value [J] and gradient [N], (n, 3), zero where held."""

    def value_and_gentle_gradient(self, x: Floats) -> tuple[float, Floats]:
        """The same, but for what large strains add to the gradient out of proportion."""

    def hessian(self, x: Floats, stresses: MixedStress | None = None, psd: bool = True) -> Hessian:
        """Second derivative [N/m], positive semidefinite or nearly so; with carried membrane stresses where given."""

    def round_off(self, x: Floats) -> float:
        """Rounding error of the value at x [J]."""

    def precondition(self, residual: Floats) -> Floats:
        """(constant matrix)⁻¹ residual, (n, 3), zero where held."""

    def keep_momentum(self, step: Floats, gradient: Floats) -> None:
        """Take out of a step, in place, the drift of bodies that no net force acts on."""

    def mixed_stress(self, x: Floats) -> MixedStress:
        """Membrane stresses to begin a mixed Newton solve at x with, and to be carried through it."""

    def factored(self, hessian: Hessian, definite: bool = False) -> Callable[[Floats], Floats] | None:
        """hessian⁻¹ residual by a factorisation of its own; None if it must be `definite` and is not."""

    def sheets(self, x: Floats) -> SheetNewton:
        """Newton's method for soft flat sheets, at x; only where the potential is one of those."""

    def coupled(self, x: Floats) -> Coupled | None:
        """Second derivative [N/m] of contacts at x; None where none presses."""

    def refreeze(self, x: Floats) -> None:
        """Take contacts anew at x, which changes the potential."""

    def renew(self, x: Floats, iteration: int, quick: bool = False) -> bool:
        """Before an iteration at x: take what has changed since the constant matrix was factored into account; whether
        that changed the potential itself. `quick`: iterations are many and short."""

    def shorter(self, x: Floats, direction: Floats, slope: float) -> float:
        """Share of a step to try where the whole went too far, at most ½: less where contacts threw it back."""

    def share(self, x: Floats, direction: Floats, slope: float) -> float:
        """Share of a whole step to take, less than 1 only where contacts would throw it back."""

    def admissible(self, x: Floats, trial: Floats) -> bool:
        """Whether the step from x to trial stays where the model is valid."""


@dataclass
class Counts:
    """What a solve cost."""

    iterations: int = 0
    gradients: int = 0
    products: int = 0
    factorisations: int = 0

    def __iadd__(self, other: Counts) -> Counts:
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


@dataclass
class Solution:
    """Where a minimisation ended. `change`: root mean square of the last step proposed [m]."""

    x: Floats
    converged: bool
    change: float
    counts: Counts = field(default_factory=Counts)
    why: str = ""
    excess: float = 0.0
    """Energy [J] that ending a step here would add by mistake (`balance`), where that is asked for."""
    owed: float = 0.0
    """What of that motion cannot give back [J]."""
    worst: int = -1
    """Unknown with the largest force left over, where the search got stuck."""


Steps = Generator[tuple[str, float], None, Solution]
"""Yields the stage ("solve", or "factor" before a long factorisation) and the size of the last proposed step [m]."""


def quasi_newton(
    potential: Potential,
    x: Floats,
    tolerance: float,
    most: int,
    memory: Memory,
    gain: float | None = None,
    tiring: float = np.inf,
    far: bool = False,
) -> Steps:
    """L-BFGS from the constant factor; stops when its step is under `tolerance` [m] (root mean square).

    With `gain` [m] also when the energy E gained in the last five iterations can have moved the mass no further than
    that: no motion is softer than inertia alone, E ≥ ½ c ∑m d², so a distance √(2E / c∑m). Soft motions, which are
    the last to converge, come near that bound: all that is left to gain was 1.1 to 1.9 times the true error in solves
    of pinned sheets and flags, where the size of steps missed it by 10 times and more. After `tiring` iterations
    what counts grows with the square of their number. `far`: x is only a guess (see `approached`).
    """
    counts = Counts(gradients=1)
    potential.renew(x, 0)
    x, value, gradient = approached(potential, x, counts) if far else (x, *potential.value_and_gradient(x))
    if not np.isfinite(value):
        return Solution(x, False, np.inf, counts, "the energy at the start of the step is not finite")
    change = np.inf
    longest = 0.0
    below = 0
    values = [value]
    while counts.iterations < most:
        if counts.iterations and potential.renew(x, counts.iterations, quick=True):
            value, gradient = potential.value_and_gradient(x)
            counts.gradients += 1
            values = [value]
        if gain is not None and len(values) > (2 * WINDOW if far else WINDOW):
            gained = max(values[-WINDOW - 1] - value, 0.0)
            if np.sqrt(2.0 * gained / potential.inertia) <= gain * max(1.0, counts.iterations / tiring) ** 2:
                return Solution(x, True, change, counts)
        direction = memory.direction(gradient, potential.precondition)
        potential.keep_momentum(direction, gradient)
        np.negative(direction, out=direction)
        slope = inner(gradient, direction)
        if not slope < 0.0:
            memory.clear()
            direction = -potential.precondition(gradient)
            slope = inner(gradient, direction)
        change = rms(direction)
        if counts.iterations == LONG and gain is None:
            tolerance *= LENIENCE
        below = below + 1 if change <= tolerance else 0
        if below > PATIENCE or change <= SURE * tolerance or not slope < 0.0:
            return Solution(x, True, change, counts)
        found = line_search(potential, x, value, direction, slope, counts)
        if found is None:
            return _stalled(potential, x, value, slope, change, counts)
        trial, value, trial_gradient = found
        longest = max(longest, change)
        if change > NOISE * longest:
            memory.add(trial - x, trial_gradient - gradient)
        x, gradient = trial, trial_gradient
        values.append(value)
        counts.iterations += 1
        yield "solve", change
    return Solution(x, change <= tolerance, change, counts, f"no convergence in {most} iterations")


def approached(potential: Potential, x: Floats, counts: Counts) -> tuple[Floats, float, Floats]:
    """Where to start instead of a guess x that may be stretched by tens of percent: position, value and gradient.

    Green strain overrates such stretch, and the first steps from it take a sheet into folds that the solve then has to
    undo. One step of projective dynamics (Bouaziz et al. 2014: the constant matrix, faces pulled towards where they
    have turned but not stretched) comes out near any isometric shape: on a skirt that swings down the solve's error was
    19 instead of 25% of a frame's motion, with 58 instead of 72 gradients.
    """
    value, gentle = potential.value_and_gentle_gradient(x)
    direction = potential.precondition(gentle)
    potential.keep_momentum(direction, gentle)
    trial = x - direction
    if potential.admissible(x, trial):
        counts.gradients += 1
        ahead, gradient = potential.value_and_gradient(trial)
        if ahead <= value:
            return trial, ahead, gradient
    return x, *potential.value_and_gradient(x)


def mixed_newton(potential: Potential, x: Floats, tolerance: float, most: int) -> Steps:
    """Whole Newton steps with a factor of the full Hessian and the membrane stress as an unknown (`mixed.py`).

    A thin sheet's energy rises before it falls, so steps are not cut but by contacts; the solve counts when steps have
    died out below `tolerance` [m] with the energy no higher than at the start. What does not come to that ends
    unconverged.
    """
    counts = Counts(gradients=1)
    value, gradient = potential.value_and_gradient(x)
    if not np.isfinite(value):
        return Solution(x, False, np.inf, counts, "the energy at the start of the step is not finite")
    start = value
    stresses = potential.mixed_stress(x)
    change = np.inf
    while counts.iterations < min(most, WHOLE_STEPS):
        yield "factor", change
        solve = potential.factored(potential.hessian(x, stresses, psd=False), definite=True)
        counts.factorisations += 1
        if solve is None:
            solve = potential.factored(potential.hessian(x, stresses, psd=True))
            counts.factorisations += 1
        assert solve is not None
        direction = -solve(gradient)
        direction *= potential.share(x, direction, inner(gradient, direction))
        change = rms(direction)
        trial = x + direction
        if not np.isfinite(change) or not potential.admissible(x, trial):
            return Solution(x, False, change, counts, "a Newton step left the model's range")
        stresses.advance(x, direction)
        x = trial
        value, gradient = potential.value_and_gradient(x)
        counts.gradients += 1
        counts.iterations += 1
        yield "solve", change
        if change <= tolerance:
            blur = ROUND_OFF * abs(start) + 10.0 * potential.round_off(x)
            return Solution(
                x, value <= start + blur, change, counts, "Newton found a stationary state of higher energy"
            )
    return Solution(x, False, change, counts, f"no convergence in {counts.iterations} whole Newton steps")


def newton(potential: Potential, x: Floats, tolerance: float, most: int, certain: bool = False) -> Steps:
    """Newton steps by preconditioned conjugate gradients; stops when a step is under `tolerance` [m].

    `certain`: and the step was solved for with a factor of the Hessian (up to FACTORED vertices). Conjugate gradients
    on the constant matrix propose small steps long before they have found the soft motions of a stiff shell: a bowl of
    stoneware that rocked on its rim stood still from one step to the next.
    """
    counts = Counts(gradients=1)
    value, gradient = potential.value_and_gradient(x)
    if not np.isfinite(value):
        return Solution(x, False, np.inf, counts, "the energy at the start of the step is not finite")
    change = np.inf
    precondition: Callable[[Floats], Floats] = potential.precondition
    limit, reached = PRODUCTS, 0
    certain &= len(x) <= FACTORED
    while counts.iterations < most:
        if potential.renew(x, counts.iterations):
            value, gradient = potential.value_and_gradient(x)
            counts.gradients += 1
        hessian = potential.hessian(x)
        direction, spent = yield from _solved(potential, hessian, gradient, precondition, change)
        counts.products += spent
        reached += spent >= limit
        doubtful = certain and rms(direction) <= tolerance
        if doubtful or (spent >= limit and reached >= ENOUGH and len(x) <= FACTORED):
            yield "factor", change
            exact = potential.factored(hessian)
            assert exact is not None
            precondition, limit = exact, SLOW
            direction, spent = yield from _solved(potential, hessian, gradient, precondition, change)
            counts.products += spent
            counts.factorisations += 1
        slope = inner(gradient, direction)
        change = rms(direction)
        if not slope < 0.0:
            return Solution(x, True, change, counts)
        found = line_search(potential, x, value, direction, slope, counts)
        if found is None:
            return _stalled(potential, x, value, slope, change, counts)
        x, value, gradient = found
        counts.iterations += 1
        yield "solve", change
        if change <= tolerance:
            return Solution(x, True, change, counts)
    return Solution(x, change <= tolerance, change, counts, f"no convergence in {most} iterations")


def _solved(
    potential: Potential,
    hessian: Hessian,
    gradient: Floats,
    precondition: Callable[[Floats], Floats],
    change: float,
) -> Generator[tuple[str, float], None, tuple[Floats, int]]:
    """Newton direction by conjugate gradients, and the products spent."""
    held = ~potential.free

    def product(p: Floats) -> Floats:
        image = hessian.product(p)
        image[held] = 0.0
        return image

    solve = conjugate_gradients(product, -gradient, precondition, FORCING, PRODUCTS)
    while True:
        try:
            next(solve)
        except StopIteration as end:
            direction, spent = end.value
            return direction, spent
        yield "solve", change


# Trials that go too far overflow: their value is not finite, and they are not taken.
@np.errstate(over="ignore", invalid="ignore")
def line_search(
    potential: Potential, x: Floats, value: float, direction: Floats, slope: float, counts: Counts
) -> tuple[Floats, float, Floats] | None:
    """First of the steps 1, ½, ¼, … that lowers the potential enough (Armijo); position, value, gradient there.

    Near the minimum the decrease drowns in round-off; there a step counts that flattens the slope instead
    (the approximate Wolfe condition of Hager and Zhang).
    """
    step = 1.0
    while step >= SMALLEST_STEP:
        trial = x + direction if step == 1.0 else x + step * direction
        if potential.admissible(x, trial):
            trial_value, gradient = potential.value_and_gradient(trial)
            counts.gradients += 1
            if trial_value <= value + ARMIJO * step * slope:
                return trial, trial_value, gradient
            blur = ROUND_OFF * (abs(value) + abs(slope)) + potential.round_off(x)
            if trial_value <= value + blur and abs(inner(gradient, direction)) <= 0.9 * abs(slope):
                return trial, trial_value, gradient
        step *= 0.5 if step < 1.0 else potential.shorter(x, direction, slope)
    return None


def _stalled(potential: Potential, x: Floats, value: float, slope: float, change: float, counts: Counts) -> Solution:
    """No step lowers the energy: converged to round-off, or stuck."""
    invisible = abs(slope) <= 10.0 * (ROUND_OFF * abs(value) + potential.round_off(x))
    gradient = potential.value_and_gradient(x)[1]
    worst = int(np.argmax(np.einsum("ij,ij->i", gradient, gradient)))
    return Solution(x, invisible, change, counts, "the line search found no lower energy", worst=worst)


def rms(field: Floats) -> float:
    """Root mean square length of vectors (n, 3)."""
    return float(np.sqrt(inner(field, field) / len(field)))
