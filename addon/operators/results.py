"""Results as mesh attributes, so that materials can colour by strain or stress."""

from typing import Any

import bpy
import numpy as np
from bpy.props import EnumProperty

from ..bake import session
from ..bake.location import paths_of
from ..cache import fields
from ..cache.files import CacheError
from ..properties.cache import RESULTS


def frame_values(obj: Any, name: str, frame: int) -> Any:
    """A kept result at a frame, per vertex."""
    settings = obj.thin_shell
    index = min(max(frame - settings.baked_start, 0), max(settings.baked_samples - 1, 0))
    return fields.read_sample(paths_of(obj).field(name), index)


class THIN_SHELL_OT_result_attribute(bpy.types.Operator):
    bl_idname = "thin_shell.result_attribute"
    bl_label = "Result to Attribute"
    bl_description = "Write a result of the current frame to a mesh attribute 'thin_shell_…' that materials can read"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    result: EnumProperty(name="Result", items=[(k, label, about) for k, (label, about) in RESULTS.items()])  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: Any) -> bool:
        obj = context.object
        return (
            session.current is None
            and obj is not None
            and obj.type == "MESH"
            and obj.thin_shell.enabled
            and obj.mode == "OBJECT"
        )

    def execute(self, context: Any) -> set[str]:
        obj = context.object
        try:
            values = frame_values(obj, self.result, context.scene.frame_current)
        except CacheError as error:
            self.report({"ERROR"}, f"{error} (tick {RESULTS[self.result][0]} under Results before baking)")
            return {"CANCELLED"}
        if len(values) != len(obj.data.vertices):
            self.report(
                {"ERROR"},
                f"{obj.name}: modifiers above Thin Shell change the number of vertices: apply them, or use Make Real",
            )
            return {"CANCELLED"}
        write_attribute(obj.data, self.result, values)
        return {"FINISHED"}


def write_attribute(mesh: Any, name: str, values: Any) -> None:
    """Write per-vertex numbers or vectors; velocity under the name renderers look for."""
    label = "velocity" if name == "velocity" else f"thin_shell_{name}"
    kind = "FLOAT_VECTOR" if values.ndim == 2 else "FLOAT"
    attribute = mesh.attributes.get(label)
    if attribute is not None and (attribute.data_type != kind or attribute.domain != "POINT"):
        mesh.attributes.remove(attribute)
        attribute = None
    if attribute is None:
        attribute = mesh.attributes.new(label, kind, "POINT")
    attribute.data.foreach_set(
        "vector" if kind == "FLOAT_VECTOR" else "value", np.ascontiguousarray(values, np.float32).ravel()
    )
    mesh.update()


register, unregister = bpy.utils.register_classes_factory((THIN_SHELL_OT_result_attribute,))
