"""The button in Blender's own list of physics; Quick Shell in the Object and Vertex menus."""

from typing import Any

import bpy


def add_button(self: Any, context: Any) -> None:
    obj = context.object
    if obj is None or obj.type != "MESH":
        return
    on = obj.thin_shell.enabled
    self.layout.operator("thin_shell.toggle", text="Thin Shell", icon="X" if on else "MOD_CLOTH")


def quick_menu(self: Any, _context: Any) -> None:
    self.layout.operator("thin_shell.quick")


def vertex_menu(self: Any, _context: Any) -> None:
    """In Edit Mode, where the vertices to pin are selected; F3 finds it here."""
    self.layout.separator()
    self.layout.operator("thin_shell.quick")


def object_menu(self: Any, _context: Any) -> None:
    self.layout.operator("thin_shell.willmore")


# Blender draws these itself; ours come after.
PLACES = (
    ("PHYSICS_PT_add", add_button),
    ("VIEW3D_MT_object_quick_effects", quick_menu),
    ("VIEW3D_MT_edit_mesh_vertices", vertex_menu),
    ("VIEW3D_MT_object", object_menu),
)


def register() -> None:
    for name, draw in PLACES:
        place = getattr(bpy.types, name, None)
        if place is not None:
            place.append(draw)


def unregister() -> None:
    for name, draw in PLACES:
        place = getattr(bpy.types, name, None)
        if place is not None:
            place.remove(draw)
