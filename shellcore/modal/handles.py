"""Handles: what a user takes a shell by, and the report of how it went."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import isfinite
from typing import Any, Protocol

import numpy as np

from ..checks import floats
from ..errors import ShellError
from ..pins import per_item
from ..types import Bools, Floats, Ints


class Owner(Protocol):
    """What a handle needs of the constraints it belongs to."""

    handles: list[Handle]
    limits: dict[str, float]

    @property
    def misses(self) -> Floats:
        """Of every prescribed vector, (rows, 3)."""

    @property
    def world_forces(self) -> Floats:
        """The same of forces."""

    def retarget(self, handle: Handle) -> None:
        """Take over a new target."""

    def remove(self, handle: Handle) -> None:
        """Let go."""


class Handle(ABC):
    """One constraint; `target` may be set anew at any time."""

    kind = ""

    def __init__(self, owner: Owner, vertices: Ints, target: Any, stiffness: Any, axes: Bools) -> None:
        self.vertices = vertices
        self.axes = axes
        self._owner = owner
        self._goal: Floats = self._checked(target)
        self.rows = slice(0, 0)
        """Where its vectors are among those of all handles; none once released."""
        self.stiffness = _stiffness(stiffness, self.count)

    @property
    def count(self) -> int:
        """How many vectors it prescribes."""
        return len(np.atleast_2d(self._goal))

    @property
    def target(self) -> Floats:
        """Where it should be."""
        return self._goal

    @target.setter
    def target(self, value: Any) -> None:
        goal = self._checked(value)
        if goal.shape != self._goal.shape:
            raise ShellError(f"the {self.kind} handle has targets of shape {self._goal.shape}, not {goal.shape}")
        self._goal = goal
        self._owner.retarget(self)

    @property
    def hard(self) -> bool:
        """Whether it holds exactly."""
        return self.stiffness is None

    @property
    def error(self) -> float:
        """How far it missed in the last step, at worst: [m], or [rad]."""
        return float(np.sqrt((self._owner.misses[self.rows] ** 2).sum(axis=1)).max(initial=0.0))

    @property
    def force(self) -> Floats:
        """What it took in the last step: forces [N], or a moment [N·m], (count, 3) in world axes."""
        return self._owner.world_forces[self.rows]

    def release(self) -> None:
        """Let go."""
        self._owner.remove(self)

    @abstractmethod
    def _checked(self, target: Any) -> Floats:
        """The target as an array, or a `ShellError` that says what is wrong with it."""


class PositionHandle(Handle):
    """Takes vertices to points [m]: (k, 3) each to its own, or (3,): their mean to one."""

    kind = "position"

    def _checked(self, target: Any) -> Floats:
        try:
            goal = np.array(target, dtype=np.float64)
        except (TypeError, ValueError):
            goal = np.empty(0)
        if goal.shape == (3,):
            x, y, z = goal.tolist()
            total = x + y + z  # quicker than the array's own sum, and this runs at every move
        else:
            total = float(goal.sum()) if goal.shape == (len(self.vertices), 3) else np.nan
        if not isfinite(total):
            raise ShellError(
                f"a position handle on {len(self.vertices)} vertices takes a finite target (3,) or "
                f"({len(self.vertices)}, 3), not {goal.shape}"
            )
        return goal


class OrientationHandle(Handle):
    """Turns vertices, in the mean, by a rotation away from their rest orientation: (3, 3) matrix."""

    kind = "orientation"

    def _checked(self, target: Any) -> Floats:
        turn = floats(target, "an orientation handle's target", "a 3 × 3 rotation matrix")
        if turn.shape != (3, 3) or not _is_rotation(turn):
            raise ShellError("an orientation handle takes a 3 × 3 rotation matrix")
        return turn

    @property
    def count(self) -> int:
        return 1


class HandleReport:
    """How the last step met its handles. What takes time is computed when asked for, until the next step."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self.iterations = 0
        """Of the solve that met them."""
        self.cut = False
        """Whether the motion was cut because a node would have turned beyond all sense."""

    @property
    def rows(self) -> int:
        """How many numbers the handles prescribe."""
        return sum(int(handle.axes.sum()) * handle.count for handle in self._owner.handles)

    @property
    def distance(self) -> float:
        """Worst miss of a position [m]."""
        return max((h.error for h in self._owner.handles if h.kind == "position"), default=0.0)

    @property
    def angle(self) -> float:
        """Worst miss of an orientation [rad]."""
        return max((h.error for h in self._owner.handles if h.kind == "orientation"), default=0.0)

    @property
    def conflicts(self) -> list[Handle]:
        """The hard handles that missed because they ask for what the modes, or each other, do not allow."""
        return [h for h in self._owner.handles if h.hard and h.error > self._owner.limits[h.kind]]

    def __str__(self) -> str:
        conflicts = self.conflicts
        if not conflicts:
            return f"{self.rows} constraint rows met in {self.iterations} iterations"
        named = "; ".join(f"{h.kind} handle at vertex {h.vertices[0]} misses by {h.error:.3g}" for h in conflicts)
        return f"{len(conflicts)} handles cannot be met: {named}"


def _stiffness(value: Any, rows: int) -> Floats | None:
    if value is None:
        return None
    strength = np.array(per_item(value, rows, "the stiffness of a handle"))
    if not (np.isfinite(strength).all() and (strength > 0).all()):
        raise ShellError("the stiffness of a handle must be finite and positive; None holds exactly")
    return strength


def _is_rotation(matrix: Floats) -> bool:
    """Whether two rows are orthonormal and the third is their cross product; in plain numbers, to be quick."""
    (a, b, c), (d, e, f), (g, h, i) = matrix.tolist()
    wrong = abs(a * a + b * b + c * c - 1.0) + abs(d * d + e * e + f * f - 1.0) + abs(a * d + b * e + c * f)
    wrong += abs(b * f - c * e - g) + abs(c * d - a * f - h) + abs(a * e - b * d - i)
    return bool(wrong < 1e-5)
