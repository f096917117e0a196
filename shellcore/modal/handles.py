"""Handles: positions and orientations that the modes are made to reach, and the small dense system that does it.

After the free step a handle's forces λ move the coordinates y (amplitudes, and six of a rigid body where the shell is
free) by C Jᵀλ, C = h²/(1 + h c + h² ω²) being the compliance of a mode over the step and J the derivative of what
the handles measure. So y minimises ½ (y − y*)ᵀ C⁻¹ (y − y*) + ½ ∑ k g², g the miss of each handle and k its stiffness:

    (J C Jᵀ + 1/k) λ = −(g + J (y* − y)),   y ← y* + C Jᵀ λ,

repeated until y rests (Gauss-Newton). A hard handle has a tiny 1/k, so handles that contradict each other
meet in the least-squares sense instead of failing; the report names those that miss.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ShellError
from ..types import Bools, Floats, Ints
from ..vectors import skew
from .warp import inverse_left_jacobian, rotation_matrix, rotation_vector, warp_matrices, warped

# 1/k of a hard handle as a share of what the modes give at its vertex, at rest and within a step: it misses by that
# share of the motion it asks for. Much less would let impossible targets tear the shell in its highest modes.
STATIC, DYNAMIC = 1e-4, 1e-3
# Gauss-Newton iterations a step; an iteration that leaves a miss below this share of the size is the last.
ITERATIONS = 4
CLOSE = 1e-6
# One iteration turns no handle by more than this [rad]: beyond, the linearisation says nothing.
LARGEST_TURN = 1.0
# A hard handle in conflict: misses by more than this share of the shell's size, or this angle [rad].
CONFLICT_SIZE, CONFLICT_ANGLE = 1e-3, 1e-2


class Handle:
    """One constraint. `target` may be set at any time; `error` [m] or [rad] and `force` [N] or [N·m] tell of the
    last step: how far it missed at worst, and what it took, (rows, 3) in world axes."""

    kind = ""

    def __init__(self, owner: Constraints, vertices: Ints, target: Any, stiffness: Any, axes: Bools) -> None:
        self.vertices = vertices
        self.axes = axes
        self.error = 0.0
        self.force = np.zeros((0, 3))
        self._owner = owner
        self._goal: Floats = self._checked(target)
        self.stiffness = _stiffness(stiffness, self.rows)

    @property
    def rows(self) -> int:
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

    @property
    def hard(self) -> bool:
        """Whether it holds exactly."""
        return self.stiffness is None

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
        if goal.shape not in ((3,), (len(self.vertices), 3)) or not np.isfinite(goal).all():
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
        if turn.shape != (3, 3) or not np.allclose(turn @ turn.T, np.eye(3), atol=1e-6) or np.linalg.det(turn) < 0:
            raise ShellError("an orientation handle takes a 3 × 3 rotation matrix")
        return turn

    @property
    def rows(self) -> int:
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

    def __str__(self) -> str:
        if not self.conflicts:
            return f"{self.rows} constraint rows met in {self.iterations} iterations"
        named = "; ".join(f"{h.kind} handle at vertex {h.vertices[0]} misses by {h.error:.3g}" for h in self.conflicts)
        return f"{len(self.conflicts)} handles cannot be met: {named}"


class Constraints:
    """All handles of a shell.

    `shapes`, `rotations` (3, n, m); `points` (3, n): where vertices rest in the frame of the modes; `flexibility` 1/ω²
    (m,); `axes` (3, 3): directions, as columns, of a free shell's three rotations, None where it is held.
    """

    def __init__(
        self, shapes: Floats, rotations: Floats, points: Floats, size: float, flexibility: Floats, axes: Floats | None
    ) -> None:
        self._shapes, self._rotations, self._points = shapes, rotations, points
        self._size = size
        self._flexibility = flexibility
        self._extra = 0 if axes is None else 6
        self.axes = np.eye(3) if axes is None else axes
        self.handles: list[Handle] = []
        self._stale = True

    def add(self, kind: type[Handle], vertices: Ints, target: Any, stiffness: Any, axes: Bools | None = None) -> Handle:
        """A new handle."""
        if len(vertices) == 0:
            raise ShellError(f"a {kind.kind} handle needs at least one vertex")
        handle = kind(self, vertices, target, stiffness, np.ones(3, dtype=bool) if axes is None else axes)
        self.handles.append(handle)
        self._stale = True
        return handle

    def remove(self, handle: Handle) -> None:
        """Forget a handle; once is enough."""
        self.handles = [other for other in self.handles if other is not handle]
        self._stale = True

    def _compile(self) -> None:
        """Stack what does not change from step to step."""
        self._at = [h for h in self.handles if isinstance(h, PositionHandle)]
        self._turned = [h for h in self.handles if isinstance(h, OrientationHandle)]
        at = np.concatenate([h.vertices for h in self._at]) if self._at else np.zeros(0, dtype=np.int64)
        self._phi = np.ascontiguousarray(self._shapes[:, at].transpose(1, 0, 2))
        self._psi = np.ascontiguousarray(self._rotations[:, at].transpose(1, 0, 2))
        self._rest = self._points[:, at]
        # A mean over vertices is one segment of the stacked points, a point of its own a segment of one.
        counts = [[len(h.vertices)] if h.target.ndim == 1 else [1] * len(h.vertices) for h in self._at]
        self._counts = np.array([c for part in counts for c in part], dtype=np.int64)
        self._starts = np.concatenate([[0], np.cumsum(self._counts)[:-1]]).astype(np.int64)
        self._means = bool((self._counts > 1).any())
        self._psi_mean = [self._rotations[:, h.vertices].mean(axis=1) for h in self._turned]
        ordered: list[Handle] = [*self._at, *self._turned]
        self._slices = []
        first = 0
        for h in ordered:
            self._slices.append((h, slice(first, first + h.rows)))
            first += h.rows
        self._rows = np.concatenate([np.tile(h.axes, h.rows) for h in ordered]) if ordered else np.zeros(0, dtype=bool)
        self._all_rows = bool(self._rows.all())
        soft = [np.full(h.rows, np.inf) if h.stiffness is None else h.stiffness for h in ordered]
        self._softness = np.repeat(1.0 / np.concatenate(soft), 3) if ordered else np.zeros(0)
        per_point = np.einsum("kcm,kcm->km", self._phi, self._phi)
        if self._means:
            per_point = np.add.reduceat(per_point, self._starts, axis=0) / self._counts[:, None]
        turned = [np.einsum("cm,cm->m", psi, psi)[None] for psi in self._psi_mean]
        self._squares = np.concatenate([per_point, *turned])
        self._static = self._squares @ self._flexibility
        # A vertex that cannot move gives no measure: that of the others keeps the system regular.
        self._static = np.maximum(self._static, 1e-9 * float(self._static.max(initial=0.0)))
        self._stale = False

    def solve(
        self, y: Floats, compliance: Floats, turn: Floats, origin: Floats, report: HandleReport, start: Floats
    ) -> Floats:
        """Coordinates that meet the handles, from the free step's `y` (m + 6 or m).

        `compliance` C of each coordinate; `turn` (3, 3), `origin` (3,): frame of the modes after the free step;
        `start`: where to linearise first (the last step's coordinates).
        """
        if self._stale:
            self._compile()
        free, y = y, start.copy()
        root = np.sqrt(compliance)
        soft = self._give(compliance)
        miss = scaled = np.zeros(0)
        for _ in range(ITERATIONS):
            report.iterations += 1
            miss, jacobian = self._measure(y, turn, origin)
            system = jacobian * root
            right = -(miss + jacobian @ (free - y))
            if len(soft) <= len(y):
                scaled = np.linalg.solve(system @ system.T + np.diag(soft), right)
                ahead = free + root * (scaled @ system)
            else:
                # More rows than coordinates: the same least squares in coordinates (Woodbury).
                weighted = system / soft[:, None]
                inner = np.linalg.solve(weighted.T @ system + np.eye(len(y)), right @ weighted)
                scaled = (right - system @ inner) / soft
                ahead = free + root * inner
            change = ahead - y
            largest = float(np.abs(self._turns(change)).max(initial=0.0))
            y = y + min(1.0, LARGEST_TURN / max(largest, 1e-300)) * change
            miss = self._measure(y, turn, origin, derivative=False)[0]
            settled = np.abs(miss + soft * scaled)
            # What softness leaves is meant; the rest is what the linearisation missed.
            if float(settled.max()) < CLOSE * self._size or float(np.abs(change).max()) < 1e-9 * (
                1e-300 + float(np.abs(y).max())
            ):
                break
        self._tell(miss, scaled, turn, report)
        return y

    def _give(self, compliance: Floats) -> Floats:
        """1/k of every row: what soft handles ask for, and the little that hard ones keep."""
        hard = np.minimum(STATIC * self._static, DYNAMIC * (self._squares @ compliance[self._extra :]))
        give = self._softness + np.repeat(np.maximum(hard, 1e-300), 3)
        rows: Floats = give if self._all_rows else give[self._rows]
        return rows

    def _turns(self, change: Floats) -> Floats:
        """Rotations [rad] that a change of the coordinates brings at the handles."""
        q = change[self._extra :]
        parts = [psi @ q for psi in self._psi_mean]
        if len(self._psi):
            parts.append(self._psi.reshape(-1, len(q)) @ q)
        if self._extra:
            parts.append(change[3:6])
        return np.concatenate(parts)

    def _measure(self, y: Floats, turn: Floats, origin: Floats, derivative: bool = True) -> tuple[Floats, Floats]:
        """Miss of every row in the frame of the modes, and its derivative by the coordinates."""
        extra, q = self._extra, y[self._extra :]
        if extra:
            origin = origin + turn @ y[:3]
            turn = turn @ rotation_matrix(self.axes @ y[3:6])
        misses, jacobians = [], []
        if self._at:
            u = np.ascontiguousarray((self._phi.reshape(-1, len(q)) @ q).reshape(-1, 3).T)
            w = np.ascontiguousarray((self._psi.reshape(-1, len(q)) @ q).reshape(-1, 3).T)
            place = (self._rest + warped(w, u)).T
            if self._means:
                place = np.add.reduceat(place, self._starts, axis=0) / self._counts[:, None]
            goals = (np.concatenate([np.atleast_2d(h.target) for h in self._at]) - origin) @ turn
            misses.append((place - goals).ravel())
            if derivative:
                by_u, by_w = warp_matrices(w, u)
                by_q = by_u @ self._phi + by_w @ self._psi
                if self._means:
                    by_q = np.add.reduceat(by_q, self._starts, axis=0) / self._counts[:, None, None]
                if extra:
                    # In the shell's own frame a turn of the body moves the goals the other way.
                    unit = np.broadcast_to(np.eye(3), (len(goals), 3, 3))
                    by_q = np.concatenate([unit, -skew(goals) @ self.axes, by_q], axis=2)
                jacobians.append(by_q.reshape(-1, len(y)))
        for h, psi in zip(self._turned, self._psi_mean, strict=True):
            now = psi @ q
            goal = rotation_vector(turn.T @ h.target, near=now)
            misses.append(now - goal)
            if extra and derivative:
                by_turn = inverse_left_jacobian(goal) @ self.axes
                psi = np.concatenate([np.zeros((3, 3)), by_turn, psi], axis=1)
            jacobians.append(psi)
        miss = np.concatenate(misses)
        jacobian = np.concatenate(jacobians) if derivative else np.zeros((0, 0))
        if self._all_rows:
            return miss, jacobian
        return miss[self._rows], jacobian[self._rows] if derivative else jacobian

    def _tell(self, miss: Floats, forces: Floats, turn: Floats, report: HandleReport) -> None:
        whole, pull = (np.zeros(len(self._rows)) for _ in range(2))
        whole[self._rows], pull[self._rows] = miss, forces
        distance = np.sqrt((whole.reshape(-1, 3) ** 2).sum(axis=1))
        world = pull.reshape(-1, 3) @ turn.T
        report.rows = len(miss)
        for h, rows in self._slices:
            h.error, h.force = float(distance[rows].max()), world[rows]
            if h.kind == "position":
                report.distance = max(report.distance, h.error)
            else:
                report.angle = max(report.angle, h.error)
            limit = CONFLICT_SIZE * self._size if h.kind == "position" else CONFLICT_ANGLE
            if h.hard and h.error > limit:
                report.conflicts.append(h)


def _stiffness(value: Any, rows: int) -> Floats | None:
    if value is None:
        return None
    strength = np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), (rows,)))
    if not (np.isfinite(strength).all() and (strength > 0).all()):
        raise ShellError("the stiffness of a handle must be finite and positive; None holds exactly")
    return strength
