"""Pairs that a way would have crossed, as they were just before: rows for the next attempt.

Nearest points where the shadow stands say little of a pair that meets elsewhere (a corner that slides off one edge and
into the next). The last moment at which it was separated gives a direction that keeps it so.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from ..linalg.vectors import dot
from ..types import Floats, Ints
from .pairs import Pairs

# Share of its distance by which a pair must still be separated along a direction for that to be kept.
TELLS = 0.3


class Struck:
    """Weights and normals of pairs by their keys; later ones replace earlier ones."""

    def __init__(self) -> None:
        self._keys = np.zeros(0, dtype=np.int64)
        self._weights, self._normals = np.zeros((4, 0)), np.zeros((3, 0))

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, pairs: Pairs, x: Floats, move: Floats, share: Floats) -> None:
        """All of `pairs`, each where it has gone its `share` (p,) of the way from x (total, 3) to x + move."""
        points = [here + share * way for here, way in zip(pairs.of(x), pairs.of(move), strict=True)]
        weights, normals, _ = pairs.nearest_of(points)
        keys, first = np.unique(np.concatenate([_keys(pairs), self._keys]), return_index=True)
        self._keys = keys
        self._weights = np.concatenate([weights, self._weights], axis=1)[:, first]
        self._normals = np.concatenate([normals, self._normals], axis=1)[:, first]

    def into(self, pairs: Pairs, x: Floats) -> tuple[Pairs, Ints]:
        """`pairs` with weights and normals of those that were struck, and which these are.

        Only where these directions still separate the pair at x (total, 3), where it was looked at: it may have gone
        round what it met since, and would be thrown back.
        """
        part = copy(pairs)
        if len(self) == 0:
            return part, np.zeros(0, dtype=np.int64)
        keys = _keys(pairs)
        place = np.minimum(np.searchsorted(self._keys, keys), len(self) - 1)
        rows = np.flatnonzero(self._keys[place] == keys)
        weights, normals = self._weights[:, place[rows]], self._normals[:, place[rows]]
        part = pairs.picked(rows)
        gap = sum(w * dot(p, normals) for w, p in zip(weights, part.of(x), strict=True))
        rows = rows[gap > part.radius + np.maximum(part.core, TELLS * (part.distance - part.radius))]
        part = copy(pairs)
        part.weights, part.normals = pairs.weights.copy(), pairs.normals.copy()
        part.weights[:, rows] = self._weights[:, place[rows]]
        part.normals[:, rows] = self._normals[:, place[rows]]
        return part, rows


def _keys(pairs: Pairs) -> Ints:
    """A number for each pair that says which it is (it may wrap round, like any hash), (p,)."""
    total = np.zeros(len(pairs), dtype=np.int64)
    for corner in pairs.corners:
        total = total * pairs.bodies.total + corner
    return 2 * total + (np.arange(len(pairs)) < pairs.faces)
