"""What sheets collide with: planes, balls, triangle meshes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .checks import LARGEST, amount, floats, not_negative, positive, shown, triangles, vector
from .errors import ShellError, listed
from .linalg.vectors import dot
from .mesh import edges_of
from .types import Amount, Floats, Ints

Motion = Callable[[float], Sequence[float]]


@dataclass(frozen=True)
class Plane:
    """Everything behind a plane. `point` [m] or a function of time [s] to it; `normal` points to the free side; `name`:
    what messages call it."""

    point: Sequence[float] | Motion
    normal: Sequence[float]
    friction: Amount = 0.3
    name: str = ""

    def __post_init__(self) -> None:
        if not float(np.abs(vector(self.normal, "a Plane's normal")).max()) >= 1.0 / LARGEST:
            raise ShellError(f"a Plane needs a normal of three finite numbers, not all zero, not {self.normal}")
        _check(self.point, self.friction, "Plane")

    def friction_at(self, t: float) -> float:
        """Coulomb's coefficient at time t [s]."""
        return amount(self.friction, t, "a Plane's friction")

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
    friction: Amount = 0.3
    name: str = ""

    def __post_init__(self) -> None:
        positive(self.radius, "a Sphere's radius", " [m]")
        _check(self.centre, self.friction, "Sphere")

    def friction_at(self, t: float) -> float:
        """Coulomb's coefficient at time t [s]."""
        return amount(self.friction, t, "a Sphere's friction")

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
        friction: Amount = 0.3,
        thickness: float = 0.001,
        motion: Callable[[float], Floats] | None = None,
        name: str = "",
    ) -> None:
        # A body need not be a manifold, and may have loose vertices: only what cannot be placed is refused.
        self.positions = floats(positions, "a Collider's positions", "numbers of shape (n, 3) [m]")
        if self.positions.ndim != 2 or self.positions.shape[1] != 3 or not np.isfinite(self.positions).all():
            raise ShellError(f"a Collider needs finite positions (n, 3), not {self.positions.shape}")
        self.faces = triangles(faces, "a Collider's faces")
        n = len(self.positions)
        bad = np.flatnonzero(((self.faces < 0) | (self.faces >= n)).any(axis=1))
        if len(bad):
            raise ShellError(f"Collider faces {listed(bad)} name vertices outside 0..{n - 1}", faces=bad)
        self.edges, self.face_edges, _ = edges_of(self.faces, n)
        _check((0.0, 0.0, 0.0), friction, "Collider")
        self.thickness = not_negative(thickness, "a Collider's thickness", " [m]")
        if not (motion is None or callable(motion)):
            raise ShellError(f"a Collider's motion must be a function of time [s] to positions, not {shown(motion)}")
        self.friction, self.motion = friction, motion
        self.name = name

    def friction_at(self, t: float) -> float:
        """Coulomb's coefficient at time t [s]."""
        return amount(self.friction, t, "a Collider's friction")

    def place(self, t: float) -> Floats:
        """Positions [m], (n, 3), at time t [s]."""
        if self.motion is None:
            return self.positions
        now = floats(self.motion(t), "what a Collider's motion gives", f"positions {self.positions.shape}")
        if now.shape != self.positions.shape or not np.isfinite(now).all():
            raise ShellError(
                f"a Collider's motion must give finite positions of shape {self.positions.shape} at time {t:g} s, "
                f"not {now.shape}"
            )
        return now


def _check(place: Sequence[float] | Motion, friction: Amount, what: str) -> None:
    if not callable(place):
        _at(place, 0.0)
    amount(friction, 0.0, f"a {what}'s friction")


def _at(value: Sequence[float] | Motion, t: float) -> Floats:
    return vector(value(t) if callable(value) else value, "a collider's place", " [m]")
