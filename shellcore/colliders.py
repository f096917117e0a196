"""What sheets collide with: planes, balls, triangle meshes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .errors import ShellError, listed
from .mesh import edges_of
from .types import Floats, Ints
from .vectors import dot

Motion = Callable[[float], Sequence[float]]


@dataclass(frozen=True)
class Plane:
    """Everything behind a plane. `point` [m] or a function of time [s] to it; `normal` points to the free side; `name`:
    what messages call it."""

    point: Sequence[float] | Motion
    normal: Sequence[float]
    friction: float = 0.3
    name: str = ""

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

    def near(self, x: Floats, place: Floats, reach: float) -> Ints:
        """Indices of positions, components first (3, n), whose signed distance is below `reach` [m]."""
        unit = np.asarray(self.normal, dtype=np.float64)
        unit = unit / np.linalg.norm(unit)
        height = unit[0] * x[0] + unit[1] * x[1] + unit[2] * x[2]
        return np.flatnonzero(height < float(unit @ place) + reach)


@dataclass(frozen=True)
class Sphere:
    """A solid ball. `centre` [m] or a function of time [s] to it; `radius` [m]; `name`: what messages call it."""

    centre: Sequence[float] | Motion
    radius: float
    friction: float = 0.3
    name: str = ""

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

    def near(self, x: Floats, place: Floats, reach: float) -> Ints:
        """Indices of positions, components first (3, n), whose signed distance is below `reach` [m]."""
        offset = x - place[:, None]
        return np.flatnonzero(dot(offset, offset) < max(self.radius + reach, 0.0) ** 2)


class Collider:
    """A triangle mesh that moves or not, two-sided where it is open.

    `positions` [m], (n, 3); `faces` (m, 3); `thickness` [m]: half of it lies on either side of the surface;
    `motion`: function of time [s] to positions (n, 3), rigid or deforming; `name`: what messages call it.
    """

    def __init__(
        self,
        positions: Floats,
        faces: Ints,
        friction: float = 0.3,
        thickness: float = 0.001,
        motion: Callable[[float], Floats] | None = None,
        name: str = "",
    ) -> None:
        # A body need not be a manifold, and may have loose vertices: only what cannot be placed is refused.
        self.positions = np.array(positions, dtype=np.float64)
        self.faces = np.array(faces, dtype=np.int64)
        n = len(self.positions)
        if self.positions.shape != (n, 3) or not np.isfinite(self.positions).all():
            raise ShellError(f"a Collider needs finite positions (n, 3), not {self.positions.shape}")
        if n == 0 or self.faces.shape != (len(self.faces), 3) or len(self.faces) == 0:
            raise ShellError(f"a Collider needs triangles (m, 3), not {self.faces.shape}: triangulate first")
        bad = np.flatnonzero(((self.faces < 0) | (self.faces >= n)).any(axis=1))
        if len(bad):
            raise ShellError(f"Collider faces {listed(bad)} name vertices outside 0..{n - 1}", faces=bad)
        self.edges, self.face_edges, _ = edges_of(self.faces, n)
        _check((0.0, 0.0, 0.0), friction, "Collider")
        if not (np.isfinite(thickness) and thickness >= 0):
            raise ShellError(f"a Collider needs a thickness of zero or more [m], not {thickness}")
        self.friction, self.thickness, self.motion = float(friction), float(thickness), motion
        self.name = name

    def place(self, t: float) -> Floats:
        """Positions [m], (n, 3), at time t [s]."""
        if self.motion is None:
            return self.positions
        now = np.asarray(self.motion(t), dtype=np.float64)
        if now.shape != self.positions.shape or not np.isfinite(now).all():
            raise ShellError(
                f"a Collider's motion must give finite positions of shape {self.positions.shape} at time {t:g} s, "
                f"not {now.shape}"
            )
        return now


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
