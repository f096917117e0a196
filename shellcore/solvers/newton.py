"""Newton's method with a sparse factor: any shell, touching or not.

Each step solves with the Hessian of the moment, that of contacts and friction in it. Membrane stress in its geometric
part is carried (`mixed.py`), so that thin sheets converge in a few whole steps. Where the Hessian is not definite,
compression is left out of it, from there to the end of the step.

A solve ends when the next step is expected to be shorter than the tolerance, and when the forces of contacts no longer
change: a contact layer is a fraction of a millimetre thick, and an error of position that nobody sees is all of the
force there.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ..dynamics.motion_norm import MotionNorm
from ..linalg.assembly import Hessian
from ..linalg.multifrontal import NotDefinite
from ..linalg.vectors import by_columns, inner
from ..mixed import MixedStress
from ..solver import ROUND_OFF, Counts, Solution, Steps
from ..step_potential import StepPotential
from ..types import Floats
from .factored import Factored

# Share of the slope that a shortened step must bring, and the shortest share of a step that is tried.
ARMIJO, SHORTEST = 1e-4, 1e-6
# Times the energy may rise above its lowest before steps are shortened until it falls: thin sheets climb first, as they
# stretch to second order what they turn.
CLIMBS = 3
# What is added to a Hessian that is indefinite without compression, in turn, times the inertia.
SHIFTS = (1.0, 10.0, 100.0)


class Newton:
    """Newton's method for the steps of one system, whose vertices are near `positions` (n, 3)."""

    def __init__(self, positions: Floats) -> None:
        self._factored = Factored(positions)
        self._norm: MotionNorm
        self._tensile = False
        """Whether compression is left out of Hessians of the step under way."""
        self._scale: float | None = None
        """Of the inertia in the last factor of this step."""

    def begin(self, norm: MotionNorm) -> None:
        """Begin a step whose solves are measured by `norm`. A run that is resumed has no factor of the step before."""
        self._norm, self._tensile, self._scale = norm, False, None

    def minimised(self, potential: StepPotential, x: Floats, tolerance: float, most: int, exact: bool = False) -> Steps:
        """Minimum of a potential from x (n, 3), to a `tolerance` [m], in at most so many steps; `exact`: that many are
        wanted, and no more said."""
        counts = Counts(gradients=1)
        value, gradient = potential.value_and_gradient(x)
        if not np.isfinite(value):
            return Solution(x, False, np.inf, counts, "the energy at the start of the step is not finite")
        lowest, climbs = value, 0
        stresses = potential.mixed_stress(x)
        change = before = np.inf
        old = self._scale == potential.inertia
        while counts.iterations < most:
            if not old:
                yield "factor", change
                self._scale = None
                self._factor(potential, x, stresses, counts)
                self._scale = potential.inertia
            yield "solve", change
            spent = self._factored.products
            direction = by_columns(-self._factored.solve(gradient.ravel()).reshape(x.shape))
            counts.products += self._factored.products - spent
            slope, length = inner(gradient, direction), max(self._norm(direction))
            if not slope < 0.0:
                return Solution(x, bool(slope == 0.0), length, counts, "no direction goes down")
            if old and length > 0.25 * change and np.isfinite(change):
                old = False
                continue
            share = potential.share(x, direction, slope)
            trial = x + share * direction
            while not potential.admissible(x, trial) and share > SHORTEST:
                share *= 0.5
                trial = x + share * direction
            ahead, by_x = potential.value_and_gradient(trial)
            counts.gradients += 1
            if old and not ahead <= value + ARMIJO * share * slope:
                old = False
                continue
            climbs += not ahead <= lowest
            if climbs > CLIMBS or not np.isfinite(ahead):
                found = yield from _down(potential, x, value, direction, slope, share, length, counts)
                if found is None:
                    invisible = abs(slope) <= 10.0 * (ROUND_OFF * abs(value) + potential.round_off(x))
                    return Solution(x, invisible, length, counts, "the line search found no lower energy")
                share, trial, ahead, by_x = found
            stresses.advance(x, direction, share)
            before, change = change, length
            x, value, gradient = trial, ahead, by_x
            counts.iterations += 1
            lowest = min(lowest, value)
            # Where steps shrink by squares the next one is known; a first one says nothing of the second.
            known = share == 1.0 and np.isfinite(before)
            expected = change * min(1.0, change / before) if known else change
            # The factor serves on while steps shrink to a quarter.
            old = known and change < 0.25 * before
            ended = expected <= tolerance and potential.balanced(x, gradient)
            if potential.settled(x, ended):
                if ended:
                    return Solution(x, True, expected, counts)
            else:
                value, gradient = potential.value_and_gradient(x)
                lowest, climbs = value, 0
        return Solution(x, exact, change, counts, f"no convergence in {most} Newton steps")

    def _factor(self, potential: StepPotential, x: Floats, stresses: MixedStress, counts: Counts) -> None:
        def factor(hessian: Hessian) -> bool:
            counts.factorisations += 1
            try:
                self._factored.factor(hessian, potential.free, potential.tied, lambda: potential.hessian_of_shells(x))
            except NotDefinite:
                return False
            return True

        if not self._tensile:
            if factor(potential.hessian(x, stresses, psd=False)):
                return
            self._tensile = True
        hessian = potential.hessian(x, stresses, psd=True)
        for times in SHIFTS:
            if factor(hessian):
                return
            hessian = hessian + potential.inert(times)
        counts.factorisations += 1
        self._factored.factor(hessian, potential.free, potential.tied, lambda: potential.hessian_of_shells(x))


def _down(
    potential: StepPotential,
    x: Floats,
    value: float,
    direction: Floats,
    slope: float,
    share: float,
    length: float,
    counts: Counts,
) -> Generator[tuple[str, float], None, tuple[float, Floats, float, Floats] | None]:
    """The first half, quarter, … of a `share` of a step of this `length` that lowers the energy enough, and position,
    value and gradient there."""
    while share >= SHORTEST:
        trial = x + share * direction
        if potential.admissible(x, trial):
            ahead, gradient = potential.value_and_gradient(trial)
            counts.gradients += 1
            blur = ROUND_OFF * (abs(value) + abs(slope)) + potential.round_off(x)
            falls = ahead <= value + ARMIJO * share * slope
            flattens = ahead <= value + blur and abs(inner(gradient, direction)) <= 0.9 * abs(slope)
            if falls or flattens:
                return share, trial, ahead, gradient
        yield "solve", share * length
        share *= 0.5
    return None
