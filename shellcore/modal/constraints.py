"""Handles: positions and orientations that the modes are made to reach, and the small dense system that does it.

After the free step a handle's forces λ move the coordinates y (amplitudes, and six of a rigid body where the shell is
free) by C Jᵀλ, C being what a force held over the step moves a mode by (`newmark`) and J the derivative of what
the handles measure. So y minimises ½ (y − y*)ᵀ C⁻¹ (y − y*) + ½ ∑ k g², g the miss of each handle and k its stiffness:

    (J C Jᵀ + 1/k) λ = −(g + J (y* − y)),   y ← y* + C Jᵀ λ,

repeated until y rests (Gauss-Newton). A hard handle has a tiny 1/k, so handles that contradict each other
meet in the least-squares sense instead of failing; the report names those that miss.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ShellError
from ..linalg.vectors import skew
from ..types import Bools, Floats, Ints
from .handles import Handle, HandleReport, OrientationHandle, PositionHandle
from .warp import inverse_left_jacobian, rotation_matrix, rotation_vectors, warp_derivative

# 1/k of a hard handle as a share of what the modes give at its vertex, at rest and within a step: it misses by that
# share of the motion it asks for. Much less would let impossible targets tear the shell in its highest modes.
STATIC, DYNAMIC, USUAL = 1e-5, 1e-4, 1e-3
# Gauss-Newton iterations a step at most. One that leaves less than this to the linearisation, as a share of the size,
# is the last: the next step goes on from there.
ITERATIONS = 4
CLOSE = 3e-4
# A linearisation is kept from step to step until vertices have turned by this [rad].
LARGEST_LAG = 0.2
# One iteration turns no handle by more than this [rad]: beyond, the linearisation says nothing.
LARGEST_TURN = 1.0
# A hard handle in conflict: misses by more than this share of the shell's size, or this angle [rad].
CONFLICT_SIZE, CONFLICT_ANGLE = 1e-3, 1e-2


class _Linear:
    """J at one state, with what answers a miss: solved once, used until the vertices have turned too far."""

    def __init__(self, jacobian: Floats, root: Floats, soft: Floats, moved: Floats, place: Floats) -> None:
        self.jacobian = jacobian
        self.moved, self.place = moved, place
        self._system = jacobian * root
        self._few = len(soft) <= len(root)
        if self._few:
            gram = self._system @ self._system.T
            gram.flat[:: len(soft) + 1] += soft
        else:
            # More rows than coordinates: the same least squares in coordinates (Woodbury).
            self._soft = soft
            self._weighted = self._system / soft[:, None]
            gram = self._weighted.T @ self._system
            gram.flat[:: len(root) + 1] += 1.0
        try:
            self._inverse = np.linalg.inv(gram)
        except np.linalg.LinAlgError:
            # Handles that ask for the same, or for what the modes cannot give at all: the smallest answer.
            self._inverse = np.linalg.pinv(gram, hermitian=True)

    def answer(self, right: Floats) -> tuple[Floats, Floats]:
        """Forces λ of the rows, and the change of the coordinates over √C."""
        if self._few:
            forces = self._inverse @ right
            return forces, forces @ self._system
        push = self._inverse @ (right @ self._weighted)
        return (right - self._system @ push) / self._soft, push


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
        self.limits = {"position": CONFLICT_SIZE * size, "orientation": CONFLICT_ANGLE}
        """Misses beyond which a hard handle is in conflict, by kind."""
        self._told: tuple[Floats, Floats, Floats, Bools] | None = None
        self._stale = True
        self._compliance: Floats | None = None
        self._linear: _Linear | None = None

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
        handle.rows = slice(0, 0)
        self._stale = True

    @property
    def misses(self) -> Floats:
        """Of every prescribed vector in the last step, in the frame of the modes, (rows, 3)."""
        return self._whole(0)

    @property
    def world_forces(self) -> Floats:
        """What every prescribed vector took in the last step, in world axes, (rows, 3)."""
        return self._whole(1) if self._told is None else self._whole(1) @ self._told[2].T

    def _whole(self, which: int) -> Floats:
        if self._told is None:
            return np.zeros((0, 3))
        rows = self._told[3]
        whole = np.zeros(len(rows))
        whole[rows] = self._told[which]
        return whole.reshape(-1, 3)

    def retarget(self, handle: Handle) -> None:
        """Take over a handle's new target."""
        if not self._stale:
            self._set_goal(handle)

    def _set_goal(self, handle: Handle) -> None:
        rows = handle.rows
        if rows.stop == 0:  # released
            return
        if handle.kind == "position":
            self._goals[rows] = handle.target
        else:
            self._turns[rows.start - self._first_turn] = handle.target

    def _compile(self) -> None:
        """Stack what does not change from step to step: points first, then orientations."""
        at = [h for h in self.handles if isinstance(h, PositionHandle)]
        turned = [h for h in self.handles if isinstance(h, OrientationHandle)]
        ordered: list[Handle] = [*at, *turned]
        first = 0
        for h in ordered:
            h.rows = slice(first, first + h.count)
            first += h.count
        self._first_turn = first - len(turned)
        self._goals, self._turns = np.zeros((self._first_turn, 3)), np.zeros((len(turned), 3, 3))
        for h in ordered:
            self._set_goal(h)
        vertices = np.concatenate([h.vertices for h in at]) if at else np.zeros(0, dtype=np.int64)
        self._vertices = vertices
        m = self._shapes.shape[2]
        both = np.concatenate([self._shapes[:, vertices], self._rotations[:, vertices]])
        self._by_point = np.ascontiguousarray(both.transpose(1, 0, 2))
        means = [self._rotations[:, h.vertices].mean(axis=1) for h in turned]
        self._psi = np.concatenate([*means, np.zeros((0, m))])
        # Displacements of all points, then rotations of all, then of orientations: each kind in one piece.
        self._moves = 3 * len(vertices)
        self._flat = np.concatenate(
            [self._by_point[:, :3].reshape(-1, m), self._by_point[:, 3:].reshape(-1, m), self._psi]
        )
        self._rest = np.ascontiguousarray(self._points[:, vertices].T)
        # A mean over vertices is one segment of the stacked points, a point of its own a segment of one.
        counts = [[len(h.vertices)] if h.target.ndim == 1 else [1] * len(h.vertices) for h in at]
        self._counts = np.array([c for part in counts for c in part], dtype=np.int64)
        self._starts = np.concatenate([[0], np.cumsum(self._counts)[:-1]]).astype(np.int64)
        self._means = bool((self._counts > 1).any())
        self._rows = np.concatenate([np.tile(h.axes, h.count) for h in ordered])
        self._all_rows = bool(self._rows.all())
        soft = [np.full(h.count, np.inf) if h.stiffness is None else h.stiffness for h in ordered]
        self._softness = np.repeat(1.0 / np.concatenate(soft), 3)
        squares = self._averaged(np.einsum("kcm,kcm->km", self._by_point[:, :3], self._by_point[:, :3]))
        turns = (self._psi.reshape(-1, 3, m) ** 2).sum(axis=1)
        # A vertex, or a group in the mean, that hardly moves in the modes gives no measure: a share of the usual does.
        usual = [np.einsum("cnm,cnm->m", f, f) / f.shape[1] for f in (self._shapes, self._rotations)]
        self._squares = np.concatenate([squares + USUAL * usual[0], turns + USUAL * usual[1]])
        self._static = self._squares @ self._flexibility
        self._compliance = self._linear = None
        self._stale = False

    def solve(
        self,
        free: Floats,
        compliance: Floats,
        turn: Floats,
        origin: Floats,
        start: Floats,
        displaced: Floats,
        report: HandleReport,
    ) -> Floats:
        """Coordinates (m,), or (6 + m,) of a free shell, that meet the handles, from those of the free step.

        `compliance` C of each coordinate; `turn` (3, 3), `origin` (3,): frame of the modes after the free step;
        `start`: the coordinates before the step, and `displaced` (3, n) the warped displacements they have.
        """
        if self._stale:
            self._compile()
        if compliance is not self._compliance:
            self._compliance, self._root, self._soft = compliance, np.sqrt(compliance), self._give(compliance)
            self._linear = None
        y, soft, limit = start, self._soft, CLOSE * self._size
        moved = self._flat @ y[self._extra :]
        # A linearisation serves as long as the vertices have not turned much since, and the way to go is short.
        linear = None if self._extra else self._linear
        lag = 0.0 if linear is None else self._reach(start, moved - linear.moved)[1]
        for _ in range(ITERATIONS):
            report.iterations += 1
            if linear is None or lag > LARGEST_LAG:
                linear = self._linear = self._linearised(y, moved, turn, origin)
                place, lag = linear.place, 0.0
            elif report.iterations == 1:
                place = self._averaged(self._rest + displaced[:, self._vertices].T)
            else:
                place = self._averaged(self._rest + warp_derivative(self._at_points(moved))[0])
            right = linear.jacobian @ (y - free)
            right -= self._missed(place, y, moved, turn, origin)
            forces, push = linear.answer(right)
            ahead = free + self._root * push
            change = ahead - y
            motion = self._flat @ change[self._extra :]
            way, turned = self._reach(change, motion)
            # What the linearisation leaves is of the order of turn times way; what softness leaves is meant.
            if turned < LARGEST_TURN and (turned + lag) * way < limit:
                y, miss = ahead, -soft * forces
                break
            share = min(1.0, LARGEST_TURN / max(turned, 1e-300))
            y, moved, lag = y + share * change, moved + share * motion, np.inf
        else:
            place = self._averaged(self._rest + warp_derivative(self._at_points(moved))[0])
            miss = self._missed(place, y, moved, turn, origin)
        self._told = miss, forces, turn, self._rows
        return y

    def _give(self, compliance: Floats) -> Floats:
        """1/k of every row: what soft handles ask for, and the little that hard ones keep."""
        hard = np.minimum(STATIC * self._static, DYNAMIC * (self._squares @ compliance[self._extra :]))
        give = self._softness + np.repeat(hard, 3)
        rows: Floats = give if self._all_rows else give[self._rows]
        return rows

    def _at_points(self, moved: Floats) -> Floats:
        """Φq and Ψq of the points, (k, 2, 3)."""
        return moved[: 2 * self._moves].reshape(2, -1, 3).transpose(1, 0, 2)

    def _reach(self, change: Floats, motion: Floats) -> tuple[float, float]:
        """Furthest way [m] and largest turn [rad] of a handle's vertices in a change of the coordinates."""
        size = np.abs(motion)
        way = float(size[: self._moves].max()) if self._moves else 0.0
        turned = float(size[self._moves :].max())
        if self._extra:
            turned = max(turned, float(np.abs(change[3:6]).max()))
            way += self._size * turned
        return way, turned

    def _averaged(self, of_points: Floats) -> Floats:
        """What handles see of their points (k, …): their own, or the mean of a group."""
        if not self._means:
            return of_points
        means: Floats = np.add.reduceat(of_points, self._starts, axis=0)
        means /= self._counts.reshape((-1,) + (1,) * (of_points.ndim - 1))
        return means

    def _frame(self, y: Floats, turn: Floats, origin: Floats) -> tuple[Floats, Floats]:
        """The frame of the modes where handles have moved a free shell's body."""
        if not self._extra:
            return turn, origin
        return turn @ rotation_matrix(self.axes @ y[3:6]), origin + turn @ y[:3]

    def _missed(self, place: Floats, y: Floats, moved: Floats, turn: Floats, origin: Floats) -> Floats:
        """Miss of every row, in the frame of the modes."""
        turn, origin = self._frame(y, turn, origin)
        miss = np.empty(3 * (len(place) + len(self._turns)))
        np.subtract(place, (self._goals - origin) @ turn, out=miss[: 3 * len(place)].reshape(-1, 3))
        if len(self._turns):
            now = moved[2 * self._moves :].reshape(-1, 3)
            goals = rotation_vectors(turn.T @ self._turns, now)
            np.subtract(now, goals, out=miss[3 * len(place) :].reshape(-1, 3))
        return miss if self._all_rows else miss[self._rows]

    def _linearised(self, y: Floats, moved: Floats, turn: Floats, origin: Floats) -> _Linear:
        """Derivative of every row by the coordinates, and all that follows from it."""
        turn, origin = self._frame(y, turn, origin)
        place, by_both = warp_derivative(self._at_points(moved))
        place = self._averaged(self._rest + place)
        by_y = self._averaged(by_both @ self._by_point)
        psi = self._psi
        if self._extra:
            # In the shell's own frame a turn of the body moves the goals the other way.
            goals = (self._goals - origin) @ turn
            unit = np.broadcast_to(np.eye(3), (len(goals), 3, 3))
            by_y = np.concatenate([unit, -skew(goals) @ self.axes, by_y], axis=2)
            now = moved[2 * self._moves :].reshape(-1, 3)
            by_turn = np.zeros((len(psi), 6))
            if len(psi):
                vectors = rotation_vectors(turn.T @ self._turns, now)
                by_turn[:, 3:] = np.concatenate([inverse_left_jacobian(v) @ self.axes for v in vectors])
            psi = np.concatenate([by_turn, psi], axis=1)
        jacobian = by_y.reshape(-1, len(y))
        if len(psi):
            jacobian = np.concatenate([jacobian, psi])
        if not self._all_rows:
            jacobian = jacobian[self._rows]
        return _Linear(jacobian, self._root, self._soft, moved, place)
