"""Second derivatives at points, summed to matrices of control vertices.

Regular faces share their tables of derivatives, so that all their 12 × 12 blocks come from a few large dense
products. Other faces go in groups by size of patch, with tables of their own.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import bsr_matrix, csr_matrix

from ..linalg.assembly import BlockPattern
from ..types import Floats, Ints, Sparse
from .points import Points
from .tangent import COMPONENTS, UPPER, Tangent


def assemblers(points: Points) -> list[RegularPatches | IrregularPatches]:
    """One for the regular faces, one for the others; each where there are any."""
    found: list[RegularPatches | IrregularPatches] = []
    if len(points.patches):
        found.append(RegularPatches(points))
    if points.irregular.shape[0]:
        found.append(IrregularPatches(points))
    return found


class RegularPatches:
    """Matrix of the faces whose patches have twelve vertices."""

    def __init__(self, points: Points) -> None:
        n, patches, tables = points.values.shape[1], points.patches, points.tables
        self._rule, self._faces = len(tables), len(patches)
        # Products of two derivatives of two basis functions: all pairs, and those i ≤ j of symmetric entries.
        every = np.einsum("qai,qbj->ijqab", tables, tables)
        i, j = np.triu_indices(12)
        upper = every[i, j]
        twice = [upper[:, :, a, b] + (upper[:, :, b, a] if a != b else 0.0) for a, b in UPPER]
        self._straight = np.stack(twice, axis=2).reshape(len(i), -1)
        self._mixed = every.reshape(144, -1)
        keys = patches.T[:, None] * n + patches.T[None, :]
        pairs, slot = np.unique(keys.ravel(), return_inverse=True)
        self._gather = _adding(slot, len(pairs))
        row, column = pairs // n, pairs % n
        # Symmetric entries are summed at pairs of vertices in either order, then read for both.
        low = np.minimum(row, column) * n + np.maximum(row, column)
        unordered, self._from_unordered = np.unique(low, return_inverse=True)
        first, second = patches.T[i].ravel(), patches.T[j].ravel()
        key = np.minimum(first, second) * n + np.maximum(first, second)
        # A pair i < j stands for two blocks; both fall on one vertex where a patch goes round a narrow tube.
        both = 1.0 + ((first == second) & np.repeat(i < j, self._faces))
        self._gather_unordered = _adding(np.searchsorted(unordered, key), len(unordered), both)
        self._transposed = np.searchsorted(pairs, column * n + row)
        self._indices = column
        self._indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])
        self._shape = (3 * n, 3 * n)

    def assemble(self, local: Tangent) -> Sparse:
        """(3n, 3n) matrix from second derivatives at points."""
        data = np.empty((len(self._indices), 3, 3))
        for r in range(3):
            blocks = self._straight @ self._by_face(local.straight[r])
            data[:, r, r] = (self._gather_unordered @ blocks.ravel()).take(self._from_unordered, mode="clip")
        for i, (r, s) in enumerate(COMPONENTS):
            sums = self._gather @ (self._mixed @ self._by_face(local.mixed[i])).ravel()
            data[:, r, s] = sums
            data[:, s, r] = sums.take(self._transposed, mode="clip")
        return bsr_matrix((data, self._indices, self._indptr), shape=self._shape)

    def _by_face(self, entries: Floats) -> Floats:
        """(rule · pairs, faces) of entries (pairs, k)."""
        plain = entries[:, : self._rule * self._faces].reshape(len(entries), self._rule, self._faces)
        return np.ascontiguousarray(plain.transpose(1, 0, 2)).reshape(-1, self._faces)


def _adding(slot: Ints, count: int, weights: Floats | None = None) -> Sparse:
    """(count, s) matrix that adds entry i, times a weight, at `slot[i]`."""
    slot = slot.ravel()
    values = np.ones(len(slot)) if weights is None else weights
    return csr_matrix((values, (slot, np.arange(len(slot)))), shape=(count, len(slot)))


class IrregularPatches:
    """Matrix of the faces at irregular vertices, in groups by the size of their patch."""

    def __init__(self, points: Points) -> None:
        n = points.values.shape[1]
        rule = len(points.tables)
        first_point = rule * len(points.patches)
        count = len(points.areas) - first_point
        faces = count // rule
        self._part = slice(first_point, first_point + count)
        entries = points.irregular.tocoo()
        owner = (entries.row % count) // rule
        keys, place = np.unique(owner * n + entries.col, return_inverse=True)
        sizes = np.bincount(keys // n, minlength=faces)
        first = np.concatenate([[0], np.cumsum(sizes)])
        place = place.ravel() - first[owner]
        self._groups: list[tuple[Ints, Floats]] = []
        rows, columns = [], []
        for size in np.unique(sizes):
            chosen = np.flatnonzero(sizes == size)
            vertices = (keys % n)[first[chosen][:, None] + np.arange(size)]
            index = np.full(faces, -1)
            index[chosen] = np.arange(len(chosen))
            kept = np.flatnonzero(index[owner] >= 0)
            table = np.zeros((len(chosen), rule, 5, size))
            row = entries.row[kept]
            table[index[owner[kept]], (row % count) % rule, row // count, place[kept]] = entries.data[kept]
            self._groups.append(((chosen[:, None] * rule + np.arange(rule)).ravel(), table))
            rows.append(np.repeat(vertices, size, axis=1).ravel())
            columns.append(np.tile(vertices, (1, size)).ravel())
        self._pattern = BlockPattern(np.concatenate(rows), np.concatenate(columns), n)

    def assemble(self, local: Tangent) -> Sparse:
        """(3n, 3n) matrix from second derivatives at points."""
        # [point, vector b, vector a, component r, component s]: each sum below is one product of small dense matrices.
        turned = np.ascontiguousarray(local.whole(self._part).transpose(0, 2, 1, 3, 4))
        parts = []
        for within, table in self._groups:
            count, rule, _, size = table.shape
            across = table.reshape(count * rule, 5, size).transpose(0, 2, 1)
            right = (across @ turned[within].reshape(-1, 5, 45)).reshape(count, rule, size, 5, 9)
            right = right.transpose(0, 1, 3, 2, 4)
            left = table.reshape(count, rule * 5, size).transpose(0, 2, 1)
            parts.append((left @ right.reshape(count, rule * 5, size * 9)).reshape(-1, 9))
        return self._pattern.assemble(parts[0] if len(parts) == 1 else np.concatenate(parts))
