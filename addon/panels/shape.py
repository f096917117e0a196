"""Shape, Collisions, and what a collider means to shells."""

from typing import Any

import bpy

from .base import PhysicsPanel, SubPanel, column, editable, prop_or_auto


class PHYSICS_PT_thin_shell_shape(SubPanel, bpy.types.Panel):
    bl_label = "Shape"
    bl_order = 4

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        layout.prop_search(settings, "pin_group", context.object, "vertex_groups")
        if settings.pin_group:
            layout.prop(settings, "pin_stiffness", text="Spring (N/m)")
        layout.separator()
        layout.prop(settings, "rest_shape")
        keys = context.object.data.shape_keys
        if settings.rest_shape == "KEY" and keys is not None:
            layout.prop_search(settings, "rest_key", keys, "key_blocks")
        elif settings.rest_shape == "KEY":
            layout.label(text="The mesh has no shape keys", icon="ERROR")
        if settings.rest_shape == "OBJECT":
            layout.prop(settings, "rest_object")
        if settings.rest_shape == "UV":
            layout.prop_search(settings, "rest_uv", context.object.data, "uv_layers")
            layout.prop(settings, "rest_uv_size")
            if settings.rest_uv_size == "SCALE":
                layout.prop(settings, "rest_uv_scale", text="UV Square (m)")
        else:
            # Pieces of cloth are flat.
            layout.prop(settings, "rest_angles")
        layout.separator()
        _part(layout, settings, "use_sewing", "sewing_stiffness", "Stiffness (N/m)")
        _part(layout, settings, "use_pressure", "pressure", "Pressure (Pa)")


def _part(layout: Any, settings: Any, switch: str, name: str, text: str) -> None:
    layout.prop(settings, switch)
    if getattr(settings, switch):
        layout.prop(settings, name, text=text)


class PHYSICS_PT_thin_shell_collisions(SubPanel, bpy.types.Panel):
    bl_label = "Collisions"
    bl_order = 5

    def draw_header(self, context: Any) -> None:
        self.layout.enabled = editable(context.object)
        self.layout.prop(context.object.thin_shell, "use_collision", text="")

    def draw(self, context: Any) -> None:
        settings, layout = column(self, context)
        layout.active = settings.use_collision
        layout.prop(settings, "friction")
        layout.prop(settings, "collision_collection")
        layout.prop(settings, "self_contact")
        prop_or_auto(layout, settings, "contact_distance", "Gap")
        layout.prop(settings, "use_outer_thickness")


class PHYSICS_PT_thin_shell_collider(PhysicsPanel, bpy.types.Panel):
    bl_label = "Thin Shell"
    bl_parent_id = "PHYSICS_PT_collision"

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.object is not None and context.collision is not None

    def draw(self, context: Any) -> None:
        self.layout.use_property_split = True
        self.layout.prop(context.object.thin_shell, "collider_shape", text="Shape")


register, unregister = bpy.utils.register_classes_factory(
    (PHYSICS_PT_thin_shell_shape, PHYSICS_PT_thin_shell_collisions, PHYSICS_PT_thin_shell_collider)
)
