"""Before the first step: intersections are found and named."""

from __future__ import annotations

import numpy as np

from ..colliders import Collider
from ..errors import ShellError, listed
from ..scene import Scene
from ..types import Bools, Floats
from .bodies import Bodies
from .intersections import Intersections, scene_intersections
from .passing import Passing


def found_at(scene: Scene, x: Floats, t: float, depth: float = 0.0, unfolded: Bools | None = None) -> Intersections:
    """Intersections at positions x (n, 3) of the stacked shells, time t [s], that contact would not allow.

    `depth` [m]: how far into planes and spheres is no more than touching them; the first step pushes it out. `unfolded`
    (n,): vertices of shells whose faces meet nowhere else.
    """
    own = scene.together
    found = scene_intersections(scene, x, t, shells=own, depth=depth, unfolded=unfolded)
    offsets = scene.offsets()
    faces = np.concatenate([shell.faces + at for shell, at in zip(scene.shells, offsets, strict=False)])
    if own:
        # A shell whose self-contact is off may pass through itself.
        owner = np.searchsorted(offsets, faces[:, 0], side="right") - 1
        a, b = owner[found.shells[:, 0]], owner[found.shells[:, 1]]
        touches = scene.touch_themselves
        found.shells = found.shells[(a != b) | touches[a]]
    sewn = attached(scene)[faces].any(axis=1)
    found.shells = found.shells[~sewn[found.shells].all(axis=1)]
    return found


def refuse(scene: Scene, found: Intersections, untangled: int | None = None) -> None:
    """Raise a `ShellError` that names the faces of intersections, after so many were `untangled` if that was tried."""
    names = _named(scene, found)
    if untangled is None:
        raise ShellError(
            f"the scene starts with {found.count} intersections: {names}; move the parts apart, or set "
            "Scene(intersections='ignore') to let these faces pass or 'untangle' to move them apart",
            faces=found.faces,
        )
    raise ShellError(
        f"{found.count} intersections at the start could not be untangled ({untangled} could): {names}; move the "
        "parts apart, or set Scene(intersections='ignore') to let these faces pass",
        faces=found.faces,
    )


def passing(scene: Scene, bodies: Bodies, found: Intersections) -> Passing:
    """Pairs of faces that are to pass through each other: what was `found` among shells and with mesh colliders."""
    meshes = [k for k, collider in enumerate(scene.colliders) if isinstance(collider, Collider)]
    starts = np.zeros(len(scene.colliders), dtype=np.int64)
    starts[meshes] = np.concatenate([[0], np.cumsum([len(c.faces) for c in bodies.meshes])])[:-1]
    face, collider, other = found.meshes.T
    return Passing(bodies, found.shells, np.column_stack([face, starts[collider] + other]))


def attached(scene: Scene) -> Bools:
    """Vertices of the stacked shells that an `Attach` holds, (n,)."""
    offsets = scene.offsets()
    held = np.zeros(int(offsets[-1]), dtype=bool)
    for tie in scene.attachments:
        for shell, vertices in zip(tie.shells, tie.vertices, strict=True):
            at = next(k for k, mine in enumerate(scene.shells) if mine is shell)
            held[vertices + offsets[at]] = True
    return held


def _named(scene: Scene, found: Intersections) -> str:
    parts = []
    if len(found.shells):
        pairs = [f"{a} with {b}" for a, b in found.shells[:3]]
        parts.append("shell faces " + ", ".join(pairs) + (" and more" if len(found.shells) > 3 else ""))
    for rows in (found.meshes, found.solids):
        for collider in np.unique(rows[:, 1])[:3]:
            hit = np.unique(rows[rows[:, 1] == collider, 0])
            parts.append(f"faces {listed(hit)} with {scene.called(int(collider))}")
    return "; ".join(parts)
