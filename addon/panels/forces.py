"""Forces: gravity, air, field weights."""

from typing import Any

import bpy

from ..bridge.units import gravity
from ..properties.forces import FIELD_TYPES
from .base import SubPanel, column


class PHYSICS_PT_thin_shell_forces(SubPanel, bpy.types.Panel):
    bl_label = "Forces"
    bl_order = 6

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        pull = gravity(context.scene) * settings.field_gravity
        layout.prop(settings, "field_gravity", slider=True)
        layout.label(text=f"Gravity {float((pull**2).sum() ** 0.5):.3g} m/s²")
        layout.prop(settings, "wind_velocity", text="Wind (m/s)")
        air = layout.column(align=True)
        air.prop(settings, "air_drag")
        air.prop(settings, "air_lift")
        air.prop(settings, "air_density", text="Air (kg/m³)")


class PHYSICS_PT_thin_shell_fields(SubPanel, bpy.types.Panel):
    bl_label = "Field Weights"
    bl_parent_id = "PHYSICS_PT_thin_shell_forces"

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        layout.prop(settings, "field_collection")
        layout.prop(settings, "field_all", slider=True)
        for kind in FIELD_TYPES:
            layout.prop(settings, f"field_{kind.lower()}", slider=True)


register, unregister = bpy.utils.register_classes_factory((PHYSICS_PT_thin_shell_forces, PHYSICS_PT_thin_shell_fields))
