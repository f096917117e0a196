"""A shell that moves in its modes: fast enough to drag while it swings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import positive, vector, whole
from ..errors import ShellError
from ..forces import Force, Wind
from ..linalg.threads import limited
from ..linalg.vectors import components, cross
from ..pins import OfTime, Pin
from ..shell import Shell
from ..types import Floats, Ints
from .constraints import Constraints
from .frames import Base, RigidBody
from .handles import Handle, HandleReport, OrientationHandle, PositionHandle
from .loads import Loads
from .modes import fingerprint, load_modes, nodes_at_rest, rest_problem, rests, save_modes, solve_modes
from .newmark import AVERAGE, HELD, Rule, decays
from .warp import coefficients, rotation_jacobian, unturned, warped

# Longest step [s].
LONGEST = 1e12
# No node turns further than this [rad]: beyond, modes mean nothing, and what asks for it is cut.
LARGEST_ROTATION = 3.0 * np.pi


class ModalShell:
    """A shell in its `modes` lowest modes, warped so that bending may be large.

    Pins at rest, soft pins and clamps are part of the modes; pins whose targets move become handles. `gravity` [m/s²]
    (or a function of time [s] to it), `wind` and `forces` (objects as in a Scene) act at every step, as do the shell's
    loads and pressure. `cache`: a file that keeps the modes; it is used where its fingerprint fits, and written where
    not.
    """

    def __init__(
        self,
        shell: Shell,
        modes: int = 40,
        *,
        gravity: Sequence[float] | Floats | OfTime = (0.0, 0.0, -9.81),
        wind: Wind | None = None,
        forces: Sequence[Force] = (),
        cache: str | Path | None = None,
    ) -> None:
        if not isinstance(shell, Shell):
            raise ShellError(f"ModalShell takes a Shell, not a {type(shell).__name__}")
        modes = whole(modes, "modes", 1)
        self.shell = shell
        self.gravity: Floats | OfTime = gravity if callable(gravity) else vector(gravity, "gravity", " [m/s²]")
        self._gravity_at(0.0)
        problem = rest_problem(shell)
        path = None if cache is None else Path(cache)
        found = None if path is None else load_modes(path, fingerprint(problem, int(modes)))
        self.from_cache = found is not None
        """Whether the modes were read, not computed."""
        solved = solve_modes(shell, problem, int(modes)) if found is None else found
        if path is not None and found is None:
            save_modes(path, solved)
        self.fingerprint = solved.fingerprint
        self.eigenvalues = solved.eigenvalues
        """ω² [1/s²], (m,)."""
        self.free = problem.unheld
        """Whether nothing holds the shell, so that it has six rigid coordinates beside its modes."""
        self._mass = problem.mass
        self._phi = solved.shapes
        self._flat_phi = self._phi.reshape(-1, len(solved.eigenvalues))
        self.rest_positions = nodes_at_rest(shell)
        """Where the nodes rest [m], (n, 3): the shell's vertices, or its limit points if it is a subdivision shell."""
        self._flat_psi: Floats = rotation_jacobian(self.rest_positions, shell.faces) @ self._flat_phi
        self._psi: Floats = self._flat_psi.reshape(self._phi.shape)
        self._decay = decays(shell, self._phi, self.eigenvalues)
        self._rule: Rule | None = None
        self._loads = Loads(shell, self._mass, wind, forces)
        self._size = float(np.linalg.norm(np.ptp(self.rest_positions, axis=0)))
        self._moving: list[tuple[Handle, Pin]] = []
        self._constraints: Constraints | None = None
        self.reset()

    @property
    def frequencies(self) -> Floats:
        """[Hz], (m,)."""
        frequencies: Floats = np.sqrt(self.eigenvalues) / (2.0 * np.pi)
        return frequencies

    @property
    def shapes(self) -> Floats:
        """Modal displacements Φ [1/√kg], (n, 3, m): of unit mass."""
        return self._phi.transpose(1, 0, 2)

    @property
    def rotations(self) -> Floats:
        """Modal rotations Ψ = WΦ [rad/(m √kg)], (n, 3, m)."""
        return self._psi.transpose(1, 0, 2)

    @property
    def positions(self) -> Floats:
        """Where the vertices are now [m], (n, 3)."""
        return self._x

    @property
    def handles(self) -> list[Handle]:
        """All handles that hold."""
        return list(self._handles.handles)

    def reset(self) -> None:
        """Back to rest at time zero; handles stay."""
        rest = self.rest_positions
        m = len(self.eigenvalues)
        self.time = 0.0
        self.amplitudes, self.rates = np.zeros(m), np.zeros(m)
        self._body = RigidBody(rest, self._mass, self.shell.velocities) if self.free else None
        self._frame: RigidBody | Base = self._body if self._body is not None else Base()
        self._rest = components(rest - (self._frame.origin if self.free else 0.0))
        if self._constraints is None:
            elastic = self.eigenvalues[self.eigenvalues > 1e-9 * self.eigenvalues.max()]
            flexibility = 1.0 / np.maximum(self.eigenvalues, elastic.min() if len(elastic) else 1.0)
            turns = None if self._body is None else self._body.axes
            self._handles = Constraints(self._phi, self._psi, self._rest, self._size, flexibility, turns)
            self._constraints = self._handles
            self.report = HandleReport(self._handles)
            """How the last step met its handles."""
            self._add_pins()
        self._u = np.zeros_like(self._rest)
        self._u_before = self._u
        self._turns = (self._u, coefficients(self._u))
        """Rotation vectors of the nodes (3, n), and their coefficients."""
        self._turns_before = self._turns
        self._x = rest.copy()
        self._x_before: Floats | None = None
        self._span = 1.0
        # Initial velocities beyond the rigid ones enter the modes by their momentum.
        start = components(self.shell.velocities)
        self.rates = (self._mass * start).ravel() @ self._flat_phi

    def _add_pins(self) -> None:
        """Pins that leave the rest shape, as handles that follow their targets."""
        for pin in self.shell.pins + self.shell.slopes:
            if not rests(self.shell, pin):
                handle = self._handles.add(PositionHandle, pin.vertices, pin.at(0.0), pin.stiffness, pin.axes)
                self._moving.append((handle, pin))

    def position_handle(
        self, vertices: int | Sequence[int] | Ints, target: Any, stiffness: float | Floats | None = None
    ) -> PositionHandle:
        """Take vertices to a target [m] in world space: (k, 3) each to its own, (3,) their mean to one point.

        `stiffness` [N/m] makes a spring of it; None holds exactly. Set `target` anew as it moves; `release()` lets go.
        """
        handle = self._handles.add(PositionHandle, self.shell._vertices(vertices, "position_handle"), target, stiffness)
        assert isinstance(handle, PositionHandle)
        return handle

    def orientation_handle(
        self, vertices: int | Sequence[int] | Ints, rotation: Any, stiffness: float | None = None
    ) -> OrientationHandle:
        """Turn vertices, in the mean, by `rotation` (3, 3) from their orientation at rest, in world space.

        `stiffness` [N·m/rad]. Turns add up as long as a step turns by less than half a turn.
        """
        chosen = self.shell._vertices(vertices, "orientation_handle")
        handle = self._handles.add(OrientationHandle, chosen, rotation, stiffness)
        assert isinstance(handle, OrientationHandle)
        return handle

    def base_motion(self, matrix: Any, t: float) -> None:
        """Be carried by a parent that is at `matrix` (4, 4) at time t [s]; call before the step that ends at t.

        The first call says where the parent stands, at rest; from then on its acceleration drives the shell. A step
        without a call is one in which the parent stood still.
        """
        if not isinstance(self._frame, Base):
            raise ShellError("base_motion needs a shell that is held: pin it, or move a free one by handles")
        self._frame.move(matrix, t)

    def warped_positions(self, amplitudes: Floats) -> Floats:
        """Positions (n, 3) of given modal amplitudes (m,) [m √kg], in the rest frame: a preview of modes."""
        u, w = self._gathered(np.asarray(amplitudes, dtype=np.float64))
        return self.rest_positions + warped(w, u).T

    def linear_positions(self, amplitudes: Floats) -> Floats:
        """The same by linear modal analysis, without warping."""
        return self.rest_positions + self._gathered(np.asarray(amplitudes, dtype=np.float64))[0].T

    def _gathered(self, q: Floats) -> tuple[Floats, Floats]:
        """Φq and Ψq, each (3, n)."""
        return (self._flat_phi @ q).reshape(3, -1), (self._flat_psi @ q).reshape(3, -1)

    def step(self, dt: float, forces: Floats | None = None, threads: int | None = None) -> Floats:
        """Positions [m], (n, 3), after dt [s] more under `forces` [N], (n, 3), in world space.

        `threads`: as many may work.
        """
        if not (isinstance(dt, float) and 0.0 < dt < np.inf):
            dt = positive(dt, "dt", " [s]")
        if dt > LONGEST:
            raise ShellError(f"dt is {dt:g} s, longer than any motion: take at most {LONGEST:g} s")
        with limited(threads):
            if isinstance(self._frame, Base):
                self._frame.begin_step(dt)
            free = self._ahead(dt, self._modal_force(dt, forces))
            self.time += dt
            self._meet_handles(dt, free)
            self._place(dt)
        return self._x

    def _gravity_at(self, t: float) -> Floats:
        if isinstance(self.gravity, np.ndarray):
            return self.gravity
        return vector(self.gravity(t), f"gravity at time {t:g} s", " [m/s²]")

    @property
    def _lean(self) -> float:
        return HELD if self._handles.handles else AVERAGE

    def _modal_force(self, h: float, forces: Floats | None) -> Floats | float:
        """Φᵀ Rᵀ F, (m,): forces, gravity and inertia in the local frames at the middle of the step.

        The frames are extrapolated from the last two steps: a lag of half a step would feed energy in. Moves a free
        shell's body on.
        """
        frame, body = self._frame, self._body
        pushed = self._loads.at(self.time, h, self._x, self._velocities, forces)
        own = None if pushed is None else frame.turn.T @ pushed
        # A free shell falls without feeling it: gravity is the body's alone.
        pull = self._gravity_at(self.time + h)
        gravity = np.zeros(3) if body is not None else pull
        if not frame.swinging:
            felt = frame.turn.T @ (gravity - frame.acceleration)
        else:
            felt = frame.apparent(gravity, self._rest + self._u, (self._u - self._u_before) / self._span)
        if body is not None:
            total, torque = np.zeros(3), np.zeros(3)
            if own is not None:
                total, torque = own.sum(axis=1), cross(self._rest + self._u, own).sum(axis=1)
            weight = body.mass * pull
            body.advance(h, frame.turn @ total + weight, frame.turn @ torque, self.shell.damping.mass, self._lean)
        if own is None and not felt.any():
            return 0.0
        middle, known = (
            _extrapolated(now, before) for now, before in zip(self._turns, self._turns_before, strict=True)
        )
        if own is None:
            local = unturned(middle, felt, known)
            local *= self._mass
        else:
            local = unturned(middle, own + (felt if felt.ndim == 2 else felt[:, None]) * self._mass, known)
        modal: Floats = local.ravel() @ self._flat_phi
        return modal

    def _ahead(self, h: float, force: Floats | float) -> tuple[Floats, Floats]:
        """Amplitudes and rates after a step under modal forces, without handles."""
        rule = self._rule
        if rule is None or rule.step != h or rule.least != self._lean:
            rule = self._rule = Rule.of(h, self.eigenvalues, self._decay, self._lean)
            self._compliance = rule.compliance
            if self._body is not None:
                self._compliance = np.concatenate([self._body.compliance(h, self._lean), rule.compliance])
        q, v = self.amplitudes, self.rates
        ahead = rule.keep * v - rule.pull * q + rule.push * force
        return q + rule.before * v + rule.after * ahead, ahead

    def _meet_handles(self, h: float, free: tuple[Floats, Floats]) -> None:
        q, v = free
        self.report = HandleReport(self._handles)
        if self._handles.handles:
            for handle, pin in self._moving:
                handle.target = pin.at(self.time)
            assert self._rule is not None
            y, start = q, self.amplitudes
            if self._body is not None:
                y, start = np.concatenate([np.zeros(6), q]), np.concatenate([np.zeros(6), start])
            frame = self._frame
            y = self._handles.solve(y, self._compliance, frame.turn, frame.origin, start, self._u, self.report)
            if self._body is not None:
                self._body.displace(h, y[:3], self._body.axes @ y[3:6], self._lean)
                y = y[6:]
            q, v = y, v + (y - q) / self._rule.after
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            raise ShellError(f"the modes overflowed at {self.time:.6g} s: a force or a target is out of all proportion")
        self.amplitudes, self.rates = q, v

    def _place(self, h: float) -> None:
        """Positions and velocities of the present amplitudes."""
        u, w = self._gathered(self.amplitudes)
        most = max(float(w.max()), -float(w.min()))
        if most > LARGEST_ROTATION:
            share = LARGEST_ROTATION / most
            u, w, self.amplitudes, self.rates = share * u, share * w, share * self.amplitudes, share * self.rates
            self.report.cut = True
        self._turns_before, self._turns = self._turns, (w, coefficients(w))
        self._u_before, self._u = self._u, warped(w, u, self._turns[1])
        frame = self._frame
        place = self._rest + self._u
        if frame.moved:
            place = frame.turn @ place
            place += frame.origin[:, None]
        self._x_before, self._x = self._x, place.T
        self._span = h

    def _velocities(self) -> Floats:
        """Velocities [m/s], (n, 3), over the last step."""
        if self._x_before is None:
            return self.shell.velocities
        return (self._x - self._x_before) / self._span


def _extrapolated(now: Floats, before: Floats) -> Floats:
    """Half a step on."""
    ahead = 1.5 * now
    ahead -= 0.5 * before
    return ahead
