"""Which files belong to an object."""

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import bpy

from ..cache import playback, sidecar
from ..cache.files import CacheError, is_there
from ..cache.paths import CachePaths, checked, folded, free_name, resolved_folder, safe_name
from . import identity


def folder_of(obj: Any) -> Path:
    """The cache folder an object's settings name."""
    return resolved_folder(obj.thin_shell.cache_folder, os.path.dirname(bpy.data.filepath))


def paths_of(obj: Any) -> CachePaths:
    """Files of the bake the object plays, or of its own where it plays none."""
    if obj.thin_shell.cache_name:
        return checked(folder_of(obj), obj.thin_shell.cache_name)
    found = own_paths(obj)
    if found is None:
        raise CacheError(f"{obj.name} was never baked: press Bake")
    return found


def own_paths(obj: Any) -> CachePaths | None:
    """Files that are the object's by identity; None where there are none."""
    folder, name = folder_of(obj), obj.thin_shell.cache_name
    if name and name == safe_name(name) and may_write(obj, CachePaths(folder, name)):
        return CachePaths(folder, name)
    return next((paths for paths in caches(folder) if may_write(obj, paths)), None)


def write_paths(obj: Any, others: Collection[CachePaths] = ()) -> CachePaths:
    """Files to bake to: the object's own, else new ones, which are none of those that `others` will be baked to.

    The object goes on playing what it plays until there is something else to play.
    """
    identity.settle(obj)
    folder = folder_of(obj)
    found, name = own_paths(obj), obj.thin_shell.cache_name
    if found is None and name and name == safe_name(name) and not sharers(obj) and is_free(folder, name):
        found = CachePaths(folder, name)
    if found is None:
        every: Any = bpy.data.objects
        taken = {other.thin_shell.cache_name for other in every if other != obj and other.type == "MESH"}
        taken |= {each.name for each in others}
        found = CachePaths(folder, free_name(folder, obj.name, taken - {""}))
    if is_there(found.part_sidecar) and identity.is_baking(sidecar.read(found.part_sidecar)):
        raise CacheError(f"'{found.name}' is being baked by another Blender on this machine: wait for it, or stop it")
    return found


def is_free(folder: Path, name: str) -> bool:
    """Whether no bake is there under a name, nor under one that some disk takes for it."""
    try:
        there = {folded(entry) for entry in os.listdir(folder)}
    except OSError:
        return True
    paths = CachePaths(folder, name)
    return not any(folded(path.name) in there for path in (paths.sidecar, paths.part_sidecar, paths.pc2))


def may_write(obj: Any, paths: CachePaths) -> bool:
    """Whether all that is there under a name is the object's: only that may be written or deleted."""
    infos = []
    for path in (paths.sidecar, paths.part_sidecar):
        if is_there(path):
            try:
                infos.append(sidecar.read(path))
            except CacheError:
                return False
    return bool(infos) and all(identity.owns(obj, info, paths.name) for info in infos)


def caches(folder: Path) -> list[CachePaths]:
    """Every bake that a folder has a sidecar of, in the order of names."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    found = {name.removesuffix(".json").removesuffix(".part") for name in names if name.endswith(".json")}
    return [CachePaths(folder, name) for name in sorted(found) if name and name == safe_name(name)]


def sharers(obj: Any) -> list[Any]:
    """Other objects that play the same files."""
    name = folded(obj.thin_shell.cache_name)
    every: Any = bpy.data.objects
    played: set[Any] = {playback.playing_points(obj), playback.playing_alembic(obj)} - {None}
    return [
        o
        for o in every
        if o != obj
        and o.type == "MESH"
        and ((name and folded(o.thin_shell.cache_name) == name) or any(plays(o, path) for path in played))
    ]


def plays(obj: Any, path: Path) -> bool:
    """Whether an object plays a file, whatever its bake is called."""
    return obj.type == "MESH" and path in (playback.playing_points(obj), playback.playing_alembic(obj))
