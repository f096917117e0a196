"""Broad phase: trees of boxes that find which faces may meet while everything moves.

A tree is a complete binary tree over faces sorted once by position, so that a node is a run of faces and refitting is
a few reshapes. Nodes carry the box of their corners and the interval of their displacements: two nodes may
meet if their boxes do once one is swept by their *relative* displacement. A sheet that falls as a whole
therefore costs no more than one at rest. Pairs of nodes are expanded level by level, all at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..linalg.vectors import components, picked
from ..types import Bools, Floats, Ints

# Which children of two nodes make pairs, by which of the nodes have any.
CHILDREN = {
    (True, True): (np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])),
    (True, False): (np.array([0, 1]), np.array([0, 0])),
    (False, True): (np.array([0, 0]), np.array([0, 1])),
}
# Level from which pairs of nodes are looked at: 8 × 8 of them.
TOP = 3


class Boxes:
    """Boxes of k things per axis: `low`, `high` [m] and displacement intervals `back`, `ahead` [m], each (3, k)."""

    def __init__(self, low: Floats, high: Floats, back: Floats | None = None, ahead: Floats | None = None) -> None:
        self.low, self.high, self.back, self.ahead = low, high, back, ahead

    @staticmethod
    def of(x: Floats, move: Floats | None, vertices: Ints, margin: float, most: Floats | None = None) -> Boxes:
        """Boxes of things with corners `vertices` (k, c) at x (n, 3), widened by `margin`.

        They move by `move` (n, 3), or by anything between that and `most`.
        """
        low, high = _interval(components(x), vertices)
        if move is None:
            return Boxes(low - margin, high + margin)
        back, ahead = _interval(components(move), vertices)
        if most is not None:
            other_back, other_ahead = _interval(components(most), vertices)
            back, ahead = np.minimum(back, other_back), np.maximum(ahead, other_ahead)
        return Boxes(low - margin, high + margin, back, ahead)

    def meet(self, mine: Ints, other: Boxes, theirs: Ints) -> Ints:
        """The k, rising, of which box `mine[k]` may meet `other`'s `theirs[k]` during the motion."""
        i, j = mine, theirs
        moving = self.back is not None and other.back is not None
        left: Ints | None = None
        for axis in range(3):
            low, high = _at(other.low[axis], j), _at(other.high[axis], j)
            if moving:
                assert self.back is not None and self.ahead is not None
                assert other.back is not None and other.ahead is not None
                back = _at(other.back[axis], j)
                back -= _at(self.ahead[axis], i)
                low += np.minimum(back, 0.0, out=back)
                ahead = _at(other.ahead[axis], j)
                ahead -= _at(self.back[axis], i)
                high += np.maximum(ahead, 0.0, out=ahead)
            near = _at(self.low[axis], i) <= high
            near &= low <= _at(self.high[axis], i)
            kept = np.flatnonzero(near)
            i, j = _at(i, kept), _at(j, kept)
            left = kept if left is None else _at(left, kept)
        assert left is not None
        return left

    def swept(self) -> Boxes:
        """Boxes of all places on the way, any part of it: for what meets things that do not move."""
        if self.back is None or self.ahead is None:
            return self
        return Boxes(self.low + np.minimum(self.back, 0.0), self.high + np.maximum(self.ahead, 0.0))

    def from_rest(self) -> Boxes:
        """The same with displacements that may also be cut short, down to none."""
        if self.back is None or self.ahead is None:
            return self
        return Boxes(self.low, self.high, np.minimum(self.back, 0.0), np.maximum(self.ahead, 0.0))

    def _halved(self) -> Boxes:
        """Boxes of neighbouring pairs."""
        low = np.minimum(self.low[:, ::2], self.low[:, 1::2])
        high = np.maximum(self.high[:, ::2], self.high[:, 1::2])
        if self.back is None or self.ahead is None:
            return Boxes(low, high)
        back = np.minimum(self.back[:, ::2], self.back[:, 1::2])
        return Boxes(low, high, back, np.maximum(self.ahead[:, ::2], self.ahead[:, 1::2]))


def _interval(x: Floats, vertices: Ints) -> tuple[Floats, Floats]:
    low = picked(x, vertices[:, 0])
    high = low.copy()
    for corner in range(1, vertices.shape[1]):
        values = picked(x, vertices[:, corner])
        np.minimum(low, values, out=low)
        np.maximum(high, values, out=high)
    return low, high


def _at(values: Any, indices: Ints) -> Any:
    """values[indices] for valid indices, without the checks: three times as fast."""
    return values.take(indices, mode="clip")


class BoxTree:
    """A tree over faces. `order` (m,): their numbers, such that every run of a power of two is a compact group."""

    def __init__(self, order: Ints) -> None:
        self.count = len(order)
        self.depth = max(0, int(np.ceil(np.log2(max(self.count, 1)))))
        self.order = order
        self._order: Ints = np.concatenate([order, np.full((1 << self.depth) - self.count, -1)])
        self.levels: list[Boxes] = []

    @staticmethod
    def over(centres: Floats) -> BoxTree:
        """A tree of faces with `centres` (m, 3) when it is made; the order stays as they move."""
        return BoxTree(_sorted_by_halves(centres))

    def among(self, faces: Ints, chosen: Bools) -> Ints:
        """Which of its `faces` (m, 3) have a vertex that was `chosen` (total,), in its order."""
        a, b, c = chosen[faces[self.order]].T
        some: Ints = self.order[a | b | c]
        return some

    def refit(self, boxes: Boxes) -> None:
        """Take the boxes of all faces."""
        parts = []
        for values, empty in (
            (boxes.low, np.inf),
            (boxes.high, -np.inf),
            (boxes.back, np.inf),
            (boxes.ahead, -np.inf),
        ):
            if values is None:
                break
            leaves = np.full((3, 1 << self.depth), empty)
            leaves[:, : self.count] = picked(values, self.order)
            parts.append(leaves)
        level = Boxes(*parts)
        self.levels = [level]
        for _ in range(self.depth):
            level = level._halved()
            self.levels.append(level)
        self.levels.reverse()

    def pairs(self, other: BoxTree) -> tuple[Ints, Ints]:
        """Faces of this tree and of `other` whose boxes may meet; with itself, each pair once and none with itself."""
        alone = other is self
        # Near the roots nearly all nodes meet.
        top = min(TOP, self.depth, other.depth)
        i, j = (index.ravel() for index in np.indices((1 << top, 1 << top)))
        if alone:
            i, j = i[i <= j], j[i <= j]
        for level in range(top + 1, max(self.depth, other.depth) + 1):
            down_i, down_j = level <= self.depth, level <= other.depth
            # Children of a pair stay together: what is near in space is then near in memory.
            left, right = CHILDREN[down_i, down_j]
            i = ((2 * i if down_i else i)[:, None] + left).ravel()
            j = ((2 * j if down_j else j)[:, None] + right).ravel()
            if alone:
                once = np.flatnonzero(i <= j)
                i, j = _at(i, once), _at(j, once)
            mine, theirs = self.levels[min(level, self.depth)], other.levels[min(level, other.depth)]
            met = mine.meet(i, theirs, j)
            i, j = _at(i, met), _at(j, met)
        if alone:
            i, j = i[i != j], j[i != j]
        first, second = self._order[i], other._order[j]
        real = (first >= 0) & (second >= 0)
        return first[real], second[real]


def _sorted_by_halves(centres: Floats) -> Ints:
    """Order (m,) in which every aligned run of 2^k entries is a compact group."""
    depth = max(0, int(np.ceil(np.log2(max(len(centres), 1)))))
    order: Ints = np.concatenate([np.arange(len(centres)), np.full((1 << depth) - len(centres), -1)])
    # What fills up, −1, is the last of these, and comes last in every order.
    x = np.concatenate([centres, np.full((1, 3), np.nan)]).T
    for level in range(depth):
        runs = order.reshape(1 << level, -1)
        low = high = x[:, np.where(runs >= 0, runs, runs[:, :1])]
        # Half by half: numpy's own least and largest along an axis of a few numbers take ten times as long.
        for _ in range(level, depth):
            low = np.minimum(low[:, :, ::2], low[:, :, 1::2])
            high = np.maximum(high[:, :, ::2], high[:, :, 1::2])
        axis = np.argmax((high - low)[:, :, 0], axis=0)
        key = x[axis[:, None], runs]
        order = np.take_along_axis(runs, np.argsort(key, axis=1), axis=1).ravel()
    return order[order >= 0]
