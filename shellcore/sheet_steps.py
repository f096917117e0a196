"""Newton steps of soft flat sheets (`sheet_newton.py`): as many as a frame needs, or to a tolerance.

The matrix has the membrane stress of the last state, which changes little over a step, so one step is most often
enough for a frame. It stretches to second order what it turns; a gentle step takes that out and tells what is left.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from .sheet_newton import SheetNewton
from .solver import Counts, Potential, Solution, Steps, approached, rms
from .types import Floats

# Steps for a frame and to a tolerance: what has not converged in so many buckles, and is left to L-BFGS. Flags take one
# or two; with at most three, sheets hung by two corners in wind had half of their kinetic energy after a second, with
# six nine tenths.
SHEET_STEPS, EXACT_SHEET_STEPS = 6, 40
# The same where things touch.
TOUCHING_STEPS = 16
# Gentle steps before the first of them, and at most after the last. Newton steps from a guess that is still stretched
# crumple what buckles: with 1, 4 before them a sheet of 1.2k vertices on a ball has 1.8, 1.4 of the true bending energy
# after half a second, one of 6.4k 1.5, 1.2.
EASING, SETTLING = 4, 2
# A first step of theirs leaves its square over so many times the way that elastic forces move the sheet, at most.
LEAST_CURVED = 4.0
# What is left after the gentle step that follows a Newton step, as a share of that: 0.63 to 0.76 in flags.
EASED = 0.75
# Shares of what may be left below which there is nothing to solve, in steps of the constant matrix, which may be a
# thousand times too short, and of Newton's: a sheet in free fall, or at rest, whose energy is lost in round-off.
AT_REST, NOTHING = 1e-6, 1e-3
# Share to which a step that goes up is cut at most.
SMALLEST_SHARE = 0.2
# Conjugate gradients for bending in a step: for a frame (with 1 a frame of a flag of 6.4k vertices is 1 to 6% off
# instead of 0.2 to 2) and in an exact one (3.9 factors a frame of a flag instead of 8.3).
BRIEFLY, REFINED = 2, 3
# Those of flags of so many vertices and more. After a second one of 25.6k has 0.83 and 1.00 of the converged kinetic
# and bending energy with 2, 1.05 and 0.84 with 4, 1.06 and 1.04 with 8: fine wrinkles make the most of small errors.
FINE, FINELY = 10_000, 8
# The same of sheets that touch: with 2 a drape of 6.4k vertices has 1.2 to 1.4 of the converged bending energy after a
# second, with 4 1.1 to 1.3 (at 1.6k 0.8 to 1.1 with either).
LESS_COARSE, LESS_BRIEFLY = 3_000, 4


@dataclass(frozen=True)
class Care:
    """How far Newton steps go where things touch: until one is no longer than `last`, as a share of how far elastic
    forces move the sheet, and `least` of them: contacts that a first step did not know may press after it."""

    last: float
    least: int


def refinements(vertex_count: int, touching: bool, windy: bool) -> int:
    """Conjugate gradients for bending in a step of a frame."""
    if vertex_count >= FINE and (windy or touching):
        return FINELY
    return LESS_BRIEFLY if touching and vertex_count >= LESS_COARSE else BRIEFLY


def sheet_newton(
    potential: Potential,
    x: Floats,
    gain: float,
    moved: float,
    most: int,
    refined: int = BRIEFLY,
) -> Steps:
    """Newton steps of soft flat sheets (`sheet_newton.py`) from a guess, `most` of them.

    Each is followed by a gentle step (`_eased`) that takes out what it stretched to second order, and the solve ends
    when that shows that no more than `gain` [m] is left; `moved` [m]: how far elastic forces move the sheet. Steps that
    go up are cut. Where they do not do, the solution is the lowest place found, and not converged. `refined`: conjugate
    gradients for bending in a step.
    """
    counts = Counts(gradients=2)
    x, correction = _eased(potential, x, potential.value_and_gentle_gradient(x)[1])
    value, gradient = potential.value_and_gradient(x)
    if not np.isfinite(value):
        return Solution(x, False, np.inf, counts, "the energy at the start of the step is not finite")
    if correction <= AT_REST * gain:
        return Solution(x, True, correction, counts)
    lowest = value, x
    before, change = LEAST_CURVED * moved, np.inf
    newton = yield from _prepared(potential, x)
    while counts.iterations < most:
        yield "factor", change
        counts.factorisations += 1
        if not newton.factor():
            break
        yield "solve", change
        direction = newton.direction(gradient, refined)
        potential.keep_momentum(direction, gradient)
        change = rms(direction)
        if change <= NOTHING * gain:
            return Solution(x, True, change, counts)
        share, lower, trial, gentle = _cut(potential, x, value, direction, counts)
        counts.iterations += 1
        if not lower:
            break
        yield "solve", change
        eased, correction = _eased(potential, trial, gentle)
        left = max(change * min(1.0, change / before), EASED * correction)
        if left <= gain and share == 1.0:
            return Solution(eased, True, change, counts)
        newton.move(share * direction, eased)
        x, before = eased, change
        value, gradient = potential.value_and_gradient(x)
        counts.gradients += 1
        lowest = min(lowest, (value, x), key=lambda place: place[0])
    return Solution(lowest[1], False, change, counts, f"no convergence in {counts.iterations} Newton steps")


def touching_newton(
    potential: Potential, x: Floats, gain: float, least: int = 2, refined: int = BRIEFLY, available: float = np.inf
) -> Steps:
    """The same where contacts press, at `least` so many, until a step is no longer than `gain` [m] and the energy no
    more than `available` [J].

    Contacts are taken anew after every step, and before the gentle one that ends the solve, so that they hold there: 29
    instead of 33 rounds of contact in 24 frames of a drape. What touches buckles: steps shrink slowly, and what they
    leave is not told from how they stretch.
    """
    counts = Counts(gradients=1 + EASING)
    potential.renew(x, 0)
    for _ in range(EASING):
        x, correction = _eased(potential, x, potential.value_and_gentle_gradient(x)[1])
    value, gradient = potential.value_and_gradient(x)
    if not np.isfinite(value):
        return Solution(x, False, np.inf, counts, "the energy at the start of the step is not finite")
    if correction <= AT_REST * gain:
        return Solution(x, True, correction, counts)
    lowest, change = (value, x), np.inf
    newton = yield from _prepared(potential, x)
    while counts.iterations < TOUCHING_STEPS:
        yield "factor", change
        counts.factorisations += 1
        if not newton.factor(potential.coupled(x)):
            break
        yield "solve", change
        # A first step need not be so exact: 5 ms a frame of 6.4k vertices.
        direction = newton.direction(gradient, refined if counts.iterations else min(refined, BRIEFLY))
        potential.keep_momentum(direction, gradient)
        change = rms(direction)
        share, lower, trial, gentle = _cut(potential, x, value, direction, counts)
        counts.iterations += 1
        if not lower:
            break
        yield "solve", change
        x = _eased(potential, trial, gentle)[0]
        newton.move(share * direction, x)
        potential.refreeze(x)
        last = change <= gain and counts.iterations >= least
        for _ in range(SETTLING if last else 0):
            x = _eased(potential, x, potential.value_and_gentle_gradient(x)[1])[0]
            counts.gradients += 2
            if potential.value_and_gradient(x)[0] <= available:
                return Solution(x, True, change, counts)
        counts.gradients += 0 if last else 1
        value, gradient = potential.value_and_gradient(x)
        lowest = min(lowest, (value, x), key=lambda place: place[0])
    return Solution(lowest[1], False, change, counts, f"no convergence in {counts.iterations} Newton steps")


def _cut(
    potential: Potential, x: Floats, value: float, direction: Floats, counts: Counts
) -> tuple[float, bool, Floats, Floats]:
    """The share of a step `direction` that goes down from `value` at x, whether there is one, where that leads, and the
    gentle gradient there."""
    share = 1.0
    while True:
        trial = x + share * direction
        ahead, gentle = potential.value_and_gentle_gradient(trial)
        counts.gradients += 1
        if ahead <= value or share < SMALLEST_SHARE:
            return share, ahead <= value, trial, gentle
        share *= 0.5


def exact_sheet_newton(potential: Potential, x: Floats, tolerance: float, moved: float, most: int) -> Steps:
    """The same to a `tolerance` [m]: whole steps, with bending as it is, until one is expected to have left no more."""
    counts = Counts(gradients=1)
    x, value, gradient = approached(potential, x, counts)
    if not np.isfinite(value):
        return Solution(x, False, np.inf, counts, "the energy at the start of the step is not finite")
    lowest = value, x
    before, change = LEAST_CURVED * moved, np.inf
    newton = yield from _prepared(potential, x)
    while counts.iterations < most:
        yield "factor", change
        counts.factorisations += 1
        if not newton.factor():
            break
        yield "solve", change
        direction = newton.direction(gradient, REFINED)
        potential.keep_momentum(direction, gradient)
        change = rms(direction)
        if change <= NOTHING * tolerance:
            return Solution(x, True, change, counts)
        x = x + direction
        value, gradient = potential.value_and_gradient(x)
        counts.gradients += 1
        counts.iterations += 1
        if not np.isfinite(value):
            break
        newton.move(direction, x)
        yield "solve", change
        if value <= lowest[0]:
            lowest = value, x
            if change * min(1.0, change / before) <= tolerance:
                return Solution(x, True, change, counts)
        before = change
    return Solution(lowest[1], False, change, counts, f"no convergence in {counts.iterations} whole Newton steps")


def _prepared(potential: Potential, x: Floats) -> Generator[tuple[str, float], None, SheetNewton]:
    """Newton's method for sheets, at x."""
    yield "factor", np.inf
    newton = potential.sheets(x)
    for _ in newton.prepare():
        yield "factor", np.inf
    return newton


def _eased(potential: Potential, x: Floats, gentle: Floats) -> tuple[Floats, float]:
    """x after half a step of projective dynamics, down the `gentle` gradient there, and its length [m] (r.m.s.).

    Along warp and weft the constant matrix has the mean of the tensile and the shear modulus, so a whole step goes too
    far along either by up to twice; half a one does not. (Whole ones threw flags to and fro: of 4.6% of a frame's
    motion that a Newton step left, one made 6.5, two 3.3, half a one 3.0.)
    """
    step = potential.precondition(gentle)
    potential.keep_momentum(step, gentle)
    step *= 0.5
    return x - step, rms(step)
