"""What `tree_factor.py` has to know of a mesh before there are any numbers: where those of its matrix go in the fronts.

It depends on nothing but edges and places at rest, and takes as long as five factors: of the mesh that was baked last
it is kept (a second of a flag of 1.6k vertices is baked again in 283 instead of 309 ms).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .bisection import Bisection, Level, bisected
from .one_thread import one_thread_possible
from .types import Bools, Floats, Ints, Shorts
from .vectors import Added

# Only the lower half of what a front passes on is kept, in strips of columns as wide as this, but no more than so many.
STRIP, STRIPS = 30, 4
# Products of all fronts from which a second thread pays: 2.5k vertices have 100 million (5.6 instead of 6.3 ms), 1.6k
# half of that (no gain). Not where BLAS may use threads of its own: then each waits for the other's.
THREADED = 80_000_000
# Vertices of the largest mesh whose plan is kept: 50 MB.
KEPT = 10_000

Numbers = tuple[Ints, Shorts, Shorts]
"""Blocks of numbers that fronts take in: which fronts (k,), where the blocks go and where they are, (k, 9)."""


class Stack:
    """The fronts of one level, b of them with p own and q later unknowns.

    Their numbers stand in a row: blocks (own, own), of which the lower half counts, (later, own) and (later, later),
    strips of columns from the diagonal down, one after the other.
    """

    def __init__(self, level: Level, vertex_count: int, halves: Stack | None) -> None:
        self.halves = halves
        self.count = b = len(level.own)
        self.own, self.below = (_unknowns(part, vertex_count + 1) for part in (level.own, level.below))
        """Unknowns as places in components (3, n + 1), (b, p) and (b, q)."""
        self.p, self.q = p, q = self.own.shape[1], self.below.shape[1]
        width = max(STRIP, 3 * -(-q // (3 * STRIPS)))
        self.strips = [(c, min(c + width, q)) for c in range(0, q, width)]
        self.shapes = [(b, p, p), (b, q, p), *((b, q - c, d - c) for c, d in self.strips)]
        self.offsets = np.cumsum([0, *(int(np.prod(shape)) for shape in self.shapes)])
        empty = np.argwhere(level.own == vertex_count)
        corner = 3 * empty[:, 1:] + np.arange(3)
        self.padded = ((empty[:, :1] * p + corner) * p + corner).ravel()
        """Diagonal of what is not there: ones."""
        self.spots: list[Ints] = []
        """Where in vectors (later) of its halves, first and second, a front finds what belongs in its own."""
        for side, source in enumerate(level.source if halves is not None else ()):
            assert halves is not None
            front, place = 2 * np.arange(b)[:, None] + side, _scalars(source)
            self.spots.append(np.where(place >= 0, front * halves.q + place, halves.count * halves.q))

    def blocks(self, front: Ints, row: Ints, column: Ints) -> Shorts:
        """Where in `numbers` the blocks of vertices (row, column) of fronts stand, each (k,), own vertices before later
        ones and no row before its column: (k, 9)."""
        kind = column + self._starts.shape[1] // 2 * (row >= self.p // 3)
        first, area, width = (table.take(kind, mode="clip") for table in self._starts)
        at = first + front.astype(np.int32) * area + row.astype(np.int32) * (3 * width)
        return _nine(at, width, 1)

    @cached_property
    def _starts(self) -> Shorts:
        """Of every column of vertices, once for rows that are own and once for later ones: where row 0 of front 0 would
        begin in `numbers`, how many numbers a front has there, and a row, (3, 2 columns)."""
        p, q, own = self.p, self.q, self.p // 3
        bounds = np.array(self.strips, dtype=np.int64).reshape(-1, 2)
        strip = np.repeat(np.arange(len(bounds)), np.diff(bounds, axis=1).ravel() // 3)
        start, end = bounds[strip].T
        mine, later = 3 * np.arange(own), 3 * np.arange(q // 3)
        pivot = np.stack([mine, np.full(own, p * p), np.full(own, p)])
        side = np.stack([self.offsets[1] - p * p + mine, np.full(own, q * p), np.full(own, p)])
        width = end - start
        onward = np.stack([self.offsets[2 + strip] - (p + start) * width + later - start, (q - start) * width, width])
        starts: Shorts = np.concatenate([pivot, onward, side, onward], axis=1).astype(np.int32)
        return starts

    def arriving(self, level: Level) -> tuple[Numbers, Numbers]:
        """What fronts take from their halves: in blocks (own, own) and (later, own), and in blocks (later, later)."""
        assert self.halves is not None
        own, theirs = self.p // 3, self.halves.p // 3
        kinds: tuple[list[Numbers], list[Numbers]] = ([], [])
        for side, source in enumerate(level.source):
            front, row, column = _pairs(source >= 0)
            half, above, left = 2 * front + side, theirs + source[front, row], theirs + source[front, column]
            mine = column < own
            for kind, some in zip(kinds, (np.flatnonzero(mine), np.flatnonzero(~mine)), strict=True):
                targets = self.blocks(front[some], row[some], column[some])
                kind.append((front[some], targets, self.halves.blocks(half[some], above[some], left[some])))
        return _joined(kinds[0]), _joined(kinds[1])


class Share:
    """Some `fronts` of level `index`: what goes into them of `entries` of the matrix, and of `arrivals` from halves."""

    def __init__(
        self, index: int, stack: Stack, fronts: slice, entries: Numbers, arrivals: tuple[Numbers, Numbers] | None
    ) -> None:
        self.index, self.stack, self.fronts = index, stack, fronts
        self.own, self.below = stack.own[fronts], stack.below[fronts]
        self.spots = [spots[fronts] for spots in stack.spots]
        self.entries = _added(fronts, entries)
        self.taken: Added | None = None
        """What arrives in blocks (own, own) and (later, own), and is taken from what is there."""
        self.passed: Added | None = None
        """What arrives in blocks (later, later), and is passed on with what the fronts take themselves."""
        if arrivals is not None:
            self.taken, self.passed = _added(fronts, arrivals[0], -1.0), _added(fronts, arrivals[1])
        size = stack.p * stack.p
        inside = (stack.padded >= fronts.start * size) & (stack.padded < fronts.stop * size)
        self.padded = stack.padded[inside]


@dataclass
class Plan:
    """The fronts of a mesh, from the leaves up."""

    edges: Ints
    positions: Floats
    threads: bool
    """Whether there could be any; `halves` says whether they pay."""
    stacks: list[Stack] = field(default_factory=list)
    halves: tuple[list[Share], list[Share]] = field(default_factory=lambda: ([], []))
    """Fronts of either half of the mesh, for a thread each."""
    joined: list[Share] = field(default_factory=list)
    """All others, after them."""

    def of(self, edges: Ints, positions: Floats, threads: bool) -> bool:
        """Whether this is the plan of a mesh."""
        same = np.array_equal(self.edges, edges) and np.array_equal(self.positions, positions)
        return same and self.threads == threads


_last: Plan | None = None


def planned(edges: Ints, positions: Floats) -> Generator[None, None, Plan]:
    """The plan for matrices with blocks at `edges` (e, 2) and vertices at `positions` (n, 3), made in pieces."""
    global _last
    possible = one_thread_possible()
    kept = _last
    if kept is not None and kept.of(edges, positions, possible):
        return kept
    tree = bisected(edges, positions)
    yield
    plan = Plan(edges.copy(), positions.copy(), possible)
    threaded = possible and sum(map(_products, tree.levels)) >= THREADED
    at_level = _by_level(tree, edges)
    for i, level in enumerate(tree.levels):
        stack = Stack(level, len(positions), plan.stacks[-1] if plan.stacks else None)
        entries = _entries(tree, i, stack, edges, at_level[i])
        arrivals = stack.arriving(level) if stack.halves is not None else None
        if threaded and stack.count > 1:
            half = stack.count // 2
            for shares, some in zip(plan.halves, (slice(0, half), slice(half, stack.count)), strict=True):
                shares.append(Share(i, stack, some, entries, arrivals))
        else:
            plan.joined.append(Share(i, stack, slice(0, stack.count), entries, arrivals))
        plan.stacks.append(stack)
        yield
    _last = plan if len(positions) <= KEPT else _last
    return plan


def _products(level: Level) -> int:
    """Numbers that are multiplied to factor all fronts of a level."""
    (b, own), later = level.own.shape, level.below.shape[1]
    p, q = 3 * own, 3 * later
    return int(b * p * (p * p + p * q + q * q))


def _pairs(there: Bools) -> tuple[Ints, Ints, Ints]:
    """Front, row and column of all pairs of vertices that are `there` (b, k) in a front, no row before its column."""
    longest = there.shape[1]
    lower = np.tril(np.ones((longest, longest), dtype=bool))
    front, row, column = np.nonzero(there[:, :, None] & there[:, None, :] & lower)
    return front, row, column


def _unknowns(vertices: Ints, count: int) -> Ints:
    """Unknowns of vertices (b, k) as places in components (3, count), (b, 3k)."""
    places: Ints = (vertices[:, :, None] + count * np.arange(3)).reshape(len(vertices), -1)
    return places


def _added(fronts: slice, numbers: Numbers, sign: float = 1.0) -> Added:
    """What of some numbers goes to some fronts."""
    front, targets, sources = numbers
    mine = (front >= fronts.start) & (front < fronts.stop)
    if not mine.all():
        targets, sources = targets[mine], sources[mine]
    return Added(targets.ravel(), sources.ravel(), sign)


def _joined(parts: list[Numbers]) -> Numbers:
    fronts, targets, sources = (np.concatenate(part) for part in zip(*parts, strict=True))
    return fronts, targets, sources


def _nine(first: Shorts, down: Shorts | int, right: int) -> Shorts:
    """Places of the nine numbers of blocks that start at `first` (k,), (k, 9), given the steps down and to the right.

    Column by column: in one expression the inner loops would run over nine numbers, and take eight times as long.
    """
    places = np.empty((len(first), 9), dtype=np.int32)
    row = first
    for i in range(3):
        for j in range(3):
            np.add(row, j * right, out=places[:, 3 * i + j])
        row = row + down
    return places


def _by_level(tree: Bisection, edges: Ints) -> list[Ints]:
    """Which edges are eliminated with the vertices of each level."""
    level = np.minimum(*tree.level[edges].T)
    order = np.argsort(level, kind="stable")
    return np.split(order, np.searchsorted(level[order], np.arange(1, len(tree.levels))))


def _entries(tree: Bisection, i: int, stack: Stack, edges: Ints, some: Ints) -> Numbers:
    """What fronts of level i take from the matrix; `some` (k,): edges of the level."""
    count, own = len(edges) + len(tree.level), stack.p // 3
    mine = np.flatnonzero(tree.level == i)
    place = tree.place[mine]
    found = [(tree.part[mine], place, place, _nine((len(edges) + mine).astype(np.int32), 3 * count, count))]
    first, second = edges[some].T
    # The row is eliminated after the column, in a later front or in the same.
    ends = tree.level[first] - tree.level[second], tree.place[first] - tree.place[second]
    as_is = np.where(ends[0] == 0, ends[1], ends[0]) > 0
    for r, c, which, down, right in (
        (first, second, np.flatnonzero(as_is), 3 * count, count),
        (second, first, np.flatnonzero(~as_is), count, 3 * count),
    ):
        row, column = r[which], c[which]
        part, at = tree.part[column], tree.place[row].copy()
        ahead = np.flatnonzero(tree.level[row] > i)
        at[ahead] = own + np.nonzero(tree.levels[i].below[part[ahead]] == row[ahead][:, None])[1]
        found.append((part, at, tree.place[column], _nine(some[which].astype(np.int32), down, right)))
    fronts, rows, columns, sources = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return fronts, stack.blocks(fronts, rows, columns), sources


def _scalars(places: Ints) -> Ints:
    """Places of the three unknowns of vertices at `places` (b, k), −1 where there is none, (b, 3k)."""
    thrice = np.where(places[:, :, None] >= 0, 3 * places[:, :, None] + np.arange(3), -1)
    return thrice.reshape(len(places), -1)
