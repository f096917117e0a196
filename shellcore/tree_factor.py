"""Cholesky factors of Hessians of sheets, in single precision: all fronts of a level at once.

The Hessian of a membrane couples the vertices of each triangle by 3 × 3 blocks. Its pattern never changes and comes
from a surface, so the tree of parts that `bisection.py` cuts is full, and parts of one depth are nearly alike:
padded to one size they are stacks of dense matrices, and a level is a dozen calls of numpy. What its two halves pass on
is added to a part number by number (`vectors.Added`; gathered into whole matrices it took half of all time). The two
halves of the mesh do not meet before the last front: a thread each.

A Newton step is checked by what it does to the energy, so six digits are plenty, at half the cost of twelve. At 1.6k /
6.4k vertices a factor takes 4 / 14 ms, a solution 0.3 / 1.1; `fronts.py`, which takes any matrix, 10 / 50 and 2 / 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache, cached_property

import numpy as np
from scipy.linalg.lapack import strtri

from .bisection import Bisection, Level, bisected
from .one_thread import one_thread, one_thread_possible
from .types import Bools, Floats, Ints, Shorts, Singles
from .vectors import Added

# Triangles that are inverted in closed form.
BASE = 6
# Fronts of a level up to which they are inverted one by one.
FEW = 24
# Only the lower half of what a front passes on is kept, in strips of columns as wide as this, but no more than so many.
STRIP, STRIPS = 30, 4

# Products of all fronts from which a second thread pays: 2.5k vertices have 100 million (5.6 instead of 6.3 ms), 1.6k
# half of that (no gain). Not where BLAS may use threads of its own: then each waits for the other's.
THREADED = 80_000_000

Single = np.float32
Numbers = tuple[Ints, Shorts, Shorts]
"""Blocks of numbers that fronts take in: which fronts (k,), where the blocks go and where they are, (k, 9)."""


class NotDefinite(Exception):
    """A pivot is not positive."""


class _Stack:
    """The fronts of one level, b of them with p own and q later unknowns, and room for their numbers."""

    def __init__(self, level: Level, vertex_count: int, halves: _Stack | None) -> None:
        self.halves = halves
        self.count = b = len(level.own)
        self.own, self.below = (_unknowns(part, vertex_count + 1) for part in (level.own, level.below))
        """Unknowns as places in components (3, n + 1), (b, p) and (b, q)."""
        self.p, self.q = p, q = self.own.shape[1], self.below.shape[1]
        width = max(STRIP, 3 * -(-q // (3 * STRIPS)))
        self.strips = [(c, min(c + width, q)) for c in range(0, q, width)]
        shapes = [(b, p, p), (b, q, p), *((b, q - c, d - c) for c, d in self.strips)]
        self._offsets = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
        self.numbers = np.zeros(int(self._offsets[-1]), dtype=Single)
        """All that fronts take in and pass on: blocks (own, own), of which the lower half counts, (later, own) and
        (later, later), strips of columns from the diagonal down, one after the other."""
        self.pivot, self.side, *self.onward = (
            self.numbers[start:end].reshape(shape)
            for start, end, shape in zip(self._offsets, self._offsets[1:], shapes, strict=False)
        )
        self.inverse, self.beside = np.zeros((b, p, p), dtype=Single), np.zeros((b, p, q), dtype=Single)
        """L⁻¹ of the pivots LLᵀ, and L⁻¹ sideᵀ: the factor."""
        self.scratch = [np.empty_like(part) for part in self.onward] if halves is not None else []
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
        self._source = level.source

    def blocks(self, front: Ints, row: Ints, column: Ints) -> Shorts:
        """Where in `numbers` the blocks of vertices (row, column) of fronts stand, each (k,), own vertices before later
        ones and no row before its column: (k, 9)."""
        kind = column + self._starts.shape[1] // 2 * (row >= self.p // 3)
        first, area, width = (table.take(kind, mode="clip") for table in self._starts)
        at = first + front.astype(np.int32) * area + row.astype(np.int32) * (3 * width)
        rows, columns = (part.astype(np.int32) for part in (np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)))
        places: Shorts = at[:, None] + (width[:, None] * rows + columns)
        return places

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
        side = np.stack([self._offsets[1] - p * p + mine, np.full(own, q * p), np.full(own, p)])
        width = end - start
        onward = np.stack([self._offsets[2 + strip] - (p + start) * width + later - start, (q - start) * width, width])
        starts: Shorts = np.concatenate([pivot, onward, side, onward], axis=1).astype(np.int32)
        return starts

    def arriving(self) -> Numbers:
        """What fronts take from their halves."""
        assert self.halves is not None
        found = []
        for side, source in enumerate(self._source):
            front, row, column = _pairs(source >= 0)
            at = self.halves.blocks(
                2 * front + side, self.halves.p // 3 + source[front, row], self.halves.p // 3 + source[front, column]
            )
            found.append((front, self.blocks(front, row, column), at))
        fronts, targets, sources = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return fronts, targets, sources


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


class _Share:
    """Some `fronts` of a level; of all that goes into it `entries` of the matrix and `arrivals` from its halves."""

    def __init__(self, stack: _Stack, fronts: slice, entries: Numbers, arrivals: Numbers | None) -> None:
        self.stack, self.fronts = stack, fronts
        self._entries = _added(fronts, entries)
        self._arrivals: Added | None = None
        if stack.halves is not None and arrivals is not None:
            # Leaves have nothing to take their products from, and pass on the products themselves.
            sign = -1.0 if stack.halves.halves is None else 1.0
            self._arrivals = _added(fronts, arrivals, sign)
        size = stack.p * stack.p
        inside = (stack.padded >= fronts.start * size) & (stack.padded < fronts.stop * size)
        self._padded = stack.padded[inside]

    def eliminate(self, values: Singles) -> None:
        """Factor the fronts, given the numbers of the matrix, (9 (e + n),)."""
        stack, some = self.stack, self.fronts
        pivot, side, inverse, beside = (part[some] for part in (stack.pivot, stack.side, stack.inverse, stack.beside))
        onward = [part[some] for part in stack.onward]
        pivot.fill(0.0)
        side.fill(0.0)
        if stack.halves is not None and self._arrivals is not None:
            for part in onward:
                part.fill(0.0)
            self._arrivals(stack.halves.numbers, stack.numbers)
        self._entries(values, stack.numbers)
        stack.pivot.reshape(-1)[self._padded] = 1.0
        try:
            lower = np.linalg.cholesky(pivot)
        except np.linalg.LinAlgError:
            raise NotDefinite from None
        _invert_lower(lower, inverse, one_by_one=stack.count <= FEW)
        np.matmul(inverse, side.transpose(0, 2, 1), out=beside)
        turned = beside.transpose(0, 2, 1)
        if stack.halves is None:
            for (c, d), part in zip(stack.strips, onward, strict=True):
                np.matmul(turned[:, c:], beside[:, :, c:d], out=part)
            return
        for (c, d), part, whole in zip(stack.strips, onward, stack.scratch, strict=True):
            product = whole[some]
            np.matmul(turned[:, c:], beside[:, :, c:d], out=product)
            part -= product


def _added(fronts: slice, numbers: Numbers, sign: float = 1.0) -> Added:
    """What of some numbers goes to some fronts."""
    front, targets, sources = numbers
    mine = (front >= fronts.start) & (front < fronts.stop)
    if not mine.all():
        targets, sources = targets[mine], sources[mine]
    return Added(targets.ravel(), sources.ravel(), sign)


class TreeFactor:
    """Factors of symmetric matrices of one pattern: 3 × 3 blocks at `edges` (e, 2) and at all n vertices.

    `positions` (n, 3) say which vertices are near each other. A factor lasts until the next.
    """

    def __init__(self, edges: Ints, positions: Floats) -> None:
        self._edges, self._positions = edges, positions
        self._vertex_count = len(positions)
        self._stacks: list[_Stack] = []
        self._halves: tuple[list[_Share], list[_Share]] = ([], [])
        """Of either half of the mesh, from the leaves up."""
        self._joined: list[_Share] = []

    def prepare(self) -> Iterator[None]:
        """Cut the mesh and make room, once and before all else; in pieces, since callers may want to be heard."""
        if self._stacks:
            return
        tree = bisected(self._edges, self._positions)
        yield
        threaded = one_thread_possible() and sum(map(_products, tree.levels)) >= THREADED
        for i, level in enumerate(tree.levels):
            stack = _Stack(level, self._vertex_count, self._stacks[-1] if self._stacks else None)
            entries = _entries(tree, i, stack, self._edges)
            arrivals = stack.arriving() if stack.halves is not None else None
            if threaded and stack.count > 1:
                half = stack.count // 2
                for shares, some in zip(self._halves, (slice(0, half), slice(half, stack.count)), strict=True):
                    shares.append(_Share(stack, some, entries, arrivals))
            else:
                self._joined.append(_Share(stack, slice(0, stack.count), entries, arrivals))
            self._stacks.append(stack)
            yield

    def factor(self, values: Singles) -> None:
        """Factor the matrix with blocks `values` (9, e + n): of the edges, rows of whose first vertices and columns of
        whose second they are, then of the vertices. Raises `NotDefinite`."""
        flat = values.reshape(-1)
        with one_thread():
            if self._halves[1]:
                other = _helper().submit(_eliminate, self._halves[1], flat)
                try:
                    _eliminate(self._halves[0], flat)
                finally:
                    wait([other])
                other.result()
            _eliminate(self._joined, flat)
        # LAPACK takes what is not a number for a pivot like any other; it comes up to the last front.
        if not np.isfinite(self._stacks[-1].inverse).all():
            raise NotDefinite

    def solve(self, right: Floats) -> Floats:
        """Solution (n, 3), by columns, for one right-hand side."""
        with one_thread():
            return self._solved(right)

    def _solved(self, right: Floats) -> Floats:
        n = self._vertex_count
        padded = np.zeros((3, n + 1), dtype=Single)
        padded[:, :n] = right.T
        x = padded.reshape(-1)
        done: list[Singles] = []
        passed = np.zeros(1, dtype=Single)
        for stack in self._stacks:
            own, size = x.take(stack.own, mode="clip"), stack.count * stack.q
            # What is passed on, and a zero for what is not there.
            onward = np.zeros(size + 1, dtype=Single)
            below = onward[:size].reshape(stack.count, stack.q)
            for spots in stack.spots:
                arriving = passed.take(spots, mode="clip")
                own += arriving[:, : stack.p]
                below += arriving[:, stack.p :]
            part = np.matmul(stack.inverse, own[:, :, None])
            below -= np.matmul(part.transpose(0, 2, 1), stack.beside)[:, 0]
            passed = onward
            done.append(part)
        for stack, part in zip(reversed(self._stacks), reversed(done), strict=True):
            part -= np.matmul(stack.beside, x.take(stack.below, mode="clip")[:, :, None])
            x[stack.own] = np.matmul(part.transpose(0, 2, 1), stack.inverse)[:, 0]
            padded[:, n] = 0.0
        return padded[:, :n].astype(np.float64).T


def _eliminate(shares: list[_Share], values: Singles) -> None:
    for share in shares:
        share.eliminate(values)


@cache
def _helper() -> ThreadPoolExecutor:
    """A thread beside the caller's."""
    return ThreadPoolExecutor(1, thread_name_prefix="shellcore")


def _entries(tree: Bisection, i: int, stack: _Stack, edges: Ints) -> Numbers:
    """What fronts of level i take from the matrix."""
    count, own = len(edges) + len(tree.level), stack.p // 3
    row, column = np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)
    mine = np.flatnonzero(tree.level == i)
    place = tree.place[mine]
    found = [(tree.part[mine], place, place, (3 * row + column) * count + len(edges) + mine[:, None])]
    first, second = edges.T
    for r, c, block in ((first, second, 3 * row + column), (second, first, 3 * column + row)):
        # The row is eliminated after the column, or both in one front.
        inside = np.flatnonzero((tree.level[r] == i) & (tree.level[c] == i) & (tree.place[r] > tree.place[c]))
        found.append(
            (tree.part[c[inside]], tree.place[r[inside]], tree.place[c[inside]], block * count + inside[:, None])
        )
        ahead = np.flatnonzero((tree.level[r] > i) & (tree.level[c] == i))
        part = tree.part[c[ahead]]
        below = own + np.nonzero(tree.levels[i].below[part] == r[ahead][:, None])[1]
        found.append((part, below, tree.place[c[ahead]], block * count + ahead[:, None]))
    fronts, rows, columns, sources = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return fronts, stack.blocks(fronts, rows, columns), sources.astype(np.int32)


def _scalars(places: Ints) -> Ints:
    """Places of the three unknowns of vertices at `places` (b, k), −1 where there is none, (b, 3k)."""
    thrice = np.where(places[:, :, None] >= 0, 3 * places[:, :, None] + np.arange(3), -1)
    return thrice.reshape(len(places), -1)


def _invert_lower(lower: Singles, inverse: Singles, one_by_one: bool) -> None:
    """Inverses of lower triangles (b, p, p), p a multiple of BASE, into the lower half of `inverse`."""
    b, p, _ = lower.shape
    if p == 0:
        # LAPACK complains of empty matrices on the console.
        return
    if one_by_one:
        for triangle, into in zip(lower, inverse, strict=True):
            # By columns it is the upper triangle of the transpose.
            into[...] = strtri(triangle.T, lower=0)[0].T
        return
    steps = np.arange(p // BASE)
    # All small triangles on the diagonals at once, entry by entry: (BASE, BASE, p / BASE, b).
    small = lower.reshape(b, len(steps), BASE, len(steps), BASE)[:, steps, :, steps, :].transpose(2, 3, 0, 1).copy()
    inverted = np.zeros_like(small)
    for i in range(BASE):
        scale = 1.0 / small[i, i]
        inverted[i, i] = scale
        if i:
            inverted[i, :i] = -scale * np.einsum("k...,kj...->j...", small[i, :i], inverted[:i, :i])
    corners = inverted.transpose(2, 3, 0, 1).copy()
    for step, corner in zip(steps.tolist(), corners, strict=True):
        a, z = BASE * step, BASE * (step + 1)
        inverse[:, a:z, a:z] = corner
        if step:
            np.matmul(-corner, np.matmul(lower[:, a:z, :a], inverse[:, :a, :a]), out=inverse[:, a:z, :a])
