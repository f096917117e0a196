"""Check: look the scene over, name what is at fault, select its faces."""

from typing import Any

import bpy

from .. import compat
from ..bake import groups
from ..bake.lock import is_baking
from ..errors import UserError
from ..preflight import Issue, look_over, of_error, results
from .modes import in_object_mode


def __getattr__(name: str) -> Any:
    """`last`: what the last check found."""
    if name == "last":
        return results.found()
    raise AttributeError(name)


class THIN_SHELL_OT_check(bpy.types.Operator):
    bl_idname = "thin_shell.check"
    bl_label = "Check"
    bl_description = "Look the shells over before a bake; faces at fault are selected in Edit Mode"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.object is None or not is_baking(context.object)

    @in_object_mode
    def execute(self, context: Any) -> set[str]:
        chosen = groups.shells(context.scene)
        if not chosen:
            self.report({"ERROR"}, "there is no thin shell in this scene: select a mesh and press Thin Shell")
            return {"CANCELLED"}
        for group in groups.together(chosen):
            try:
                look_over(context.scene, group)
            except UserError as error:
                results.remember([of_error(error)], group)
        found = results.found()
        for issue in found:
            self.report({"ERROR"} if issue.level == "ERROR" else {"WARNING"}, issue.message)
        if not found:
            self.report({"INFO"}, f"{len(chosen)} shell{'s' if len(chosen) > 1 else ''} looked over: ready to bake")
        marked = next((i for i in found if i.polygons or i.edges or i.vertices), None)
        if marked is not None:
            select(context, marked)
        return {"FINISHED"}


def select(context: Any, issue: Issue) -> None:
    """Show what is at fault: its faces (or edges, or vertices) selected, the object active and in Edit Mode."""
    named = [o for o in context.scene.objects if o.name == issue.object]
    obj = next((o for o in named if compat.session_uid(o) in issue.shells), None)
    if obj is None or obj.library is not None or obj.name not in context.view_layer.objects:
        return
    mesh = obj.data
    kind = "FACE" if issue.polygons else "EDGE" if issue.edges else "VERT"
    wanted = {tuple(sorted(edge)) for edge in issue.edges}
    faces = [index for index in issue.polygons if index < len(mesh.polygons)]
    corners = {v for index in faces for v in mesh.polygons[index].vertices}
    edges = [edge.index for edge in mesh.edges if kind == "EDGE" and tuple(sorted(edge.vertices)) in wanted]
    compat.select(mesh, faces, edges, [v for v in (*issue.vertices, *corners) if v < len(mesh.vertices)])
    for other in context.selected_objects:
        other.select_set(False)
    obj.select_set(True)
    context.view_layer.objects.active = obj
    context.tool_settings.mesh_select_mode = (kind == "VERT", kind == "EDGE", kind == "FACE")
    if not bpy.app.background and not obj.hide_get():
        bpy.ops.object.mode_set(mode="EDIT")


register, unregister = bpy.utils.register_classes_factory((THIN_SHELL_OT_check,))
