"""Cholesky factors of Hessians of sheets, in single precision: all fronts of a level at once.

The Hessian of a membrane couples the vertices of each triangle by 3 × 3 blocks. Its pattern never changes and comes
from a surface, so the tree of parts that `bisection.py` cuts is full, and parts of one depth are nearly alike:
padded to one size they are stacks of dense matrices, and a level is a dozen calls of numpy. What its two halves pass on
is added to a part number by number (`vectors.Added`; gathered into whole matrices it took half of all time), from and
to places that are found once (`tree_plan.py`). The two halves of the mesh do not meet before the last front: a thread
each.

A Newton step is checked by what it does to the energy, so six digits are plenty, at half the cost of twelve. At 1.6k /
6.4k vertices a factor takes 4 / 14 ms, a solution 0.3 / 1.1; `fronts.py`, which takes any matrix, 10 / 50 and 2 / 9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache

import numpy as np
from scipy.linalg.lapack import strtri

from .one_thread import one_thread
from .tree_plan import Plan, Share, Stack, planned
from .types import Floats, Ints, Singles

# Triangles that are inverted in closed form.
BASE = 6
# Fronts of a level up to which they are inverted one by one.
FEW = 24
# Vertices from which two threads pay in a solution: 8 → 6 ms at 25.6k, 1.2 → 1.5 at 6.4k.
MANY = 12_000

Single = np.float32


class NotDefinite(Exception):
    """A pivot is not positive."""


class _Room:
    """Room for the numbers of one level."""

    def __init__(self, stack: Stack) -> None:
        self.numbers = np.zeros(int(stack.offsets[-1]), dtype=Single)
        """All that fronts take in, and what they take from later ones, as `Stack` has it."""
        self.pivot, self.side, *self.onward = (
            self.numbers[start:end].reshape(shape)
            for start, end, shape in zip(stack.offsets, stack.offsets[1:], stack.shapes, strict=False)
        )
        b, p, q = stack.count, stack.p, stack.q
        self.inverse, self.beside = np.zeros((b, p, p), dtype=Single), np.zeros((b, p, q), dtype=Single)
        """L⁻¹ of the pivots LLᵀ, and L⁻¹ sideᵀ: the factor."""


class TreeFactor:
    """Factors of symmetric matrices of one pattern: 3 × 3 blocks at `edges` (e, 2) and at all n vertices.

    `positions` (n, 3) say which vertices are near each other. A factor lasts until the next.
    """

    def __init__(self, edges: Ints, positions: Floats) -> None:
        self._edges, self._positions = edges, positions
        self._vertex_count = len(positions)
        self._plan: Plan | None = None
        self._rooms: list[_Room] = []

    def prepare(self) -> Iterator[None]:
        """Cut the mesh and make room, once and before all else; in pieces, since callers may want to be heard."""
        if self._plan is None:
            self._plan = yield from planned(self._edges, self._positions)
            self._rooms = [_Room(stack) for stack in self._plan.stacks]

    def factor(self, values: Singles) -> None:
        """Factor the matrix with blocks `values` (9, e + n): of the edges, rows of whose first vertices and columns of
        whose second they are, then of the vertices. Raises `NotDefinite`."""
        assert self._plan is not None
        flat = values.reshape(-1)
        with one_thread():
            self._by_halves(lambda shares: self._eliminate(shares, flat))
            self._eliminate(self._plan.joined, flat)
        # LAPACK takes what is not a number for a pivot like any other; it comes up to the last front.
        if not np.isfinite(self._rooms[-1].inverse).all():
            raise NotDefinite

    def _eliminate(self, shares: list[Share], values: Singles) -> None:
        """Factor some fronts, given the numbers of the matrix, (9 (e + n),)."""
        for share in shares:
            _eliminate(share, values, self._rooms[share.index], self._rooms[share.index - 1])

    def solve(self, right: Floats) -> Floats:
        """Solution (n, 3), by columns, for one right-hand side."""
        assert self._plan is not None
        n = self._vertex_count
        padded = np.zeros((3, n + 1), dtype=Single)
        padded[:, :n] = right.T
        x = padded.reshape(-1)
        # What each level finds, and passes on, with a zero for what is not there.
        found = [np.empty((stack.count, stack.p, 1), dtype=Single) for stack in self._plan.stacks]
        passed = [np.zeros(stack.count * stack.q + 1, dtype=Single) for stack in self._plan.stacks]
        with one_thread():
            together = n >= MANY
            self._by_halves(lambda shares: self._down(shares, x, found, passed), together)
            self._down(self._plan.joined, x, found, passed)
            self._up(self._plan.joined, x, found)
            self._by_halves(lambda shares: self._up(shares, x, found), together)
        return padded[:, :n].astype(np.float64).T

    def _by_halves(self, work: Callable[[list[Share]], None], together: bool = True) -> None:
        """Have it done for the fronts of both halves of the mesh, in two threads if `together`."""
        assert self._plan is not None
        first, second = self._plan.halves
        if not (second and together):
            work(first)
            work(second)
            return
        other = _helper().submit(work, second)
        try:
            work(first)
        finally:
            wait([other])
        other.result()

    def _down(self, shares: list[Share], x: Singles, found: list[Singles], passed: list[Singles]) -> None:
        """Go through some fronts from the leaves on: L⁻¹ times what is on the right of them, x (3 (n + 1),)."""
        for share in shares:
            p, some, room = share.stack.p, share.fronts, self._rooms[share.index]
            own = x.take(share.own, mode="clip")
            below = passed[share.index][:-1].reshape(share.stack.count, share.stack.q)[some]
            for spots in share.spots:
                arriving = passed[share.index - 1].take(spots, mode="clip")
                own += arriving[:, :p]
                below += arriving[:, p:]
            part = np.matmul(room.inverse[some], own[:, :, None], out=found[share.index][some])
            below -= np.matmul(part.transpose(0, 2, 1), room.beside[some])[:, 0]

    def _up(self, shares: list[Share], x: Singles, found: list[Singles]) -> None:
        """And back: the solution of some fronts into x, where that of later ones stands.

        That of what only fills fronts up is zero, so both halves may write it.
        """
        for share in reversed(shares):
            some, room, part = share.fronts, self._rooms[share.index], found[share.index][share.fronts]
            part -= np.matmul(room.beside[some], x.take(share.below, mode="clip")[:, :, None])
            x[share.own] = np.matmul(part.transpose(0, 2, 1), room.inverse[some])[:, 0]


def _eliminate(share: Share, values: Singles, room: _Room, halves: _Room) -> None:
    """Factor the fronts of a share, given the numbers of the matrix and the `room` of its level and of their halves.

    What a front passes on is what it takes from later fronts, with the sign turned: it is written where it stays, and
    what its halves take is added to it. (Taken from room that was cleared it cost three passes more, 5% of all time.)
    """
    stack, some = share.stack, share.fronts
    pivot, side, inverse, beside = (part[some] for part in (room.pivot, room.side, room.inverse, room.beside))
    pivot.fill(0.0)
    side.fill(0.0)
    if share.taken is not None:
        share.taken(halves.numbers, room.numbers)
    share.entries(values, room.numbers)
    room.pivot.reshape(-1)[share.padded] = 1.0
    try:
        lower = np.linalg.cholesky(pivot)
    except np.linalg.LinAlgError:
        raise NotDefinite from None
    _invert_lower(lower, inverse, one_by_one=stack.count <= FEW)
    np.matmul(inverse, side.transpose(0, 2, 1), out=beside)
    turned = beside.transpose(0, 2, 1)
    for (c, d), part in zip(stack.strips, room.onward, strict=True):
        np.matmul(turned[:, c:], beside[:, :, c:d], out=part[some])
    if share.passed is not None:
        share.passed(halves.numbers, room.numbers)


@cache
def _helper() -> ThreadPoolExecutor:
    """A thread beside the caller's."""
    return ThreadPoolExecutor(1, thread_name_prefix="shellcore")


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
