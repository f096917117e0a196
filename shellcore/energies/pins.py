"""Springs between points: soft pins, the slope of clamps, attachments, elastic bands.

All but the bands are quadratic with a constant matrix.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, diags

from ..linalg.assembly import BlockPattern, Hessian, scalar_matrix
from ..linalg.vectors import inner
from ..types import Floats, Ints, Sparse
from .base import Energy, QuadraticEnergy, VertexEnergy, round_off_of_squares


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
        super().__init__(_between(first, second, strength, vertex_count), int(first[0]))

    def quadratic(self) -> Sparse | None:
        # It ties shells that move apart: no translation of either is free.
        return None


class Bands(Energy):
    """½ k max(|x_a − x_b| − ℓ, 0)² between vertex pairs: elastic bands, slack where their ends are nearer than they are
    long. `first`, `second` (p,), `strength` k [N/m] and `lengths` ℓ [m], (p,), above zero.
    """

    def __init__(self, first: Ints, second: Ints, strength: Floats, lengths: Floats, vertex_count: int) -> None:
        self.pairs = np.column_stack([first, second])
        self.strength, self.lengths, self.vertex_count = strength, lengths, vertex_count
        self._last_value, self._total = 0.0, float(strength @ lengths**2)
        self._pattern: BlockPattern | None = None

    def _measured(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Unit vectors from first to second (p, 3), how far bands are pulled [m] and how long they are [m], (p,)."""
        way = x[self.pairs[:, 1]] - x[self.pairs[:, 0]]
        length = np.linalg.norm(way, axis=1)
        pulled = np.maximum(length - self.lengths, 0.0)
        # Slack bands need no direction.
        safe = np.maximum(length, self.lengths)
        return way / safe[:, None], pulled, safe

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        unit, pulled, _ = self._measured(x)
        tension = self.strength * pulled
        self._last_value = 0.5 * inner(tension, pulled)
        gradient = np.zeros_like(x)
        np.add.at(gradient, self.pairs[:, 1], tension[:, None] * unit)
        np.add.at(gradient, self.pairs[:, 0], -tension[:, None] * unit)
        return self._last_value, gradient

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        """Exact, and positive semidefinite: bands do not push."""
        unit, pulled, length = self._measured(x)
        along = unit[:, :, None] * unit[:, None, :]
        tight = np.where(pulled > 0.0, self.strength, 0.0)[:, None, None]
        k = tight * (along + (pulled / length)[:, None, None] * (np.eye(3) - along))
        blocks = np.stack([np.stack([k, -k], axis=1), np.stack([-k, k], axis=1)], axis=1)
        if self._pattern is None:
            self._pattern = BlockPattern.of_elements(self.pairs, self.vertex_count)
        return Hessian(self.vertex_count, blocks=[self._pattern.assemble(blocks)])

    def round_off(self, x: Floats) -> float:
        return round_off_of_squares(self._last_value, self._total)

    def stiffness(self) -> Sparse:
        """As if all were tight."""
        return _between(self.pairs[:, 0], self.pairs[:, 1], self.strength, self.vertex_count)


def _between(first: Ints, second: Ints, strength: Floats, vertex_count: int) -> Sparse:
    """Laplacian (n, n) of springs `strength` [N/m] between `first` and `second`, (p,) each."""
    rows = np.concatenate([first, second, first, second])
    columns = np.concatenate([first, second, second, first])
    values = np.concatenate([strength, strength, -strength, -strength])
    return scalar_matrix(rows, columns, values, vertex_count)
