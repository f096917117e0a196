"""The Blender side of Thin Shell.

`properties` holds what a user sets, `panels` shows it, `operators` are the buttons. `bridge` turns objects into arrays
for the core, `bake` drives it frame by frame, `cache` keeps the result so that it plays without this add-on. `cli`
bakes from the command line, `live` while the animation plays, `realtime` moves shells in their modes while they are
dragged, `overlay` draws axes and results in the viewport. `farm` is for many bakes on many machines.
"""

from . import cli, live, operators, overlay, panels, preferences, properties, realtime
from .bake import identity, inputs, owners, reattach
from .farm import operators as farm_operators
from .farm import panel as farm_panel
from .farm import properties as farm_properties

# The ids before properties: overrides keep what is set before a file is saved.
PARTS = (
    preferences, identity, properties, operators, panels, farm_properties, farm_operators, farm_panel, realtime, cli,
    live, overlay, reattach, owners, inputs,
)  # fmt: skip


def register() -> None:
    for part in PARTS:
        part.register()


def unregister() -> None:
    for part in reversed(PARTS):
        part.unregister()
