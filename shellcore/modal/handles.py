"""Handles: what a user takes a shell by, and the report of how it went."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Protocol

import numpy as np

from ..errors import ShellError
from ..types import Bools, Floats, Ints

_UNIT = np.eye(3)


class Owner(Protocol):
    """What a handle needs of the constraints it belongs to."""

    misses: Floats
    world_forces: Floats

    def retarget(self, handle: Handle) -> None:
        """Take over a new target."""

    def remove(self, handle: Handle) -> None:
        """Let go."""


class Handle:
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

    def _checked(self, target: Any) -> Floats:
        raise NotImplementedError


class PositionHandle(Handle):
    """Takes vertices to points [m]: (k, 3) each to its own, or (3,): their mean to one."""

    kind = "position"

    def _checked(self, target: Any) -> Floats:
        goal = np.array(target, dtype=np.float64)
        if goal.shape not in ((3,), (len(self.vertices), 3)) or not isfinite(goal.sum()):
            raise ShellError(
                f"a position handle on {len(self.vertices)} vertices takes a finite target (3,) or "
                f"({len(self.vertices)}, 3), not {goal.shape}"
            )
        return goal


class OrientationHandle(Handle):
    """Turns vertices, in the mean, by a rotation away from their rest orientation: (3, 3) matrix."""

    kind = "orientation"

    def _checked(self, target: Any) -> Floats:
        turn = np.array(target, dtype=np.float64)
        proper = turn.shape == (3, 3) and np.abs(turn @ turn.T - _UNIT).max() < 1e-5 and np.linalg.det(turn) > 0
        if not proper:
            raise ShellError("an orientation handle takes a 3 × 3 rotation matrix")
        return turn

    @property
    def count(self) -> int:
        return 1


@dataclass
class HandleReport:
    """How the last step met its handles: rows of constraint, iterations, worst misses [m], [rad], and the hard handles
    that missed because they ask for what the modes, or each other, do not allow."""

    rows: int = 0
    iterations: int = 0
    distance: float = 0.0
    angle: float = 0.0
    conflicts: list[Handle] = field(default_factory=list)
    cut: bool = False
    """Whether the motion was cut because a node would have turned beyond all sense."""

    def __str__(self) -> str:
        if not self.conflicts:
            return f"{self.rows} constraint rows met in {self.iterations} iterations"
        named = "; ".join(f"{h.kind} handle at vertex {h.vertices[0]} misses by {h.error:.3g}" for h in self.conflicts)
        return f"{len(self.conflicts)} handles cannot be met: {named}"


def _stiffness(value: Any, rows: int) -> Floats | None:
    if value is None:
        return None
    strength = np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), (rows,)))
    if not (np.isfinite(strength).all() and (strength > 0).all()):
        raise ShellError("the stiffness of a handle must be finite and positive; None holds exactly")
    return strength
