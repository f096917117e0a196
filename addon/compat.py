"""Every difference between the Blender versions we support, and nothing else."""

from typing import Any

import bpy
import numpy as np

VERSION: tuple[int, ...] = tuple(bpy.app.version)


def session_uid(block: Any) -> int:
    """A number that stays with a data-block while Blender runs, over undo and renames."""
    return int(block.session_uid)


def hidden_by_eye(obj: Any) -> bool:
    """Whether the outliner's eye hides the object; False where it is in no view layer."""
    try:
        return bool(obj.hide_get())
    except RuntimeError:
        return False


def select(mesh: Any, polygons: list[int], edges: list[int], vertices: list[int]) -> None:
    """Select these elements of a mesh and no others.

    5.0.1 gives a mesh made by `from_pydata` an edge selection of the wrong type, on which `MeshEdge.select` crashes.
    """
    for name, domain, part, chosen in (
        (".select_poly", "FACE", mesh.polygons, polygons),
        (".select_edge", "EDGE", mesh.edges, edges),
        (".select_vert", "POINT", mesh.vertices, vertices),
    ):
        attribute = mesh.attributes.get(name)
        if attribute is not None and attribute.data_type != "BOOLEAN":
            mesh.attributes.remove(attribute)
            attribute = None
        if attribute is None:
            attribute = mesh.attributes.new(name, "BOOLEAN", domain)
        values = np.zeros(len(part), dtype=bool)
        values[chosen] = True
        attribute.data.foreach_set("value", values)
    mesh.update()


def absolute_keys(obj: Any) -> Any:
    """Give the mesh absolute shape keys; from 5.0 a new key starts with value 1."""
    basis = obj.shape_key_add(name="Basis", from_mix=False)
    basis.value = 0.0
    keys = obj.data.shape_keys
    keys.use_relative = False
    return keys


def add_key(obj: Any, name: str) -> Any:
    """One more shape key, interpolated linearly."""
    key = obj.shape_key_add(name=name, from_mix=False)
    key.value = 0.0
    key.interpolation = "KEY_LINEAR"
    return key


def settings_apart() -> bool:
    """Whether registered properties are kept apart from custom ones, and made when they are first asked for."""
    return VERSION >= (5, 0, 0)


def animated_paths(block: Any) -> set[str]:
    """Data paths of a data-block that its actions, NLA strips or drivers move."""
    data = block.animation_data
    if data is None:
        return set()
    found = {curve.data_path for curve in data.drivers}
    strips = [strip for track in data.nla_tracks for strip in track.strips]
    for user in (data, *strips):
        if user.action is not None:
            found |= {curve.data_path for curve in curves_of(user)}
    return found


def curves_of(user: Any) -> list[Any]:
    """F-curves of the action of an animation or a strip; from 4.4 an action has a slot for each user, from 5.0 only."""
    action = user.action
    if action is None:
        return []
    if not hasattr(action, "layers"):
        return list(action.fcurves)
    bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
    return [curve for bag in bags if bag.slot_handle == user.action_slot_handle for curve in bag.fcurves]


def extension_folder(package: str, create: bool = False) -> str:
    """Where the extension may keep user files; empty where it runs from a checkout."""
    try:
        return str(bpy.utils.extension_path_user(package, create=create))
    except ValueError:
        return ""


def relative_path_options() -> Any:
    """Tells newer versions that a path may start with //; they mark it as a fault otherwise."""
    return {"PATH_SUPPORTS_BLEND_RELATIVE"} if VERSION >= (4, 5, 0) else set()


def alembic_available() -> bool:
    """Whether this Blender was built with Alembic; some distributions leave it out."""
    return bool(bpy.app.build_options.alembic)


def uniform_colour_shader() -> str:
    """Name of the built-in flat shader for lines."""
    return "UNIFORM_COLOR"
