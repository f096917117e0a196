"""Wedge: what varies, and the table of what came out."""

from typing import Any

import bpy

from ..panels.base import SubPanel, wrapped
from . import operators, results, variant

MOST_LISTED = 24


class PHYSICS_PT_thin_shell_wedge(SubPanel, bpy.types.Panel):
    bl_label = "Wedge"
    bl_order = 11

    def draw(self, context: Any) -> None:
        layout, wedge = self.layout, context.scene.thin_shell_wedge
        layout.prop(wedge, "wedge_name")
        for index, entry in enumerate(wedge.entries):
            box = layout.box().column(align=True)
            row = box.row(align=True)
            row.prop(entry, "kind", text="")
            if entry.kind != "CSV":
                row.prop(entry, "setting", text="")
            row.operator("thin_shell.wedge_remove", text="", icon="X").index = index
            if entry.kind == "VALUES":
                box.prop(entry, "values", text="")
            elif entry.kind == "CSV":
                box.prop(entry, "table", text="")
            else:
                row = box.row(align=True)
                row.prop(entry, "first", text="")
                row.prop(entry, "last", text="")
                row.prop(entry, "count", text="")
        layout.operator("thin_shell.wedge_add", icon="ADD")
        if len(wedge.entries) > 1:
            layout.row().prop(wedge, "combine", expand=True)
        layout.prop(wedge, "folder", text="")
        buttons = layout.column(align=True)
        buttons.operator("thin_shell.wedge_save", icon="COPYDOWN")
        row = buttons.row(align=True)
        row.prop(wedge, "render", toggle=True)
        row.prop(wedge, "chunk")
        buttons.operator("thin_shell.export_farm_job", icon="EXPORT")


class PHYSICS_PT_thin_shell_variants(SubPanel, bpy.types.Panel):
    bl_label = "Variants"
    bl_order = 11
    bl_parent_id = "PHYSICS_PT_thin_shell_wedge"

    def draw(self, context: Any) -> None:
        layout, wedge = self.layout, context.scene.thin_shell_wedge
        layout.operator("thin_shell.wedge_look", icon="FILE_REFRESH")
        for row in wedge.variants[:MOST_LISTED]:
            self._row(layout.box(), context, row)
        if len(wedge.variants) > MOST_LISTED:
            layout.label(text=f"and {len(wedge.variants) - MOST_LISTED} more: see the contact sheet")
        if len(wedge.variants):
            line = layout.row(align=True)
            line.operator("thin_shell.compare_variants", icon="SEQ_SPLITVIEW")
            line.prop(wedge, "spacing")

    def _row(self, box: Any, context: Any, row: Any) -> None:
        line = box.row()
        path = str(
            variant.folder_for(context.object, context.scene.thin_shell_wedge.folder, row.name) / results.THUMBNAIL
        )
        if operators.pictures is not None and path in operators.pictures:
            line.template_icon(operators.pictures[path].icon_id, scale=3.0)
        words = line.column(align=True)
        words.label(text=f"{row.number}: {row.state}", icon="CHECKMARK" if row.baked else "RADIOBUT_OFF")
        wrapped(words, row.settings)
        if row.baked:
            buttons = words.row(align=True)
            buttons.operator("thin_shell.attach_variant", text="Attach", icon="LINKED").name = row.name
            buttons.prop(row, "chosen", text="Compare", toggle=True)


register, unregister = bpy.utils.register_classes_factory((PHYSICS_PT_thin_shell_wedge, PHYSICS_PT_thin_shell_variants))
