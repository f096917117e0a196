"""The mode an artist works in: meshes are read in Object Mode, and after that he is back where he was."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import bpy

from .. import compat


@dataclass(frozen=True)
class Place:
    """An object and the mode it was in; a number and no object, as an undo replaces objects."""

    uid: int
    mode: str

    def back(self) -> None:
        """Go back, unless somebody has gone elsewhere since or the object is out of reach."""
        obj = bpy.context.view_layer.objects.active
        if self.mode == "OBJECT" or obj is None or compat.session_uid(obj) != self.uid or obj.mode != "OBJECT":
            return
        if obj.visible_get():
            # A step of undo in Edit Mode holds the mesh alone: what was done here needs one of its own before.
            if not bpy.app.background:
                bpy.ops.ed.undo_push(message="Thin Shell")
            bpy.ops.object.mode_set(mode=self.mode)  # type: ignore[arg-type]


def leave_edit_mode(context: Any) -> Place:
    """Go to Object Mode, as edits reach the mesh only then; says where to come back to."""
    obj = context.object
    if obj is None:
        return Place(0, "OBJECT")
    left = Place(compat.session_uid(obj), obj.mode)
    if obj.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    return left


def in_object_mode(execute: Callable[[Any, Any], set[str]]) -> Callable[[Any, Any], set[str]]:
    """Make an operator's `execute` run in Object Mode and come back, however it ends.

    Not where it gave the object another mesh: what was being edited is gone.
    """

    @wraps(execute)
    def run(self: Any, context: Any) -> set[str]:
        place, obj = leave_edit_mode(context), context.object
        data = obj and obj.data
        try:
            return execute(self, context)
        finally:
            if obj and obj.data == data:
                place.back()

    return run
