"""Giving an object a bake that is on the disk: right after the bake, or whenever the file knows nothing of it."""

import shutil
import time
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from .. import compat
from ..bridge.lookup import takes_part
from ..bridge.mesh import corner_vertices, input_modifiers, inputs_visible, is_cracked, read, whole_mesh
from ..cache import attributes, cracks, pc2, playback, sidecar, splits, trash
from ..cache.files import CacheError, is_there, reason
from ..cache.files import replace as move_file
from ..cache.paths import CachePaths, free_name
from ..cache.splits import Cut, Splits
from ..cache.spool import Spool
from ..errors import UserError
from . import catalogue, fingerprint, identity, owners
from .catalogue import Found
from .location import folder_of, write_paths
from .store import Target, finish_moving, put_in_place, result_files, unfinished_files, width_of


def attach(obj: Any, scene: Any, found: Found, target: str = "") -> list[str]:
    """Let the object play a bake that was found, as `target` or as it was meant; notes for the user.

    The object's own bake becomes a result in its place; anybody else's is read where it is, or copied.
    """
    if obj.library is not None:
        raise UserError(f"{obj.name} is linked from {obj.library.name}: make a library override to attach a bake here")
    owners.let_go([obj])
    if identity.is_baking(found.info):
        raise UserError(f"'{found.paths.name}' is being baked by another Blender on this machine: wait for it")
    check_fits(obj, found.paths, found.info, found.unfinished)
    paths = found.paths
    mine = identity.owns(obj, found.info, paths.name)
    if found.trashed:
        paths = _restored(obj, found) if mine else copied(obj, found)
    elif found.unfinished and not mine:
        paths = copied(obj, found)
    if found.unfinished:
        _make_result(obj, paths)
    return show(obj, scene, paths, target)


def show(obj: Any, scene: Any, paths: CachePaths, target: str = "", quick: bool = False) -> list[str]:
    """Let the object play a published bake; `quick`: what an Alembic export would take is played as points."""
    info = sidecar.read(paths.sidecar)
    with pc2.Reader(paths.pc2) as reader:
        info.samples = reader.header.samples
    wanted = target or (info.target if info.complete else "PC2")
    if wanted == "SHAPE_KEYS" and info.complete:
        playback.check_shape_keys(obj)
    if wanted == "ALEMBIC" and not compat.alembic_available():
        raise UserError("this Blender was built without Alembic: attach as a point cache or shape keys")
    broken = split_of(obj, paths, info)
    _check_points(obj, paths.pc2.name, info.points, broken)
    settings, notes = obj.thin_shell, []
    if broken is not None or not is_cracked(obj) or len(obj.data.vertices) != info.points:
        notes.append(playback.stop(obj))
    if broken is not None and broken[1].broken:
        cracks.put_on(obj, *broken, info.start)
    if wanted == "SHAPE_KEYS" and info.complete:
        playback.play_shape_keys(obj, paths.pc2, info.start)
        settings.baked_target = "SHAPE_KEYS"
    else:
        playback.play_points(obj, paths.pc2, info.start)
        settings.baked_target = "PC2"
    if wanted == "ALEMBIC" and info.complete and not quick:
        playback.play_alembic(obj, paths.alembic, info.start, info.last_frame)
        settings.baked_target = "ALEMBIC"
    attributes.attach(obj, paths, info)
    settings.cache_name = paths.name
    settings.baked, settings.baked_complete, settings.unlocked = True, info.complete, False
    settings.baked_start, settings.baked_samples = info.start, info.samples
    settings.baked_date = mark(info)
    settings.baked_inputs = info.baked_inputs
    settings.baked_settings = info.baked_settings or fingerprint.of_settings(obj, scene)
    return [note for note in notes if note]


def mark(info: sidecar.Sidecar) -> str:
    """What tells a bake from the one that had its name before."""
    return f"{info.date:.6f}" if info.date else ""


def check_fits(obj: Any, paths: CachePaths, info: sidecar.Sidecar, unfinished: bool = False) -> None:
    """Raise where the bake is of another mesh than the object's, after the modifiers above Thin Shell."""
    broken = None if unfinished else split_of(obj, paths, info)
    if unfinished and info.breaks:
        return  # cracks are read as it becomes a result, and compared then
    _check_points(obj, (paths.part if unfinished else paths.pc2).name, info.points, broken)
    made = None if broken is not None and broken[1].broken else _points_baked(obj)
    if made not in (None, info.points):
        raise UserError(
            f"{obj.name}: '{paths.name}' holds {info.points} points, the mesh {made} after the modifiers above Thin "
            "Shell: it is of another mesh; bake again",
            object=obj.name,
        )


def _points_baked(obj: Any) -> int | None:
    """Vertices that a bake of the object would have; None where its mesh alone tells or nobody can look."""
    if not input_modifiers(obj) or not takes_part(obj):
        return None
    with inputs_visible([obj]):
        return len(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices)


def split_of(obj: Any, paths: CachePaths, info: sidecar.Sidecar) -> tuple[Cut, Splits] | None:
    """How the bake's mesh came apart; None where it stayed whole or its cracks are not kept."""
    if is_there(paths.splits):
        return splits.load(paths.splits)
    mesh = whole_mesh(obj)
    if info.points == len(mesh.vertices) or not is_there(paths.spool):
        return None
    # Bakes of 0.1.0 that were stopped have their cracks in the spool only.
    arrays = read(mesh)
    width = 3 + sum(width_of(name) for name in info.fields)
    spool = Spool(paths.spool, arrays.faces, len(arrays.positions), width, keep=-1)
    spool.close()
    return Cut(arrays.faces, arrays.corners, arrays.polygons), spool.splits


def _check_points(obj: Any, name: str, points: int, broken: tuple[Cut, Splits] | None) -> None:
    mesh = whole_mesh(obj)
    if broken is not None and broken[1].broken:
        cut = broken[0]
        vertices = corner_vertices(mesh)
        same = len(mesh.vertices) == broken[1].originals and cut.corners.max() < len(vertices)
        if not same or not np.array_equal(vertices[cut.corners], cut.faces):
            raise UserError(
                f"{obj.name}: '{name}' is the bake of another mesh, which broke: bake again", object=obj.name
            )
        return
    cracked = is_cracked(obj) and len(obj.data.vertices) == points
    if len(mesh.vertices) != points and not cracked and not input_modifiers(obj):
        raise UserError(
            f"{obj.name}: '{name}' holds {points} points, the mesh {len(mesh.vertices)}: it is of another mesh, or of "
            "one whose cracks are not kept; bake again",
            object=obj.name,
        )


def _make_result(obj: Any, paths: CachePaths) -> None:
    """Publish what an unfinished bake has; a result in place goes to the trash."""
    info = sidecar.read(paths.part_sidecar)
    if info.moving:
        finish_moving(paths)
        return
    frames = catalogue.whole_frames(paths, info)
    cut, width = _cut_of(obj, paths, info), sum(width_of(name) for name in info.fields)
    if info.breaks and not is_there(paths.spool):
        raise CacheError(f"{paths.spool.name} is missing from {paths.folder} ({width + 3} numbers a point): bake again")
    target = Target(paths, info, cut)
    try:
        target.open(keep=frames)
        target.finish(frames)
        info.complete = frames > info.end - info.start
        put_in_place(paths, info)
    finally:
        target.close()


def _cut_of(obj: Any, paths: CachePaths, info: sidecar.Sidecar) -> Cut:
    part = paths.part_of(paths.splits)
    if is_there(part):
        return splits.load(part)[0]
    arrays = read(whole_mesh(obj))
    return Cut(arrays.faces, arrays.corners, arrays.polygons)


def _restored(obj: Any, found: Found) -> CachePaths:
    """The object's own bake, back from the trash."""
    paths = write_paths(obj)
    files = unfinished_files(paths) if found.unfinished else result_files(paths)
    trash.move(files, found.info.shell_id)
    # The sidecar last: it makes the rest a bake.
    for path in sorted(found.paths.all(), key=lambda each: each.suffix == ".json"):
        move_file(path, paths.folder / (paths.name + path.name[len(found.paths.name) :]))
    trash.empty(found.paths.folder)
    return paths


def copied(obj: Any, found: Found) -> CachePaths:
    """A copy of somebody else's bake, the object's own from now on."""
    every: Any = bpy.data.objects
    taken = {other.thin_shell.cache_name for other in every if other.type == "MESH"}
    folder = folder_of(obj)
    paths = CachePaths(folder, free_name(folder, obj.name, taken - {""}))
    identity.settle(obj)
    info = replace(
        found.info, file_id=identity.file_id(), shell_id=identity.shell_id(obj), path=bpy.data.filepath,
        variant="",
        object=obj.name, date=time.time(), fingerprint="", baker="",
    )  # fmt: skip
    files = unfinished_files(found.paths) if found.unfinished else result_files(found.paths)
    try:
        for path in files:
            if path not in (found.paths.state, found.paths.sidecar, found.paths.part_sidecar):
                shutil.copyfile(path, folder / (paths.name + path.name[len(found.paths.name) :]))
    except OSError as error:
        raise CacheError(f"'{found.paths.name}' cannot be copied to {folder}: {reason(error)}") from None
    sidecar.write(paths.part_sidecar if found.unfinished else paths.sidecar, info)
    return paths
