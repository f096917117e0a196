"""The Blender side of Thin Shell.

`properties` holds what a user sets, `panels` shows it, `operators` are the buttons. `bridge` turns objects into arrays
for the core, `bake` drives it frame by frame, `cache` keeps the result so that it plays without this add-on. `cli`
bakes from the command line, `live` while the animation plays, `realtime` moves shells in their modes while they are
dragged, `overlay` draws axes and results in the viewport.
"""

from . import cli, live, operators, overlay, panels, properties, realtime

PARTS = (properties, operators, panels, realtime, cli, live, overlay)


def register() -> None:
    for part in PARTS:
        part.register()


def unregister() -> None:
    for part in reversed(PARTS):
        part.unregister()
