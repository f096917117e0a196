"""The main panel with its preset menu, and Model."""

from typing import Any

import bpy

from .. import presets
from ..properties.model import steps_by_quality
from .base import PhysicsPanel, SubPanel, column, editable, prop_or_auto, wrapped


class PHYSICS_PT_thin_shell_presets(bpy.types.Panel):
    bl_label = "Material Presets"
    bl_space_type = "PROPERTIES"
    bl_region_type = "HEADER"
    bl_options = {"INSTANCED"}  # noqa: RUF012
    bl_ui_units_x = 14

    def draw(self, context: Any) -> None:
        layout = self.layout
        layout.enabled = editable(context.object)
        layout.label(text="Material")
        columns = layout.grid_flow(columns=2, even_columns=True, align=True)
        for name, (label, _) in presets.built_in().items():
            columns.operator("thin_shell.preset", text=label).name = name
        own = presets.user_presets()
        if own:
            layout.separator()
            for name in own:
                row = layout.row(align=True)
                row.operator("thin_shell.preset", text=name).name = name
                delete = row.operator("thin_shell.preset_save", text="", icon="REMOVE")
                delete.name, delete.remove = name, True
        layout.separator()
        layout.operator("thin_shell.preset_save", text="Save as Preset…", icon="ADD")


class PHYSICS_PT_thin_shell(PhysicsPanel, bpy.types.Panel):
    bl_label = "Thin Shell"

    def draw_header_preset(self, context: Any) -> None:
        row = self.layout.row(align=True)
        row.label(text=presets.shown_name(context.object.thin_shell))
        menu = row.row()
        menu.enabled = editable(context.object)
        menu.popover("PHYSICS_PT_thin_shell_presets", text="", icon="PRESET")

    def draw(self, context: Any) -> None:
        from .cache import draw_bake

        draw_bake(self.layout, context)


class PHYSICS_PT_thin_shell_model(SubPanel, bpy.types.Panel):
    bl_label = "Model"
    bl_order = 0

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        by_quality = steps_by_quality(settings)
        if by_quality:
            layout.prop(settings, "quality")
            if settings.quality == "CUSTOM":
                layout.prop(settings, "accuracy")
            layout.separator()
        layout.prop(settings, "bending")
        layout.prop(settings, "membrane")
        layout.prop(settings, "hinge_fit")
        layout.separator()
        layout.prop(settings, "integrator")
        if settings.integrator == "newmark":
            layout.prop(settings, "newmark_beta")
            layout.prop(settings, "newmark_gamma")
        if not by_quality:
            layout.prop(settings, "substeps", text="Steps")
        layout.separator()
        # It always solves by Newton's method, and refuses another.
        solver = layout.row()
        solver.enabled = not by_quality or settings.solver == "quasi_newton"
        solver.prop(settings, "solver")
        if by_quality and settings.solver == "quasi_newton":
            wrapped(layout, "SDIRK2 solves by Newton's method: choose Automatic", "ERROR")
        if settings.solver != "quasi_newton":
            layout.prop(settings, "jacobian")
        prop_or_auto(layout, settings, "tolerance", "Tolerance")
        layout.prop(settings, "strain_limit", text="Strain Limit (%)")
        prop_or_auto(layout, settings, "iterations", "Iterations")


register, unregister = bpy.utils.register_classes_factory(
    (PHYSICS_PT_thin_shell_presets, PHYSICS_PT_thin_shell, PHYSICS_PT_thin_shell_model)
)
