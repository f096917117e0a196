"""Which files belong to an object."""

import os
from pathlib import Path
from typing import Any

import bpy

from ..cache import sidecar
from ..cache.files import CacheError
from ..cache.paths import CachePaths, checked, escaped, resolved_folder, safe_name


def folder_of(obj: Any) -> Path:
    """The cache folder an object's settings name."""
    return resolved_folder(obj.thin_shell.cache_folder, os.path.dirname(bpy.data.filepath))


def paths_of(obj: Any) -> CachePaths:
    """Files of the object's bake."""
    if not obj.thin_shell.cache_name:
        found = orphan(obj, folder_of(obj))
        if found is not None:
            return found
        raise CacheError(f"{obj.name} was never baked: press Bake")
    return checked(folder_of(obj), obj.thin_shell.cache_name)


def write_paths(obj: Any) -> CachePaths:
    """Files to bake to. A name that another object uses too (a duplicate) is given up for a new one."""
    settings, folder = obj.thin_shell, folder_of(obj)
    if settings.cache_name and settings.cache_name == safe_name(settings.cache_name) and not sharers(obj):
        paths = checked(folder, settings.cache_name)
        if not of_another_file(paths):
            return paths
    found = None if settings.cache_name else orphan(obj, folder)
    if found is not None:
        settings.cache_name = found.name
        return found
    every: Any = bpy.data.objects
    taken = {other.thin_shell.cache_name for other in every if other is not obj}
    base = safe_name(obj.name)
    name, number = base, 1
    while name in taken or (folder / f"{name}.pc2").exists() or (folder / f"{name}.json").exists():
        number += 1
        name = f"{base}-{number}"
    settings.cache_name = name
    return checked(folder, name)


def orphan(obj: Any, folder: Path) -> CachePaths | None:
    """An unfinished bake of this object that its file knows nothing of: Blender went down before it was saved."""
    every: Any = bpy.data.objects
    taken = {other.thin_shell.cache_name for other in every if other is not obj}
    ending = ".part.json"
    for path in sorted(folder.glob(f"{escaped(safe_name(obj.name))}*{ending}")):
        name = path.name.removesuffix(ending)
        try:
            info = sidecar.read(path)
        except CacheError:
            continue
        mine = info.object == obj.name and bool(info.blend) and info.blend == os.path.basename(bpy.data.filepath)
        if mine and name == safe_name(name) and name not in taken:
            return CachePaths(folder, name)
    return None


def of_another_file(paths: CachePaths) -> bool:
    """Whether another .blend file in the same place baked these files and still exists (as after Save As)."""
    for path in (paths.sidecar, paths.part_sidecar):
        try:
            blend = sidecar.read(path).blend
        except CacheError:
            continue
        if blend and blend != os.path.basename(bpy.data.filepath) and bpy.data.filepath:
            return (Path(bpy.data.filepath).parent / safe_blend(blend)).is_file()
    return False


def safe_blend(name: str) -> str:
    """A file name from a sidecar without any folder in it."""
    return os.path.basename(name.replace("\\", "/"))


def sharers(obj: Any) -> list[Any]:
    """Other objects that play the same files."""
    name = obj.thin_shell.cache_name
    every: Any = bpy.data.objects
    return [o for o in every if o is not obj and name and o.type == "MESH" and o.thin_shell.cache_name == name]
