"""What a clamp holds besides position: the slope of the limit surface across its border."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import ShellError, listed
from ..types import Floats, Ints
from .supports import Slopes, across_border
from .surface import LoopSurface

# How closely a border on a plane of symmetry must face across it.
MIRRORED = 0.9
# A border that faces along an axis this closely leaves stretch along that axis free.
ALIGNED = 0.99
# Moments [s] at which a moving clamp is looked at for that.
MOMENTS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)

Moved = Callable[[float, Floats], Floats]


def border_slopes(surface: LoopSurface, rest: Floats, start: Floats, vertices: Ints, moved: Moved | None) -> Slopes:
    """Slopes of the border vertices among `vertices` at their start, or carried along by `moved` (t, points).

    The wall must not hold the stretch across it. Where the border faces along an axis, that component of the
    slope stays free; elsewhere all three are held, and with them the stretch, at the border's vertices only.
    """
    whole, began = surface.complete(rest), surface.complete(start)
    chosen, rows, direction = across_border(surface, whole, vertices)
    if moved is None:
        outward: Floats = rows @ began
        unit: Floats = outward / np.linalg.norm(outward, axis=1)[:, None]

        def at(t: float) -> Floats:
            return unit

    else:
        carried = moved
        feet = surface.limit(rest)[vertices[chosen]]

        def at(t: float) -> Floats:
            turned: Floats = carried(t, feet + direction) - carried(t, feet)
            return turned

    steady = np.min([np.abs(at(t)) for t in MOMENTS], axis=0)
    axes = np.ones((len(chosen), 3), dtype=bool)
    aligned = np.flatnonzero(steady.max(axis=1) > ALIGNED)
    axes[aligned, steady[aligned].argmax(axis=1)] = False
    return Slopes(rows, axes, at)


def mirror_slopes(surface: LoopSurface, rest: Floats, vertices: Ints, axis: int) -> Slopes:
    """Slopes of border vertices on a plane of symmetry across `axis`: none in the plane's own directions."""
    found, rows, direction = across_border(surface, surface.complete(rest), vertices)
    vertices = vertices[found]
    askew = np.flatnonzero(np.abs(direction[:, axis]) < MIRRORED)
    if len(askew):
        raise ShellError(
            f"symmetry: at vertices {listed(vertices[askew])} the border is not in a plane across axis {axis}, or "
            "the surface does not meet it at a right angle",
            vertices=vertices[askew],
        )
    axes = np.ones((rows.shape[0], 3), dtype=bool)
    axes[:, axis] = False

    def at(t: float) -> Floats:
        return np.zeros((rows.shape[0], 3))

    return Slopes(rows, axes, at)
