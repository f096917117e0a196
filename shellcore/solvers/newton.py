"""Newton's method whose factor serves for as long as it is worth its price: any shell, touching or not.

A factor of the Hessian, contacts and friction in it, costs as much as ten gradients and solutions with it, or more. So
one is kept, and turned along with the shells from iteration to iteration and from stage to stage of a frame
(`corotation.py`); what has changed beyond that is learnt from gradients on the way (L-BFGS, about the factor instead of
about a multiple of the identity). It is made without compression, which comes and goes. Where steps do not shrink whole
Newton steps follow, with a new factor each; where these do not converge, a long search downhill by the last factor.

In whole steps membrane stress in the geometric part of the Hessian is carried (`mixed.py`), so that thin sheets take
only a few of them. Where that Hessian is not definite compression is left out of it, from there to the end of a step.

A solve ends when what is left is expected to be shorter than the tolerance, and when the forces of contacts no longer
change: a contact layer is a fraction of a millimetre thick, and an error of position that nobody sees is all of the
force there.
"""

from __future__ import annotations

import numpy as np

from ..dynamics.motion_norm import MotionNorm
from ..lbfgs import Memory
from ..linalg.assembly import Hessian
from ..linalg.multifrontal import NotDefinite
from ..linalg.vectors import by_columns, inner
from ..mixed import MixedStress
from ..solver import ARMIJO, ROUND_OFF, Counts, Solution, Steps
from ..step_potential import StepPotential
from ..types import Bools, Floats, Ints
from .corotation import Corotation
from .factored import Factored

# Times the energy may fail to fall in whole steps before they are shortened until it does: thin sheets climb first, as
# they stretch to second order what they turn.
CLIMBS = 3
# What is added to a Hessian that is indefinite without compression, in turn, times the inertia.
SHIFTS = (1.0, 10.0, 100.0)
# A kept factor serves while steps shrink to this share in so many of them, about as many as a new one costs, and while
# the inertia differs from its own by no more. A step by it leaves no more than this share of itself.
SHRUNK, PATIENCE = 0.3, 5


class Newton:
    """Newton's method for the steps of one system: triangles `faces` (m, 3) among n unknowns, at `rest` (n, 3) where
    nothing acts, `free` (n, 3) where they move."""

    def __init__(self, faces: Ints, rest: Floats, free: Bools) -> None:
        self._factored = Factored(rest)
        self._corotation = Corotation(faces, rest, free)
        self._memory = Memory(len(rest))
        self._norm: MotionNorm
        self._tensile = False
        """Whether compression is left out of Hessians of whole steps of the step under way."""
        self._inertia: float | None = None
        """In the factor that is kept; None where none is."""
        self._frames: Floats
        """Of the shells where it was made, (3, 3, n)."""
        self._rotations: Floats
        """Since then, (3, 3, n)."""

    def begin(self, norm: MotionNorm) -> None:
        """Begin a step whose solves are measured by `norm`."""
        self._norm, self._tensile = norm, False

    def begin_frame(self) -> None:
        """A run that is resumed has no factor of the frame before."""
        self._inertia = None

    def minimised(self, potential: StepPotential, x: Floats, tolerance: float, most: int, exact: bool = False) -> Steps:
        """Minimum of a potential from x (n, 3), to a `tolerance` [m], in at most so many whole steps; `exact`: that
        many are wanted, and no more said."""
        counts = Counts()
        if exact:
            return (yield from self._whole(potential, x, tolerance, most, True, counts))
        solution = yield from self._kept(potential, x, tolerance, PATIENCE, counts)
        if solution.converged or not np.isfinite(solution.x).all():
            return solution
        solution = yield from self._whole(potential, solution.x, tolerance, most, False, counts)
        if solution.converged or not np.isfinite(solution.x).all():
            return solution
        return (yield from self._kept(potential, solution.x, tolerance, most, counts))

    def _kept(self, potential: StepPotential, x: Floats, tolerance: float, patience: int, counts: Counts) -> Steps:
        """By a factor that is kept, for as long as steps shrink within so many and need no more halvings."""
        value, gradient = potential.value_and_gradient(x)
        counts.gradients += 1
        if not np.isfinite(value):
            return Solution(x, False, np.inf, counts, "the energy at the start of the step is not finite")
        memory, lengths = self._memory, [np.inf]
        memory.clear()
        if self._inertia is None or abs(potential.inertia / self._inertia - 1.0) > SHRUNK:
            yield "factor", np.inf
            self._inertia = None
            counts.factorisations += 1
            try:
                # It only preconditions: gradients tell what single precision misses.
                self._factor(potential, x, potential.hessian(x, potential.mixed_stress(x), psd=True), single=True)
            except NotDefinite:
                return Solution(x, False, np.inf, counts, "the Hessian is not definite")
            self._inertia, self._frames = potential.inertia, self._corotation.frames(x)
        self._rotations = self._corotation.between(self._frames, self._corotation.frames(x))
        why = "steps by a kept factor do not shrink"
        while len(lengths) <= patience or lengths[-1] <= SHRUNK * lengths[-patience]:
            yield "solve", lengths[-1]
            spent = self._factored.products
            direction = by_columns(-memory.direction(gradient, self._turned_solution))
            counts.products += self._factored.products - spent
            slope, length = inner(gradient, direction), max(self._norm(direction))
            if not slope < 0.0:
                return Solution(x, bool(slope == 0.0), length, counts, "no direction goes down")
            found = _lower(
                potential, x, value, direction, slope, _share(potential, x, direction, slope), patience, counts
            )
            if found is None:
                why = "the line search found no lower energy"
                break
            share, trial, value, by_x = found
            memory.add(trial - x, by_columns(by_x - gradient))
            lengths.append(share * length)
            x, gradient = trial, by_x
            counts.iterations += 1
            change, before = lengths[-1], lengths[-2]
            # A first step says nothing of the second.
            left = SHRUNK * change if change < before < np.inf and share == 1.0 else change
            ended = left <= tolerance and potential.balanced(x, gradient)
            if potential.settled(x, ended):
                if ended:
                    return Solution(x, True, left, counts)
            else:
                value, gradient = potential.value_and_gradient(x)
        self._inertia = None
        return Solution(x, False, lengths[-1], counts, why)

    def _whole(
        self, potential: StepPotential, x: Floats, tolerance: float, most: int, exact: bool, counts: Counts
    ) -> Steps:
        """By whole Newton steps, with a new factor each."""
        value, gradient = potential.value_and_gradient(x)
        counts.gradients += 1
        if not np.isfinite(value):
            return Solution(x, False, np.inf, counts, "the energy at the start of the step is not finite")
        lowest, climbs = value, 0
        stresses = potential.mixed_stress(x)
        self._inertia = None
        change = before = np.inf
        for _ in range(most):
            yield "factor", change
            self._factor_whole(potential, x, stresses, counts)
            yield "solve", change
            spent = self._factored.products
            direction = by_columns(-self._solution(gradient))
            counts.products += self._factored.products - spent
            slope, length = inner(gradient, direction), max(self._norm(direction))
            if not slope < 0.0:
                return Solution(x, bool(slope == 0.0), length, counts, "no direction goes down")
            share = _share(potential, x, direction, slope)
            trial = x + share * direction
            ahead, by_x = potential.value_and_gradient(trial)
            counts.gradients += 1
            climbs += not ahead <= lowest + ARMIJO * share * slope
            if climbs > CLIMBS or not np.isfinite(ahead) or not potential.admissible(x, trial):
                found = _lower(potential, x, value, direction, slope, share, most, counts)
                if found is None:
                    invisible = abs(slope) <= 10.0 * (ROUND_OFF * abs(value) + potential.round_off(x))
                    return Solution(x, invisible, length, counts, "the line search found no lower energy")
                share, trial, ahead, by_x = found
            stresses.advance(x, direction, share)
            before, change = change, length
            x, value, gradient = trial, ahead, by_x
            counts.iterations += 1
            lowest = min(lowest, value)
            # Where steps shrink by squares the next one is known.
            left = change * min(1.0, change / before) if share == 1.0 and np.isfinite(before) else change
            ended = left <= tolerance and potential.balanced(x, gradient)
            if potential.settled(x, ended):
                if ended:
                    return Solution(x, True, left, counts)
            else:
                value, gradient = potential.value_and_gradient(x)
                lowest, climbs = value, 0
        return Solution(x, exact, change, counts, f"no convergence in {most} Newton steps")

    def _solution(self, right: Floats) -> Floats:
        """By the factor as it is, (n, 3)."""
        solution: Floats = self._factored.solve(right.ravel()).reshape(right.shape)
        return solution

    def _turned_solution(self, right: Floats) -> Floats:
        """By the factor turned along with the shells, (n, 3)."""
        turned = self._corotation.turned(self._rotations, right, back=True)
        return self._corotation.turned(self._rotations, self._solution(turned), back=False)

    def _factor(self, potential: StepPotential, x: Floats, hessian: Hessian, single: bool = False) -> None:
        self._factored.factor(hessian, potential.free, potential.tied, lambda: potential.hessian_of_shells(x), single)

    def _factor_whole(self, potential: StepPotential, x: Floats, stresses: MixedStress, counts: Counts) -> None:
        """The Hessian itself or, where it is not definite, what is above it."""
        hessian = potential.hessian(x, stresses, psd=self._tensile)
        for times in (0.0, *SHIFTS):
            counts.factorisations += 1
            try:
                return self._factor(potential, x, hessian)
            except NotDefinite:
                if not self._tensile:
                    self._tensile = True
                    hessian = potential.hessian(x, stresses, psd=True)
                elif times == SHIFTS[-1]:
                    raise
                else:
                    hessian = hessian + potential.inert(times or SHIFTS[0])


def _share(potential: StepPotential, x: Floats, direction: Floats, slope: float) -> float:
    """The share of a step that neither contacts throw back nor leads where the model is not valid."""
    share = potential.share(x, direction, slope)
    for _ in range(PATIENCE):
        if potential.admissible(x, x + share * direction):
            break
        share *= 0.5
    return share


def _lower(
    potential: StepPotential,
    x: Floats,
    value: float,
    direction: Floats,
    slope: float,
    share: float,
    halvings: int,
    counts: Counts,
) -> tuple[float, Floats, float, Floats] | None:
    """The first of a `share` of a step, half of it, a quarter, … that lowers the energy enough, and position, value and
    gradient there."""
    blur = ROUND_OFF * (abs(value) + abs(slope)) + potential.round_off(x)
    for _ in range(halvings + 1):
        trial = x + share * direction
        if potential.admissible(x, trial):
            ahead, gradient = potential.value_and_gradient(trial)
            counts.gradients += 1
            falls = ahead <= value + ARMIJO * share * slope
            flattens = ahead <= value + blur and abs(inner(gradient, direction)) <= 0.9 * abs(slope)
            if falls or flattens:
                return share, trial, ahead, gradient
        share *= 0.5
    return None
