"""What belongs to the machine and not to a file: Edit > Preferences > Add-ons > Thin Shell."""

from typing import Any

import bpy

# The extension's own package, whose name Blender chooses.
PACKAGE = __package__.rpartition(".")[0]


class ThinShellPreferences(bpy.types.AddonPreferences):
    bl_idname = PACKAGE
    __annotations__ = {
        "threads": bpy.props.IntProperty(
            name="Threads",
            description="Threads that simulate; 0 takes as many as are of use. Results are the same with any number",
            default=0,
            min=0,
            soft_max=8,
        )
    }

    def draw(self, _context: Any) -> None:
        self.layout.prop(self, "threads")


def threads() -> int | None:
    """How many threads may simulate; None: as many as are of use."""
    entry = bpy.context.preferences.addons.get(PACKAGE)
    chosen: Any = entry.preferences if entry is not None else None
    return (chosen.threads or None) if chosen is not None else None


def register() -> None:
    bpy.utils.register_class(ThinShellPreferences)


def unregister() -> None:
    bpy.utils.unregister_class(ThinShellPreferences)
