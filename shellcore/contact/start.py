"""Before the first step: intersections are found and named, or set aside on request."""

from __future__ import annotations

import numpy as np

from ..errors import ShellError, listed
from ..scene import Scene
from ..types import Bools, Floats
from .intersections import Intersections, scene_intersections


def checked_start(scene: Scene, x: Floats, t: float) -> tuple[Intersections, Bools]:
    """Intersections at the start, and which vertices of the stacked shells they involve, (n,).

    Raises `ShellError` that names the faces, unless the scene says to ignore or untangle them.
    """
    own = scene.self_contact and (len(scene.shells) > 1 or any(shell.self_contact for shell in scene.shells))
    found = scene_intersections(scene, x, t, shells=own)
    offsets = scene.offsets()
    faces = np.concatenate([shell.faces + at for shell, at in zip(scene.shells, offsets, strict=False)])
    if own:
        # A shell whose self-contact is off may pass through itself.
        owner = np.searchsorted(offsets, faces[:, 0], side="right") - 1
        a, b = owner[found.shells[:, 0]], owner[found.shells[:, 1]]
        touches = np.array([shell.self_contact for shell in scene.shells])
        found.shells = found.shells[(a != b) | touches[a]]
    sewn = attached(scene)[faces].any(axis=1)
    found.shells = found.shells[~sewn[found.shells].all(axis=1)]
    involved = np.zeros(len(x), dtype=bool)
    if found.count == 0:
        return found, involved
    if scene.intersections == "error":
        raise ShellError(
            f"the scene starts with {found.count} intersections: {_named(found)}; move the parts apart, or set "
            "Scene(intersections='ignore') to let these faces pass or 'untangle' to let them part",
            faces=found.faces,
        )
    involved[faces[np.concatenate([found.shells.ravel(), found.meshes[:, 0]])]] = True
    return found, involved


def attached(scene: Scene) -> Bools:
    """Vertices of the stacked shells that an `Attach` holds, (n,)."""
    offsets = scene.offsets()
    held = np.zeros(int(offsets[-1]), dtype=bool)
    for tie in scene.attachments:
        for shell, vertices in zip(tie.shells, tie.vertices, strict=True):
            at = next(k for k, mine in enumerate(scene.shells) if mine is shell)
            held[vertices + offsets[at]] = True
    return held


def _named(found: Intersections) -> str:
    parts = []
    if len(found.shells):
        pairs = [f"{a} with {b}" for a, b in found.shells[:3]]
        parts.append("shell faces " + ", ".join(pairs) + (" and more" if len(found.shells) > 3 else ""))
    for rows in (found.meshes, found.solids):
        for collider in np.unique(rows[:, 1])[:3]:
            parts.append(f"faces {listed(np.unique(rows[rows[:, 1] == collider, 0]))} with collider {collider}")
    return "; ".join(parts)
