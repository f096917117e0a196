"""Which shells nothing can hold, seen before a state of rest is looked for.

A shell falls freely along what of its loads no pin takes up. It may come to rest on a collider, or on a shell that is
held itself, only if these are in its way: boxes about them are compared, swept along the fall.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from .colliders import Plane, Sphere
from .scene import Scene
from .system import System
from .types import Bools, Floats

# Share of the scene's size that boxes are widened by: what grazes may hold.
NEAR = 0.05
# Share of all loads below which a component of a body's is round-off.
FAINT = 1e-9

Box = tuple[Floats, Floats]
"""Least and largest coordinates, each (3,)."""


def loose_shells(system: System, x: Floats, t: float) -> tuple[list[int], Floats]:
    """Shells that nothing can hold at time t [s] from unknowns x (n, 3), all those of one body, and the unit vector
    (3,) that their loads carry them along; none where each may come to rest."""
    scene, force, points = system.scene, system.dead_force(t), system.on_surface(x)
    none: tuple[list[int], Floats] = [], np.zeros(3)
    if scene.wind is not None or scene.forces or any(shell.pressure is not None for shell in scene.shells):
        return none
    bodies = _bodies(scene, t)
    boxes = [_box(points[system.offsets[i] : system.offsets[i + 1]]) for i in range(len(scene.shells))]
    margin = NEAR * float(np.ptp(points, axis=0).max())
    ways = []
    for body in bodies:
        pull = sum((force[system.unknowns(i)].sum(axis=0) for i in body), np.zeros(3))
        free = np.where(_held(scene, body, t), 0.0, pull)
        ways.append(free if float(np.abs(free).max()) > FAINT * float(np.abs(force).sum()) else np.zeros(3))
    safe = [not way.any() for way in ways]
    for _ in bodies:
        for k in range(len(bodies)):
            safe[k] = safe[k] or any(
                _stops(collider, boxes, bodies[k], ways[k], margin, t) for collider in scene.colliders
            )
            held = [boxes[i] for j, other in enumerate(bodies) if safe[j] and scene.together for i in other]
            safe[k] = safe[k] or any(_meets(boxes[i], ways[k], box, margin) for i in bodies[k] for box in held)
    for body, way, holds in zip(bodies, ways, safe, strict=True):
        if not holds:
            return body, way / float(np.linalg.norm(way))
    return none


def _bodies(scene: Scene, t: float) -> list[list[int]]:
    """Shells by what ties join at time t [s]."""
    number = {id(shell): i for i, shell in enumerate(scene.shells)}
    tied = [tie for tie in scene.attachments if (tie.release > t).any()]
    ends = np.array([[number[id(shell)] for shell in tie.shells] for tie in tied], dtype=np.int64).reshape(-1, 2)
    count = len(scene.shells)
    graph = coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
    label = connected_components(graph, directed=False)[1]
    return [np.flatnonzero(label == k).tolist() for k in range(int(label.max()) + 1)]


def _held(scene: Scene, body: list[int], t: float) -> Bools:
    """Coordinates along which some pin of a body holds or pulls, (3,)."""
    held = np.zeros(3, dtype=bool)
    for i in body:
        for pin in scene.shells[i].pins:
            if len(pin.vertices) and (pin.stiffness is None or pin.stiffness_at(t).any()):
                held |= pin.axes
    return held


def _stops(collider: Any, boxes: list[Box], body: list[int], way: Floats, margin: float, t: float) -> bool:
    """Whether a collider is in the way of a body that goes along `way` (3,)."""
    if isinstance(collider, Plane):
        return float(way @ np.asarray(collider.normal, dtype=np.float64)) < 0.0
    if isinstance(collider, Sphere):
        centre = collider.place(t)
        box = centre - collider.radius, centre + collider.radius
    else:
        box = _box(collider.place(t))
    return any(_meets(boxes[i], way, box, margin) for i in body)


def _box(points: Floats) -> Box:
    return points.min(axis=0), points.max(axis=0)


def _meets(moving: Box, way: Floats, still: Box, margin: float) -> bool:
    """Whether a box that goes along `way` (3,), however far, comes nearer to another than `margin` [m]."""
    first, last = 0.0, np.inf
    for k in range(3):
        gap_low, gap_high = still[0][k] - moving[1][k] - margin, still[1][k] - moving[0][k] + margin
        if way[k] == 0.0:
            if gap_low > 0.0 or gap_high < 0.0:
                return False
            continue
        near, far = sorted((gap_low / way[k], gap_high / way[k]))
        first, last = max(first, near), min(last, far)
    return bool(first <= last)
