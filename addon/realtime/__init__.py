"""Real time: shells that move in their modes while you drag them (the core's `ModalShell`).

`properties` holds what a user sets, `handles` turns empties into targets, `motion` is one object's shell under way.
`player` shows it in the viewport from two handlers, `steps` hands the same motion to a bake. `operators` and `panels`
are the buttons.
"""

from typing import Any


def parts() -> tuple[Any, ...]:
    """What registers, in order. Loaded when asked for: a bake needs some of this, and some of this needs the bake."""
    from . import operators, panels, player, properties

    return properties, operators, player, panels


def register() -> None:
    for part in parts():
        part.register()


def unregister() -> None:
    for part in reversed(parts()):
        part.unregister()
