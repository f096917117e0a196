"""What there is of an object's bake, for the panel: cheap enough to ask at every redraw."""

import time
from dataclasses import dataclass
from typing import Any

import bpy

from ..bridge.mesh import input_modifiers
from ..cache import pc2, playback, sidecar
from ..cache.files import CacheError
from .fingerprint import of_settings
from .location import paths_of

# A panel redraws many times a second; the disk is asked at most once in this many seconds.
MEMORY_SECONDS = 1.0
_known: dict[tuple[str, str], tuple[float, "Status"]] = {}


@dataclass(frozen=True)
class Status:
    """`kind`: NONE, BAKED, PARTIAL, OUTDATED, MISSING or BROKEN; `message` for the user."""

    kind: str
    message: str = ""
    resumable: int | None = None
    """Last frame of an unfinished bake that can be resumed."""


def status(obj: Any, scene: Any, fresh: bool = False) -> Status:
    """The state of an object's bake."""
    key = (bpy.data.filepath, obj.name)
    now = time.monotonic()
    if not fresh and key in _known and now - _known[key][0] < MEMORY_SECONDS:
        return _known[key][1]
    found = _status(obj, scene)
    _known[key] = now, found
    return found


def forget() -> None:
    """Ask the disk again next time."""
    _known.clear()


def _status(obj: Any, scene: Any) -> Status:
    settings = obj.thin_shell
    resumable = _resumable(obj)
    if not settings.baked:
        return Status("NONE", "Not baked" if resumable is None else f"Stopped at frame {resumable}", resumable)
    last = settings.baked_start + settings.baked_samples - 1
    if settings.baked_target == "PC2":
        path = playback.playing_points(obj)
        if path is None:
            return Status("MISSING", "The Thin Shell modifier is gone: bake again", resumable)
        try:
            with pc2.Reader(path) as reader:
                found, points = reader.header.samples, reader.header.points
        except CacheError as error:
            return Status("MISSING" if not path.exists() else "BROKEN", str(error), resumable)
        if points != len(obj.data.vertices) and not input_modifiers(obj):
            return Status(
                "BROKEN",
                f"{path.name} holds {points} points, the mesh {len(obj.data.vertices)}: of another bake; bake again",
                resumable,
            )
        if found < settings.baked_samples:
            last = settings.baked_start + found - 1
    gone = _gone(obj)
    if gone:
        return Status("MISSING", gone, resumable)
    if settings.baked_settings != of_settings(obj, scene):
        return Status("OUTDATED", f"Outdated: settings or mesh changed since the bake (to frame {last})", resumable)
    if not settings.baked_complete:
        return Status("PARTIAL", f"Stopped at frame {last}", resumable)
    return Status("BAKED", f"Baked to frame {last}", resumable)


def _gone(obj: Any) -> str:
    """What a bake to shape keys or Alembic lost, in words; empty where it is there."""
    target = obj.thin_shell.baked_target
    if target == "SHAPE_KEYS" and obj.data.shape_keys is None:
        return "The baked shape keys were removed: bake again"
    if target == "ALEMBIC":
        path = playback.playing_alembic(obj)
        if path is None or not path.is_file():
            return f"{path.name if path else 'The Alembic modifier'} is missing: bake again or put it back"
    return ""


def _resumable(obj: Any) -> int | None:
    try:
        paths = paths_of(obj)
        described = paths.part_sidecar if paths.part_sidecar.is_file() else paths.sidecar
        if not described.is_file():
            return None
        info = sidecar.read(described)
        # What Live played has no fingerprint: there is no state to go on from.
        return None if info.complete or info.samples == 0 or not info.fingerprint else info.last_frame
    except (CacheError, OSError):
        return None
