"""Check: look the scene over, name what is at fault, select its faces."""

from typing import Any

import bpy

from .. import compat
from ..bake import groups, session
from ..errors import UserError
from ..preflight import Issue, look_over
from .bake import leave_edit_mode

last: list[Issue] = []
"""What the last check found, for the panel; never saved with a file."""


class THIN_SHELL_OT_check(bpy.types.Operator):
    bl_idname = "thin_shell.check"
    bl_label = "Check"
    bl_description = "Look the shells over before a bake; faces at fault are selected in Edit Mode"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: Any) -> bool:
        return session.current is None

    def execute(self, context: Any) -> set[str]:
        leave_edit_mode(context)
        chosen = groups.shells(context.scene)
        if not chosen:
            self.report({"ERROR"}, "there is no thin shell in this scene: select a mesh and press Thin Shell")
            return {"CANCELLED"}
        try:
            last[:] = [issue for group in groups.together(chosen) for issue in look_over(context.scene, group)]
        except UserError as error:
            last[:] = [Issue("ERROR", str(error), error.object)]
        for issue in last:
            self.report({"ERROR"} if issue.level == "ERROR" else {"WARNING"}, issue.message)
        if not last:
            self.report({"INFO"}, f"{len(chosen)} shell{'s' if len(chosen) > 1 else ''} looked over: ready to bake")
        marked = next((i for i in last if i.polygons or i.edges or i.vertices), None)
        if marked is not None:
            select(context, marked)
        return {"FINISHED"}


def select(context: Any, issue: Issue) -> None:
    """Show what is at fault: its faces (or edges, or vertices) selected, the object active and in Edit Mode."""
    obj = bpy.data.objects.get(issue.object)
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
