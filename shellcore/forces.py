"""Forces that are not energies: wind, and whatever a user brings.

A force is any object with `force(t, x, v, area_normals) -> (n, 3)` [N]; it is evaluated at the start of
each step. `area_normals` [m²], (n, 3): a third of the area-weighted normals of the faces round a vertex.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .checks import LARGEST, floats, not_negative
from .errors import ShellError
from .linalg.vectors import components, dot
from .types import Floats


class Force(Protocol):
    """What `Scene(forces=…)` takes."""

    def force(self, t: float, x: Floats, v: Floats, area_normals: Floats) -> Floats:
        """Forces [N], (n, 3), at time t [s], positions x [m] and velocities v [m/s]."""


Velocity = Sequence[float] | Callable[[float, Floats], Floats]


@dataclass(frozen=True)
class Wind:
    """Moving air: ½ρ C |u·n|(u·n) a n of drag, with u the air's velocity relative to the sheet, and lift.

    `velocity` [m/s]: a vector or a function (t, x) -> (n, 3); `drag`, `lift`: dimensionless coefficients;
    `density` ρ [kg/m³]. Lift is ½ρ C (u·n) a (u × (n × û)): square to the air, in the plane of air and normal.
    (The quadratic bending paper's wind is linear in u·n; the square is what air does.)
    """

    velocity: Velocity = (5.0, 0.0, 0.0)
    drag: float = 1.0
    lift: float = 0.0
    density: float = 1.225

    def __post_init__(self) -> None:
        for name in ("drag", "lift", "density"):
            not_negative(getattr(self, name), f"wind {name}")
        if not callable(self.velocity):
            self.at(0.0, np.zeros((1, 3)))

    def at(self, t: float, x: Floats) -> Floats:
        """Velocity of the air [m/s], (n, 3)."""
        given = self.velocity(t, x) if callable(self.velocity) else self.velocity
        value = floats(given, "wind velocity", "vectors [m/s]")
        if value.shape not in ((3,), x.shape):
            raise ShellError(f"wind velocity must have shape (3,) or {x.shape}, not {value.shape}")
        if not (np.abs(value) <= LARGEST).all():
            raise ShellError(f"wind velocity is not finite at time {t:g} s")
        velocity: Floats = np.broadcast_to(value, x.shape)
        return velocity

    def resistance(self, t: float, x: Floats, v: Floats, area_normals: Floats) -> tuple[Floats, Floats, Floats]:
        """Drag as c ((w − v)·n) n: coefficients c [N·s/m], (n,), unit normals n and air w, each (n, 3)."""
        along = components(area_normals)
        area = np.sqrt(dot(along, along))
        normal = along * (1.0 / np.maximum(area, 1e-300))
        air = self.at(t, x)
        # Air that moves as one is three numbers, and stays three numbers.
        relative = (components(air) if callable(self.velocity) else air[:1].T) - components(v)
        across = np.abs(dot(relative, normal))
        return (0.5 * self.density * self.drag) * area * across, normal.T, air

    def lift_force(self, t: float, x: Floats, v: Floats, area_normals: Floats) -> Floats:
        """Lift [N], (n, 3)."""
        u = self.at(t, x) - v
        speed = np.sqrt(np.einsum("ij,ij->i", u, u))
        along = u / np.maximum(speed, 1e-300)[:, None]
        across = np.einsum("ij,ij->i", u, area_normals)
        sideways: Floats = area_normals - np.einsum("ij,ij->i", area_normals, along)[:, None] * along
        area = np.sqrt(np.einsum("ij,ij->i", area_normals, area_normals))
        scale = 0.5 * self.density * self.lift * across * speed / np.maximum(area, 1e-300)
        lift: Floats = scale[:, None] * sideways
        return lift

    def force(self, t: float, x: Floats, v: Floats, area_normals: Floats) -> Floats:
        """Drag and lift [N], (n, 3)."""
        c, normal, air = self.resistance(t, x, v, area_normals)
        across = np.einsum("ij,ij->i", air - v, normal)
        drag: Floats = (c * across)[:, None] * normal
        return drag + self.lift_force(t, x, v, area_normals) if self.lift else drag
