"""Coulomb friction, smoothed and lagged, as an energy of slip.

Normal forces λ, contact points and normals are those at the start of the step. The energy of a pair that slips by u
(tangential, over the step) is μλ f(|u|) with f' rising from 0 to 1 as 2y − y², y = |u|/ε, and 1 beyond: the
smoothing of Incremental Potential Contact (Li et al. 2020). ε is `CREEP` times the step: a pair at rest under a
load of share r of μλ creeps at CREEP (1 − √(1 − r)).
"""

from __future__ import annotations

import numpy as np

from ..linalg.assembly import Hessian
from ..linalg.vectors import components, dot, picked
from ..types import Floats
from .rows import Coupled, Rows, Spread
from .springs import Springs

# Slip speed [m/s] at which friction has full strength.
CREEP = 5e-4


class Friction:
    """Friction of `rows` under normal forces `normal` [N], (r,), against slip since `start` (total, 3), where the step
    began; colliders end it at `goal`. `coefficient` μ, one a row; `creep` ε [m]."""

    def __init__(
        self, rows: Rows, coefficient: Floats, start: Floats, goal: Floats, creep: float, normal: Floats
    ) -> None:
        self.normal_force = float(normal.sum())
        force = normal * coefficient
        at = np.flatnonzero(force > 0)
        self._force = force[at]
        self._normals = picked(rows.normals, at)
        self._corners, self._weights = corners, weights = picked(rows.corners, at), picked(rows.weights, at)
        self._spread = Spread(corners, weights, rows.pairs.bodies.count, goal)
        # Slip is counted from here.
        begun = components(start)
        for weight, corner in zip(weights, corners, strict=True):
            self._spread.shift -= weight * picked(begun, corner)
        self._all = np.arange(len(at))
        self._creep = creep

    def __len__(self) -> int:
        return len(self._force)

    def slip(self, x: Floats) -> tuple[Floats, Floats]:
        """Tangential slip since the start of the step [m], (3, k), and its length (k,), for shells at x (count, 3)."""
        slip = self._spread.vectors(x)
        slip -= dot(slip, self._normals) * self._normals
        return slip, np.sqrt(dot(slip, slip))

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        """Energy [J] and gradient [N], (count, 3), by columns."""
        slip, length = self.slip(x)
        y = length / self._creep
        # ∫ (2y − y²) ε dy, continued by |u| − ε/3.
        value = np.where(y >= 1.0, length - self._creep / 3.0, self._creep * (y * y - y**3 / 3.0))
        slip *= self._force * self.pull(y)
        return float((self._force * value).sum()), self._spread.gathered(self._all, slip)

    def pull(self, y: Floats) -> Floats:
        """f'(|u|)/|u| [1/m] at |u| = yε, (k,)."""
        share: Floats = np.where(y < 1.0, 2.0 - y, 1.0 / np.maximum(y, 1.0)) / self._creep
        return share

    def grip(self, x: Floats, speeds: Floats) -> tuple[Hessian, Floats]:
        """See `Frozen.grip`, of what sticks; `speeds` [m/s] of colliders, (total − count, 3)."""
        y = self.slip(x)[1] / self._creep
        at = np.flatnonzero(y < 1.0)
        pull, n = (self._force * self.pull(y))[at], picked(self._normals, at)
        corners, weights = picked(self._corners, at), picked(self._weights, at)
        partners = Spread(corners, weights, self._spread.count, speeds).shift
        partners -= dot(partners, n) * n
        return self._spread.blocks(at, _across(pull, n)), -self._spread.gathered(at, pull * partners)

    def springs(self, x: Floats) -> Springs:
        """A bound on the Hessian that is alike for all directions."""
        return self._spread.springs(self._all, self._force * self.pull(self.slip(x)[1] / self._creep))

    def hessian(self, x: Floats) -> Hessian:
        """A bound on the second derivative, that of the parabola that touches f at |u| and lies above it.

        The second derivative itself vanishes along the slip of what slides, and Newton's steps then overshoot from one
        side to the other: a board on a ball took 45 iterations and 124 gradients a frame instead of 27 and 35.
        """
        pull = self._force * self.pull(self.slip(x)[1] / self._creep)
        return self._spread.blocks(self._all, _across(pull, self._normals))

    def coupled(self, x: Floats) -> Coupled:
        """The same as `Spread.coupled` has it."""
        pull = self._force * self.pull(self.slip(x)[1] / self._creep)
        return self._spread.coupled(self._all, _across(pull, self._normals).reshape(-1, 9).T)


def _across(strength: Floats, normals: Floats) -> Floats:
    """Blocks strength (I − nnᵀ), (k, 3, 3), of unit normals (3, k)."""
    n = normals.T
    blocks: Floats = strength[:, None, None] * (np.eye(3) - n[:, :, None] * n[:, None, :])
    return blocks
