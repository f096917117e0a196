"""What bakes there are in a folder, played by somebody or by nobody, whole, stopped, or left by a crash."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..cache import fields, pc2, sidecar, splits, trash
from ..cache.files import CacheError, is_there
from ..cache.paths import CachePaths
from ..cache.spool import Spool
from ..errors import UserError
from . import identity
from .location import caches, folder_of, plays
from .store import result_files, unfinished_files, width_of

# What every new shell has, and is not the default for the sake of older files.
USUAL = (("use_creases", False), ("use_outer_thickness", False))


@dataclass(frozen=True)
class Found:
    """A bake on the disk."""

    paths: CachePaths
    info: sidecar.Sidecar
    frames: int
    """Whole frames that play, or will once attached."""
    bytes: int
    date: float
    """[s since 1970]"""
    unfinished: bool = False
    """Its files have part names: it never became a result."""
    trashed: bool = False

    @property
    def folder(self) -> Path:
        """The cache folder, also for what lies in its trash."""
        return self.paths.folder.parents[2] if self.trashed else self.paths.folder


def look(folder: Path) -> list[Found]:
    """Every bake in a cache folder and its trash."""
    found = [each for paths in caches(folder) for each in (_result(paths), _unfinished(paths)) if each is not None]
    for place in trash.places(folder):
        for paths in caches(place):
            each = _result(paths, trashed=True) or _unfinished(paths, trashed=True)
            found += [each] if each is not None else []
    return found


def own(obj: Any, found: list[Found]) -> list[Found]:
    """What is the object's by identity: results first, then what is unfinished, then the trash; newest first."""
    mine = [each for each in found if identity.owns(obj, each.info, each.paths.name)]
    return sorted(mine, key=lambda each: (each.trashed, each.unfinished, -each.date))


def named(obj: Any, name: str, unfinished: bool = False, place: str = "") -> Found:
    """The bake of a name in the object's cache folder, or in a `place` of its trash; without a name the newest own."""
    folder = folder_of(obj)
    every = look(folder)
    if not name:
        mine = own(obj, every)
        if not mine:
            raise UserError(f"{obj.name}: there is no bake of its own in {folder}: choose one by name, or bake")
        return mine[0]
    found = [e for e in every if e.paths.name == name and place == (str(e.paths.folder) if e.trashed else "")]
    found.sort(key=lambda each: each.unfinished != unfinished)
    if not found:
        raise UserError(f"{obj.name}: there is no bake '{name[:60]}' in {folder}: see the list in Cache")
    return found[0]


def nobodys(objects: list[Any], found: list[Found]) -> list[Found]:
    """What no object of this file and no file that is there owns."""
    return [each for each in found if not _has_owner(objects, each)]


def of(obj: Any) -> list[Found]:
    """What there is in the object's cache folder; nothing where that has no place."""
    try:
        return look(folder_of(obj))
    except CacheError:
        return []


def told(found: Found) -> str:
    """A bake in a line: frames, bytes, date, and what there is to say about it."""
    whole = found.info.end - found.info.start + 1
    frames = f"{found.frames} frames" if found.frames >= whole else f"{found.frames} of {whole} frames"
    date = time.strftime("%Y-%m-%d %H:%M", time.localtime(found.date))
    notes = ["never finished"] * found.unfinished + ["in the trash"] * found.trashed
    return ", ".join([frames, amount(found.bytes), date, *notes])


def settings_told(found: Found) -> str:
    """What the bake was made with, where that is not the default."""
    used = found.info.settings
    words = [
        f"{name.replace('_', ' ')} {_short(value)}"
        for name, value in sorted(used.items())
        if name != "preset_name" and (name, value) not in USUAL
    ]
    preset = [str(used["preset_name"])] if used.get("preset_name") else []
    return ", ".join(preset + words) or "default settings"


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def amount(size: int) -> str:
    """Bytes in words."""
    return (
        f"{size / 1e9:,.2f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:,.0f} kB"
    )


def _has_owner(objects: list[Any], found: Found) -> bool:
    info, name = found.info, found.paths.name
    if any(identity.owns(obj, info, name) or obj.thin_shell.cache_name == name for obj in objects):
        return True
    if not found.trashed and any(
        plays(obj, path) for obj in objects for path in (found.paths.pc2, found.paths.alembic)
    ):
        return True
    if identity.is_baking(info) or identity.is_elsewhere(info) or info.variant:
        return True
    return not info.file_id and not _is_first_version_of_here(found)


def _is_first_version_of_here(found: Found) -> bool:
    """A bake of 0.1.0 names its file without the folder: only that of the file beside it is known to be gone."""
    return bool(found.info.blend) and not is_there(found.folder.parent / os.path.basename(found.info.blend))


def _result(paths: CachePaths, trashed: bool = False) -> Found | None:
    try:
        info = sidecar.read(paths.sidecar)
        with pc2.Reader(paths.pc2, partial=True) as reader:
            frames = reader.header.samples
        return _found(paths, info, frames, result_files(paths), trashed=trashed)
    except (CacheError, OSError):
        return None


def _unfinished(paths: CachePaths, trashed: bool = False) -> Found | None:
    try:
        info = sidecar.read(paths.part_sidecar)
        frames = whole_frames(paths, info)
        return _found(paths, info, frames, unfinished_files(paths), True, trashed) if frames > 0 else None
    except (CacheError, OSError):
        return None


def _found(
    paths: CachePaths, info: sidecar.Sidecar, frames: int, files: list[Path], unfinished: bool = False,
    trashed: bool = False,
) -> Found:  # fmt: skip
    sizes = [path.stat() for path in files]
    date = info.date or max((each.st_mtime for each in sizes), default=0.0)
    return Found(paths, info, frames, sum(each.st_size for each in sizes), date, unfinished, trashed)


def whole_frames(paths: CachePaths, info: sidecar.Sidecar) -> int:
    """Frames of an unfinished bake that are whole in all its files: its sidecar may be some frames behind."""
    if info.breaks and not info.moving:
        return _spooled(paths, info)
    counts = []
    part = _either(paths, paths.pc2)
    with pc2.Reader(part, partial=True) as reader:
        counts.append(_written(reader, info.samples))
    counts += [fields.counted(_either(paths, paths.field(name)))[2] for name in info.fields]
    return min([*counts, info.end - info.start + 1])


def _either(paths: CachePaths, path: Path) -> Path:
    part = paths.part_of(path)
    return part if is_there(part) else path


def _written(reader: pc2.Reader, safe: int) -> int:
    """Samples without those after the last checkpoint that a power cut left empty."""
    samples = reader.header.samples
    while samples > max(safe, 0) and reader.header.points > 1 and not np.any(reader.sample(samples - 1)):
        samples -= 1
    return samples


def _spooled(paths: CachePaths, info: sidecar.Sidecar) -> int:
    part = paths.part_of(paths.splits)
    if not is_there(part):
        return info.samples if is_there(paths.spool) else 0
    cut, known = splits.load(part)
    width = 3 + sum(width_of(name) for name in info.fields)
    spool = Spool(paths.spool, cut.faces, known.originals, width, keep=-1)
    spool.close()
    return spool.samples
