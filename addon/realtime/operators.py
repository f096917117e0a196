"""Buttons of real time: on and off, handles, modes."""

from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty

from ... import shellcore as sc
from ..bake import session
from ..bake.lock import is_baking
from ..cache.files import CacheError
from ..errors import UserError
from ..operators.modes import leave_edit_mode
from . import player
from .handles import rest_of
from .motion import Motion
from .properties import KINDS


class OnShell:
    """For a thin shell that nothing else is working on."""

    bl_options: Any = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: Any) -> bool:
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.thin_shell.enabled and not is_baking(obj)


class THIN_SHELL_OT_realtime(OnShell, bpy.types.Operator):
    bl_idname = "thin_shell.realtime"
    bl_label = "Real Time"
    bl_description = "Move the shell while the animation plays, or while you drag its handles"
    bl_options: Any = {"REGISTER"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: Any) -> bool:
        return session.current is None and super().poll(context)

    def execute(self, context: Any) -> set[str]:
        if player.current is not None:
            player.turn_off()
            return {"FINISHED"}
        leave_edit_mode(context)
        try:
            player.turn_on(context.scene)
        except (UserError, CacheError, sc.ShellError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class THIN_SHELL_OT_handle_add(OnShell, bpy.types.Operator):
    bl_idname = "thin_shell.handle_add"
    bl_label = "Add Handle at Selection"
    bl_description = "An empty that the selected vertices of this shell follow"

    kind: EnumProperty(name="Follow", description="What of the empty the vertices follow", items=KINDS)  # type: ignore[valid-type]
    stiffness: FloatProperty(  # type: ignore[valid-type]
        name="Stiffness", description="Spring of the handle [N/m]; 0 holds exactly", default=0.0, min=0.0
    )

    def execute(self, context: Any) -> set[str]:
        obj = context.object
        leave_edit_mode(context)
        chosen = [vertex.index for vertex in obj.data.vertices if vertex.select]
        if not chosen or obj.library is not None:
            self.report({"ERROR"}, f"{obj.name}: select the vertices that shall follow in Edit Mode first")
            return {"CANCELLED"}
        player.turn_off()
        settings = obj.thin_shell_realtime
        taken = {handle.name for handle in settings.handles}
        name = next(f"Handle {i}" for i in range(1, len(taken) + 2) if f"Handle {i}" not in taken)
        group = obj.vertex_groups.new(name=name)
        group.add(chosen, 1.0, "REPLACE")
        places = [obj.matrix_world @ obj.data.vertices[i].co for i in chosen]
        middle = sum(places[1:], places[0].copy()) / len(places)
        empty: Any = bpy.data.objects.new(f"{obj.name} {name}", None)
        reach = max((place - middle).length for place in places)
        empty.empty_display_type = "ARROWS" if self.kind in ("ORIENTATION", "BOTH", "RIGID") else "SPHERE"
        empty.empty_display_size = reach or 0.1 * max(obj.dimensions)
        empty.location = middle
        empty.show_in_front = True
        (obj.users_collection or (context.collection,))[0].objects.link(empty)
        context.view_layer.update()
        handle = settings.handles.add()
        handle.name, handle.target, handle.group = name, empty, group.name
        handle.kind, handle.stiffness, handle.rest = self.kind, self.stiffness, rest_of(obj, empty)
        settings.handle_index = len(settings.handles) - 1
        settings.motion = "MODAL"
        return {"FINISHED"}


class THIN_SHELL_OT_handle_remove(OnShell, bpy.types.Operator):
    bl_idname = "thin_shell.handle_remove"
    bl_label = "Remove Handle"
    bl_description = "Remove the chosen handle and its vertex group; its empty stays where it has other users"

    def execute(self, context: Any) -> set[str]:
        obj = context.object
        settings = obj.thin_shell_realtime
        if not 0 <= settings.handle_index < len(settings.handles):
            self.report({"ERROR"}, f"{obj.name}: no handle is chosen")
            return {"CANCELLED"}
        player.turn_off()
        handle = settings.handles[settings.handle_index]
        group, target = obj.vertex_groups.get(handle.group), handle.target
        shared = any(h.group == handle.group for h in settings.handles if h != handle)
        if group is not None and not shared:
            obj.vertex_groups.remove(group)
        ours = target is not None and target.type == "EMPTY" and target.name == f"{obj.name} {handle.name}"
        settings.handles.remove(settings.handle_index)
        settings.handle_index = max(settings.handle_index - 1, 0)
        if ours and not target.children:
            bpy.data.objects.remove(target)
        return {"FINISHED"}


class THIN_SHELL_OT_handle_rest(OnShell, bpy.types.Operator):
    bl_idname = "thin_shell.handle_rest"
    bl_label = "Set Rest"
    bl_description = "Where the object of the chosen handle is now pulls at nothing"

    def execute(self, context: Any) -> set[str]:
        obj = context.object
        settings = obj.thin_shell_realtime
        chosen = settings.handles[settings.handle_index] if settings.handle_index < len(settings.handles) else None
        if chosen is None or chosen.target is None:
            self.report({"ERROR"}, f"{obj.name}: choose a handle that has an object")
            return {"CANCELLED"}
        chosen.rest = rest_of(obj, chosen.target)
        return {"FINISHED"}


class THIN_SHELL_OT_modes(OnShell, bpy.types.Operator):
    bl_idname = "thin_shell.modes"
    bl_label = "Compute Modes"
    bl_description = "List the frequencies of the shell's lowest modes"

    def execute(self, context: Any) -> set[str]:
        obj = context.object
        leave_edit_mode(context)
        try:
            frequencies = Motion(context.scene, obj).modal.frequencies
        except (UserError, sc.ShellError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        settings = obj.thin_shell_realtime
        settings.modes.clear()
        for number, frequency in enumerate(frequencies):
            mode = settings.modes.add()
            mode.name, mode.frequency = f"Mode {number + 1}", float(frequency)
        settings.mode_index = min(settings.mode_index, len(frequencies) - 1)
        return {"FINISHED"}


class THIN_SHELL_OT_mode_preview(OnShell, bpy.types.Operator):
    bl_idname = "thin_shell.mode_preview"
    bl_label = "Preview Mode"
    bl_description = "Show the chosen mode as an oscillation while the animation plays"
    bl_options: Any = {"REGISTER"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: Any) -> bool:
        return session.current is None and super().poll(context)

    def execute(self, context: Any) -> set[str]:
        if player.current is not None and player.current.preview:
            player.turn_off()
            return {"FINISHED"}
        leave_edit_mode(context)
        try:
            player.turn_on(context.scene, context.object)
        except (UserError, CacheError, sc.ShellError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        player.on_frame(context.scene)
        if context.window is not None and not bpy.app.background and not player.playing():
            bpy.ops.screen.animation_play()
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (
        THIN_SHELL_OT_realtime,
        THIN_SHELL_OT_handle_add,
        THIN_SHELL_OT_handle_remove,
        THIN_SHELL_OT_handle_rest,
        THIN_SHELL_OT_modes,
        THIN_SHELL_OT_mode_preview,
    )
)
