"""Results as mesh attributes, so that materials can colour by strain or stress."""

from typing import Any

import bpy

from ..bake.location import paths_of
from ..bake.lock import is_baking
from ..cache import attributes, fields, sidecar
from ..cache.files import CacheError


def frame_values(obj: Any, name: str, frame: int) -> Any:
    """A kept result at a frame, per vertex."""
    settings = obj.thin_shell
    index = min(max(frame - settings.baked_start, 0), max(settings.baked_samples - 1, 0))
    return fields.read_sample(paths_of(obj).field(name), index)


class THIN_SHELL_OT_result_attributes(bpy.types.Operator):
    bl_idname = "thin_shell.result_attributes"
    bl_label = "Results to Attributes"
    bl_description = (
        "Give the mesh the kept results of every frame as attributes 'thin_shell_…' for materials and nodes. "
        "A bake does this by itself; this brings them back where they were removed"
    )
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: Any) -> bool:
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.thin_shell.baked and not is_baking(obj)

    def execute(self, context: Any) -> set[str]:
        obj = context.object
        try:
            paths = paths_of(obj)
            info = sidecar.read(paths.sidecar)
            if not info.fields:
                raise CacheError(f"the bake of {obj.name} kept no results: tick some under Results and bake again")
            attributes.attach(obj, paths, info)
        except CacheError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((THIN_SHELL_OT_result_attributes,))
