"""A mesh cut in halves, again and again: the order in which `tree_factor.py` eliminates its vertices.

Every part is cut across its longest side, such that its halves are alike; the vertices along the cut are eliminated
after both (nested dissection, George 1973). Parts of one depth are padded to one size, so the largest sets the price:
with cuts at the median leaves of an irregular mesh had 2 to 12 vertices, and a third more numbers were multiplied.
All parts of one depth are cut at once, by position instead of by graph: 6.4k vertices take 25 ms where `fronts.py`,
which asks nothing of its matrices, takes 270.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .types import Bools, Floats, Ints

# Vertices of a part that is not cut any further. 4 to 16 are alike: more make leaves dense, fewer add a level.
LEAF = 10


@dataclass
class Level:
    """Parts of one depth, b of them: what each eliminates, and what of later parts it couples with, all in the order of
    elimination. Lists are as long as the longest; n, the number of vertices, stands where they are shorter."""

    own: Ints
    """Vertices, (b, p)."""
    below: Ints
    """Vertices of later parts, (b, q)."""
    source: Ints
    """Place of each of own and below in the list `below` of the first and second half of the part, −1 where it is in
    none, (2, b, p + q). At the leaves there are no halves, and all are −1."""


@dataclass
class Bisection:
    """The tree of parts, leaves first."""

    levels: list[Level]
    part: Ints
    """Which part of its level eliminates a vertex, (n,)."""
    level: Ints
    """Its level, (n,)."""
    place: Ints
    """Its place among what the part eliminates, (n,)."""


def bisected(edges: Ints, positions: Floats) -> Bisection:
    """Parts of a mesh with vertices at `positions` (n, 3) that `edges` (e, 2) couple."""
    n = len(positions)
    depth = max(0, round(float(np.log2(max(n / LEAF, 1.0)))))
    part, level = _cut(edges, positions, depth)
    # From here on vertices go by the order in which they are eliminated.
    order = np.lexsort((part, level))
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    names = np.append(order, n)
    ranked_part, ranked_level = part[order], level[order]
    ends = np.sort(rank[edges], axis=1)
    earlier, later = ends.T
    place = np.empty(n, dtype=np.int64)
    levels: list[Level] = []
    node, vertex, spot = (np.zeros(0, dtype=np.int64) for _ in range(3))
    for i in range(depth + 1):
        count = 1 << (depth - i)
        mine = np.flatnonzero(ranked_level == i)
        place[mine] = _ranks(ranked_part[mine], count)
        own = _table(ranked_part[mine], place[mine], mine, count, n)
        # Rows in pairs of vertices: triangles of 6 × 6 are inverted in closed form.
        own = np.pad(own, ((0, 0), (0, own.shape[1] % 2)), constant_values=n)
        out = (ranked_level[earlier] == i) & (ranked_level[later] > i)
        onward = ranked_level[vertex] > i
        arriving = (node[onward] >> 1) * n + vertex[onward]
        key = np.unique(np.concatenate([ranked_part[earlier[out]] * n + later[out], arriving]))
        parents, reached = key // n, key % n
        where = _ranks(parents, count)
        below = _table(parents, where, reached, count, n)
        source = np.full((2, count, own.shape[1] + below.shape[1]), -1)
        ends_here = ~onward
        source[node[ends_here] & 1, node[ends_here] >> 1, place[vertex[ends_here]]] = spot[ends_here]
        at = own.shape[1] + where[np.searchsorted(key, arriving)]
        source[node[onward] & 1, node[onward] >> 1, at] = spot[onward]
        levels.append(Level(names[own], names[below], source))
        node, vertex, spot = parents, reached, where
    return Bisection(levels, part, level, place[rank])


def _cut(edges: Ints, positions: Floats, depth: int) -> tuple[Ints, Ints]:
    """Part and level of every vertex, leaves at level 0 and the first cut at level `depth`."""
    n = len(positions)
    part, level = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    open_ = np.ones(n, dtype=bool)
    for i in range(depth, 0, -1):
        a, b = edges.T
        edges = edges[open_[a] & open_[b] & (part[a] == part[b])]
        row = _Row(part, open_, positions, 1 << (depth - i))
        middle = row.sizes // 2
        upper, lower = row.cut(middle, edges)
        # What a cut takes is missing on the side that it takes it from: once more, half of that aside.
        cuts = [
            upper,
            lower,
            row.cut(middle - upper.width // 2, edges)[0],
            row.cut(middle + (lower.width + 1) // 2, edges)[1],
        ]
        best = np.argmin([cut.width + cut.larger for cut in cuts], axis=0)[part]
        high, rim = (np.choose(best, [getattr(cut, name) for cut in cuts]) for name in ("high", "rim"))
        level[rim] = i
        open_ &= ~rim
        part = np.where(open_, 2 * part + high, part)
    for i in range(depth):
        while _hand_on(part, level, i, 1 << (depth - i)):
            pass
    return part, level


def _hand_on(part: Ints, level: Ints, i: int, count: int) -> bool:
    """Have the largest of the parts of level i, `count` in all, eliminate two vertices less, which are left to the
    parts that they are halves of; whether these have room for them. Of leaves, which are most, they make room."""
    mine = np.flatnonzero(level == i)
    mine = mine[np.argsort(part[mine], kind="stable")]
    ranks = _ranks(part[mine], count)
    surplus = mine[ranks >= _even(int(ranks.max(initial=-1)) + 1) - 2]
    later = np.bincount(part[level == i + 1], minlength=count // 2)
    more = np.bincount(part[surplus] >> 1, minlength=count // 2)
    if not len(surplus) or (later + more).max() > _even(int(later.max())) + 2 * (i == 0):
        return False
    level[surplus] += 1
    part[surplus] >>= 1
    return True


def _even(number: int) -> int:
    """The next even number: fronts are padded to pairs of vertices."""
    return number + number % 2


@dataclass
class _Cut:
    """Parts cut in two, `count` of them."""

    high: Bools
    """Vertices of the upper halves, (n,)."""
    rim: Bools
    """Vertices along the cuts, all of one half, (n,)."""
    width: Ints
    """How many these are, (count,)."""
    larger: Ints
    """Vertices of the larger half without them, (count,)."""


class _Row:
    """The vertices of every part, `count` of them, in a row along its longest side."""

    def __init__(self, part: Ints, open_: Bools, positions: Floats, count: int) -> None:
        self._part, self._count = part, count
        v = np.flatnonzero(open_)
        v = v[np.argsort(part[v], kind="stable")]
        self.sizes = np.bincount(part[v], minlength=count)
        self._starts = np.cumsum(self.sizes) - self.sizes
        some = np.flatnonzero(self.sizes)
        extent = np.zeros((count, 3))
        where, starts = positions[v], self._starts[some]
        extent[some] = np.maximum.reduceat(where, starts) - np.minimum.reduceat(where, starts)
        along = positions[v, extent.argmax(axis=1)[part[v]]]
        order = np.lexsort((along, part[v]))
        self._vertices, self._along = v[order], along[order]

    def cut(self, at: Ints, edges: Ints) -> tuple[_Cut, _Cut]:
        """Parts cut before vertex `at` (count,) of the row, along the rim of the upper and of the lower half; `edges`
        (e, 2) of vertices of one part."""
        high = self._upper(np.clip(at, 0, np.maximum(self.sizes - 1, 0)))
        across = edges[high[edges[:, 0]] != high[edges[:, 1]]]
        above = high[across[:, 0]]
        upper = np.bincount(self._part[high], minlength=self._count)
        cuts = []
        for mine in (above, ~above):
            rim = np.zeros(len(high), dtype=bool)
            rim[np.where(mine, across[:, 0], across[:, 1])] = True
            width = np.bincount(self._part[rim], minlength=self._count)
            halves = (upper - width, self.sizes - upper) if mine is above else (upper, self.sizes - upper - width)
            cuts.append(_Cut(high, rim, width, np.maximum(*halves)))
        return cuts[0], cuts[1]

    def _upper(self, at: Ints) -> Bools:
        """Which vertices are not before vertex `at` of their row, (n,)."""
        own = self._part[self._vertices]
        beyond = self._along >= self._along[np.minimum(self._starts + at, len(own) - 1)][own]
        # A row of vertices across stays together; where that leaves no other half, it does not.
        whole = np.bincount(own, weights=beyond, minlength=self._count) == self.sizes
        rank = np.arange(len(own)) - self._starts[own]
        beyond = np.where(whole[own], rank >= at[own], beyond)
        high = np.zeros(len(self._part), dtype=bool)
        high[self._vertices] = beyond
        return high


def _ranks(group: Ints, count: int) -> Ints:
    """0, 1, 2, … within each run of equal, rising groups."""
    sizes = np.bincount(group, minlength=count)
    ranks: Ints = np.arange(len(group)) - (np.cumsum(sizes) - sizes)[group]
    return ranks


def _table(rows: Ints, columns: Ints, values: Ints, count: int, empty: int) -> Ints:
    """(count, longest) array with values at (rows, columns)."""
    table = np.full((count, int(columns.max(initial=-1)) + 1), empty)
    table[rows, columns] = values
    return table
