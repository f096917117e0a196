"""Where the numbers of a Cholesky factor stand: everything about it that depends on the pattern of a matrix alone.

Vertices eliminated together (`elimination.py`) are one dense matrix, a front. Its columns of the factor, from the
diagonal down, stay as a panel; what it passes on to fronts above it in the tree is a square that is added there (Duff
and Reid 1983). Panels and squares lie in one row of numbers, at places found here once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import bsr_matrix, csr_matrix

from ..types import Floats, Ints, Shorts, Singles, Sparse
from .elimination import ordered

# How often the largest branch of the tree is taken apart, to share out the rest.
TAKEN_APART = 32

NOTHING = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)


@dataclass
class Front:
    """Unknowns that are eliminated together, and those that they couple with later."""

    start: int
    end: int
    """Places of its own unknowns in the order of elimination."""
    below: Shorts
    """Places of later unknowns, rising."""
    panel: int
    """Where its columns start, each as long as all its unknowns."""
    passed: int = 0
    """Where what it passes on starts, by columns."""
    into_panel: tuple[Shorts, Shorts] = NOTHING
    into_passed: tuple[Shorts, Shorts] = NOTHING
    """What it takes from those that end in it, number by number: where to and where from."""

    @property
    def own(self) -> int:
        """Unknowns eliminated."""
        return self.end - self.start

    @property
    def work(self) -> int:
        """Multiplications, each with an addition."""
        return self.own**3 // 3 + self.own * len(self.below) * self.rows

    @property
    def rows(self) -> int:
        """All unknowns."""
        return self.end - self.start + len(self.below)


class Elimination:
    """Order, and layout of all fronts, for a symmetric pattern (n, n) with both halves stored.

    Block matrices (BSR, square blocks) are ordered by block, others by groups of unknowns with the same neighbours.
    `positions`, (blocks, 3) or (n, 3), say what is near each other, which saves up to half of all work on large meshes.
    """

    _target: Ints
    _source: Ints
    """Where numbers of the matrix go and come from, front by front, in rows of so many as `_run` says."""
    _cuts: list[int]
    """Where each front's begin."""

    def __init__(self, pattern: Sparse, positions: Floats | None = None) -> None:
        self.size = pattern.shape[0]
        self._indptr, self._indices = pattern.indptr.copy(), pattern.indices.copy()
        self.unit: int = pattern.blocksize[0] if isinstance(pattern, bsr_matrix) else 1
        self._run = self.unit
        if self.unit > 1:
            count = self.size // self.unit
            group = np.arange(count)
            graph = csr_matrix((np.ones(len(self._indices)), self._indices, self._indptr), shape=(count, count))
            sizes = np.full(count, self.unit)
        else:
            group, graph = _compressed(pattern)
            sizes = np.bincount(group)
            if positions is not None:
                positions = positions[np.unique(group, return_index=True)[1]]
        self.by = ordered(graph, sizes, positions)
        self._lay_out(group, sizes)
        self._sweep()
        self.spare: list[Any] = []
        """Workspaces of factors that are no more."""

    def fits(self, pattern: Sparse) -> bool:
        """Whether it was made for this pattern."""
        unit = pattern.blocksize[0] if isinstance(pattern, bsr_matrix) else 1
        return (
            unit == self.unit
            and np.array_equal(self._indptr, pattern.indptr)
            and np.array_equal(self._indices, pattern.indices)
        )

    @property
    def fill(self) -> int:
        """How many numbers a factor has."""
        return sum(front.own * (front.own + 1) // 2 + front.own * len(front.below) for front in self.fronts)

    @property
    def flops(self) -> int:
        """Multiplications of one factorisation, each with an addition."""
        return sum(front.work for front in self.fronts)

    def numbers_of(self, data: Floats | Singles) -> Floats | Singles:
        """What the matrix stores as `entries` counts it."""
        return data.reshape(-1) if self._run == 1 else data.reshape(-1, self._run)

    def entries(self, i: int) -> tuple[int, Ints, Ints]:
        """What front i takes from the matrix: how many numbers in a row at once, to which of such rows of its panel,
        and from which of the matrix.

        Of blocks on the diagonal both halves go; what is above the diagonal is never read.
        """
        mine = slice(self._cuts[i], self._cuts[i + 1])
        return self._run, self._target[mine] - self.fronts[i].panel // self._run, self._source[mine]

    def read_from(self, places: Ints) -> None:
        """The numbers come in another order from now on: number i of the pattern is at places[i]."""
        within: Any = np.arange(self._run)
        targets: Ints = self._target[:, None] * self._run + within
        sources: Ints = self._source[:, None] * self._run + within
        self._target, self._source = targets.ravel(), places[sources.ravel()]
        self._cuts = [cut * self._run for cut in self._cuts]
        self._run = 1

    def _lay_out(self, group: Ints, sizes: Ints) -> None:
        """Places in the order of elimination, of vertices and of unknowns."""
        vertices = self.by.vertices
        place = np.empty(len(vertices), dtype=np.int64)
        place[vertices] = np.arange(len(vertices))
        self._place = place[group]
        """Of the vertex of each row (of blocks) of the matrix."""
        self._sizes = sizes[vertices]
        self._first = np.concatenate([[0], np.cumsum(self._sizes)])
        self._members = np.argsort(self._place, kind="stable")
        """Rows of the matrix by place."""
        self._within = np.zeros(len(group), dtype=np.int64)
        if self.unit == 1:
            self._within[self._members] = np.arange(len(group)) - np.repeat(self._first[:-1], self._sizes)
        self.order: Ints = (self._members[:, None] * self.unit + np.arange(self.unit)).ravel()
        """Unknown at each place, (n,)."""

    def _sweep(self) -> None:
        """Structure of every front, from the matrix and from those that end in it; then where everything goes."""
        ends = self.by.ends
        starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        sizes, first = self._sizes, self._first
        at, row, column = self._lower()
        limits = np.searchsorted(column, np.append(starts, len(sizes)))
        front_of = np.repeat(np.arange(len(ends)), ends - starts).tolist()
        local = np.zeros(len(sizes), dtype=np.int64)
        children: list[list[int]] = [[] for _ in ends]
        below: list[Ints] = []
        maps: list[list[tuple[int, Ints]]] = []
        self.fronts: list[Front] = []
        base: Ints = first[column]
        panels, entries = 0, limits.tolist()
        for i, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            mine = slice(entries[i], entries[i + 1])
            later = _distinct([row[mine], *(below[c] for c in children[i])], end)
            below.append(later)
            begin, close = int(first[start]), int(first[end])
            local[start:end] = first[start:end] - begin
            extent = sizes[later]
            offset = np.cumsum(extent) - extent
            local[later] = offset + (close - begin)
            unknowns = np.repeat(first[later] - offset, extent)
            unknowns += np.arange(len(unknowns))
            front = Front(begin, close, unknowns.astype(np.int32), panels)
            base[mine] = (base[mine] - begin) * front.rows + local[row[mine]] + panels
            maps.append([(c, local[below[c]]) for c in children[i]])
            panels += front.own * front.rows
            self.fronts.append(front)
            if len(later):
                children[front_of[int(later[0])]].append(i)
        self.panels = panels
        """How many numbers all panels are."""
        height = np.repeat([front.rows for front in self.fronts], np.diff(limits))
        self._target, self._source = self._places(at, base, height)
        self._cuts = (limits * self.unit).tolist()
        self.halves, self.rest = _shared([front.work for front in self.fronts], children)
        """Fronts of two sets of branches of the tree, which have nothing to do with each other, and all others."""
        self._assign(children)
        rows = _rows(max((len(front.below) for front in self.fronts), default=0))
        for front, arriving in zip(self.fronts, maps, strict=True):
            self._arrive(front, arriving, below, rows)

    def _lower(self) -> tuple[Ints, Ints, Ints]:
        """What the matrix stores on and below the diagonal: which, and places of row and of column, which rise."""
        lengths = np.diff(self._indptr)[self._members]
        begin = np.cumsum(lengths) - lengths
        at = np.repeat(self._indptr[:-1][self._members] - begin, lengths) + np.arange(int(lengths.sum()))
        row = self._place[self._indices[at]]
        column = np.repeat(self._place[self._members], lengths)
        kept = np.flatnonzero(row >= column)
        return at[kept], row[kept], column[kept]

    def _places(self, at: Ints, base: Ints, height: Ints) -> tuple[Ints, Ints]:
        """To where in the panels the numbers of the matrix go and from where, given the former of its first number of
        each block and the heights of panels."""
        if self.unit == 1:
            columns = np.repeat(np.arange(len(self._indptr) - 1), np.diff(self._indptr))
            return base + self._within[self._indices[at]] + self._within[columns[at]] * height, at
        # A row of a block is a run of numbers in the matrix and in a column of a panel.
        rows: Any = np.arange(self.unit)
        targets: Ints = base[:, None] + height[:, None] * rows
        sources: Ints = at[:, None] * self.unit + rows
        return targets.ravel() // self.unit, sources.ravel()

    @property
    def sequence(self) -> list[int]:
        """Fronts such that all that ends in one comes before it."""
        return [*self.halves[0], *self.halves[1], *self.rest]

    def _assign(self, children: list[list[int]]) -> None:
        """Where fronts put what they pass on: on two piles, of even and of odd generations, for each half and for the
        rest.

        A front takes from one what its children left and puts its own on the other.
        """
        generation = [0] * len(children)
        for i in reversed(self.sequence):
            for child in children[i]:
                generation[child] = generation[i] + 1
        where, bottom = [0] * len(children), self.panels
        for fronts in (*self.halves, self.rest):
            inside, tops, most = set(fronts), [0, 0], [0, 0]
            for i in fronts:
                mine = generation[i] % 2
                left = [where[child] for child in children[i] if child in inside]
                if left:
                    tops[1 - mine] = min(left)
                where[i] = tops[mine]
                tops[mine] += len(self.fronts[i].below) ** 2
                most[mine] = max(most[mine], tops[mine])
            for i in fronts:
                self.fronts[i].passed = bottom + where[i] + most[0] * (generation[i] % 2)
            bottom += sum(most)
        self.room = bottom
        """How many numbers there are in all."""

    def _arrive(self, front: Front, arriving: list[tuple[int, Ints]], below: list[Ints], whole: Shorts) -> None:
        """How what ended in a front is added to it; `arriving`: fronts and the places here of what is `below` them;
        `whole` as `_rows` makes it."""
        p, m, q = front.own, front.rows, len(front.below)
        early: list[tuple[Shorts, Shorts]] = [NOTHING]
        late: list[tuple[Shorts, Shorts]] = [NOTHING]
        for c, place in arriving:
            extent = self._sizes[below[c]]
            count = len(self.fronts[c].below)
            unknowns = np.repeat(place - (np.cumsum(extent) - extent), extent) + np.arange(count)
            later = count - int(np.searchsorted(unknowns, p))
            # Of what is passed on the lower half, from its last column on and each from its end.
            places = unknowns[::-1].astype(np.int32)
            starts = (places - p) * np.int32(q) + np.int32(front.passed - p)
            starts[later:] = places[later:] * np.int32(m) + np.int32(front.panel)
            columns = np.arange(count, dtype=np.int32)
            sources = np.int32(self.fronts[c].passed + count * count - 1) - columns * np.int32(count)
            rows = whole[: count * (count + 1) // 2]
            targets = np.repeat(starts, columns + 1) + places[rows]
            sources = np.repeat(sources, columns + 1) - rows
            cut = later * (later + 1) // 2
            early.append((targets[cut:], sources[cut:]))
            late.append((targets[:cut], sources[:cut]))
        front.into_panel, front.into_passed = _joined(early), _joined(late)


def _joined(lists: list[tuple[Shorts, Shorts]]) -> tuple[Shorts, Shorts]:
    targets, sources = (np.concatenate(parts) for parts in zip(*lists, strict=True))
    return targets, sources


def _rows(count: int) -> Shorts:
    """0, 0, 1, 0, 1, 2, …: rows of the upper half of a matrix of `count` and, to begin with, of every smaller one."""
    lengths = np.arange(1, count + 1)
    before = np.cumsum(lengths) - lengths
    rows: Ints = np.arange(int(lengths.sum())) - np.repeat(before, lengths)
    return rows.astype(np.int32)


def _shared(work: list[int], children: list[list[int]]) -> tuple[tuple[list[int], list[int]], list[int]]:
    """Fronts of two sets of branches alike in work, and all others, each such that what ends in one comes right before
    it; `work` of each front."""
    whole = list(work)
    ending = set()
    for i, some in enumerate(children):
        whole[i] += sum(whole[child] for child in some)
        ending.update(some)
    branches = sorted((i for i in range(len(work)) if i not in ending), key=whole.__getitem__)
    rest: list[int] = []
    best, alone = sum(work) + 1, 0
    found: tuple[list[int], list[int], list[int]] = branches, [], []
    for _ in range(TAKEN_APART):
        halves: tuple[list[int], list[int]] = ([], [])
        sums = [0, 0]
        for i in reversed(branches):
            smaller = int(sums[1] < sums[0])
            halves[smaller].append(i)
            sums[smaller] += whole[i]
        if alone + max(sums) < best:
            best, found = alone + max(sums), (*halves, list(rest))
        if not branches:
            break
        # The largest joins the rest, and its own branches take its place.
        largest = branches.pop()
        rest.append(largest)
        alone += work[largest]
        branches = sorted([*branches, *children[largest]], key=whole.__getitem__)
    first, second, others = found
    return (_depth_first(first, children), _depth_first(second, children)), sorted(others)


def _depth_first(branches: list[int], children: list[list[int]]) -> list[int]:
    """All fronts of branches such that what ends in one comes right before it."""
    sequence: list[int] = []
    waiting = sorted(branches)
    while waiting:
        i = waiting.pop()
        sequence.append(i)
        waiting += children[i]
    return sequence[::-1]


def _distinct(lists: list[Ints], end: int) -> Ints:
    """Places from `end` on, rising."""
    both = np.concatenate(lists)
    both = both[both >= end]
    both.sort()
    if len(both):
        kept = np.ones(len(both), dtype=bool)
        np.not_equal(both[1:], both[:-1], out=kept[1:])
        both = both[kept]
    return both


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
