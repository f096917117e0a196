"""The energy of contacts as the solvers see it: rows with nearest points and normals frozen, and friction on them."""

from __future__ import annotations

import numpy as np

from ..energies.base import Energy
from ..linalg.assembly import Hessian
from ..linalg.vectors import by_columns
from ..types import Bools, Floats, Ints
from .bodies import Bodies
from .friction import CREEP, Friction
from .rows import Coupled, Rows
from .springs import Springs

# Steps that `shorter` compares.
FRACTIONS = tuple(0.5**k for k in range(1, 8))
# Rise of all normal forces over a step from which friction is taken from its end.
IMPACT = 2.0
# What normal forces may differ by from those that friction has, all together (one by one four times as much), and
# times a step it is given others.
SETTLED, LAGS = 0.03, 60


class Frozen(Energy):
    """Rows and friction of a step, with colliders at its end. `_rows` is None before there was a look."""

    def __init__(self, bodies: Bodies) -> None:
        self.bodies = bodies
        self._count = bodies.count
        self._friction: Friction | None = None
        self._rows: Rows | None = None
        self.bears = False
        """Whether a collider presses on a shell where the step begins."""
        self.refrozen = False
        """Whether this step's rows are no longer those that it began with."""
        self._goal = bodies.place(0.0)
        # Vertices of colliders that do not move in this step.
        self._at_rest = np.zeros(bodies.total, dtype=bool)

    def _begin_friction(self, start: Floats, begun: Floats, h: float) -> None:
        """Friction of a step from the forces at its `start` (total, 3), against slip since `begun` (total, 3) over
        h [s]."""
        assert self._rows is not None
        self._begun, self._h = begun, h
        pushes = self._rows.pushes_of(start)
        self.bears = bool((pushes[(self._rows.corners >= self._count).any(axis=0)] > 0.0).any())
        self._lag(pushes)
        self._lagged, self._lags = False, 0
        self._pushes: Floats | None = None
        self._off = np.inf

    def _lag(self, normal: Floats) -> None:
        """Friction from the `normal` forces of rows [N], (r,)."""
        assert self._rows is not None
        mu = _friction(self.bodies, self._rows.corners)
        friction = Friction(self._rows, mu, self._begun, self._goal, CREEP * self._h, normal)
        self._friction = friction if len(friction) else None
        self._normal_force, self._normal = friction.normal_force, normal

    def impact(self, x: Floats) -> bool:
        """Where sheets have just met, the forces at the start of the step say nothing of friction: once a step it is
        taken from the solver's forces instead."""
        assert self._rows is not None
        if self._lagged or not self.bodies.friction.any():
            return False
        pushes = self._rows.pushes(x)
        now = float(pushes.sum())
        self._lagged = now > IMPACT * self._normal_force and now > 0
        if self._lagged:
            self._lag(pushes)
        return self._lagged

    def settle(self, x: Floats, ended: bool) -> bool:
        """Whether friction acts under the normal forces that there are at x (n, 3): all together to within SETTLED, one
        by one to within four times that. If not, it is given them, at most LAGS times a step, once they are known by a
        quarter or where a solve has `ended`.

        Forces that come and go with friction are given their mean.
        """
        assert self._rows is not None
        if not self.bodies.friction.any() or self._lags >= LAGS:
            return True
        pushes, before = self._rows.pushes(x), self._pushes
        self._pushes, total = pushes, float(pushes.sum())
        same = len(pushes) == len(self._normal)
        off = float(np.abs(pushes - self._normal).sum()) / max(total, 1e-300) if same else np.inf
        if off <= 4.0 * SETTLED and abs(total - float(self._normal.sum())) <= SETTLED * total:
            return True
        known = before is not None and len(before) == len(pushes) and np.abs(pushes - before).sum() <= 0.25 * total
        if not (known or ended):
            return False
        if same and off > 0.5 * self._off:
            pushes = 0.5 * (pushes + self._normal)
        self._off = off
        self._lag(pushes)
        self._lagged, self._lags = True, self._lags + 1
        return False

    def refreeze(self, x: Floats) -> bool:
        """Take nearest points and normals of rows anew at x (n, 3), in the middle of a solve; whether there are any.

        A sheet that slides over a ball by millimetres in a step would find out after the solve that its normals have
        turned, and solve again: 1.4 instead of 1.75 rounds and 28 instead of 33 gradients a step of a drape at 6.4k.
        """
        assert self._rows is not None
        if len(self._rows) == 0:
            return False
        self._rows, self.refrozen = self._rows.refrozen(by_columns(np.concatenate([x, self._goal]))), True
        return True

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        assert self._rows is not None
        value, gradient = self._rows.value_and_gradient(x)
        if self._friction is not None:
            part, by_x = self._friction.value_and_gradient(x)
            value += part
            gradient += by_x
        return value, gradient

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        assert self._rows is not None
        total = self._rows.hessian(x)
        return total if self._friction is None else total + self._friction.hessian(x)

    def coupled(self, x: Floats) -> Coupled:
        """The same as a sum of blocks."""
        assert self._rows is not None
        total = self._rows.coupled(x)
        if self._friction is None:
            return total
        ours, theirs = total, self._friction.coupled(x)
        return (
            np.concatenate([ours[0], theirs[0]]),
            np.concatenate([ours[1], theirs[1]]),
            np.concatenate([ours[2], theirs[2]], axis=1),
        )

    def shorter(self, x: Floats, direction: Floats, slope: float) -> float:
        """Largest of ½, ¼, … that lowers contact energy plus what else a step of `direction` should bring.

        The rest of the potential is taken for a quadratic with its least at the full step. Contact energy along a
        line costs a fraction of a gradient.
        """
        return self._lowering(FRACTIONS, x, direction, slope)

    def share(self, x: Floats, direction: Floats, slope: float) -> float:
        """The same of 1, ½, ¼, …: how much to take of a step that is not judged by energy otherwise."""
        return 1.0 if slope >= 0.0 or self._rows is None else self._lowering((1.0, *FRACTIONS), x, direction, slope)

    def _lowering(self, shares: tuple[float, ...], x: Floats, direction: Floats, slope: float) -> float:
        assert self._rows is not None
        line = self._rows.line(x, direction)
        # The rest's slope is the whole's less that of contact.
        rest = slope - line.slope
        for share in shares:
            model = rest * share * (1.0 - 0.5 * share) if rest < 0 else rest * share
            if line.rise(share) + model <= 0.1 * share * slope:
                return float(share)
        return 0.5

    def presses(self, x: Floats) -> bool:
        """Whether any contact has stiffness at x."""
        assert self._rows is not None
        return self._friction is not None or bool((self._rows.gaps(x)[0] < self._rows.full).any())

    def springs(self, x: Floats) -> Springs:
        """A bound on the Hessian at x that is alike for all directions: for preconditioners."""
        assert self._rows is not None
        total = self._rows.springs(x)
        return total if self._friction is None else total.plus(self._friction.springs(x))

    def grip(self, x: Floats) -> tuple[Hessian, Floats]:
        """What should not move against its partner at x (n, 3): where rows press along their normals, where friction
        sticks across them. A matrix K [N/m] and a vector b [N/s], (n, 3), that colliders in motion add: no motion is
        K v = b."""
        assert self._rows is not None
        if len(self._rows) == 0:
            return Hessian(self._count), np.zeros_like(x)
        speeds = (self._goal - self._begun[self._count :]) / self._h
        total, drive = self._rows.grip(x, speeds)
        if self._friction is not None:
            part, of_part = self._friction.grip(x, speeds)
            total, drive = total + part, drive + of_part
        return total, drive

    def round_off(self, x: Floats) -> float:
        assert self._rows is not None
        pushes = float(self._rows.pushes(x).sum())
        return 4.0 * float(np.finfo(np.float64).eps) * pushes * float(np.abs(x).max())

    def forces(self, x: Floats) -> Floats:
        """Contact forces without friction [N], (n, 3)."""
        if self._rows is None:
            return np.zeros_like(x)
        return -self._rows.value_and_gradient(x)[1]

    def stored(self, x: Floats) -> float:
        """Energy [J] that contacts hold for shells at x (n, 3) and give back; friction keeps none."""
        # A cut makes a new contact, which has not looked at anything before its first step.
        return 0.0 if self._rows is None else self._rows.value_and_gradient(x)[0]

    @property
    def rubs(self) -> bool:
        """Whether friction acts in this step."""
        return self._friction is not None

    @property
    def still(self) -> bool:
        """Whether no collider moves in this step."""
        return bool(self._at_rest[self._count :].all())

    def leaning(self, x: Floats) -> Bools:
        """Vertices (n,) that colliders which are at rest in this step press on, for shells at x (n, 3)."""
        pressed = np.zeros(self.bodies.total, dtype=bool)
        if self._rows is not None:
            corners = self._rows.corners[:, self._rows.pushes(x) > 0]
            pressed[corners[:, self._at_rest[corners].any(axis=0)]] = True
        return pressed[: self._count]


def _friction(bodies: Bodies, corners: Ints) -> Floats:
    """Coulomb's coefficient of pairs with `corners` (4, r): the collider's, or the geometric mean of two shells'."""
    a, b = corners[0], corners[3]
    shells = (a < bodies.count) & (b < bodies.count)
    both = np.sqrt(bodies.friction[a] * bodies.friction[b])
    collider = np.where(a >= bodies.count, bodies.friction[a], bodies.friction[b])
    mu: Floats = np.where(shells, both, collider)
    return mu
