"""Which shells are baked, and which of them together."""

from collections.abc import Collection
from typing import Any

from ..errors import UserError
from ..realtime.properties import is_modal

# Shells that touch each other share one solve, so these must agree; the rest is each shell's own.
SHARED = (
    "integrator", "quality", "accuracy", "newmark_beta", "newmark_gamma", "substeps", "solver", "jacobian", "tolerance",
    "iterations", "strain_limit", "use_collision", "collision_collection", "contact_distance", "air_drag", "air_lift",
    "air_density", "frame_start", "frame_end",
)  # fmt: skip


def shells(scene: Any) -> list[Any]:
    """All shells of a scene, in the order of names."""
    return sorted((o for o in scene.objects if o.type == "MESH" and o.thin_shell.enabled), key=lambda o: o.name)


def named(scene: Any, names: list[str]) -> list[Any]:
    """The shells of these names."""
    found = []
    for name in names:
        # What is linked may have the name of the override that was made of it.
        obj = min((o for o in scene.objects if o.name == name), key=lambda o: o.library is not None, default=None)
        if obj is None:
            raise UserError(f"there is no object '{name}' in the scene '{scene.name}': check the name")
        if obj.type != "MESH" or not obj.thin_shell.enabled:
            raise UserError(f"'{name}' is no thin shell: press Thin Shell in its Physics tab first")
        found.append(obj)
    return found


def together(objects: list[Any], given: Collection[str] = ()) -> list[list[Any]]:
    """Groups that are simulated together: solver settings and frames agree, apart from what is `given` to all."""
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for obj in objects:
        # In real time nothing touches: every shell goes alone.
        alone = obj.name if is_modal(obj) else ""
        key = (alone, *(str(getattr(obj.thin_shell, name)) for name in SHARED if name not in given))
        groups.setdefault(key, []).append(obj)
    return list(groups.values())
