"""What starts nearer to a collider than its gap: the first frames push it out, which shows."""

from typing import Any

import numpy as np

from ... import shellcore as sc
from ..bridge.build import Simulation
from ..bridge.gap import given, own_half
from .issue import Issue

# Positions are single precision: nearer by this share of the gap is no nearer.
ROUNDING = 0.01


def starts_inside(simulation: Simulation, objects: list[Any]) -> list[Issue]:
    """Shells that start within the distance that they keep, a warning for each and what it is too near to."""
    scene, found = simulation.scene, []
    for obj, shell in zip(objects, scene.shells, strict=True):
        half = own_half(shell, given(obj.thin_shell))
        x = shell.limit(shell.start)
        for collider in scene.colliders:
            kept = half + (0.5 * collider.thickness if isinstance(collider, sc.Collider) else 0.0)
            away = _distances(collider, x, kept)
            near = np.flatnonzero(away < (1.0 - ROUNDING) * kept)
            if len(near) == 0:
                continue
            text = (
                f"{obj.name}: {len(near)} vertices start nearer to '{collider.name}' than the Gap, by "
                f"{1e3 * (kept - float(away[near].min())):.3g} mm: the first frames push them out; move them apart, or "
                "make the Gap smaller"
            )
            found.append(Issue("WARNING", text, obj.name, vertices=near.tolist()))
    return found


def _distances(collider: Any, x: Any, reach: float) -> Any:
    """Of positions (n, 3) from a collider's surface [m], (n,); beyond `reach` of a mesh infinite."""
    place = collider.place(0.0)
    if not isinstance(collider, sc.Collider):
        distance, _, _ = collider.distance(x, place)
        return distance
    from mathutils.bvhtree import BVHTree

    away = np.full(len(x), np.inf)
    within = ((x > place.min(axis=0) - reach) & (x < place.max(axis=0) + reach)).all(axis=1)
    tree: Any = BVHTree.FromPolygons(place.tolist(), collider.faces.tolist(), all_triangles=True)
    for vertex in np.flatnonzero(within):
        nearest = tree.find_nearest(x[vertex], reach)
        if nearest[3] is not None:
            away[vertex] = nearest[3]
    return away
