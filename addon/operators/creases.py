"""Mark Crease and Clear Crease: which edges fold, how far and when, as attributes of the mesh."""

from math import pi
from typing import Any

import bmesh
import bpy
from bpy.props import FloatProperty, IntProperty

from ... import shellcore as sc
from .. import presets
from ..bake import session, status
from ..bridge.creases import ANGLE, END, MARK, START
from ..bridge.mesh import is_cracked


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


class _Edges:
    """The selected edges of the object's mesh, in Edit Mode or out of it."""

    def __init__(self, obj: Any) -> None:
        self.mesh, self.editing = obj.data, obj.mode == "EDIT"
        self.bmesh = bmesh.from_edit_mesh(self.mesh) if self.editing else bmesh.new()
        if not self.editing:
            self.bmesh.from_mesh(self.mesh)
        layers = self.bmesh.edges.layers
        for kind, names in ((layers.int, (MARK,)), (layers.float, (ANGLE, START, END))):
            for name in names:
                if kind.get(name) is None:
                    kind.new(name)
        # Looked up when all are there: a new layer moves the others.
        self.mark = layers.int.get(MARK)
        self.values = [layers.float.get(name) for name in (ANGLE, START, END)]
        self.selected = [edge for edge in self.bmesh.edges if edge.select]

    def close(self) -> None:
        if self.editing:
            bmesh.update_edit_mesh(self.mesh, loop_triangles=False, destructive=False)
            return
        self.bmesh.to_mesh(self.mesh)
        self.bmesh.free()
        self.mesh.update()


class THIN_SHELL_OT_mark_crease(bpy.types.Operator):
    bl_idname = "thin_shell.mark_crease"
    bl_label = "Mark Crease"
    bl_description = "The selected edges fold to an angle between two frames of the simulation"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

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

    @classmethod
    def poll(cls, context: Any) -> bool:
        return _editable(cls, context)

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
        edges = _Edges(context.object)
        folds = [edge for edge in edges.selected if len(edge.link_faces) == 2]
        for edge in folds:
            edge[edges.mark] = 1
            for layer, value in zip(edges.values, (self.angle, self.start, self.end), strict=True):
                edge[layer] = value
        chosen = len(edges.selected)
        edges.close()
        status.forget()
        if not folds:
            self.report({"ERROR"}, "select edges that have a face on either side, in Edit Mode")
            return {"CANCELLED"}
        left_out = f", {chosen - len(folds)} on the border cannot fold" if chosen > len(folds) else ""
        self.report({"INFO"}, f"{len(folds)} edges marked{left_out}")
        return {"FINISHED"}


class THIN_SHELL_OT_clear_crease(bpy.types.Operator):
    bl_idname = "thin_shell.clear_crease"
    bl_label = "Clear Crease"
    bl_description = "The selected edges no longer fold by themselves"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    everything: bpy.props.BoolProperty(name="All Edges", description="Clear all creases of the mesh")  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: Any) -> bool:
        return _editable(cls, context) and MARK in context.object.data.attributes

    def execute(self, context: Any) -> set[str]:
        edges = _Edges(context.object)
        chosen = [e for e in (edges.bmesh.edges if self.everything else edges.selected) if e[edges.mark]]
        for edge in chosen:
            edge[edges.mark] = 0
        edges.close()
        status.forget()
        self.report({"INFO"}, f"{len(chosen)} edges cleared")
        return {"FINISHED"}


class THIN_SHELL_OT_yield_preset(bpy.types.Operator):
    bl_idname = "thin_shell.yield_preset"
    bl_label = "Yield from Preset"
    bl_description = "Take yield curvature, hardening and yield stretch from the material preset"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: Any) -> bool:
        obj = context.object
        return session.current is None and obj is not None and obj.type == "MESH" and obj.thin_shell.enabled

    def execute(self, context: Any) -> set[str]:
        name = context.object.thin_shell.preset_name
        try:
            source = presets.apply_yield(context.object.thin_shell, name)
        except sc.ShellError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        status.forget()
        self.report({"INFO"}, source)
        return {"FINISHED"}


def menu(self: Any, _context: Any) -> None:
    """In Edit Mode's Edge menu, below Blender's own Mark Seam and Mark Sharp."""
    self.layout.separator()
    self.layout.operator("thin_shell.mark_crease", text="Mark Thin Shell Crease")
    self.layout.operator("thin_shell.clear_crease", text="Clear Thin Shell Crease").everything = False


CLASSES = (THIN_SHELL_OT_mark_crease, THIN_SHELL_OT_clear_crease, THIN_SHELL_OT_yield_preset)


def register() -> None:
    for each in CLASSES:
        bpy.utils.register_class(each)
    bpy.types.VIEW3D_MT_edit_mesh_edges.append(menu)


def unregister() -> None:
    bpy.types.VIEW3D_MT_edit_mesh_edges.remove(menu)
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
