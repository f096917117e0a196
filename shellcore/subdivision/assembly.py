"""Second derivatives at points, summed to a matrix of control vertices; faces go in groups by size of patch."""

from __future__ import annotations

import numpy as np

from ..assembly import BlockPattern
from ..types import Floats, Ints, Sparse
from .points import Points


class Patches:
    """Which control vertices move a face: twelve for regular ones, more around irregular vertices."""

    def __init__(self, gather: Sparse, points: Points) -> None:
        n, count = gather.shape[1], len(points.areas)
        faces = int(points.faces[-1]) + 1
        rule = count // faces
        entries = gather.tocoo()
        owner = points.faces[entries.row % count]
        key = owner * n + entries.col
        keys, place = np.unique(key, return_inverse=True)
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

    def assemble(self, local: Floats) -> Sparse:
        """(3n, 3n) matrix from second derivatives at points, (k, 15, 15), by component, then vector."""
        parts = []
        for within, table in self._groups:
            count, rule, _, size = table.shape
            mine = local[within]
            left = table.reshape(count, rule * 5, size).transpose(0, 2, 1)
            spread = table.reshape(count * rule, 5, size)
            blocks = np.empty((count, size, size, 3, 3))
            for r in range(3):
                for s in range(r, 3):
                    right = mine[:, 5 * r : 5 * r + 5, 5 * s : 5 * s + 5] @ spread
                    block = left @ right.reshape(count, rule * 5, size)
                    blocks[..., r, s] = block
                    if s > r:
                        blocks[..., s, r] = block.transpose(0, 2, 1)
            parts.append(blocks.reshape(-1, 3, 3))
        return self._pattern.assemble(np.concatenate(parts))
