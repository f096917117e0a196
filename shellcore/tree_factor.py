"""Cholesky factors of Hessians of sheets, in single precision: all fronts of a level at once.

The Hessian of a membrane couples the vertices of each triangle by 3 × 3 blocks. Its pattern never changes and comes
from a surface, so the tree of parts that `bisection.py` cuts is full, and parts of one depth are nearly alike:
padded to one size they are stacks of dense matrices, and a level is a dozen calls of numpy. Parts take from their two
halves what those pass on by one gather each. The two halves of the mesh do not meet before the last front: a thread
each.

A Newton step is checked by what it does to the energy, so six digits are plenty, at half the cost of twelve. At 1.6k /
6.4k vertices a factor takes 6 / 22 ms, a solution 0.5 / 2; `fronts.py`, which takes any matrix, 10 / 50 and 2 / 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.linalg.lapack import strtri

from .bisection import Bisection, Level, bisected
from .one_thread import one_thread, one_thread_possible
from .types import Floats, Ints, Singles

# Triangles that are inverted in closed form.
BASE = 6
# Fronts of a level up to which they are inverted one by one.
FEW = 24
# Only the lower half of what a front passes on is kept, in strips of columns as wide as this, but no more than so many.
STRIP, STRIPS = 48, 4

# Vertices from which a second thread pays: 6.4k take 23 instead of 33 ms, 25.6k 100 instead of 180, 1.6k 8 instead of
# 6. Not where BLAS may use threads of its own: then each waits for the other's (90 ms).
THREADED = 4000

Single = np.float32


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
        self.pivot, self.side = np.zeros((b, p, p), dtype=Single), np.zeros((b, q, p), dtype=Single)
        """Blocks (own, own), of which the lower half counts, and (later, own)."""
        self.inverse, self.beside = np.zeros((b, p, p), dtype=Single), np.zeros((b, p, q), dtype=Single)
        """L⁻¹ of the pivots LLᵀ, and L⁻¹ sideᵀ: the factor."""
        width = max(STRIP, 3 * -(-q // (3 * STRIPS)))
        self.strips = [(c, min(c + width, q)) for c in range(0, q, width)]
        sizes = [b * (q - c) * (d - c) for c, d in self.strips]
        self._offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.passed = np.zeros(int(self._offsets[-1]) + 3, dtype=Single)
        """What fronts pass on, (later, later): strips of columns from the diagonal down, one after the other; zeros."""
        self.onward = [
            self.passed[at : at + size].reshape(b, q - c, d - c)
            for at, size, (c, d) in zip(self._offsets, sizes, self.strips, strict=False)
        ]
        self.rooms = [np.empty_like(part) for part in (self.pivot, self.side, *self.onward)]
        """Scratch."""
        empty = np.argwhere(level.own == vertex_count)
        corner = 3 * empty[:, 1:] + np.arange(3)
        self.padded = ((empty[:, :1] * p + corner) * p + corner).ravel()
        """Diagonal of what is not there: ones."""
        self.entries: list[tuple[Ints, Ints]] = []
        """Where numbers of the matrix go in pivots and sides, and which."""
        self.gathers: list[list[Ints]] = []
        """Where in `passed` of its halves, first and second, a front finds what belongs in pivot, side and strips, in
        threes: a third of the indices, for the same time."""
        self.spots: list[Ints] = []
        """The same for vectors (later)."""
        for side, source in enumerate(level.source if halves is not None else ()):
            assert halves is not None
            own, later = source[:, : p // 3], source[:, p // 3 :]
            strips = [(later[:, c // 3 :], later[:, c // 3 : d // 3]) for c, d in self.strips]
            blocks = [(own, own), (later, own), *strips]
            self.gathers.append([halves.places(side, rows, columns) for rows, columns in blocks])
            front, place = 2 * np.arange(b)[:, None] + side, _scalars(source)
            self.spots.append(np.where(place >= 0, front * halves.q + place, halves.count * halves.q))

    def share(self, first: int, last: int) -> _Share:
        """Fronts `first` to `last` alone."""
        sizes = (self.p * self.p, self.q * self.p)
        entries = []
        for (target, source), size in zip(self.entries, sizes, strict=True):
            mine = (target >= first * size) & (target < last * size)
            entries.append((target[mine], source[mine]))
        padded = self.padded[(self.padded >= first * sizes[0]) & (self.padded < last * sizes[0])]
        return _Share(self, slice(first, last), entries, padded)

    def places(self, side: int, rows: Ints, columns: Ints) -> Ints:
        """Where the blocks of later vertices (rows, columns), (c, r) and (c, s), of every other front stand in
        `passed`, in threes: each row of a block, (c, 3r, s). Zeros for −1, and above the diagonal, where nothing is
        asked for."""
        c, r, s = len(rows), rows.shape[1], columns.shape[1]
        if not self.strips:
            return np.zeros((c, 3 * r, s), dtype=np.int64)
        widths = np.diff(self.strips, axis=1).ravel() // 3
        strip = np.repeat(np.arange(len(widths)), widths)
        start, width = np.array(self.strips)[strip, 0], widths[strip]
        first = self._offsets[strip] // 3 - start * width + np.arange(len(strip)) - start // 3
        area = (self.q - start) * width
        front = (2 * np.arange(c) + side)[:, None, None]
        row = _scalars(rows)[:, :, None]
        column = columns[:, None, :]
        found: Ints = first[column] + front * area[column] + row * width[column]
        found[(column < 0) | (row < 3 * column)] = len(self.passed) // 3 - 1
        return found


def _unknowns(vertices: Ints, count: int) -> Ints:
    """Unknowns of vertices (b, k) as places in components (3, count), (b, 3k)."""
    places: Ints = (vertices[:, :, None] + count * np.arange(3)).reshape(len(vertices), -1)
    return places


@dataclass
class _Share:
    """Some fronts of a level, what of the matrix goes into them, and their padding."""

    stack: _Stack
    fronts: slice
    entries: list[tuple[Ints, Ints]]
    padded: Ints

    def eliminate(self, values: Singles) -> None:
        """Factor the fronts, given the numbers of the matrix, (9 (e + n),)."""
        stack, some = self.stack, self.fronts
        pivot, side, inverse, beside = (part[some] for part in (stack.pivot, stack.side, stack.inverse, stack.beside))
        onward, rooms = [part[some] for part in stack.onward], [room[some] for room in stack.rooms]
        if stack.halves is None:
            pivot.fill(0.0)
            side.fill(0.0)
        else:
            passed = stack.halves.passed.reshape(-1, 3)
            for part, room, first, second in zip([pivot, side, *onward], rooms, *stack.gathers, strict=True):
                threes = (*first[some].shape, 3)
                passed.take(first[some], axis=0, mode="clip", out=part.reshape(threes))
                passed.take(second[some], axis=0, mode="clip", out=room.reshape(threes))
                part += room
        for whole, (target, source) in zip((stack.pivot, stack.side), self.entries, strict=True):
            whole.reshape(-1)[target] += values.take(source, mode="clip")
        stack.pivot.reshape(-1)[self.padded] = 1.0
        try:
            lower = np.linalg.cholesky(pivot)
        except np.linalg.LinAlgError:
            raise NotDefinite from None
        _invert_lower(lower, inverse, one_by_one=stack.count <= FEW)
        np.matmul(inverse, side.transpose(0, 2, 1), out=beside)
        turned = beside.transpose(0, 2, 1)
        for (c, d), part, room in zip(stack.strips, onward, rooms[2:], strict=True):
            np.matmul(turned[:, c:], beside[:, :, c:d], out=room)
            if stack.halves is None:
                np.negative(room, out=part)
            else:
                part -= room


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
        for i, level in enumerate(tree.levels):
            stack = _Stack(level, self._vertex_count, self._stacks[-1] if self._stacks else None)
            stack.entries = _entries(tree, i, stack, self._edges)
            last = i == len(tree.levels) - 1
            if self._vertex_count >= THREADED and one_thread_possible() and not last:
                half = stack.count // 2
                for share, part in zip(
                    self._halves, (stack.share(0, half), stack.share(half, stack.count)), strict=True
                ):
                    share.append(part)
            else:
                self._joined.append(stack.share(0, stack.count))
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
        passed = np.zeros(0, dtype=Single)
        for stack in self._stacks:
            own, below = x[stack.own], np.zeros((stack.count, stack.q), dtype=Single)
            for spots in stack.spots:
                arriving = passed.take(spots, mode="clip")
                own += arriving[:, : stack.p]
                below += arriving[:, stack.p :]
            part = np.matmul(stack.inverse, own[:, :, None])
            below -= np.matmul(part.transpose(0, 2, 1), stack.beside)[:, 0]
            passed = np.append(below.reshape(-1), Single(0.0))
            done.append(part)
        for stack, part in zip(reversed(self._stacks), reversed(done), strict=True):
            part -= np.matmul(stack.beside, x[stack.below][:, :, None])
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


def _entries(tree: Bisection, i: int, stack: _Stack, edges: Ints) -> list[tuple[Ints, Ints]]:
    """Where numbers of the matrix go in the pivots and in the sides of level i, and which go there."""
    count = len(edges) + len(tree.level)
    row, column = np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)
    mine = np.flatnonzero(tree.level == i)
    spot = 3 * tree.place[mine]
    to_pivot = [_target(tree.part[mine], spot, spot, stack.p, stack.p)]
    from_pivot = [(3 * row + column)[None, :] * count + len(edges) + mine[:, None]]
    to_side, from_side = [], []
    first, second = edges.T
    for r, c, block in ((first, second, 3 * row + column), (second, first, 3 * column + row)):
        # The row is eliminated after the column, or both in one front.
        inside = np.flatnonzero((tree.level[r] == i) & (tree.level[c] == i) & (tree.place[r] > tree.place[c]))
        spots = 3 * tree.place[r[inside]], 3 * tree.place[c[inside]]
        to_pivot.append(_target(tree.part[c[inside]], *spots, stack.p, stack.p))
        from_pivot.append(block[None, :] * count + inside[:, None])
        ahead = np.flatnonzero((tree.level[r] > i) & (tree.level[c] == i))
        part = tree.part[c[ahead]]
        below = 3 * np.nonzero(tree.levels[i].below[part] == r[ahead][:, None])[1]
        to_side.append(_target(part, below, 3 * tree.place[c[ahead]], stack.q, stack.p))
        from_side.append(block[None, :] * count + ahead[:, None])
    return [
        (np.concatenate([part.ravel() for part in to]), np.concatenate([part.ravel() for part in source]))
        for to, source in ((to_pivot, from_pivot), (to_side, from_side))
    ]


def _target(front: Ints, row: Ints, column: Ints, height: int, width: int) -> Ints:
    """Places of the nine numbers of blocks at (row, column) of (height, width) fronts, (blocks, 9)."""
    inner_row, inner_column = np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)
    rows, columns = row[:, None] + inner_row, column[:, None] + inner_column
    places: Ints = (front[:, None] * height + rows) * width + columns
    return places


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
        for j in range(i):
            inverted[i, j] = -scale * np.einsum("k...,k...->...", small[i, j:i], inverted[j:i, j])
    corners = inverted.transpose(2, 3, 0, 1).copy()
    for step, corner in zip(steps.tolist(), corners, strict=True):
        a, z = BASE * step, BASE * (step + 1)
        inverse[:, a:z, a:z] = corner
        if step:
            np.matmul(-corner, np.matmul(lower[:, a:z, :a], inverse[:, :a, :a]), out=inverse[:, a:z, :a])
