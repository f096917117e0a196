"""What there is of an object's bake, for the panel. A redraw never asks the disk: it shows what was seen last."""

import os
import threading
import time
from dataclasses import dataclass, replace
from typing import Any

import bpy

from .. import compat
from ..bridge.mesh import input_modifiers
from ..cache import pc2, playback
from ..cache.files import CacheError, is_there
from . import catalogue, inputs, session
from .catalogue import Found
from .fingerprint import fits
from .location import folder_of
from .span import differs

# What a panel shows is looked at again after this long [s] at the soonest,
REST = 2.0
# what is not on the disk only when nothing has changed for this long [s],
IDLE = 0.5
# and after so many times as long as looking took: a share that answers slowly is asked seldom.
PATIENCE = 50.0


@dataclass(frozen=True)
class Status:
    """`kind`: NONE, BAKED, PARTIAL, OUTDATED, MISSING or BROKEN; `message` for the user."""

    kind: str
    message: str = ""
    resumable: int | None = None
    """Last frame of an unfinished bake that can be resumed."""
    attachable: bool = False
    """A bake of the object's own waits to be attached."""


@dataclass(frozen=True)
class Look:
    """What was on the disk."""

    fault: Status | None = None
    """What is wrong with the files that the object plays."""
    last: int | None = None
    """Last frame that these files hold."""
    resumable: int | None = None
    waiting: int | None = None
    """Last frame of a bake of the object's own that is not attached."""
    found: tuple[tuple[Found, bool], ...] = ()
    """Every bake in the cache folder, and whether it is the object's own."""
    inputs: str = ""
    """Of a baked object what a bake would read now; empty where that was not looked at."""


_looks: dict[tuple[str, int], Look] = {}
_wanted: dict[tuple[str, int], tuple[str, str]] = {}
"""Objects that a panel shows, by name and that of their scene."""
_shown: dict[tuple[str, int], tuple[str, str]] = {}
"""Those of the last look: what changes about them is looked at without a redraw."""
_next = 0.0
ANSWER = 0.1
"""A disk that has not answered after this long [s] is away."""
_asked: dict[str, threading.Thread] = {}
"""Who asks the disk of a folder, or did so last."""


def status(obj: Any, scene: Any, fresh: bool = False) -> Status:
    """The state of an object's bake; `fresh` asks the disk."""
    return _status(obj, scene, look(obj, scene, fresh))


def found(obj: Any) -> tuple[tuple[Found, bool], ...]:
    """Bakes in the object's cache folder as they were seen last, and which are its own; those first, newest first."""
    return look(obj, bpy.context.scene).found


def look(obj: Any, scene: Any, fresh: bool = False) -> Look:
    """What was there when it was looked at last."""
    key = bpy.data.filepath, compat.session_uid(obj)
    if fresh:
        if bpy.app.background:
            inputs.forget()
        _looks[key] = _look(obj, scene)
    else:
        _wanted[key] = obj.name, scene.name
        _schedule()
    return _looks.get(key, Look())


def forget() -> None:
    """Look again soon."""
    global _next
    _looks.clear()
    _next = 0.0


def _schedule() -> None:
    if not bpy.app.background and not bpy.app.timers.is_registered(_refresh):
        inputs.listen(_panels)
        bpy.app.timers.register(_refresh, first_interval=max(_next - time.monotonic(), 0.05))


class _Panels:
    """Hears of changes for the panels."""

    def touched(self) -> None:
        """Look again once nothing changes any more."""
        if _shown and not bpy.app.background:
            _wanted.update(_shown)
            _schedule()


_panels = _Panels()


def _refresh() -> float | None:
    """Look at what panels have shown since the last time, or what has changed of it; outside of any redraw."""
    global _next
    began = time.monotonic()
    if session.current is None and began - inputs.changed_at < IDLE:
        return IDLE
    changed = False
    for (path, uid), (name, scene_name) in list(_wanted.items()):
        obj, scene = bpy.data.objects.get(name), bpy.data.scenes.get(scene_name)
        if path == bpy.data.filepath and obj is not None and scene is not None and compat.session_uid(obj) == uid:
            seen = _look(obj, scene) if answers(obj) else _away(obj, _looks.get((path, uid), Look()))
            changed |= seen != _looks.get((path, uid))
            _looks[path, uid] = seen
    _shown.clear()
    _shown.update(_wanted)
    _wanted.clear()
    took = time.monotonic() - began
    _next = time.monotonic() + max(REST, PATIENCE * took)
    if changed:
        for window in bpy.context.window_manager.windows:
            for area in window.screen.areas:
                if area.type == "PROPERTIES":
                    area.tag_redraw()
    return None


def answers(obj: Any, within: float = ANSWER) -> bool:
    """Whether the disk of an object's cache answers in time [s]. A thread asks: a share that is away keeps it waiting.

    Nobody waits a second time for an answer that is still out.
    """
    try:
        folder = str(folder_of(obj))
    except CacheError:
        return True
    asked = _asked.get(folder)
    if asked is None or not asked.is_alive():
        asked = _asked[folder] = threading.Thread(target=_ask, args=(folder,), daemon=True)
        asked.start()
        asked.join(within)
    return not asked.is_alive()


def _ask(folder: str) -> None:
    """Look into a folder; nothing of Blender is touched."""
    try:
        os.listdir(folder)
    except OSError:
        pass  # an answer, too


def _away(obj: Any, before: Look) -> Look:
    if not obj.thin_shell.baked:
        return before
    return replace(
        before, fault=Status("MISSING", "The disk or share of the cache folder does not answer: wait for it")
    )


def _status(obj: Any, scene: Any, seen: Look) -> Status:
    settings = obj.thin_shell
    if not settings.baked:
        if seen.waiting is None:
            return Status("NONE", "Not baked")
        return Status(
            "NONE", f"Not attached: a bake to frame {seen.waiting} is in the cache folder", seen.resumable, True
        )
    if seen.fault is not None:
        return replace(seen.fault, resumable=seen.resumable, attachable=seen.waiting is not None)
    last = settings.baked_start + settings.baked_samples - 1 if seen.last is None else seen.last
    other = bool(seen.inputs and settings.baked_inputs) and seen.inputs != settings.baked_inputs
    if other or not fits(obj, scene, settings.baked_settings):
        what = "what it reads" if other else "settings or mesh"
        text = f"Outdated: {what} changed since the bake (to frame {last})"
        return Status("OUTDATED", text, seen.resumable)
    if not settings.baked_complete:
        return Status("PARTIAL", f"Stopped at frame {last}", seen.resumable)
    frames = differs(obj)
    return Status("BAKED", f"Baked {frames}" if frames else f"Baked to frame {last}", seen.resumable)


def _look(obj: Any, scene: Any) -> Look:
    every = catalogue.of(obj)
    own = catalogue.own(obj, every)
    others = sorted((each for each in every if each not in own), key=lambda each: -each.date)
    mine = [each for each in own if not each.trashed]
    # What Live played has no fingerprint: there is no state to go on from.
    stopped = [each for each in mine if not each.info.complete and each.info.fingerprint and each.info.samples > 1]
    stopped.sort(key=lambda each: not each.unfinished)
    waiting = max((each.info.start + each.frames - 1 for each in mine), default=None)
    fault, last = _played(obj) if obj.thin_shell.baked else (None, None)
    listed = tuple((each, each in own) for each in [*own, *others])
    resumable = stopped[0].info.last_frame if stopped else None
    reads = obj.thin_shell.baked and obj.thin_shell.baked_inputs and session.current is None
    return Look(fault, last, resumable, waiting, listed, inputs.digest(obj, scene) if reads else "")


def _played(obj: Any) -> tuple[Status | None, int | None]:
    """What is wrong with what the object plays, and its last frame where that is not what the file says."""
    settings = obj.thin_shell
    if settings.baked_target != "PC2":
        gone = _gone(obj)
        return (Status("MISSING", gone) if gone else None), None
    path = playback.playing_points(obj)
    if path is None:
        return Status("MISSING", "The Thin Shell modifier is gone: attach the bake or bake again"), None
    try:
        with pc2.Reader(path) as reader:
            samples, points = reader.header.samples, reader.header.points
    except CacheError as error:
        return Status("BROKEN" if os.path.lexists(path) else "MISSING", str(error)), None
    if points != len(obj.data.vertices) and not input_modifiers(obj):
        return Status(
            "BROKEN",
            f"{path.name} holds {points} points, the mesh {len(obj.data.vertices)}: of another bake; "
            "attach the right one or bake again",
        ), None
    return None, settings.baked_start + min(samples, settings.baked_samples) - 1


def _gone(obj: Any) -> str:
    """What a bake to shape keys or Alembic lost, in words; empty where it is there."""
    target = obj.thin_shell.baked_target
    if target == "SHAPE_KEYS" and obj.data.shape_keys is None:
        return "The baked shape keys were removed: attach the bake or bake again"
    if target == "ALEMBIC":
        path = playback.playing_alembic(obj)
        if path is None or not is_there(path):
            return f"{path.name if path else 'The Alembic modifier'} is missing: attach the bake or bake again"
    return ""
