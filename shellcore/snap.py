"""Newton's method through instabilities: a sheet that buckles in a step goes from one state to another far from it.

The exact Hessian is indefinite on the way. It is shifted by the least multiple of the inertia that leaves no negative
eigenvalue (what a shorter step would do), steps are taken whole where energy may rise for a while, and a state is
trusted only when energy has fallen; where it has not after a few steps, the search goes back to the last state
trusted and holds on to it by a spring. So `statics` finds equilibria; here it is a step of time that ends when steps are
small in metres, as in the other solvers.
"""

from __future__ import annotations

import numpy as np

from .solver import ROUND_OFF, Counts, Potential, Solution, Steps, rms
from .types import Floats
from .vectors import inner

# Whole steps before the energy must have fallen, and the share of the fall expected that is enough.
PATIENCE, ENOUGH = 8, 0.1
# A step turns or stretches no edge by more than this.
LARGEST_TURN = 0.5
# First shift, in units of the step's inertia, its growth, and where the search ends.
FIRST, GROWTH, LAST = 0.5, 8.0, 1e8


def snap_newton(potential: Potential, x: Floats, tolerance: float, most: int) -> Steps:
    """From x to a minimum, with a factorisation of the (shifted) Hessian for every step."""
    counts = Counts(gradients=1)
    value, gradient = potential.value_and_gradient(x)
    if not np.isfinite(value):
        return Solution(x, False, np.inf, counts, "the energy at the start of the step is not finite")
    stresses = potential.mixed_stress(x)
    home = (x, value, gradient)
    spring, shift, tries, expected, change = 0.0, 0.0, 0, 0.0, np.inf
    while counts.iterations < most:
        hessian = potential.hessian(x, stresses, psd=False)
        shift = shift / GROWTH if shift > FIRST else 0.0
        while True:
            yield "factor", change
            solve = potential.factored(hessian, definite=True, shift=spring + shift)
            counts.factorisations += 1
            if solve is not None:
                break
            shift = max(GROWTH * shift, 2.0 * spring, FIRST)
            if shift > LAST:
                return Solution(home[0], False, change, counts, "the Hessian has no shift that makes it definite")
        pull = gradient if spring == 0.0 else gradient + spring * potential.inertia * (x - home[0])
        direction = -solve(pull)
        change = rms(direction)
        if not np.isfinite(change):
            return Solution(home[0], False, change, counts, "a Newton step overflowed")
        share = min(1.0, LARGEST_TURN / potential.largest_turn(direction))
        while share > 1e-6 and not potential.admissible(x, x + share * direction):
            share *= 0.5
        if tries == 0:
            expected = -0.5 * inner(direction, pull)
        stresses.advance(x, direction, share)
        x = x + share * direction
        value, gradient = potential.value_and_gradient(x)
        counts.iterations += 1
        counts.gradients += 1
        tries += 1
        yield "solve", change
        blur = ROUND_OFF * abs(value) + 10.0 * potential.round_off(x)
        fallen = bool(value <= home[1] - ENOUGH * expected + blur)
        if fallen or (change <= tolerance and value <= home[1] + blur):
            if change <= tolerance and shift == 0.0 and spring == 0.0 and share == 1.0:
                return Solution(x, True, change, counts)
            home = (x, value, gradient)
            spring = 0.0 if spring < FIRST else spring / (16.0 if tries <= 4 else 4.0 if tries <= 7 else 2.0)
            tries = 0
        elif tries > PATIENCE or not np.isfinite(value):
            x, value, gradient = home
            stresses = potential.mixed_stress(x)
            spring = max(16.0 * spring, 2.0 * FIRST)
            tries = 0
            if spring > LAST:
                return Solution(x, False, change, counts, "no step from here lowers the energy")
    return Solution(home[0], False, change, counts, f"no convergence in {most} shifted Newton steps")
