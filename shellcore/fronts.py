"""Cholesky factorisation by dense fronts: for matrices that change while their pattern stays.

Nested dissection (George 1973) splits the graph by small sets of vertices, over and over; a set is eliminated after
both of its sides. What a part passes on to the sets above it is one dense matrix (Duff and Reid 1983), so nearly all
work is in a few hundred products of dense matrices, which run several times as fast as SuperLU's: Hessians of 2.5k
vertices take a third of the time, with hinges as with subdivision. Order and indices depend on the pattern alone and
are kept for the matrices that follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg.blas import dsyrk, dtrsm, dtrsv
from scipy.linalg.lapack import dpotrf
from scipy.sparse import csr_matrix, diags
from scipy.sparse.csgraph import connected_components

from .types import Bools, Floats, Ints, Sparse

# Unknowns of a part that is not split any further: fewer make more fronts, each with the cost of some Python calls.
LEAF = 200
# Far-apart vertices whose distances are the coordinates that parts are split by.
LANDMARKS = 6
# Index sets of up to so many runs are added run by run, as slices.
RUNS = 20
# Columns of a symmetric part that are added at once, from the diagonal down.
STRIP = 96


class NotDefinite(Exception):
    """A pivot is not positive."""


@dataclass
class Front:
    """One set of unknowns, in the order of elimination, and those that it couples with later."""

    start: int
    end: int
    below: Ints
    """Places of later unknowns in the order of elimination, rising."""
    own_source: Ints
    own_target: Ints
    below_source: Ints
    below_target: Ints
    """Which entries of the matrix fall where in the blocks (own, own) and (below, own), by columns."""
    children: list[tuple[int, Runs, Runs, int]]
    """Fronts that end here; where what they pass on belongs: among own and below; how many of it are own."""


class Runs:
    """A rising index set as slices where that is possible."""

    def __init__(self, index: Ints) -> None:
        self.index = index
        cuts = np.flatnonzero(np.diff(index) != 1) + 1
        self.pieces: list[tuple[int, int, int, int]] | None = None
        """Start and end within the set, and of where they point; None: too many."""
        if len(index) and len(cuts) < RUNS:
            ends = [0, *cuts.tolist(), len(index)]
            self.pieces = [(a, b, int(index[a]), int(index[a]) + b - a) for a, b in pairwise(ends)]


def _add(target: Floats, rows: Runs, columns: Runs, part: Floats, lower: bool = False) -> None:
    """target[rows, columns] += part, both by columns; `lower`: rows are columns, and what is above the diagonal does
    not count."""
    if not len(rows.index) or not len(columns.index):
        return
    if lower and rows.pieces is not None:
        for c, d, left, _ in rows.pieces:
            for strip in range(c, d, STRIP):
                until, to = min(strip + STRIP, d), left + strip - c
                target[to : left + d - c, to : to + until - strip] += part[strip:d, strip:until]
            for a, b, low, high in rows.pieces:
                if a > c:
                    target[low:high, left : left + d - c] += part[a:b, c:d]
    elif rows.pieces is not None and columns.pieces is not None:
        for c, d, left, right in columns.pieces:
            for a, b, low, high in rows.pieces:
                target[low:high, left:right] += part[a:b, c:d]
    elif rows.pieces is not None:
        for a, b, low, high in rows.pieces:
            target.T[columns.index, low:high] += part.T[:, a:b]
    elif columns.pieces is not None:
        for c, d, left, right in columns.pieces:
            target.T[left:right, rows.index] += part.T[c:d]
    else:
        target.T[np.ix_(columns.index, rows.index)] += part.T


class Dissection:
    """Order of elimination and indices of all fronts for a symmetric pattern (n, n), both halves stored."""

    def __init__(self, pattern: Sparse) -> None:
        n = pattern.shape[0]
        self.size, self._indptr, self._indices = n, pattern.indptr.copy(), pattern.indices.copy()
        group, graph = _compressed(pattern)
        sizes = np.bincount(group)
        sets, children = _dissected(graph, sizes)
        members = np.argsort(group, kind="stable")
        first = np.concatenate([[0], np.cumsum(sizes)])
        order = [np.concatenate([part[:0], *(members[first[g] : first[g + 1]] for g in part)]) for part in sets]
        self.order: Ints = np.concatenate(order).astype(np.int64)
        """Unknown at each place of the elimination, (n,)."""
        place = np.empty(n, dtype=np.int64)
        place[self.order] = np.arange(n)
        ends = np.cumsum([len(part) for part in order])
        row, column = place[self._indices], place[np.repeat(np.arange(n), np.diff(self._indptr))]
        lower = np.flatnonzero(row >= column)
        lower = lower[np.argsort(column[lower], kind="stable")]
        row, column = row[lower], column[lower]
        at = np.searchsorted(column, np.concatenate([[0], ends]))
        self.fronts: list[Front] = []
        for i, end in enumerate(ends):
            start = int(end) - len(order[i])
            rows, columns, source = (values[at[i] : at[i + 1]] for values in (row, column, lower))
            reached = [rows[rows >= end], *(self.fronts[c].below for c in children[i])]
            below = np.unique(np.concatenate(reached))
            below = below[below >= end]
            own, later = rows < end, rows >= end
            p, q = int(end) - start, len(below)
            arrivals = []
            for c in children[i]:
                passed = self.fronts[c].below
                count = int(np.searchsorted(passed, end))
                arrivals.append((c, Runs(passed[:count] - start), Runs(np.searchsorted(below, passed[count:])), count))
            to_own = (columns[own] - start) * p + rows[own] - start
            to_below = (columns[later] - start) * q + np.searchsorted(below, rows[later])
            front = Front(start, int(end), below, source[own], to_own, source[later], to_below, arrivals)
            self.fronts.append(front)

    def fits(self, pattern: Sparse) -> bool:
        """Whether it is the dissection of this pattern."""
        return np.array_equal(self._indptr, pattern.indptr) and np.array_equal(self._indices, pattern.indices)


class Cholesky:
    """LLᵀ of a symmetric positive definite matrix; raises `NotDefinite` of another."""

    def __init__(self, plan: Dissection, data: Floats) -> None:
        self._plan = plan
        self._blocks: list[tuple[Floats, Floats]] = []
        passed: dict[int, Floats] = {}
        for i, front in enumerate(plan.fronts):
            p, q = front.end - front.start, len(front.below)
            own, below = np.zeros((p, p), order="F"), np.zeros((q, p), order="F")
            own.T.reshape(-1)[front.own_target] = data[front.own_source]
            below.T.reshape(-1)[front.below_target] = data[front.below_source]
            onward = np.zeros((q, q), order="F")
            for child, to_own, to_below, count in front.children:
                part = passed.pop(child)
                _add(own, to_own, to_own, part[:count, :count], lower=True)
                _add(below, to_below, to_own, part[count:, :count])
                _add(onward, to_below, to_below, part[count:, count:], lower=True)
            if p:
                own, info = dpotrf(own, lower=1, clean=0, overwrite_a=1)
                if info:
                    raise NotDefinite
                if q:
                    below = dtrsm(1.0, own, below, side=1, lower=1, trans_a=1, overwrite_b=1)
                    onward = dsyrk(-1.0, below, beta=1.0, c=onward, lower=1, overwrite_c=1)
            passed[i] = onward
            self._blocks.append((own, below))

    def solve(self, right: Floats) -> Floats:
        """Solution for one (n,) or several (n, k) right-hand sides."""
        if right.ndim == 2:
            return np.column_stack([self.solve(column) for column in right.T])
        x: Floats = right[self._plan.order]
        pairs = list(zip(self._plan.fronts, self._blocks, strict=True))
        for front, (own, below) in pairs:
            if front.end > front.start:
                part = dtrsv(own, x[front.start : front.end], lower=1)
                x[front.start : front.end] = part
                if len(below):
                    x[front.below] -= below @ part
        for front, (own, below) in reversed(pairs):
            if front.end > front.start:
                part = x[front.start : front.end]
                if len(below):
                    part = part - x[front.below] @ below
                x[front.start : front.end] = dtrsv(own, part, lower=1, trans=1)
        solution = np.empty_like(x)
        solution[self._plan.order] = x
        return solution


def _compressed(pattern: Sparse) -> tuple[Ints, Sparse]:
    """Unknowns with the same neighbours as one vertex: vertex of each unknown (n,), and the graph of vertices."""
    n = pattern.shape[0]
    ones = csr_matrix((np.ones(len(pattern.indices)), pattern.indices, pattern.indptr), shape=(n, n))
    # Equal sums of random numbers, added in the same order, mean equal sets.
    _, first, group = np.unique(ones @ np.random.default_rng(0).random(n), return_index=True, return_inverse=True)
    # Vertices in the order of their first unknown.
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    first = np.sort(first)
    group = rank[group.ravel()]
    rows = ones[first]
    joined = csr_matrix((rows.data, group[rows.indices], rows.indptr), shape=(len(first), len(first)))
    # An entry may have cancelled to zero, and be left out, on one side of the diagonal only.
    joined = csr_matrix(joined + joined.T)
    joined.data[:] = 1.0
    return group, joined


def _dissected(graph: Sparse, sizes: Ints) -> tuple[list[Ints], list[list[int]]]:
    """Sets of vertices in the order of elimination, and for each which earlier ones end in it."""
    where = np.zeros((graph.shape[0], LANDMARKS))
    sets: list[Ints] = []
    children: list[list[int]] = []

    def split(part: Ints, sub: Sparse) -> int:
        """Number of the set that closes this part."""
        weight = sizes[part]
        if weight.sum() <= LEAF or len(part) == 1:
            return close(part, [])
        low, between = _cut(sub, where[part], weight)
        sides = (low, ~low & ~between)
        found = [split(part[side], sub[side][:, side]) for side in sides if side.any()]
        if len(found) == 1 and not between.any():
            return found[0]
        return close(part[between], found)

    def close(part: Ints, ended: list[int]) -> int:
        # Along its longest direction, so that what a smaller part touches of it is a run.
        along = where[part]
        if len(part):
            longest = int(np.ptp(along, axis=0).argmax())
            part = part[np.argsort(along[:, longest], kind="stable")]
        sets.append(part)
        children.append(ended)
        return len(sets) - 1

    for part in _pieces(graph, sizes):
        own = graph[part][:, part]
        if sizes[part].sum() > LEAF:
            where[part] = _coordinates(own)
        split(part, own)
    return sets, children


def _pieces(graph: Sparse, sizes: Ints) -> list[Ints]:
    """Vertices of each connected piece; of those small enough for one front (shards), as many together as fill it.

    Landmarks that most of a graph lies beyond order nothing: dissected as one, eight sheets took sixty times as long as
    each for itself.
    """
    count, piece = connected_components(graph, directed=False)
    weight = np.bincount(piece, weights=sizes, minlength=count)
    small = weight <= LEAF
    share = np.arange(count)
    # Two of half the size may together be too large for a front by half of it, and are then split.
    share[small] = count + np.cumsum(weight[small]).astype(np.int64) // LEAF
    group = share[piece]
    order = np.argsort(group, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(group[order])) + 1)


def _cut(graph: Sparse, where: Floats, weight: Ints) -> tuple[Bools, Bools]:
    """One side and the set between, of the coordinate that has the smallest set between its halves."""
    best: tuple[int, Bools, Bools] | None = None
    for coordinate in where.T:
        order = np.argsort(coordinate, kind="stable")
        half = np.zeros(len(order), dtype=bool)
        half[order[np.cumsum(weight[order]) * 2 <= weight.sum()]] = True
        half[order[0]] = True
        for low in (half, ~half):
            between = (graph @ low.astype(float) > 0.0) & ~low
            size = int(weight[between].sum())
            if best is None or size < best[0]:
                best = (size, low, between)
    assert best is not None
    return best[1], best[2]


def _coordinates(graph: Sparse) -> Floats:
    """Distances in the graph from vertices that are far from each other, smoothed, (n, LANDMARKS)."""
    n = graph.shape[0]
    mean = diags(1.0 / np.maximum(np.asarray(graph.sum(axis=1)).ravel(), 1.0)) @ graph
    nearest = np.full(n, np.inf)
    found, at = [], int(_levels(graph, 0).argmax())
    for _ in range(LANDMARKS):
        distance = _levels(graph, at)
        nearest = np.minimum(nearest, distance)
        at = int(nearest.argmax())
        # Steps are coarse where matrices reach far: means of neighbours order what lies on one level.
        for _ in range(2):
            distance = mean @ distance
        found.append(distance)
    return np.stack(found, axis=1)


def _levels(graph: Sparse, start: int) -> Floats:
    """Steps from a vertex; parts that it does not reach lie beyond all others."""
    n = graph.shape[0]
    level = np.full(n, -1.0)
    level[start] = 0.0
    front, steps = np.zeros(n), 0.0
    front[start] = 1.0
    while True:
        ahead = (graph @ front > 0.0) & (level < 0.0)
        steps += 1.0
        if not ahead.any():
            break
        level[ahead] = steps
        front = ahead.astype(float)
    level[level < 0.0] = 2.0 * steps
    return level
