"""What holds and loads a shell: pins, clamps, dead loads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .checks import LARGEST, floats
from .errors import ShellError
from .types import Bools, Floats, Ints

if TYPE_CHECKING:
    from .shell import Shell

OfTime = Callable[[float], Any]


@dataclass(frozen=True)
class Pin:
    """Vertices held at targets: (k,) indices, which components, stiffness None (exact), or [N/m], (k,) or a function of
    time [s] to one or (k,)."""

    vertices: Ints
    targets: Floats | OfTime
    axes: Bools
    stiffness: Floats | OfTime | None

    def at(self, t: float) -> Floats:
        """Targets [m], (k, 3), at time t [s]."""
        return vectors(self.targets, t, len(self.vertices), "pin targets")

    def stiffness_at(self, t: float) -> Floats:
        """Stiffness [N/m], (k,), at time t [s], of a pin that is not exact."""
        return strengths(self.stiffness, t, len(self.vertices), "pin stiffness")


@dataclass(frozen=True)
class Load:
    """Dead loads [N], (k, 3) or a function of time to them, on (k,) vertices."""

    vertices: Ints
    forces: Floats | OfTime

    def at(self, t: float) -> Floats:
        """Forces [N], (k, 3), at time t [s]."""
        return vectors(self.forces, t, len(self.vertices), "load forces", LARGEST)


def slope_springs(shell: Shell, clamped: Ints, targets: Floats | OfTime | None) -> Pin | None:
    """Springs that hold the slope of a shell along `clamped` vertices, (k,); None where whole faces hold it all."""
    mesh, rest_positions = shell.mesh, shell.rest_positions
    held = np.zeros(len(rest_positions), dtype=bool)
    held[clamped] = True
    corner_held = held[mesh.faces]
    solid = corner_held.all(axis=1)
    edge_of_solid = np.zeros(len(mesh.edges), dtype=bool)
    edge_of_solid[mesh.face_edges[solid]] = True
    wall = corner_held.sum(axis=1) == 2
    face = np.flatnonzero(wall)
    apex = np.argmin(corner_held[face], axis=1)
    edge = mesh.face_edges[face, apex]
    face, apex = face[~edge_of_solid[edge]], apex[~edge_of_solid[edge]]
    if len(face) == 0:
        return None
    corners = mesh.faces[face]
    at_rest = shell.rest.points[shell.rest.mesh.faces[face]]
    a, b = (at_rest[np.arange(len(face)), (apex + j) % 3] for j in (1, 2))
    length_2 = ((b - a) ** 2).sum(axis=1)
    area = shell.areas[face]
    height = 2.0 * area / np.sqrt(length_2)
    hinge = mesh.face_hinges[face, apex]
    own = shell.material.bending_moduli(len(mesh.faces))
    across = 0.5 * (own[0] + own[1])[face]
    rigidity = np.where(hinge >= 0, shell.hinge_rigidity[hinge], across) if len(shell.hinge_rigidity) else across
    # w = D|e|²/A with A twice the face, doubled because the span from wall to element centre is half.
    strength = rigidity * length_2 / area / height**2
    tips = corners[np.arange(len(face)), apex]
    rest = rest_positions[tips]
    goal: Floats | OfTime
    if targets is None:
        goal = shell.start[tips] if shell.start is not rest_positions else rest
    else:
        clamped_rest = rest_positions[clamped]

        def goal(t: float) -> Floats:
            now = vectors(targets, t, len(clamped), "clamp targets")
            return rigidly_moved(clamped_rest, now, rest)

    return Pin(tips, goal, np.ones(3, dtype=bool), strength)


def per_item(value: Any, count: int, what: str) -> Floats:
    """One number for all, or one each, as (count,) floats."""
    array = floats(value, what, f"one number or {count}")
    if array.shape not in ((), (count,)):
        raise ShellError(f"{what} must be one number or {count}, not of shape {array.shape}")
    return np.broadcast_to(array, (count,))


def strengths(value: Any, t: float, count: int, what: str) -> Floats:
    """Stiffness [N/m], (count,), finite and not negative, at time t [s]: of one number, (count,), or a function of time
    to either."""
    array = per_item(value(t) if callable(value) else value, count, what)
    if not ((array >= 0) & (array <= LARGEST)).all():
        raise ShellError(f"{what} must be finite and not negative at time {t:g} s")
    return array


def vectors(value: Any, t: float, count: int, what: str, largest: float = np.inf) -> Floats:
    """Vectors (count, 3) from an array, one vector for all, or a function of time t [s] to either; finite, and with
    components up to the `largest`."""
    array = floats(value(t) if callable(value) else value, what, f"vectors of shape ({count}, 3)")
    if array.shape == (3,):
        array = np.broadcast_to(array, (count, 3))
    if array.shape != (count, 3):
        raise ShellError(f"{what} must have shape ({count}, 3), not {array.shape}")
    if not np.isfinite(array).all():
        raise ShellError(f"{what} are not finite at time {t:g} s")
    if (np.abs(array) > largest).any():
        raise ShellError(f"{what} are beyond {largest:g} at time {t:g} s")
    return array


def rigidly_moved(rest: Floats, now: Floats, points: Floats) -> Floats:
    """`points` carried along by the rotation and translation that best takes `rest` to `now` (Kabsch)."""
    centre_rest, centre_now = rest.mean(axis=0), now.mean(axis=0)
    u, _, vt = np.linalg.svd((rest - centre_rest).T @ (now - centre_now))
    sign = np.sign(np.linalg.det(u @ vt)) or 1.0
    rotation = (u * np.array([1.0, 1.0, sign])) @ vt
    result: Floats = (points - centre_rest) @ rotation + centre_now
    return result
