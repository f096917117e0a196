"""Cholesky factors by dense fronts: for matrices that change while their pattern stays.

Nearly all work is in dense kernels, on memory laid out once for a pattern (`fronts.py`). What these are called with is
made ready once, too: a factor is one pass through a list of calls.
"""

from __future__ import annotations

import ctypes
import weakref
from concurrent.futures import wait
from functools import cache
from typing import Any

import numpy as np

from ..types import Floats, Ints, Singles
from .blas import DOUBLE, DOUBLE_FREE, SINGLE, SINGLE_FREE
from .fronts import Elimination, Front
from .threads import helper, workers
from .vectors import Adding, add_at

# Multiplications of a factor from which a second thread pays, and of a front from which it may run meanwhile.
SHARED, LARGE = 2e7, 2e5


class NotDefinite(Exception):
    """A pivot is not positive: that of `unknown`, after all that is eliminated before it."""

    def __init__(self, unknown: int) -> None:
        super().__init__(f"the pivot of unknown {unknown} is not positive")
        self.unknown = unknown


class Cholesky:
    """LLᵀ of a symmetric positive definite matrix, given what it stores in the pattern of `plan`.

    Raises `NotDefinite` of another, at the first pivot that is not positive. `single`: in single precision, at half
    the time.
    """

    def __init__(self, plan: Elimination, data: Floats | Singles, single: bool = False) -> None:
        self._plan = plan
        self._workspace = _spare(plan, single)
        try:
            self._workspace.factor(plan.numbers_of(data))
        except NotDefinite:
            # What is not a number must not wait there for the next.
            self._workspace.numbers.fill(0.0)
            plan.spare.append(self._workspace)
            raise
        weakref.finalize(self, plan.spare.append, self._workspace)

    def solve(self, right: Floats) -> Floats:
        """Solution for one (n,) or several (n, k) right-hand sides."""
        if right.ndim == 2:
            return np.stack([self.solve(column) for column in right.T], axis=1)
        solution = np.empty(len(right))
        solution[self._plan.order] = self._workspace.solved(right[self._plan.order])
        return solution


def _spare(plan: Elimination, single: bool) -> _Workspace:
    """One that no factor uses any more, or a new one."""
    workspace: _Workspace
    for i, workspace in enumerate(plan.spare):
        if workspace.single == single:
            del plan.spare[i]
            return workspace
    return _Workspace(plan, single)


class _Workspace:
    """Room for one factor, and all calls that fill it and solve with it."""

    def __init__(self, plan: Elimination, single: bool) -> None:
        self.single = single
        self._kernels, self._beside_others = (SINGLE, SINGLE_FREE) if single else (DOUBLE, DOUBLE_FREE)
        self._make = _Arguments(np.float32 if single else np.float64)
        self._fronts, self._order = plan.fronts, plan.order
        self.numbers: Any = _taken(max(plan.room, 1), self._make.dtype)
        weakref.finalize(self, _left, self.numbers)
        widest = max((len(front.below) for front in plan.fronts), default=0)
        self._x: Any = self._make.zeros(plan.size)
        self._beside: Any = self._make.zeros(widest)
        self._infos = np.zeros(len(plan.fronts), dtype=np.int32)
        own = [front.panel + np.arange(front.own) * (front.rows + 1) for front in plan.fronts]
        self._diagonal = np.concatenate([*own, np.zeros(0, dtype=np.int64)])
        self._flops = plan.flops
        self._steps = [[self._step(i, *plan.entries(i)) for i in fronts] for fronts in (*plan.halves, plan.rest)]
        self._solves = [self._solve(plan.fronts[i]) for i in plan.sequence]

    def factor(self, data: Floats | Singles) -> None:
        """Work through all fronts of the matrix with these numbers."""
        numbers = self.numbers
        first, second, rest = self._steps
        self._failed = False
        if workers() > 1 and self._flops >= SHARED:
            other = helper().submit(self._eliminate, second, data)
            try:
                self._eliminate(first, data)
            finally:
                wait([other])
            other.result()
        else:
            self._eliminate(first, data)
            self._eliminate(second, data)
        self._eliminate(rest, data)
        # What is not a number passes for a pivot, and comes up to the last front.
        fine = np.isfinite(numbers.take(self._diagonal))
        if not fine.all():
            raise NotDefinite(int(self._order[np.flatnonzero(~fine)[0]]))

    def _eliminate(self, steps: list[Any], data: Floats | Singles) -> None:
        """Factor some fronts."""
        numbers, infos = self.numbers, self._infos
        for i, panel, targets, sources, kernels, into_panel, pivot, side, onward, into_passed in steps:
            potrf, trsm, syrk = kernels
            # Front by front it stays in the cache.
            panel.fill(0.0)
            panel[targets] = data.take(sources, axis=0)
            if len(into_panel[0]):
                add_at(numbers, *into_panel)
            potrf(*pivot)
            if infos[i]:
                self._failed = True
                raise NotDefinite(int(self._order[self._fronts[i].start + infos[i] - 1]))
            if self._failed:
                return
            if side is not None:
                trsm(*side)
                syrk(*onward)
                if len(into_passed[0]):
                    add_at(numbers, *into_passed)

    def solved(self, right: Floats) -> Any:
        """Solution in the order of elimination; lasts until the next."""
        x = self._x
        x[:] = right
        gemv, trsv = self._kernels.gemv, self._kernels.trsv
        for forward, _, part, added, across, _, _ in self._solves:
            trsv(*forward)
            if across is not None:
                gemv(*across)
                added(part, x)
        for _, below, part, _, _, back, backward in reversed(self._solves):
            if back is not None:
                x.take(below, out=part, mode="clip")
                gemv(*back)
            trsv(*backward)
        return x

    def _step(self, i: int, run: int, targets: Ints, sources: Ints) -> tuple[Any, ...]:
        """What it takes to factor front i, given what it takes from the matrix: additions and calls."""
        front, make = self._fronts[i], self._make
        p, m, q = (make.whole(number) for number in (front.own, front.rows, len(front.below)))
        top, beside, onward = (
            make.at(self.numbers, place) for place in (front.panel, front.panel + front.own, front.passed)
        )
        pivot = (make.lower, p, top, m, make.at(self._infos, i))
        side = next_ = None
        if len(front.below):
            side = (make.right, make.lower, make.turned, make.plain, q, p, make.one, top, m, beside, m)
            next_ = (make.lower, make.plain, q, p, make.less, beside, m, make.nothing, onward, q)
        kernels = self._kernels if front.work < LARGE else self._beside_others
        called = kernels.potrf, kernels.trsm, kernels.syrk
        flat = self.numbers[front.panel : front.panel + front.own * front.rows]
        panel = flat if run == 1 else flat.reshape(-1, run)
        return (
            i,
            panel,
            targets,
            sources,
            called,
            front.into_panel,
            pivot,
            side,
            next_,
            front.into_passed,
        )

    def _solve(self, front: Front) -> tuple[Any, ...]:
        """What it takes to solve with a front, forward and backward."""
        make = self._make
        p, m, q = (make.whole(number) for number in (front.own, front.rows, len(front.below)))
        top, side = (make.at(self.numbers, place) for place in (front.panel, front.panel + front.own))
        x, rest, step = make.at(self._x, front.start), make.at(self._beside, 0), make.whole(1)
        forward, backward = ((make.lower, way, make.plain, p, top, m, x, step) for way in (make.plain, make.turned))
        across = back = None
        if len(front.below):
            across = (make.plain, q, p, make.less, side, m, x, step, make.nothing, rest, step)
            back = (make.turned, q, p, make.less, side, m, rest, step, make.one, x, step)
        added = Adding(front.below, self._make.dtype)
        return forward, front.below, self._beside[: len(front.below)], added, across, back, backward


# Rooms that are free: those of new pages, asked of the system and cleared by it, take as long as a factor.
_ROOMS: list[Any] = []
_KEPT = 2


def _taken(count: int, dtype: Any) -> Any:
    """Room for so many numbers, whatever they are."""
    for i, room in enumerate(_ROOMS):
        if room.dtype == dtype and count <= len(room) <= 4 * count:
            return _ROOMS.pop(i)[:count]
    return np.zeros(count, dtype=dtype)


def _left(numbers: Any) -> None:
    """Keep a room for others."""
    _ROOMS.insert(0, numbers if numbers.base is None else numbers.base)
    del _ROOMS[_KEPT:]


class _Arguments:
    """Addresses of what Fortran functions ask for."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        # Asking an array for its address takes longer than all else here.
        self._starts: dict[int, int] = {}
        self._kept: list[Any] = []
        self._scalars = np.array([1.0, -1.0, 0.0], dtype=dtype)
        self.one, self.less, self.nothing = (self.at(self._scalars, i) for i in range(3))
        self.right, self.lower, self.turned, self.plain = (
            ctypes.c_char_p(letter) for letter in (b"R", b"L", b"T", b"N")
        )
        self.whole = cache(lambda value: ctypes.byref(ctypes.c_int(value)))

    def zeros(self, count: int) -> Any:
        """Room for at least one number: what is empty has no address."""
        return np.zeros(max(count, 1), dtype=self.dtype)

    def at(self, numbers: Any, place: int) -> Any:
        """Where a number of an array lies."""
        start = self._starts.get(id(numbers))
        if start is None:
            start = self._starts[id(numbers)] = numbers.ctypes.data
            self._kept.append(numbers)
        return ctypes.c_void_p(start + numbers.itemsize * place)
