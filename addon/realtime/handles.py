"""Handles: objects that vertices follow, as targets of the core."""

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ... import shellcore as sc
from ...shellcore.modal import OrientationHandle, PositionHandle
from .. import compat
from ..bridge.lookup import Known, known, taking_part
from ..bridge.weights import group_weights
from ..errors import UserError


@dataclass
class Follower:
    """A handle under way: the core's handles and the places at rest they go by, in world metres."""

    name: str
    target: Known
    kind: str
    rest: Any
    """Matrix of the object when it pulls at nothing, a rotation and a translation, (4, 4)."""
    points: Any
    """Where the vertices rest, (k, 3)."""
    position: PositionHandle | None = None
    orientation: OrientationHandle | None = None

    def follow(self, matrix: Any) -> None:
        """The object is at `matrix` now (rigid, metres)."""
        moved = matrix @ np.linalg.inv(self.rest)
        turn, shift = moved[:3, :3], moved[:3, 3]
        middle = self.points.mean(axis=0)
        if self.orientation is not None:
            self.orientation.target = turn
        if self.position is None:
            return
        if self.kind == "RIGID":
            self.position.target = self.points @ turn.T + shift
        elif self.kind == "BOTH":
            self.position.target = turn @ middle + shift
        else:
            # Turning the object about itself leaves a point that only follows its place where it is.
            self.position.target = middle + matrix[:3, 3] - self.rest[:3, 3]


def faults(obj: Any) -> list[str]:
    """What is wrong with the handles of a shell, in words."""
    found = []
    there = taking_part(bpy.context.view_layer)
    for handle in obj.thin_shell_realtime.handles:
        if handle.enabled and handle.target is None:
            found.append(f"the handle '{handle.name}' has no object to follow: choose one or remove it")
        elif handle.enabled and compat.session_uid(handle.target) not in there:
            found.append(
                f"the handle '{handle.name}' follows '{handle.target.name}', which is in no collection that this view "
                "layer evaluates and stands still: include or enable its collection, or choose another object"
            )
        elif handle.enabled and handle.group not in obj.vertex_groups:
            found.append(f"the handle '{handle.name}' has no vertices: choose a vertex group that has some")
    return [f"{obj.name}: {text}" for text in found]


def followers(obj: Any, mesh: Any, modal: sc.ModalShell, matrix: Any, scale: float) -> list[Follower]:
    """The handles of a shell; `matrix` its world matrix at the start, `scale` [m] of a scene unit."""
    made = []
    wrong = faults(obj)
    if wrong:
        raise UserError(wrong[0], object=obj.name)
    for handle in (each for each in obj.thin_shell_realtime.handles if each.enabled):
        weights = group_weights(obj, mesh, handle.group)
        chosen: Any = np.flatnonzero(weights > 0) if weights is not None else []
        if len(chosen) == 0:
            raise UserError(
                f"{obj.name}: the handle '{handle.name}' has no vertices: choose a vertex group that has some",
                object=obj.name,
            )
        rest = rigid(matrix @ np.array(handle.rest, dtype=np.float64).reshape(4, 4), scale)
        points = modal.shell.rest_positions[chosen]
        follower = Follower(handle.name, known(handle.target), handle.kind, rest, points)
        stiffness = handle.stiffness or None
        if handle.kind != "ORIENTATION":
            target = points if handle.kind == "RIGID" else points.mean(axis=0)
            follower.position = modal.position_handle(chosen, target, stiffness)
        if handle.kind in ("ORIENTATION", "BOTH"):
            # A spring against turning that pulls, at the reach of the handle, as hard as that against moving.
            reach = float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean())) or 1.0
            turning = None if stiffness is None else stiffness * reach**2
            follower.orientation = modal.orientation_handle(chosen, np.eye(3), turning)
        made.append(follower)
    return made


def place(target: Known, depsgraph: Any, scale: float) -> Any:
    """Where an object is, as a rotation and a translation in metres, (4, 4)."""
    return rigid(np.array(target.evaluated(depsgraph).matrix_world, dtype=np.float64), scale)


def rigid(matrix: Any, scale: float) -> Any:
    """The rotation nearest to a matrix, and its translation in metres, (4, 4)."""
    u, _, vt = np.linalg.svd(matrix[:3, :3])
    u[:, 2] *= np.sign(np.linalg.det(u @ vt)) or 1.0
    result = np.eye(4)
    result[:3, :3] = u @ vt
    result[:3, 3] = matrix[:3, 3] * scale
    return result


def rest_of(obj: Any, target: Any) -> list[float]:
    """Where the target is now, seen from the shell, row by row: what a handle keeps as its rest."""
    inverse = np.linalg.inv(np.array(obj.matrix_world, dtype=np.float64))
    flat: list[float] = (inverse @ np.array(target.matrix_world, dtype=np.float64)).ravel().tolist()
    return flat
