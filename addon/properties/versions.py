"""Versions of the settings: what a new shell has, and how those of older files keep what they were made with.

Blender saves no setting that nobody touched: a default that changed would change every older file. The properties'
own defaults are those of the first version for ever, therefore; what is otherwise since is written into a shell as it
becomes one.

To give new shells another default, add a line to CHANGES: the number of the version, one more than the last, and the
settings that differ from the version before, as the properties hold them. *Update Settings* offers them to older
shells by itself.
"""

from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..bridge.mesh import MODIFIER

FIRST = 0
"""Settings of 0.1.0."""
CHANGES: dict[int, dict[str, Any]] = {}
"""What each version has otherwise than those before."""
LEFT_BY_SHELLS = ("shell_id", "baked")
"""Settings that only a shell ever writes."""


def current() -> int:
    """The version that new shells get."""
    return max(CHANGES, default=FIRST)


def changes(settings: Any) -> dict[str, Any]:
    """What the current version would have otherwise, of all that nobody has set."""
    newer: dict[str, Any] = {}
    for version in sorted(CHANGES):
        newer |= CHANGES[version] if version > settings.settings_version else {}
    newer = {name: value for name, value in newer.items() if not settings.is_property_set(name)}
    if settings.solver == "quasi_newton":
        # SDIRK2 refuses it, and it was chosen.
        newer.pop("integrator", None)
    if newer.get("integrator", settings.integrator) != "sdirk2":
        # The other schemes need the cap to be quick.
        newer.pop("strain_limit", None)
    return {name: value for name, value in newer.items() if getattr(settings, name) != value}


def update(settings: Any) -> dict[str, Any]:
    """Bring a shell to the current version; what was changed for that."""
    made = changes(settings)
    for name, value in made.items():
        setattr(settings, name, value)
    settings.settings_version = current()
    return made


def is_older(settings: Any) -> bool:
    """Whether a shell has defaults of an older version that *Update Settings* would change."""
    return settings.settings_version < current() and bool(changes(settings))


def told(settings: Any) -> str:
    """What *Update Settings* changes, in words."""
    rna, words = settings.bl_rna.properties, []
    for name, value in changes(settings).items():
        shown = [_shown(rna[name], each) for each in (value, getattr(settings, name))]
        words.append(f"{rna[name].name} {shown[0]} instead of {shown[1]}")
    return ", ".join(words)


def _shown(prop: Any, value: Any) -> str:
    return str(prop.enum_items[value].name) if prop.type == "ENUM" else f"{value:.3g}"


def begin(settings: Any) -> None:
    """A mesh is made a shell: a new one gets the current version, one that was a shell before keeps its own."""
    if settings.is_property_set("settings_version"):
        return
    if _was_shell(settings):
        keep(settings)
    else:
        update(settings)


def keep(settings: Any) -> None:
    """Write the version of an older shell down: it is known for that then, turned off or on, by whomever."""
    if not settings.is_property_set("settings_version"):
        settings.settings_version = FIRST


def _was_shell(settings: Any) -> bool:
    """Whether an object whose file did not say so was a shell before: one that was appended, for instance."""
    return MODIFIER in settings.id_data.modifiers or any(map(settings.is_property_set, LEFT_BY_SHELLS))


@persistent
def on_load(*_: Any) -> None:
    """Shells of an older file are known for that, also those that are turned off, before anything turns them on."""
    every: Any = bpy.data.objects
    for obj in every:
        if obj.type != "MESH" or obj.library is not None or obj.override_library is not None:
            continue
        settings = obj.thin_shell
        # Turning one off leaves the frames that turning it on has set.
        if settings.enabled or (settings.is_property_set("enabled") and settings.is_property_set("frame_end")):
            keep(settings)


def register() -> None:
    bpy.app.handlers.load_post.append(on_load)


def unregister() -> None:
    if on_load in bpy.app.handlers.load_post:
        bpy.app.handlers.load_post.remove(on_load)
