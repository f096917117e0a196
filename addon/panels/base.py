"""What all panels share."""

import textwrap
from typing import Any

import bpy

from ..bake.lock import why_locked


class PhysicsPanel:
    """A panel of the Physics tab, shown for shells."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"

    @classmethod
    def poll(cls, context: Any) -> bool:
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.thin_shell.enabled


class SubPanel(PhysicsPanel):
    """A part of the main panel, closed at first."""

    bl_parent_id = "PHYSICS_PT_thin_shell"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012


def column(panel: Any, context: Any) -> tuple[Any, Any]:
    """The shell's settings and a column to draw them in, greyed while they cannot change."""
    panel.layout.use_property_split = True
    panel.layout.use_property_decorate = False
    made = panel.layout.column()
    made.enabled = editable(context.object)
    return context.object.thin_shell, made


def prop_or_auto(layout: Any, settings: Any, name: str, text: str) -> None:
    """Draw a number of which 0 means that it is chosen for the artist, and say so behind it."""
    row = layout.row()
    row.prop(settings, name, text=text)
    if not getattr(settings, name):
        row.label(text="auto")


def editable(obj: Any) -> bool:
    """Whether settings may change."""
    return not why_locked(obj)


def wrapped(layout: Any, text: str, icon: str = "NONE") -> None:
    """A sentence over as many lines as the panel's width needs."""
    region, scale = bpy.context.region, bpy.context.preferences.system.ui_scale
    width = max(20, int((region.width / scale - 75) / 6.3)) if region is not None else 32
    box = layout.column(align=True)
    for number, line in enumerate(textwrap.wrap(text, width)):
        box.label(text=line, icon=icon if number == 0 else "BLANK1" if icon != "NONE" else "NONE")
