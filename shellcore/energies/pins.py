"""Springs between points: soft pins, the slope of clamps, attachments. All quadratic with a constant matrix."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, diags

from ..assembly import Hessian, scalar_matrix
from ..types import Floats, Ints, Sparse
from ..vectors import inner
from .base import QuadraticEnergy, VertexEnergy


class SoftPins(VertexEnergy):
    """½ k |x − target|² in the chosen components; `weights` k [N/m], (n, 3), zero where nothing is pinned."""

    def __init__(self, weights: Floats, targets: Floats) -> None:
        self.weights = weights
        self.targets = targets

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        offset = x - self.targets
        gradient = self.weights * offset
        return 0.5 * inner(gradient, offset), gradient

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        return Hessian(len(x), blocks=[diags(self.weights.ravel()).tobsr((3, 3))])

    def vertex_blocks(self) -> Floats:
        blocks = np.zeros((9, len(self.weights)))
        blocks[::4] = self.weights.T
        return blocks

    def stiffness(self) -> Sparse:
        # One number a vertex serves the three coordinates; the softest would slow the stiffest most.
        return csr_matrix(diags(self.weights.max(axis=1)))


class Attachments(QuadraticEnergy):
    """½ k |x_a − x_b|² between vertex pairs: `first`, `second` (p,), `strength` k [N/m], (p,)."""

    def __init__(self, first: Ints, second: Ints, strength: Floats, vertex_count: int) -> None:
        rows = np.concatenate([first, second, first, second])
        columns = np.concatenate([first, second, second, first])
        values = np.concatenate([strength, strength, -strength, -strength])
        super().__init__(scalar_matrix(rows, columns, values, vertex_count), int(first[0]))

    def quadratic(self) -> Sparse | None:
        # It ties shells that move apart: no translation of either is free.
        return None
