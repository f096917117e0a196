"""Copy System Info, Copy Bake Command, Willmore Smooth."""

import shlex
from typing import Any

import bpy
import numpy as np
from bpy.props import FloatProperty, IntProperty

from ... import shellcore as sc
from ..bridge.mesh import read
from ..info import system_info


class THIN_SHELL_OT_copy_info(bpy.types.Operator):
    bl_idname = "thin_shell.copy_info"
    bl_label = "Copy System Info"
    bl_description = "Versions and settings for a bug report, to the clipboard"

    def execute(self, context: Any) -> set[str]:
        text = system_info()
        context.window_manager.clipboard = text
        if bpy.app.background:
            print(text)
        self.report({"INFO"}, "System info copied")
        return {"FINISHED"}


def bake_command(objects: list[str]) -> str:
    """The line that bakes this file without a window."""
    program = bpy.app.binary_path or "blender"
    words = [program, "-b", bpy.data.filepath, "--command", "thin_shell", "bake"]
    if objects:
        words += ["--objects", *objects]
    return shlex.join(words)


class THIN_SHELL_OT_copy_command(bpy.types.Operator):
    bl_idname = "thin_shell.copy_command"
    bl_label = "Copy Bake Command"
    bl_description = "The command line that bakes this shell without a window, to the clipboard"

    def execute(self, context: Any) -> set[str]:
        if not bpy.data.filepath:
            self.report({"ERROR"}, "save the file first: the command needs its name")
            return {"CANCELLED"}
        obj = context.object
        chosen = [obj.name] if obj is not None and obj.type == "MESH" and obj.thin_shell.enabled else []
        text = bake_command(chosen)
        context.window_manager.clipboard = text
        if bpy.app.background:
            print(text)
        self.report(
            {"INFO"}, "Bake command copied" + (" (save the file before you run it)" if bpy.data.is_dirty else "")
        )
        return {"FINISHED"}


class THIN_SHELL_OT_willmore(bpy.types.Operator):
    bl_idname = "thin_shell.willmore"
    bl_label = "Willmore Smooth"
    bl_description = "Smooth the surface by letting its own bending energy flow away; open borders stay in place"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    step: FloatProperty(  # type: ignore[valid-type]
        name="Step",
        description="Size of a step of the flow, in mean edge lengths to the fourth",
        default=1.0,
        min=1e-4,
        max=1e4,
    )
    steps: IntProperty(name="Steps", description="Number of steps", default=5, min=1, max=500)  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.object is not None and context.object.type == "MESH" and context.object.mode == "OBJECT"

    def execute(self, context: Any) -> set[str]:
        obj = context.object
        if obj.data.shape_keys is not None or obj.library is not None:
            self.report(
                {"ERROR"}, f"{obj.name}: Willmore Smooth changes the mesh itself: remove shape keys, or make it local"
            )
            return {"CANCELLED"}
        arrays = read(obj.data)
        try:
            a, b = (arrays.positions[arrays.faces[:, j]] for j in (0, 1))
            edge = float(np.linalg.norm(a - b, axis=1).mean())
            smooth = sc.willmore_flow(arrays.positions, arrays.faces, step=self.step * edge**4, steps=self.steps)
        except (sc.ShellError, sc.StepFailed) as error:
            self.report({"ERROR"}, f"{obj.name}: {error}")
            return {"CANCELLED"}
        obj.data.vertices.foreach_set("co", np.ascontiguousarray(smooth, dtype=np.float32).ravel())
        obj.data.update()
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (THIN_SHELL_OT_copy_info, THIN_SHELL_OT_copy_command, THIN_SHELL_OT_willmore)
)
