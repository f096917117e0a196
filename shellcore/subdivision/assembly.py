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
        # [point, vector b, vector a, component r, component s]: each sum below is one product of small dense matrices.
        turned = np.ascontiguousarray(local.reshape(-1, 3, 5, 3, 5).transpose(0, 4, 2, 1, 3))
        parts = []
        for within, table in self._groups:
            count, rule, _, size = table.shape
            across = table.reshape(count * rule, 5, size).transpose(0, 2, 1)
            mine = turned.reshape(-1, 5, 45) if len(self._groups) == 1 else turned[within].reshape(-1, 5, 45)
            right = (across @ mine).reshape(count, rule, size, 5, 9).transpose(0, 1, 3, 2, 4)
            left = table.reshape(count, rule * 5, size).transpose(0, 2, 1)
            parts.append((left @ right.reshape(count, rule * 5, size * 9)).reshape(-1, 9))
        blocks = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return self._pattern.assemble(blocks)
