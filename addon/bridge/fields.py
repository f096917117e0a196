"""Blender's force fields acting on shells.

Blender offers no way to ask what a field does at a point, so their meaning is computed here. Strengths carry over from
Cloth, which turns a field of strength S into a push of 0.02·S on each square metre: FORCE, VORTEX and TURBULENCE do
the same here, and WIND blows as fast as it must to press that hard on a wall.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .falloff import Falloff
from .motion import Track
from .noise import vectors

PRESSURE_PER_STRENGTH = 0.02
# What the turbulence pattern drifts by, in its own sizes a second.
DRIFT = 0.5


class Numbers(NamedTuple):
    """What of a field can be animated: the numbers of its panel, lengths in metres."""

    strength: float
    flow: float
    noise: float
    size: float
    linear_drag: float
    quadratic_drag: float
    power: float
    least: float
    most: float
    radial_power: float
    radial_least: float
    radial_most: float


class Share:
    """A value of each shell, which may change over time, for all its vertices. `counts`: vertices of each shell."""

    def __init__(self, track: Track, counts: list[int]) -> None:
        self._track, self._counts = track, counts

    def at(self, t: float, count: int) -> Any:
        """Values of all vertices, (count, …); asked about some other points, the strongest of them for each."""
        values = self._track.at(t)
        if sum(self._counts) == count:
            return np.repeat(values, self._counts, axis=0)
        size = np.abs(values) if values.ndim == 1 else np.linalg.norm(values, axis=1)
        top = values[int(np.argmax(size))]
        return np.broadcast_to(top, (count, *np.shape(top)))


@dataclass(frozen=True)
class Field:
    """One force field. `place`: its matrix [m], (4, 4); `numbers`: its `Numbers`; both as they change over time."""

    kind: str
    place: Track
    numbers: Track
    share: Share
    """How much of it acts on each shell."""
    shape: str = "SPHERE"
    side: str = "BOTH"
    seed: int = 0
    gravitation: bool = False

    def push(self, t: float, x: Any, v: Any) -> Any:
        """Push on the surface [N/m²], (n, 3); of WIND its direction times strength, before it becomes a speed."""
        matrix, now = self.place.at(t), Numbers(*self.numbers.at(t).tolist())
        axis = matrix[:3, 2] / max(float(np.linalg.norm(matrix[:3, 2])), 1e-30)
        offset = x - matrix[:3, 3]
        weight = self.share.at(t, len(x)) * Falloff(self.shape, *now[6:], self.side).weights(offset, axis)
        if self.kind == "DRAG":
            speed = np.linalg.norm(v, axis=1)
            return -PRESSURE_PER_STRENGTH * (weight * (now.linear_drag + now.quadratic_drag * speed))[:, None] * v
        pushed = now.strength * weight[:, None] * self._direction(t, offset, axis, now.size)
        if now.noise:
            pushed = pushed * (1.0 + now.noise * vectors(x / max(now.size, 1.0) + t, self.seed)[:, :1])
        if self.kind == "WIND":
            return pushed
        return PRESSURE_PER_STRENGTH * (pushed - (now.flow * weight)[:, None] * v)

    def _direction(self, t: float, offset: Any, axis: Any, size: float) -> Any:
        if self.kind == "WIND":
            return np.broadcast_to(axis, offset.shape)
        if self.kind == "TURBULENCE":
            return vectors(offset / (size if size > 0 else 1.0) + DRIFT * t, self.seed)
        distance = np.maximum(np.linalg.norm(offset, axis=1, keepdims=True), 1e-9)
        if self.kind == "VORTEX":
            return np.cross(axis, offset) / distance
        radial = offset / distance
        return radial / np.maximum(distance, 1e-2) ** 2 if self.gravitation else radial


class FieldForces:
    """All fields but wind as a force of the core."""

    def __init__(self, fields: list[Field]) -> None:
        self.fields = fields

    def force(self, t: float, x: Any, v: Any, area_normals: Any) -> Any:
        """[N], (n, 3)."""
        area = np.linalg.norm(area_normals, axis=1, keepdims=True)
        return area * sum((field.push(t, x, v) for field in self.fields), np.zeros_like(x))


class WindSpeed:
    """The air's velocity: the panels' own wind and every WIND field, as a function of time and place."""

    def __init__(self, own: Share, fields: list[Field], density: float) -> None:
        self.own, self.fields, self.density = own, fields, density

    def __call__(self, t: float, x: Any) -> Any:
        """[m/s], (n, 3)."""
        air = self.own.at(t, len(x))
        for field in self.fields:
            pressed = field.push(t, x, np.zeros_like(x))
            size = np.sqrt(np.einsum("ij,ij->i", pressed, pressed))[:, None]
            speed = np.sqrt(2.0 * PRESSURE_PER_STRENGTH * size / self.density)
            air = air + pressed / np.maximum(size, 1e-30) * speed
        return air


class Weight:
    """Gravity that acts differently on different shells: what the scene's own gravity leaves out."""

    def __init__(self, masses: list[Any], pulls: Any) -> None:
        """`masses` [kg] of each shell's vertices; `pulls`: track of the acceleration of each shell [m/s²]."""
        self._masses, self._pulls = masses, pulls

    def force(self, t: float, x: Any, v: Any, area_normals: Any) -> Any:
        """[N], (n, 3)."""
        return np.concatenate([m[:, None] * a for m, a in zip(self._masses, self._pulls.at(t), strict=True)])
