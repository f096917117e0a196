"""A mesh cut in halves, again and again: the order in which `tree_factor.py` eliminates its vertices.

Every part is cut across its longest side, at the median; the vertices along the cut are eliminated after both halves
(nested dissection, George 1973). All parts of one depth are cut at once, by position instead of by graph: 6.4k vertices
take 15 ms where `fronts.py`, which asks nothing of its matrices, takes 270.
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
    first, second = edges.T
    for i in range(depth, 0, -1):
        count = 1 << (depth - i)
        high = _upper_half(part, open_, positions, count)
        across = open_[first] & open_[second] & (part[first] == part[second]) & (high[first] != high[second])
        a, b = first[across], second[across]
        sides = []
        for wanted in (True, False):
            side = np.zeros(n, dtype=bool)
            side[np.where(high[a] == wanted, a, b)] = True
            sides.append((np.bincount(part[side], minlength=count), side))
        # Of the two rims of a cut, the shorter.
        (upper, upper_rim), (lower, lower_rim) = sides
        rim = np.where((upper <= lower)[part], upper_rim, lower_rim)
        level[rim] = i
        open_ &= ~rim
        part = np.where(open_, 2 * part + high, part)
    return part, level


def _upper_half(part: Ints, open_: Bools, positions: Floats, count: int) -> Bools:
    """Which vertices lie beyond the median of their part along its longest side, (n,)."""
    v = np.flatnonzero(open_)
    v = v[np.argsort(part[v], kind="stable")]
    sizes = np.bincount(part[v], minlength=count)
    starts = np.cumsum(sizes) - sizes
    some = np.flatnonzero(sizes)
    extent = np.zeros((count, 3))
    where = positions[v]
    extent[some] = np.maximum.reduceat(where, starts[some]) - np.minimum.reduceat(where, starts[some])
    along = positions[v, extent.argmax(axis=1)[part[v]]]
    order = np.lexsort((along, part[v]))
    v, along = v[order], along[order]
    own = part[v]
    median = along[np.minimum(starts + sizes // 2, len(v) - 1)]
    beyond = along >= median[own]
    # A row of vertices stays together; where that leaves no other half, it does not.
    whole = np.bincount(own, weights=beyond, minlength=count) == sizes
    rank = np.arange(len(v)) - starts[own]
    beyond = np.where(whole[own], rank >= (sizes // 2)[own], beyond)
    high = np.zeros(len(part), dtype=bool)
    high[v] = beyond
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
