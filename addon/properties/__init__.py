"""Everything a user can set on an object, as `Object.thin_shell`.

Each file lists the properties of one sub-panel as a table {name: property}; the group below joins them. Lengths and
stiffnesses are SI numbers of the real sheet, independent of the scene's unit scale.
"""

from typing import Any

import bpy

from . import cache, creases, forces, fracture, material, model, overrides, plasticity, shape, versions
from .declared import declared

TABLES = (
    model.TABLE,
    material.TABLE,
    plasticity.TABLE,
    fracture.TABLE,
    creases.TABLE,
    shape.TABLE,
    forces.TABLE,
    cache.TABLE,
)
"""Settings in the order of the panels."""

SAMPLED = forces.SAMPLED | material.SAMPLED | shape.SAMPLED
"""Settings that a bake reads at every frame, and that can be animated therefore; all others hold from the start."""

# What says how and where a result is kept, not what it is: never part of a fingerprint.
NOT_PHYSICS = frozenset(cache.TABLE) | {
    "enabled",
    "settings_version",
    "show_axes",
    "show_axes_length",
    "live_iterations",
    "weld_seams",
    "curl_length",
}


class ThinShellSettings(bpy.types.PropertyGroup):
    """A thin sheet or shell: what it is made of, what holds it, where its bake is."""

    __annotations__ = declared({name: made for table in TABLES for name, made in table.items()}, SAMPLED)


def physics_names() -> list[str]:
    """Settings that change the result, in a fixed order."""
    return [name for table in TABLES for name in table if name not in NOT_PHYSICS]


def register() -> None:
    bpy.utils.register_class(ThinShellSettings)
    owner: Any = bpy.types.Object
    owner.thin_shell = bpy.props.PointerProperty(
        type=ThinShellSettings,
        name="Thin Shell",
        description="Physics of a thin sheet or shell",
        override={"LIBRARY_OVERRIDABLE"},
    )
    overrides.register()
    versions.register()


def unregister() -> None:
    versions.unregister()
    overrides.unregister()
    owner: Any = bpy.types.Object
    del owner.thin_shell
    bpy.utils.unregister_class(ThinShellSettings)
