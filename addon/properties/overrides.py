"""Library overrides of objects whose library knows nothing of us.

From 5.0 on Blender keeps our settings apart from custom properties, and gives an object none before they are asked for.
Where a library's object has none, Blender notes that the override has others as one thing, which it cannot put back:
all of them are lost at the next load. Asking the library's object for them is enough.
"""

from typing import Any

import bpy
from bpy.app.handlers import persistent

from .. import compat


def keep(obj: Any) -> None:
    """Let Blender compare an override's settings with its library's one by one."""
    override = obj.override_library
    if override is not None and override.reference is not None:
        for name in ("thin_shell", "thin_shell_realtime"):
            getattr(override.reference, name, None)


@persistent
def keep_all(*_: Any) -> None:
    """For every override of the file: libraries are read anew with it, and what is set is compared as it is saved."""
    every: Any = bpy.data.objects
    for obj in every:
        keep(obj)


def register() -> None:
    if compat.settings_apart():
        bpy.app.handlers.load_post.append(keep_all)
        bpy.app.handlers.save_pre.append(keep_all)


def unregister() -> None:
    for handlers in (bpy.app.handlers.load_post, bpy.app.handlers.save_pre):
        if keep_all in handlers:
            handlers.remove(keep_all)
