"""Plasticity, Fracture, Creases and Curl."""

from typing import Any

import bpy

from .. import presets
from ..bridge.creases import MARK
from .base import SubPanel, column, editable, wrapped


class PHYSICS_PT_thin_shell_plasticity(SubPanel, bpy.types.Panel):
    bl_label = "Plasticity"
    bl_order = 3

    def draw_header(self, context: Any) -> None:
        self.layout.enabled = editable(context.object)
        self.layout.prop(context.object.thin_shell, "use_plasticity", text="")

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        layout.active = settings.use_plasticity
        row = layout.row()
        row.enabled = settings.preset_name in presets.yields()
        row.operator("thin_shell.yield_preset", text=f"From Preset {presets.shown_name(settings)}")
        layout.prop(settings, "yield_curvature", text="Yield (1/m)")
        layout.prop(settings, "plastic_hardening")
        layout.prop(settings, "use_plastic_rate")
        if settings.use_plastic_rate:
            layout.prop(settings, "plastic_rate", text="Rate (1/s)")
        layout.prop(settings, "use_yield_stretch")
        if settings.use_yield_stretch:
            layout.prop(settings, "yield_stretch", text="Stretch (%)")


class PHYSICS_PT_thin_shell_fracture(SubPanel, bpy.types.Panel):
    bl_label = "Fracture"
    bl_order = 3

    def draw_header(self, context: Any) -> None:
        self.layout.enabled = editable(context.object)
        self.layout.prop(context.object.thin_shell, "use_fracture", text="")

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        layout.active = settings.use_fracture or settings.use_seam_release
        layout.prop(settings, "use_fracture_bend")
        if settings.use_fracture_bend:
            bend = layout.column(align=True)
            bend.prop(settings, "fracture_along", text="Along (1/m)")
            bend.prop(settings, "fracture_across", text="Across (1/m)")
        layout.prop(settings, "use_fracture_stretch")
        if settings.use_fracture_stretch:
            layout.prop(settings, "fracture_stretch", text="Stretch (%)")
        layout.prop(settings, "toughness_source")
        if settings.toughness_source == "WEIGHT":
            layout.prop_search(
                settings, "toughness_weight", context.object, "vertex_groups", results_are_suggestions=True
            )
        elif settings.toughness_source == "IMAGE":
            layout.template_ID(settings, "toughness_image", new="image.new", open="image.open")
            layout.prop_search(settings, "toughness_uv", context.object.data, "uv_layers")
        if settings.toughness_source != "NONE":
            layout.prop(settings, "toughness_low")
        layout.separator()
        row = layout.row(align=True)
        row.operator("thin_shell.mark_tear")
        row.operator("thin_shell.clear_tear", text="Clear").everything = False
        layout.prop(settings, "use_seam_release")
        if settings.use_seam_release:
            layout.prop(settings, "seam_release")
            if not settings.use_sewing:
                wrapped(layout, "Turn Sewing on in Shape: seams are its edges", "INFO")
        # How a bake is shown, not what it is: free to change under one.
        self.layout.column(heading="Smooth").prop(settings, "weld_seams", text="until Broken")


class PHYSICS_PT_thin_shell_creases(SubPanel, bpy.types.Panel):
    bl_label = "Creases and Curl"
    bl_order = 3

    def draw_header(self, context: Any) -> None:
        self.layout.enabled = editable(context.object)
        self.layout.prop(context.object.thin_shell, "use_creases", text="")

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        folds = layout.column()
        folds.active = settings.use_creases
        row = folds.row(align=True)
        row.operator("thin_shell.mark_crease")
        row.operator("thin_shell.clear_crease", text="Clear").everything = False
        if MARK not in context.object.data.attributes:
            wrapped(folds, "Select edges in Edit Mode and mark them", "INFO")
        folds.prop(settings, "crease_attribute")
        if settings.crease_attribute:
            folds.prop(settings, "crease_angle")
            times = folds.column(align=True)
            times.prop(settings, "crease_start")
            times.prop(settings, "crease_end")
        layout.separator()
        layout.prop(settings, "use_curl")
        if settings.use_curl:
            layout.prop(settings, "curl_axis")
            # Without units a length is a number of metres.
            plain = context.scene.unit_settings.system == "NONE"
            layout.prop(settings, "curl_radius" if plain else "curl_length", text="Radius (m)" if plain else "Radius")
            times = layout.column(align=True)
            times.prop(settings, "curl_start")
            times.prop(settings, "curl_end")


register, unregister = bpy.utils.register_classes_factory(
    (PHYSICS_PT_thin_shell_plasticity, PHYSICS_PT_thin_shell_fracture, PHYSICS_PT_thin_shell_creases)
)
