"""Scene units to SI and back: the core works in metres, seconds and world axes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UserError


@dataclass(frozen=True)
class Clock:
    """Frames as times. `start`: the frame that is time 0; `fps` [1/s]."""

    start: int
    fps: float

    def time(self, frame: Any) -> Any:
        """[s] of a frame or of frames (k,); what lies before the start is at it."""
        return np.maximum(np.asarray(frame, dtype=np.float64) - self.start, 0.0) / self.fps


def metres_per_unit(scene: Any) -> float:
    """Length of a scene unit [m]."""
    settings = scene.unit_settings
    return 1.0 if settings.system == "NONE" else float(settings.scale_length)


def frames_per_second(scene: Any) -> float:
    """[1/s]"""
    return float(scene.render.fps) / float(scene.render.fps_base)


def gravity(scene: Any) -> Any:
    """[m/s²], (3,): what the Scene tab shows, which scales with the length of a unit."""
    if not scene.use_gravity:
        return np.zeros(3)
    return np.array(scene.gravity, dtype=np.float64) * metres_per_unit(scene)


def to_world(positions: Any, matrix: Any, scale: float) -> Any:
    """Object space in scene units to world space in metres; matrix (4, 4)."""
    return (positions @ matrix[:3, :3].T + matrix[:3, 3]) * scale


def to_object(positions: Any, matrix: Any, scale: float) -> Any:
    """World space in metres to object space in scene units."""
    return (positions / scale - matrix[:3, 3]) @ np.linalg.inv(matrix[:3, :3]).T


def matrix_of(evaluated: Any) -> Any:
    """World matrix, (4, 4) float64; raises where it flattens the object."""
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    spread = np.linalg.svd(matrix[:3, :3], compute_uv=False)
    if not np.isfinite(matrix).all() or spread[-1] <= 1e-9 * max(spread[0], 1e-30):
        raise UserError(
            f"{evaluated.name}: a scale of zero leaves no room for a shell: set all three scales above zero",
            object=evaluated.name,
        )
    return matrix
