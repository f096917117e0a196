"""Real Time in the Physics tab: the switch, handles, modes."""

from typing import Any

import bpy

from ..panels.base import SubPanel, editable, wrapped
from . import player
from .properties import is_modal


def column(panel: Any, context: Any) -> tuple[Any, Any]:
    panel.layout.use_property_split = True
    panel.layout.use_property_decorate = False
    made = panel.layout.column()
    made.enabled = editable(context.object)
    return context.object.thin_shell_realtime, made


def draw_switch(layout: Any) -> None:
    """The button of the main panel, in the place of Live."""
    on = player.current is not None and not player.current.preview
    layout.operator(
        "thin_shell.realtime",
        text="Stop Real Time" if on else "Real Time",
        icon="PAUSE" if on else "PLAY",
        depress=on,
    )


def draw_message(layout: Any) -> None:
    if player.current is not None and not player.current.preview:
        wrapped(layout, f"Real Time: {player.current.message}")
    elif player.stopped:
        wrapped(layout, player.stopped, "ERROR")


class PHYSICS_PT_thin_shell_realtime(SubPanel, bpy.types.Panel):
    bl_label = "Real Time"
    bl_order = 7

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        layout.row().prop(settings, "motion", expand=True)


class THIN_SHELL_UL_handles(bpy.types.UIList):
    def draw_item(
        self, _context: Any, layout: Any, _data: Any, item: Any, _icon: Any, _active: Any, _prop: Any, _index: int = 0
    ) -> None:
        row = layout.row(align=True)
        row.prop(item, "name", text="", emboss=False, icon="EMPTY_ARROWS")
        row.prop(item, "kind", text="", emboss=False)
        row.prop(item, "enabled", text="")


class PHYSICS_PT_thin_shell_handles(SubPanel, bpy.types.Panel):
    bl_label = "Handles"
    bl_parent_id = "PHYSICS_PT_thin_shell_realtime"
    bl_options: Any = set()  # noqa: RUF012

    @classmethod
    def poll(cls, context: Any) -> bool:
        return super().poll(context) and is_modal(context.object)

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        row = layout.row()
        row.template_list("THIN_SHELL_UL_handles", "", settings, "handles", settings, "handle_index", rows=3)
        row.column().operator("thin_shell.handle_remove", text="", icon="REMOVE")
        layout.operator("thin_shell.handle_add", icon="EMPTY_ARROWS")
        if settings.handle_index < len(settings.handles):
            handle = settings.handles[settings.handle_index]
            layout.prop(handle, "target")
            layout.prop_search(handle, "group", context.object, "vertex_groups")
            layout.prop(handle, "kind")
            layout.prop(handle, "stiffness", text="Stiffness (N/m)")
            layout.operator("thin_shell.handle_rest")


class THIN_SHELL_UL_modes(bpy.types.UIList):
    def draw_item(
        self, _context: Any, layout: Any, _data: Any, item: Any, _icon: Any, _active: Any, _prop: Any, _index: int = 0
    ) -> None:
        row = layout.row()
        row.label(text=item.name)
        row.label(text=f"{item.frequency:.4g} Hz")


class PHYSICS_PT_thin_shell_modes(SubPanel, bpy.types.Panel):
    bl_label = "Modes"
    bl_parent_id = "PHYSICS_PT_thin_shell_realtime"

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        layout.prop(settings, "mode_count", text="Number")
        layout.operator("thin_shell.modes", icon="FILE_REFRESH")
        if not len(settings.modes):
            return
        layout.template_list("THIN_SHELL_UL_modes", "", settings, "modes", settings, "mode_index", rows=5)
        shown = self.layout.column(align=True)
        shown.prop(settings, "preview_size", slider=True)
        shown.prop(settings, "preview_frames")
        on = player.current is not None and player.current.preview
        shown.operator(
            "thin_shell.mode_preview",
            text="Stop Preview" if on else "Preview Mode",
            icon="PAUSE" if on else "PLAY",
            depress=on,
        )


register, unregister = bpy.utils.register_classes_factory(
    (
        PHYSICS_PT_thin_shell_realtime,
        THIN_SHELL_UL_handles,
        PHYSICS_PT_thin_shell_handles,
        THIN_SHELL_UL_modes,
        PHYSICS_PT_thin_shell_modes,
    )
)
