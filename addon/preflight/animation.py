"""What is animated and not read at every frame: a bake takes it as it is at the first."""

from typing import Any

from .. import compat
from ..properties import SAMPLED
from .issue import Issue, warning

FIELD_STILL = {
    "type": "Type", "shape": "Shape", "falloff_type": "Falloff", "z_direction": "Direction", "seed": "Seed",
    "use_gravity_falloff": "Gravitation",
}  # fmt: skip
COLLIDER_STILL = {"use": "Collision"}


def of_shell(obj: Any) -> list[Issue]:
    """Keyframes and drivers of our own settings that have no effect."""
    found = []
    for path in sorted(compat.animated_paths(obj)):
        group, _, name = path.partition(".")
        settings = getattr(obj, group, None) if group in ("thin_shell", "thin_shell_realtime") else None
        if settings is None or (group == "thin_shell" and name in SAMPLED):
            continue
        known = settings.bl_rna.properties.get(name)
        label = known.name if known is not None else name
        found.append(
            warning(
                f"{obj.name}: {label} has keyframes or a driver, but holds its value through a bake: delete them "
                f"(data path {path})",
                obj,
            )
        )
    return found


def of_collider(obj: Any) -> list[Issue]:
    """Settings of a collider that move."""
    return _still(obj, COLLIDER_STILL, "the collider")


def of_field(obj: Any) -> list[Issue]:
    """Settings of a force field that move, beyond its numbers."""
    moving = {path for path in compat.animated_paths(obj) if path.startswith("field.")}
    return _still(obj, FIELD_STILL, "the force field") if moving else []


def _still(obj: Any, names: dict[str, str], what: str) -> list[Issue]:
    moving = {path.rpartition(".")[2] for path in compat.animated_paths(obj)}
    return [
        warning(f"{label} of {what} '{obj.name}' is animated: a bake takes what it is at its first frame", obj)
        for name, label in names.items()
        if name in moving
    ]
