"""Coulomb friction, smoothed and lagged, as an energy of slip.

Normal forces λ, contact points and normals are those at the start of the step. The energy of a pair that slips by u
(tangential, over the step) is μλ f(|u|) with f' rising from 0 to 1 as 2y − y², y = |u|/ε, and 1 beyond: the
smoothing of Incremental Potential Contact (Li et al. 2020). ε is `CREEP` times the step: a pair at rest under a
load of share r of μλ creeps at CREEP (1 − √(1 − r)).
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ..assembly import Hessian
from ..types import Floats, Sparse
from .rows import Rows, block_products

# Slip speed [m/s] at which friction has full strength.
CREEP = 5e-4


class Friction:
    """Friction of the rows that press at `pressed` (total, 3), against slip since `start`, when the step began.

    `coefficient` μ, one a row; `creep` ε [m].
    """

    def __init__(self, rows: Rows, coefficient: Floats, start: Floats, creep: float, pressed: Floats) -> None:
        normal = -rows.slopes(pressed)
        self.normal_force = float(normal.sum())
        force = normal * coefficient
        at = np.flatnonzero(force > 0)
        self._force = force[at]
        self._normals = rows.normals[at]
        self._weights = rows.weights[at]
        self._count = rows.pairs.bodies.count
        self._own = rows.own_weights[at]
        self._spread = csr_matrix(self._own.T)
        self._start = self._weights @ start
        self._creep = creep

    def __len__(self) -> int:
        return len(self._force)

    def slip(self, stack: Floats) -> Floats:
        """Tangential slip since the start of the step [m], (p, 3)."""
        moved = self._weights @ stack - self._start
        slip: Floats = moved - np.einsum("ij,ij->i", moved, self._normals)[:, None] * self._normals
        return slip

    def value_and_gradient(self, stack: Floats) -> tuple[float, Floats]:
        """Energy [J] and gradient [N], (count, 3)."""
        slip = self.slip(stack)
        length = np.sqrt(np.einsum("ij,ij->i", slip, slip))
        y = length / self._creep
        sliding = y >= 1.0
        # ∫ (2y − y²) ε dy, continued by |u| − ε/3.
        value = np.where(sliding, length - self._creep / 3.0, self._creep * (y * y - y**3 / 3.0))
        pull = self._force * self._pull(y)
        gradient: Floats = self._spread @ (pull[:, None] * slip)
        return float(self._force @ value), gradient

    def _pull(self, y: Floats) -> Floats:
        """f'(|u|)/|u|."""
        share: Floats = np.where(y < 1.0, 2.0 - y, 1.0 / np.maximum(y, 1.0)) / self._creep
        return share

    def stiffness_at(self, stack: Floats) -> Sparse:
        """Wᵀ (pull) W, (count, count): the Hessian for slip in any direction."""
        slip = self.slip(stack)
        pull = self._force * self._pull(np.sqrt(np.einsum("ij,ij->i", slip, slip)) / self._creep)
        return self._spread @ self._own.multiply(pull[:, None]).tocsr()

    def vertex_stiffness(self, stack: Floats) -> Floats:
        """Diagonal of `stiffness_at`, (count,)."""
        slip = self.slip(stack)
        pull = self._force * self._pull(np.sqrt(np.einsum("ij,ij->i", slip, slip)) / self._creep)
        each = np.repeat(pull, np.diff(self._own.indptr)) * self._own.data**2
        return np.bincount(self._own.indices, weights=each, minlength=self._count).astype(np.float64)

    def hessian(self, stack: Floats) -> Hessian:
        """Second derivative with the falling share of sliding left out: positive semidefinite."""
        slip = self.slip(stack)
        y = np.sqrt(np.einsum("ij,ij->i", slip, slip)) / self._creep
        pull = self._force * self._pull(y)
        across = np.eye(3) - self._normals[:, :, None] * self._normals[:, None, :]
        blocks = pull[:, None, None] * across
        # Along the slip the slope of f' is (2 − 2y)/ε below full strength and zero beyond, less than the pull.
        unit = slip / np.maximum(np.sqrt(np.einsum("ij,ij->i", slip, slip)), 1e-300)[:, None]
        steep = np.where(y < 1.0, 2.0 - 2.0 * y, 0.0) / self._creep
        change = self._force * steep - pull
        blocks += change[:, None, None] * unit[:, :, None] * unit[:, None, :]
        return block_products(self._weights, blocks, self._count)
