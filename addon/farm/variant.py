"""Whose a variant's bake is, and where: (file, shell, variant), a folder a variant, the same names on every machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy

from ..bake import attach, groups, identity
from ..bake.location import folder_of
from ..cache import sidecar, trash
from ..cache.files import CacheError, is_there
from ..cache.paths import CachePaths, folded, resolved_folder, safe_name
from .codes import ArgumentError

PLACE = ("cache_folder", "cache_name", "baked", "baked_complete")


def checked_name(name: str) -> str:
    """A variant's name, which is that of its folder."""
    if not name or name != safe_name(name) or folded(name) == trash.FOLDER or len(name) > 80:
        raise ArgumentError(
            f"'{name}' is no name for a variant: up to 80 letters, digits, spaces, dots, dashes and underscores"
        )
    return name


def folder_for(obj: Any, given: str, name: str) -> Path:
    """The folder of a variant, below the given one or below the shell's own."""
    if given.startswith("//"):
        base = resolved_folder(given, str(Path(bpy.data.filepath).parent))
    else:
        base = Path(given).absolute() if given else folder_of(obj)
    return base / name


def file_names(scene: Any) -> dict[str, str]:
    """What the files of every shell are called, by its name: the same in every task of a file."""
    shells, made = groups.shells(scene), {}
    plain = [folded(safe_name(obj.name)) for obj in shells]
    for obj, same in zip(shells, plain, strict=True):
        name = safe_name(obj.name)
        # Names that a disk takes for one, or that the endings of a bake's files use.
        if plain.count(same) > 1 or "." in name:
            name = f"{name.replace('.', '_')}-{identity.shell_id(obj)[:8]}"
        made[obj.name] = name
    return made


@contextmanager
def played(scene: Any, objects: list[Any], given: str, name: str) -> Iterator[dict[str, CachePaths]]:
    """Within it the shells' bakes are those of the variant, in its folder; their files by object."""
    with identity.as_variant(name):
        called, found, shells = file_names(scene), {}, groups.shells(scene)
        before = [{key: getattr(obj.thin_shell, key) for key in PLACE} for obj in shells]
        places = {obj.name: folder_for(obj, given, name) for obj in objects}
        for obj in shells:
            # What other shells play has another name, so that nobody shares the files of these.
            obj.thin_shell.cache_name = called[obj.name]
        for obj in objects:
            settings = obj.thin_shell
            settings.cache_folder, found[obj.name] = (
                str(places[obj.name]),
                CachePaths(places[obj.name], called[obj.name]),
            )
            settings.baked = settings.baked_complete = False
        try:
            yield found
        finally:
            for obj, values in zip(shells, before, strict=True):
                for key, value in values.items():
                    setattr(obj.thin_shell, key, value)


def check_ours(obj: Any, paths: CachePaths) -> None:
    """Raise where the variant's files are somebody else's."""
    for path in (paths.sidecar, paths.part_sidecar):
        info = sidecar.read(path) if is_there(path) else None
        if info is not None and not identity.owns(obj, info, paths.name):
            raise CacheError(
                f"'{paths.name}' in {paths.folder} is the bake of another file or shell ({info.object} of "
                f"{info.blend or 'an unknown file'}): choose another --cache-folder, or delete it"
            )


def show(scene: Any, objects: list[Any], paths: dict[str, CachePaths]) -> None:
    """Let the shells play a variant's bake where it is."""
    for obj in objects:
        check_ours(obj, paths[obj.name])
        if not is_there(paths[obj.name].sidecar):
            raise CacheError(f"{obj.name}: there is no bake in {paths[obj.name].folder}: run the bake task first")
        attach.show(obj, scene, paths[obj.name])
