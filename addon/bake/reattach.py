"""Attaching by itself what is an object's: after a file is opened that was not saved since the bake, and after undo."""

from pathlib import Path
from typing import Any

import bpy
from bpy.app.handlers import persistent

from .. import compat
from ..cache import playback, preview, sidecar
from ..cache.files import CacheError, is_there
from ..errors import UserError
from . import catalogue, groups, identity, owners, status
from .attach import attach, check_fits, mark, show
from .catalogue import Found
from .location import caches, folder_of
from .store import finish_moving

PATIENCE = 3.0
"""A disk that has not answered after this long [s] is not waited for: its bakes can be attached later."""
_seen: dict[int, tuple[Any, ...]] = {}
"""What each shell played when last looked at, by session id: only those that an undo changed need the disk."""


def again(obj: Any, scene: Any, known: dict[Path, list[Found]]) -> str:
    """Attach what is the object's by identity where the file says otherwise; what was done, or why not."""
    settings = obj.thin_shell
    playing = playback.playing_points(obj)
    if playing is not None and not settings.baked and is_there(playing):
        return ""
    try:
        folder = folder_of(obj)
    except CacheError:
        return ""
    if folder not in known:
        _finish_moving(folder)
        known[folder] = catalogue.look(folder)
    mine = catalogue.own(obj, known[folder])
    if settings.baked:
        # Where the trash has it, closing the file without saving took the deletion back, as an undo does.
        found = _instead(obj, mine, [each for each in known[folder] if not each.trashed])
    else:
        found = next((each for each in mine if not each.trashed and not each.unfinished), None)
    if found is None:
        return ""
    try:
        if found.trashed or found.unfinished:
            attach(obj, scene, found)
        else:
            check_fits(obj, found.paths, found.info)
            show(obj, scene, found.paths, quick=True)
    except (UserError, CacheError) as error:
        return f"{obj.name}: the bake '{found.paths.name}' is on the disk, but {error}"
    return f"{obj.name}: attached '{found.paths.name}', {found.frames} frames"


def _finish_moving(folder: Path) -> None:
    """Put the rest of a whole result in place where Blender went down, or the disk went away, while it did so."""
    for paths in caches(folder):
        try:
            info = sidecar.read(paths.part_sidecar)
            if info.moving and identity.owns_file(info) and not identity.is_baking(info):
                finish_moving(paths)
        except CacheError:
            continue  # no such file in most cases


def _instead(obj: Any, mine: list[Found], every: list[Found]) -> Found | None:
    """What a baked object should play: nothing else where its files are there and are what it knows.

    The very bake that it played may be anybody's: a copied file finds it again, for reading.
    """
    settings = obj.thin_shell
    played = next((each for each in mine if each.paths.name == settings.cache_name and not each.trashed), None)
    if played is not None and not played.unfinished:
        changed = bool(settings.baked_date) and mark(played.info) != settings.baked_date
        return played if changed else None
    if _files_are_there(obj):
        return None
    same = [each for each in [*mine, *every] if settings.baked_date and mark(each.info) == settings.baked_date]
    return next(iter(same or [each for each in mine if not each.unfinished]), None)


def _files_are_there(obj: Any) -> bool:
    target = obj.thin_shell.baked_target
    if target == "SHAPE_KEYS":
        return obj.data.shape_keys is not None
    path = playback.playing_alembic(obj) if target == "ALEMBIC" else playback.playing_points(obj)
    return path is not None and is_there(path)


def every_shell(undone: bool = False) -> list[str]:
    """Attach to every shell of the file what is its own; after an undo only to what played a bake before."""
    known: dict[Path, list[Found]] = {}
    said = []
    for scene in bpy.data.scenes:
        for obj in groups.shells(scene):
            if obj.library is not None or owners.who(obj) is not None:
                continue
            preview.tidy(obj)
            if undone and _seen.get(compat.session_uid(obj)) == _playing(obj):
                continue
            if undone and not obj.thin_shell.baked:
                continue
            if status.answers(obj, PATIENCE):
                said.append(again(obj, scene, known))
            else:
                said.append(f"{obj.name}: the disk or share of its cache folder does not answer: attach when it does")
    note_all()
    status.forget()
    return [text for text in said if text]


def note_all() -> None:
    """Remember what every shell plays."""
    _seen.clear()
    for scene in bpy.data.scenes:
        _seen.update({compat.session_uid(obj): _playing(obj) for obj in groups.shells(scene)})


def _playing(obj: Any) -> tuple[Any, ...]:
    settings = obj.thin_shell
    return settings.baked, settings.baked_date, settings.cache_name, settings.baked_target


def _say(texts: list[str]) -> None:
    for text in texts:
        print(f"Thin Shell: {text}", flush=True)


@persistent
def on_load(*_: Any) -> None:
    _say(every_shell())


@persistent
def on_undo(*_: Any) -> None:
    _say(every_shell(undone=True))


HANDLERS = {"load_post": on_load, "undo_post": on_undo, "redo_post": on_undo}


def register() -> None:
    for name, handler in HANDLERS.items():
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    for name, handler in HANDLERS.items():
        handlers = getattr(bpy.app.handlers, name)
        if handler in handlers:
            handlers.remove(handler)
