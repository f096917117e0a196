"""How a bake plays: Blender's own modifiers and shape keys, so that a file renders without this add-on."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from .. import compat
from ..bridge.mesh import ALEMBIC_MODIFIER, MODIFIER, RESULTS_MODIFIER, input_modifiers, stack_place, whole_mesh
from ..errors import UserError
from . import cracks, pc2
from .files import replace

# Past this a .blend file with shape keys becomes slow to save.
LARGE_KEYS = 100e6


def marker(obj: Any) -> Any:
    """Our Mesh Cache modifier, made where it belongs in the stack if it is not there; idle until something is baked.

    Modifiers above it feed the simulation, those below act on the result.
    """
    found = obj.modifiers.get(MODIFIER)
    if found is not None and found.type == "MESH_CACHE":
        return found
    place = stack_place(obj)
    made = obj.modifiers.new(MODIFIER, "MESH_CACHE")
    made.name = MODIFIER
    made.show_viewport = made.show_render = False
    made.cache_format = "PC2"
    obj.modifiers.move(len(obj.modifiers) - 1, place)
    return made


def play_points(obj: Any, path: Path, start: int) -> None:
    """Play a point cache."""
    modifier = marker(obj)
    modifier.cache_format = "PC2"
    modifier.filepath = blend_path(path)
    modifier.deform_mode = "OVERWRITE"
    modifier.interpolation = "LINEAR"
    modifier.time_mode = "FRAME"
    modifier.play_mode = "SCENE"
    modifier.frame_start = start
    modifier.frame_scale = 1.0
    modifier.factor = 1.0
    modifier.show_viewport = modifier.show_render = True


def rest(obj: Any) -> None:
    """Let our modifier play nothing."""
    modifier = obj.modifiers.get(MODIFIER)
    if modifier is not None:
        modifier.show_viewport = modifier.show_render = False
        modifier.filepath = ""


def stop(obj: Any) -> str:
    """Take the result off the object; our modifier stays, idle, to keep its place in the stack. Returns a note."""
    detach_results(obj)
    rest(obj)
    sequence = obj.modifiers.get(ALEMBIC_MODIFIER)
    if sequence is not None:
        cache_file = sequence.cache_file
        obj.modifiers.remove(sequence)
        if cache_file is not None and cache_file.users == 0:
            bpy.data.batch_remove([cache_file])
    if obj.thin_shell.baked_target == "SHAPE_KEYS" and obj.data.shape_keys is not None:
        _remove_baked_keys(obj)
    return cracks.take_off(obj)


def detach_results(obj: Any) -> None:
    """Take the attributes of kept results off the object, with what carries them where nobody else uses it."""
    modifier = obj.modifiers.get(RESULTS_MODIFIER)
    if modifier is None:
        return
    tree = getattr(modifier, "node_group", None)
    obj.modifiers.remove(modifier)
    if tree is None or tree.users > 0:
        return
    objects = [n.inputs["Object"].default_value for n in tree.nodes if n.bl_idname == "GeometryNodeObjectInfo"]
    bpy.data.node_groups.remove(tree)
    for carrier in objects:
        if carrier is not None and carrier.users == 0:
            bpy.data.batch_remove([carrier, carrier.data])


def own_keys(obj: Any) -> list[str]:
    """Names of the shape keys that no bake made; a Basis alone counts where no bake plays by keys."""
    keys, settings = obj.data.shape_keys, obj.thin_shell
    if keys is None:
        return []
    names = [key.name for key in keys.key_blocks]
    if settings.baked_target != "SHAPE_KEYS":
        return names[1:] or names
    start = settings.baked_start
    baked = {_key_name(frame) for frame in range(start, start + settings.baked_samples)}
    return [name for name in names[1:] if name not in baked]


def _key_name(frame: int) -> str:
    return f"frame {frame}"


def _remove_baked_keys(obj: Any) -> None:
    """Take the bake's keys off; those that the artist added stay, relative to the Basis, as new keys are in Blender."""
    keys, own = obj.data.shape_keys, own_keys(obj)
    keys.driver_remove("eval_time")
    if not own:
        obj.shape_key_clear()
        return
    for key in [each for each in keys.key_blocks[1:] if each.name not in own]:
        obj.shape_key_remove(key)
    if not keys.use_relative:
        keys.use_relative = True
        for key in keys.key_blocks:
            key.value = 0.0


def _check_own_keys(obj: Any) -> None:
    own = own_keys(obj)
    if own:
        listed = ", ".join(own[:5]) + (" and more" if len(own) > 5 else "")
        raise UserError(
            f"{obj.name}: the mesh has shape keys of its own ({listed}), which a bake to shape keys cannot keep: "
            f"apply or remove them, or bake to a point cache",
            object=obj.name,
        )


def check_shape_keys(obj: Any) -> None:
    """Raise where a bake to shape keys would destroy something or could not play."""
    if obj.data.library is not None or obj.data.override_library is not None:
        library = obj.data.library or obj.data.override_library.reference.library
        raise UserError(
            f"{obj.name}: shape keys belong to the mesh, which is linked from {library.name} and takes none here: bake "
            "to a point cache or Alembic, or make the mesh local (Object > Relations > Make Local)",
            object=obj.name,
        )
    _check_own_keys(obj)
    mesh, settings = whole_mesh(obj), obj.thin_shell
    # A torn shell refers to its own mesh twice while that is read.
    own = sum(each == mesh for each in (obj.data, settings.whole_mesh, settings.split_mesh))
    others = mesh.users - mesh.use_fake_user - own
    if others > 0:
        raise UserError(
            f"{obj.name}: its mesh is shared by {others + 1} users: make it a single user (Object > "
            f"Relations), or bake to a point cache",
            object=obj.name,
        )
    above = [modifier.name for modifier in input_modifiers(obj) if modifier.show_viewport]
    if above:
        raise UserError(
            f"{obj.name}: shape keys act before the modifiers above Thin Shell ({', '.join(above)}): apply "
            f"those, or bake to a point cache",
            object=obj.name,
        )


def play_shape_keys(obj: Any, path: Path, start: int) -> None:
    """Read a point cache into absolute shape keys, one a frame, played by the frame number."""
    _check_own_keys(obj)
    with pc2.Reader(path) as reader:
        keys = compat.absolute_keys(obj)
        for index in range(reader.header.samples):
            key = compat.add_key(obj, _key_name(start + index))
            key.data.foreach_set("co", np.ascontiguousarray(reader.sample(index)).ravel())
        end = start + reader.header.samples - 1
    first, second = keys.key_blocks[1].frame, keys.key_blocks[min(2, len(keys.key_blocks) - 1)].frame
    spacing = second - first if second > first else 1.0
    curve = keys.driver_add("eval_time")
    # Held inside the bake: past its end Blender would go on to a key that is added later.
    curve.driver.expression = f"{first!r} + {spacing!r} * (clamp(frame, {start}, {end}) - {start})"
    obj.active_shape_key_index = 0
    obj.show_only_shape_key = False


def play_alembic(obj: Any, path: Path, start: int, end: int) -> None:
    """Export the playing point cache to Alembic and play that file instead."""
    temporary = path.with_name(path.name + ".new")
    below = [m for m in obj.modifiers if obj.modifiers.find(m.name) > obj.modifiers.find(MODIFIER) and m.show_viewport]
    with _alone(obj) as scene:
        try:
            for modifier in below:
                modifier.show_viewport = False
            with bpy.context.temp_override(scene=scene, view_layer=scene.view_layers[0]):
                bpy.ops.wm.alembic_export(
                    filepath=str(temporary), start=start, end=end, selected=False, flatten=True,
                    export_hair=False, export_particles=False, use_instancing=False, as_background_job=False,
                    evaluation_mode="VIEWPORT",
                )  # fmt: skip
        finally:
            for modifier in below:
                modifier.show_viewport = True
    if not temporary.is_file():
        raise UserError(
            f"{obj.name}: Blender wrote no Alembic file; see the console, or bake to a point cache", object=obj.name
        )
    replace(temporary, path)
    _play_sequence(obj, path)


@contextmanager
def _alone(obj: Any) -> Iterator[Any]:
    """A scene that holds this object and shows it, whatever hides it elsewhere; nothing of the artist's is changed."""
    own, hidden = bpy.context.scene, obj.hide_viewport
    scene: Any = bpy.data.scenes.new("Thin Shell Export")
    try:
        scene.render.fps, scene.render.fps_base = own.render.fps, own.render.fps_base
        scene.collection.objects.link(obj)
        obj.hide_viewport = False
        yield scene
    finally:
        obj.hide_viewport = hidden
        bpy.data.scenes.remove(scene)


def _play_sequence(obj: Any, path: Path) -> None:
    before = set(bpy.data.cache_files)
    bpy.ops.cachefile.open(filepath=str(path))
    opened = [c for c in bpy.data.cache_files if c not in before]
    if not opened:
        raise UserError(
            f"{obj.name}: Blender could not open {path.name}: bake again, or to a point cache", object=obj.name
        )
    cache_file = opened[0]
    cache_file.filepath = blend_path(path)
    sequence = obj.modifiers.get(ALEMBIC_MODIFIER) or obj.modifiers.new(ALEMBIC_MODIFIER, "MESH_SEQUENCE_CACHE")
    sequence.cache_file = cache_file
    sequence.read_data = {"VERT"}
    obj.modifiers.move(obj.modifiers.find(sequence.name), obj.modifiers.find(MODIFIER) + 1)
    bpy.context.view_layer.update()
    paths = [entry.path for entry in cache_file.object_paths]
    meshes = [entry for entry in paths if "Shape" in entry] or paths
    if not meshes:
        raise UserError(
            f"{obj.name}: Blender wrote no mesh to {path.name}: show the object, or bake to a point cache",
            object=obj.name,
        )
    sequence.object_path = meshes[-1]
    modifier = marker(obj)
    modifier.show_viewport = modifier.show_render = False


def blend_path(path: Path) -> str:
    """Relative to the .blend file where the cache lies beside or below it, so that both can move together."""
    folder = os.path.dirname(bpy.data.filepath)
    if folder and Path(os.path.normpath(folder)) in path.parents:
        return str(bpy.path.relpath(str(path)))
    return str(path)


def playing_points(obj: Any) -> Path | None:
    """The point cache the object plays, wherever that is."""
    modifier = obj.modifiers.get(MODIFIER)
    if modifier is None or modifier.type != "MESH_CACHE" or not modifier.filepath:
        return None
    return Path(os.path.normpath(bpy.path.abspath(modifier.filepath)))


def playing_alembic(obj: Any) -> Path | None:
    """The Alembic file the object plays."""
    sequence = obj.modifiers.get(ALEMBIC_MODIFIER)
    if sequence is None or sequence.cache_file is None:
        return None
    return Path(os.path.normpath(bpy.path.abspath(sequence.cache_file.filepath)))
