"""Simple shapes that sheets collide with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .errors import ShellError
from .types import Floats

Motion = Callable[[float], Sequence[float]]


@dataclass(frozen=True)
class Plane:
    """Everything behind a plane. `point` [m] or a function of time [s] to it; `normal` points to the free side."""

    point: Sequence[float] | Motion
    normal: Sequence[float]
    friction: float = 0.3

    def __post_init__(self) -> None:
        normal = np.asarray(self.normal, dtype=np.float64)
        if normal.shape != (3,) or not (np.isfinite(normal).all() and normal.any()):
            raise ShellError(f"a Plane needs a normal of three finite numbers, not all zero, not {self.normal}")
        _check(self.point, self.friction, "Plane")

    def place(self, t: float) -> Floats:
        """Its point at time t."""
        return _at(self.point, t)

    def distance(self, x: Floats, place: Floats) -> tuple[Floats, Floats, Floats]:
        """Signed distance (n,), outward normals (n, 3), curvature (n,) of positions (n, 3)."""
        unit = np.asarray(self.normal, dtype=np.float64)
        unit = unit / np.linalg.norm(unit)
        return (x - place) @ unit, np.broadcast_to(unit, x.shape), np.zeros(len(x))


@dataclass(frozen=True)
class Sphere:
    """A solid ball. `centre` [m] or a function of time [s] to it; `radius` [m]."""

    centre: Sequence[float] | Motion
    radius: float
    friction: float = 0.3

    def __post_init__(self) -> None:
        if not 0 < self.radius < np.inf:
            raise ShellError(f"a Sphere needs a positive radius, not {self.radius}")
        _check(self.centre, self.friction, "Sphere")

    def place(self, t: float) -> Floats:
        """Its centre at time t."""
        return _at(self.centre, t)

    def distance(self, x: Floats, place: Floats) -> tuple[Floats, Floats, Floats]:
        """Signed distance (n,), outward normals (n, 3), curvature (n,) of positions (n, 3)."""
        offset = x - place
        length = np.sqrt(np.einsum("ij,ij->i", offset, offset))
        safe = np.maximum(length, 1e-12 * self.radius)
        return length - self.radius, offset / safe[:, None], 1.0 / safe


def _check(place: Sequence[float] | Motion, friction: float, what: str) -> None:
    if not callable(place):
        _at(place, 0.0)
    if not 0 <= friction < np.inf:
        raise ShellError(f"a {what}'s friction must be zero or more, not {friction}")


def _at(value: Sequence[float] | Motion, t: float) -> Floats:
    place = np.asarray(value(t) if callable(value) else value, dtype=np.float64)
    if place.shape != (3,) or not np.isfinite(place).all():
        raise ShellError(f"a collider's place must be three finite numbers, not {place}")
    return place
