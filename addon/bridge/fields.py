"""Blender's force fields acting on shells.

Blender offers no way to ask what a field does at a point, so their meaning is computed here. Strengths carry over from
Cloth, which turns a field of strength S into a push of 0.02·S on each square metre: FORCE, VORTEX and TURBULENCE do
the same here, and WIND blows as fast as it must to press that hard on a wall.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .falloff import Falloff
from .motion import Track
from .noise import vectors

PRESSURE_PER_STRENGTH = 0.02
# What the turbulence pattern drifts by, in its own sizes a second.
DRIFT = 0.5


@dataclass(frozen=True)
class Field:
    """One force field. `place`: its matrix [m], strength and flow as they move, flattened to (18,)."""

    kind: str
    place: Track
    falloff: Falloff
    weights: Any
    """How much of it acts on each vertex, (n,)."""
    size: float = 0.0
    seed: int = 0
    noise: float = 0.0
    linear_drag: float = 0.0
    quadratic_drag: float = 0.0
    gravitation: bool = False

    def at(self, t: float) -> tuple[Any, Any, float, float]:
        """Origin, unit z axis, strength and flow at time t [s]."""
        flat = self.place.at(t)
        matrix = flat[:16].reshape(4, 4)
        axis = matrix[:3, 2] / max(float(np.linalg.norm(matrix[:3, 2])), 1e-30)
        return matrix[:3, 3], axis, float(flat[16]), float(flat[17])

    def push(self, t: float, x: Any, v: Any) -> Any:
        """Push on the surface [N/m²], (n, 3); of WIND its direction times strength, before it becomes a speed."""
        origin, axis, strength, flow = self.at(t)
        offset = x - origin
        weight = strongest(self.weights, len(x)) * self.falloff.weights(offset, axis)
        if self.kind == "DRAG":
            speed = np.linalg.norm(v, axis=1)
            return -PRESSURE_PER_STRENGTH * (weight * (self.linear_drag + self.quadratic_drag * speed))[:, None] * v
        pushed = strength * weight[:, None] * self._direction(t, offset, axis)
        if self.noise:
            pushed = pushed * (1.0 + self.noise * vectors(x / max(self.size, 1.0) + t, self.seed)[:, :1])
        if self.kind == "WIND":
            return pushed
        return PRESSURE_PER_STRENGTH * (pushed - (flow * weight)[:, None] * v)

    def _direction(self, t: float, offset: Any, axis: Any) -> Any:
        if self.kind == "WIND":
            return np.broadcast_to(axis, offset.shape)
        if self.kind == "TURBULENCE":
            size = self.size if self.size > 0 else 1.0
            return vectors(offset / size + DRIFT * t, self.seed)
        distance = np.maximum(np.linalg.norm(offset, axis=1, keepdims=True), 1e-9)
        if self.kind == "VORTEX":
            return np.cross(axis, offset) / distance
        radial = offset / distance
        return radial / np.maximum(distance, 1e-2) ** 2 if self.gravitation else radial


def strongest(values: Any, count: int) -> Any:
    """Values of all vertices as they are; where asked about some other points, the strongest of them for each."""
    if len(values) == count:
        return values
    size = np.abs(values) if values.ndim == 1 else np.linalg.norm(values, axis=1)
    top = values[int(np.argmax(size))]
    return np.broadcast_to(top, (count, *np.shape(top)))


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

    def __init__(self, steady: Any, fields: list[Field], density: float) -> None:
        self.steady, self.fields, self.density = steady, fields, density

    def __call__(self, t: float, x: Any) -> Any:
        """[m/s], (n, 3)."""
        air = strongest(self.steady, len(x))
        for field in self.fields:
            pressed = field.push(t, x, np.zeros_like(x))
            size = np.sqrt(np.einsum("ij,ij->i", pressed, pressed))[:, None]
            speed = np.sqrt(2.0 * PRESSURE_PER_STRENGTH * size / self.density)
            air = air + pressed / np.maximum(size, 1e-30) * speed
        return air


class Weight:
    """Gravity that acts differently on different shells: what the scene's own gravity leaves out."""

    def __init__(self, mass: Any, acceleration: Any) -> None:
        self._force = mass[:, None] * acceleration

    def force(self, t: float, x: Any, v: Any, area_normals: Any) -> Any:
        """[N], (n, 3)."""
        return self._force
