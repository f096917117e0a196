"""The frame modes move in: at rest, carried by an animated base, or flying as the rigid body of a free shell."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import floats, number
from ..errors import ShellError
from ..linalg.vectors import skew
from ..types import Floats
from .warp import rotation_matrix, rotation_vector


class Frame:
    """World position of a point r (3,) in the frame: origin + turn r. Rates are those of the step under way:
    `acceleration` [m/s²] of the origin in world axes, `spin` [rad/s] and `spin_rate` [rad/s²] in the frame's own."""

    def __init__(self, origin: Floats) -> None:
        self.turn = np.eye(3)
        self.origin = origin
        self.moved = bool(origin.any())
        """Whether the frame's axes are not the world's."""
        self.acceleration, self.spin, self.spin_rate = np.zeros(3), np.zeros(3), np.zeros(3)

    @property
    def swinging(self) -> bool:
        """Whether inertia differs from place to place."""
        return bool(self.spin.any() or self.spin_rate.any())

    def apparent(self, gravity: Floats, r: Floats, v: Floats) -> Floats:
        """Acceleration (3, n) in the frame's axes that masses at r, v (3, n) feel: gravity less that of the frame
        (linear, Euler, centrifugal) and Coriolis's."""
        own = self.turn.T @ (gravity - self.acceleration)
        spin = skew(self.spin[None])[0]
        tilt = skew(self.spin_rate[None])[0] + spin @ spin
        felt: Floats = own[:, None] - tilt @ r - 2.0 * (spin @ v)
        return felt


class Base(Frame):
    """A frame whose place is given, as a parent's matrices over time. The first says where it stands, at rest."""

    def __init__(self) -> None:
        super().__init__(np.zeros(3))
        self._time: float | None = None
        self._velocity = np.zeros(3)
        self._announced = False

    def begin_step(self, h: float) -> None:
        """A step of h [s] is about to be made: a parent that has not been heard of since the last stood still."""
        if self._time is not None and not self._announced:
            self._go(self.turn, self.origin, self._time + h)
        self._announced = False

    def move(self, matrix: Any, t: float) -> None:
        """Be at `matrix` (4, 4) at time t [s]."""
        given = floats(matrix, "what base_motion takes", "a 4 × 4 matrix")
        t = number(t, "base_motion: time", "a finite number [s]")
        if given.shape != (4, 4) or not np.isfinite(given).all():
            raise ShellError(f"base_motion takes a finite 4 × 4 matrix, not {given.shape}")
        turn, origin = given[:3, :3], given[:3, 3]
        if not np.allclose(turn @ turn.T, np.eye(3), atol=1e-4) or np.linalg.det(turn) < 0:
            raise ShellError("base_motion takes rotations and translations: apply scale and shear to the shell first")
        # Single-precision matrices are rotations to seven digits: the nearest true one.
        u, _, vt = np.linalg.svd(turn)
        self._announced = self.moved = True
        self._go(u @ vt, origin, t)

    def _go(self, turn: Floats, origin: Floats, t: float) -> None:
        if self._time is None:
            self._time, self.turn, self.origin = t, turn, origin
            return
        span = t - self._time
        if span < 0.0 or not np.isfinite(t):
            raise ShellError(f"base_motion goes on in time: {t} s comes after {self._time} s; reset() starts again")
        if span == 0.0:
            # The same moment again: a correction of where it is, not a motion.
            self.turn, self.origin = turn, origin
            return
        velocity = (origin - self.origin) / span
        spin = rotation_vector(self.turn.T @ turn) / span
        self.acceleration = (velocity - self._velocity) / span
        self.spin_rate = (spin - self.spin) / span
        self._time, self._velocity, self.spin, self.turn, self.origin = t, velocity, spin, turn, origin


# A free shell turns by no more than this in a step [rad]: what is faster cannot be followed, or held by handles.
FASTEST = 1.5


class RigidBody(Frame):
    """The six rigid coordinates of a free shell: centre of mass and orientation, by momentum.

    Its inertia is that of the rest shape. Angular momentum is a state of its own, so a spin neither grows nor dies by
    itself.
    """

    def __init__(self, positions: Floats, mass: Floats, velocities: Floats) -> None:
        self.mass = float(mass.sum())
        super().__init__(mass @ positions / self.mass)
        self.moved = True
        arm = positions - self.origin
        square = (mass * (arm**2).sum(axis=1)).sum()
        self.inertia: Floats = square * np.eye(3) - (mass[:, None] * arm).T @ arm
        self._inverse = np.linalg.inv(self.inertia)
        self.principal, self.axes = np.linalg.eigh(self.inertia)
        """Principal moments (3,) [kg·m²] and their axes, as columns."""
        self.velocity = mass @ velocities / self.mass
        self.momentum = (mass[:, None] * np.cross(arm, velocities - self.velocity)).sum(axis=0)

    def advance(self, h: float, force: Floats, torque: Floats, damping: float, lean: float) -> None:
        """Fly for h [s] under a force [N] and a torque [N·m] about the centre, in world axes; see `newmark` of lean."""
        start = self.velocity
        self.velocity = (start * (1.0 - 0.5 * h * damping) + h * force / self.mass) / (1.0 + 0.5 * h * damping)
        self.origin = self.origin + h * ((1.0 - lean) * start + lean * self.velocity)
        self.momentum = (self.momentum * (1.0 - 0.5 * h * damping) + h * torque) / (1.0 + 0.5 * h * damping)
        self._slow_down(h)
        middle = rotation_matrix(0.5 * h * self._rate(self.turn)) @ self.turn
        self.turn = _orthonormal(rotation_matrix(h * self._rate(middle)) @ self.turn)
        self.spin = self.turn.T @ self._rate(self.turn)

    def compliance(self, h: float, lean: float) -> Floats:
        """What forces and moments about the principal axes, held over a step, move the body by, (6,)."""
        return np.concatenate([np.full(3, lean * h * h / self.mass), h * h / self.principal])

    def displace(self, h: float, shift: Floats, turn: Floats, lean: float) -> None:
        """Take up what handles asked of the step just made: a shift and a turn, in the body's axes."""
        self.origin = self.origin + self.turn @ shift
        self.velocity = self.velocity + self.turn @ shift / (lean * h)
        kick = self.turn @ (self.inertia @ turn) / h
        self.turn = _orthonormal(self.turn @ rotation_matrix(turn))
        self.momentum = self.momentum + kick
        self._slow_down(h)
        self.spin = self.turn.T @ self._rate(self.turn)

    def _slow_down(self, h: float) -> None:
        fast = h * float(np.linalg.norm(self._rate(self.turn)))
        if fast > FASTEST:
            self.momentum = self.momentum * (FASTEST / fast)

    def _rate(self, turn: Floats) -> Floats:
        """World spin [rad/s] of the present momentum at an orientation."""
        rate: Floats = turn @ (self._inverse @ (turn.T @ self.momentum))
        return rate


def _orthonormal(turn: Floats) -> Floats:
    """A rotation whose round-off is taken back (one Newton step towards the polar factor)."""
    result: Floats = turn @ (1.5 * np.eye(3) - 0.5 * (turn.T @ turn))
    return result
