"""Mark Crease and Mark Tear: which edges fold or open, how far and when, as attributes of the mesh."""

from math import pi
from typing import Any

import bmesh
import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty

from ..bake import session, status
from ..bridge.creases import ANGLE, END, MARK, START
from ..bridge.mesh import is_cracked
from ..bridge.yielding import TEAR, TEAR_FRAME


def _editable(cls: Any, context: Any) -> bool:
    obj = context.object
    if session.current is not None or obj is None or obj.type != "MESH":
        return False
    if obj.library is not None or obj.data.library is not None:
        cls.poll_message_set("the mesh is linked from another file")
        return False
    if is_cracked(obj):
        cls.poll_message_set("the mesh shows the cracks of a bake: Delete Bake first")
        return False
    return obj.mode in ("EDIT", "OBJECT")


def has_creases(mesh: Any) -> bool:
    """Whether an edge is marked to fold."""
    marks = mesh.attributes.get(MARK)
    return marks is not None and any(each.value for each in marks.data)


class _Edges:
    """The selected edges of the object's mesh, in Edit Mode or out of it, and attributes to mark them with."""

    def __init__(self, obj: Any, mark: str, values: tuple[str, ...] = ()) -> None:
        self.mesh, self.editing = obj.data, obj.mode == "EDIT"
        self.bmesh = bmesh.from_edit_mesh(self.mesh) if self.editing else bmesh.new()
        if not self.editing:
            self.bmesh.from_mesh(self.mesh)
        layers = self.bmesh.edges.layers
        for kind, names in ((layers.int, (mark,)), (layers.float, values)):
            for name in names:
                if kind.get(name) is None:
                    kind.new(name)
        # Looked up when all are there: a new layer moves the others.
        self.mark = layers.int.get(mark)
        self.values = [layers.float.get(name) for name in values]
        self.selected = [edge for edge in self.bmesh.edges if edge.select]

    def close(self) -> None:
        status.forget()
        if self.editing:
            bmesh.update_edit_mesh(self.mesh, loop_triangles=False, destructive=False)
            return
        self.bmesh.to_mesh(self.mesh)
        self.bmesh.free()
        self.mesh.update()


class _Operator(bpy.types.Operator):
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: Any) -> bool:
        return _editable(cls, context)

    def mark(self, obj: Any, name: str, values: dict[str, float]) -> set[str]:
        """Mark the selected edges that have a face on either side."""
        edges = _Edges(obj, name, tuple(values))
        inner = [edge for edge in edges.selected if len(edge.link_faces) == 2]
        for edge in inner:
            edge[edges.mark] = 1
            for layer, value in zip(edges.values, values.values(), strict=True):
                edge[layer] = value
        count, chosen = len(inner), len(edges.selected)
        edges.close()
        if count == 0:
            self.report({"ERROR"}, "select edges that have a face on either side, in Edit Mode")
            return {"CANCELLED"}
        left_out = f", {chosen - count} on the border are left out" if chosen > count else ""
        self.report({"INFO"}, f"{count} edges marked{left_out}")
        return {"FINISHED"}

    def clear(self, obj: Any, name: str, everything: bool) -> set[str]:
        """Take marks off the selected edges, or off all."""
        edges = _Edges(obj, name)
        chosen = [e for e in (edges.bmesh.edges if everything else edges.selected) if e[edges.mark]]
        for edge in chosen:
            edge[edges.mark] = 0
        count = len(chosen)
        edges.close()
        self.report({"INFO"}, f"{count} edges cleared")
        return {"FINISHED"}


class THIN_SHELL_OT_mark_crease(_Operator):
    bl_idname = "thin_shell.mark_crease"
    bl_label = "Mark Crease"
    bl_description = "The selected edges fold to an angle between two frames of the simulation"

    angle: FloatProperty(  # type: ignore[valid-type]
        name="Angle",
        description="Fold to take: positive towards the side the normals point to, 0 flattens, 180° closes",
        subtype="ANGLE",
        default=pi / 2,
        min=-pi,
        max=pi,
    )
    start: IntProperty(name="Start", description="Frame at which the fold begins", default=1)  # type: ignore[valid-type]
    end: IntProperty(name="End", description="Frame at which the fold is complete", default=24)  # type: ignore[valid-type]

    def invoke(self, context: Any, _event: Any) -> set[str]:
        if not self.properties.is_property_set("start"):
            self.start = context.object.thin_shell.frame_start
        if not self.properties.is_property_set("end"):
            self.end = self.start + 23
        return self.execute(context)

    def execute(self, context: Any) -> set[str]:
        if self.end < self.start:
            self.report({"ERROR"}, f"the fold ends at frame {self.end}, before its start at {self.start}")
            return {"CANCELLED"}
        done = self.mark(context.object, MARK, {ANGLE: self.angle, START: self.start, END: self.end})
        settings = context.object.thin_shell
        if done == {"FINISHED"} and settings.enabled:
            settings.use_creases = True
        return done


class THIN_SHELL_OT_clear_crease(_Operator):
    bl_idname = "thin_shell.clear_crease"
    bl_label = "Clear Crease"
    bl_description = "The selected edges no longer fold by themselves"

    everything: BoolProperty(name="All Edges", description="Clear all creases of the mesh")  # type: ignore[valid-type]

    def execute(self, context: Any) -> set[str]:
        return self.clear(context.object, MARK, self.everything)


class THIN_SHELL_OT_mark_tear(_Operator):
    bl_idname = "thin_shell.mark_tear"
    bl_label = "Mark Tear"
    bl_description = "The selected edges open at a frame of the simulation, whatever the sheet bears (with Fracture on)"

    frame: IntProperty(name="Frame", description="Frame at which the edges open", default=24)  # type: ignore[valid-type]

    def execute(self, context: Any) -> set[str]:
        return self.mark(context.object, TEAR, {TEAR_FRAME: self.frame})


class THIN_SHELL_OT_clear_tear(_Operator):
    bl_idname = "thin_shell.clear_tear"
    bl_label = "Clear Tear"
    bl_description = "The selected edges open only where they break"

    everything: BoolProperty(name="All Edges", description="Clear all tears of the mesh")  # type: ignore[valid-type]

    def execute(self, context: Any) -> set[str]:
        return self.clear(context.object, TEAR, self.everything)


def menu(self: Any, _context: Any) -> None:
    """In Edit Mode's Edge menu, below Blender's own Mark Seam and Mark Sharp."""
    self.layout.separator()
    for name in ("crease", "tear"):
        self.layout.operator(f"thin_shell.mark_{name}", text=f"Mark Thin Shell {name.title()}")
        self.layout.operator(f"thin_shell.clear_{name}", text=f"Clear Thin Shell {name.title()}").everything = False


CLASSES = (
    THIN_SHELL_OT_mark_crease,
    THIN_SHELL_OT_clear_crease,
    THIN_SHELL_OT_mark_tear,
    THIN_SHELL_OT_clear_tear,
)


def register() -> None:
    for each in CLASSES:
        bpy.utils.register_class(each)
    bpy.types.VIEW3D_MT_edit_mesh_edges.append(menu)


def unregister() -> None:
    bpy.types.VIEW3D_MT_edit_mesh_edges.remove(menu)
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
