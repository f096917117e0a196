"""Material, Material Axes, Damping, Property Weights."""

from typing import Any

import bpy

from ..properties.material import WEIGHTED
from .base import SubPanel, column


class PHYSICS_PT_thin_shell_material(SubPanel, bpy.types.Panel):
    bl_label = "Material"
    bl_order = 1

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        layout.row().prop(settings, "material_source", expand=True)
        if settings.material_source == "SOLID":
            layout.prop(settings, "young", text="Young (MPa)")
            layout.prop(settings, "solid_poisson", text="Poisson")
            layout.prop(settings, "density", text="Density (kg/m³)")
            layout.prop(settings, "thickness", text="Thickness")
            return
        layout.label(text="Stretch [N/m]")
        stretch = layout.column(align=True)
        stretch.prop(settings, "stretch_warp", text="Warp")
        stretch.prop(settings, "stretch_weft", text="Weft")
        _optional(layout, settings, "shear_auto", "shear", "Shear")
        layout.prop(settings, "poisson", text="Poisson")
        layout.label(text="Bend [mN·m]")
        bend = layout.column(align=True)
        bend.prop(settings, "bend_warp", text="Warp")
        bend.prop(settings, "bend_weft", text="Weft")
        _optional(layout, settings, "twist_auto", "twist", "Twist")
        layout.prop(settings, "bend_poisson", text="Poisson")
        layout.separator()
        layout.prop(settings, "areal_density", text="Weight (kg/m²)")
        layout.prop(settings, "thickness", text="Thickness")


def _optional(layout: Any, settings: Any, automatic: str, name: str, text: str) -> None:
    layout.prop(settings, automatic)
    if not getattr(settings, automatic):
        layout.prop(settings, name, text=text)


class PHYSICS_PT_thin_shell_axes(SubPanel, bpy.types.Panel):
    bl_label = "Material Axes"
    bl_order = 2

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        layout.prop(settings, "axes_source", text="Warp From")
        if settings.axes_source in ("UV", "IMAGE"):
            layout.prop_search(settings, "axes_uv", context.object.data, "uv_layers", icon="GROUP_UVS")
            layout.prop(settings, "axes_angle")
        if settings.axes_source == "IMAGE":
            layout.template_ID(settings, "axes_image", open="image.open")
            layout.prop(settings, "axes_encoding")
        if settings.axes_source == "VECTOR":
            layout.prop(settings, "axes_vector")
        row = layout.row(align=True)
        row.operator_menu_enum("thin_shell.paint_axes", "pattern", text="New Axis Map")
        row.operator_menu_enum("thin_shell.example_axes", "example", text="Examples")
        shown = self.layout.column()
        shown.prop(settings, "show_axes")
        if settings.show_axes:
            shown.prop(settings, "show_axes_length")


class PHYSICS_PT_thin_shell_damping(SubPanel, bpy.types.Panel):
    bl_label = "Damping"
    bl_order = 3

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        layout.prop(settings, "damping_mass", text="Air (1/s)")
        layout.prop(settings, "damping_stiffness", text="Material (s)")
        layout.prop(settings, "damping_hinge", text="Folds (N·s)")
        layout.prop(settings, "damping_viscosity", text="Viscosity (s)")


class PHYSICS_PT_thin_shell_weights(SubPanel, bpy.types.Panel):
    bl_label = "Property Weights"
    bl_order = 7

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        for name, label in WEIGHTED.items():
            block = layout.column(align=True)
            block.prop_search(
                settings,
                f"weight_{name}",
                context.object,
                "vertex_groups",
                text=label.removesuffix(" Stiffness"),
                results_are_suggestions=True,
            )
            if getattr(settings, f"weight_{name}"):
                block.prop(settings, f"weight_{name}_low", text="Factor at 0")


register, unregister = bpy.utils.register_classes_factory(
    (
        PHYSICS_PT_thin_shell_material,
        PHYSICS_PT_thin_shell_axes,
        PHYSICS_PT_thin_shell_damping,
        PHYSICS_PT_thin_shell_weights,
    )
)
