"""Whose a cache is: the id of the file and the id of the shell, which no renaming, moving or copying confuses.

A file keeps its id where it is moved, and gets another where the file of that id is still in its old place: it is a
copy then. A duplicated object gets another id, the older one keeps its. New ids follow from the old ones and from where
the copy is, so a file that is closed without saving finds its caches again.
"""

import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
from bpy.app.handlers import persistent

from .. import compat
from ..cache.sidecar import Sidecar

NAMESPACE = uuid.UUID("6f2ad4c2-5b0e-4c0f-9d55-1f3c8f0f7a51")

_current: tuple[str, str] = ("", "")
"""Path and id of the open file."""
_before_copy: dict[str, str] | None = None
_variant: str | None = None


@contextmanager
def as_variant(name: str) -> Iterator[None]:
    """Within it bakes are those of a variant of the file, which is the same file wherever a farm has put it."""
    global _variant
    before, _variant = _variant, name
    try:
        yield
    finally:
        _variant = before


def variant() -> str:
    """The variant whose bakes are meant; empty for those of the file itself."""
    return _variant or ""


def _anywhere() -> str:
    """The id of the open file, wherever it is."""
    marks = [_remembered(scene)[0] for scene in _scenes()]
    return next((mark for mark in marks if mark), _derived("", os.path.basename(bpy.data.filepath)))


def file_id() -> str:
    """The id of the open file."""
    global _current
    if _variant is not None:
        return _anywhere()
    path = bpy.data.filepath
    if not _current[1] or (_current[0] != path and _current[0]):
        _current = path, _decided(path)
    return _current[1]


def shell_id(obj: Any) -> str:
    """The id of a shell among those of the file."""
    stored = obj.thin_shell.shell_id
    others = _others(obj)
    if stored and not any(o.thin_shell.shell_id == stored and _older(o, obj) for o in others):
        return str(stored)
    taken = {o.thin_shell.shell_id for o in others}
    made = _derived(stored or file_id(), obj.name)
    while made in taken:
        made = _derived(made, obj.name)
    return made


def settle(obj: Any) -> None:
    """Write the shell's id where it is saved with the file."""
    found = shell_id(obj)
    if obj.thin_shell.shell_id != found:
        obj.thin_shell.shell_id = found


def new_id() -> str:
    return uuid.uuid4().hex


def owns(obj: Any, info: Sidecar, name: str) -> bool:
    """Whether the bake of this cache name is the object's, so that it may be written and deleted."""
    if not info.file_id:
        return _variant is None and _owns_first_version(obj, info, name)
    if _variant is not None or info.variant:
        mine = file_id(), shell_id(obj), _variant
        return _variant is not None and mine == (info.file_id, info.shell_id, info.variant)
    return info.file_id == file_id() and info.shell_id == shell_id(obj) and not is_elsewhere(info)


def owns_file(info: Sidecar) -> bool:
    """Whether the bake is of a shell of this file, whichever."""
    return bool(info.file_id) and not info.variant and info.file_id == file_id() and not is_elsewhere(info)


def is_elsewhere(info: Sidecar) -> bool:
    """Whether another file with the bake's name for it is still in its place."""
    return bool(info.path) and not _same_file(info.path, bpy.data.filepath) and _exists(info.path)


def _owns_first_version(obj: Any, info: Sidecar, name: str) -> bool:
    """Bakes of 0.1.0 know names only, which is not enough in a folder that files elsewhere share."""
    if not obj.thin_shell.cache_folder.startswith("//") or info.blend != os.path.basename(bpy.data.filepath):
        return False
    players = [o for o in [obj, *_others(obj)] if o.thin_shell.cache_name == name]
    if not players:
        return bool(info.object == obj.name)
    return bool(min(players, key=compat.session_uid) == obj)


def baker() -> str:
    """This process, for whoever finds a bake under way."""
    return f"{socket.gethostname()}:{os.getpid()}"


def is_baking(info: Sidecar) -> bool:
    """Whether another process of this machine is still writing the bake."""
    if _variant is not None:
        return False  # a task holds a lock; the number of one that was killed may be anybody's by now
    host, _, number = info.baker.rpartition(":")
    if os.name != "posix" or host != socket.gethostname() or not number.isdecimal() or int(number) == os.getpid():
        return False
    try:
        os.kill(int(number), 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return not _is_zombie(number)


def _is_zombie(number: str) -> bool:
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8", errors="replace") as file:
            return file.read(512).rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False


def _others(obj: Any) -> list[Any]:
    every: Any = bpy.data.objects
    return [o for o in every if o != obj and o.library is None and o.type == "MESH"]


def _older(one: Any, other: Any) -> bool:
    return compat.session_uid(one) < compat.session_uid(other)


def _derived(old: str, where: str) -> str:
    return uuid.uuid5(NAMESPACE, f"{old} {where}").hex


def _decided(path: str) -> str:
    """The id of a file at `path`, from what the scenes remember."""
    known = [_remembered(scene) for scene in _scenes()]
    known = [(mark, old) for mark, old in known if mark]
    if not known:
        return _derived("", path) if path else new_id()
    if not path and known[0][1]:
        return new_id()  # a startup file or template, which was made of a saved file
    mark, old = next((each for each in known if _same_file(each[1], path)), known[0])
    if _same_file(old, path) or not path or not old or not _exists(old):
        return mark
    return _derived(mark, os.path.normcase(os.path.abspath(path)))


def _scenes() -> list[Any]:
    every: Any = bpy.data.scenes
    return [scene for scene in every if scene.library is None]


def _remembered(scene: Any) -> tuple[str, str]:
    mark, _, path = scene.thin_shell_file.partition(" ")
    return mark, path


def _same_file(one: str, other: str) -> bool:
    if os.path.normcase(os.path.normpath(one)) == os.path.normcase(os.path.normpath(other)):
        return True
    try:
        return bool(one and other) and os.path.samefile(one, other)
    except OSError:
        return False


def _exists(path: str) -> bool:
    try:
        return os.path.isfile(path)
    except OSError:
        return False


@persistent
def on_load(*_: Any) -> None:
    """Another file is open."""
    global _current
    _current = bpy.data.filepath, _decided(bpy.data.filepath)


@persistent
def before_save(path: Any = "", *_: Any) -> None:
    """The file about to be written knows its id and its shells', under the path that it gets."""
    global _current, _before_copy
    target = path if isinstance(path, str) and path else bpy.data.filepath
    if not target:
        return
    mark = file_id()
    local = _scenes()
    _before_copy = {scene.name: scene.thin_shell_file for scene in local}
    here = bpy.data.filepath
    if here and not _same_file(here, target) and _exists(here):
        mark = _derived(mark, os.path.normcase(os.path.abspath(target)))
    for scene in local:
        scene.thin_shell_file = f"{mark} {target}"
    every: Any = bpy.data.objects
    for obj in every:
        if obj.library is None and obj.type == "MESH" and obj.thin_shell.enabled:
            settle(obj)
    _saving[:] = [target, mark]


_saving: list[str] = []


@persistent
def after_save(*_: Any) -> None:
    """A file saved as a copy is not the open one."""
    global _current, _before_copy
    if _saving and _same_file(_saving[0], bpy.data.filepath):
        _current = bpy.data.filepath, _saving[1]
    elif _before_copy is not None:
        for scene in _scenes():
            if scene.name in _before_copy:
                scene.thin_shell_file = _before_copy[scene.name]
    _saving[:], _before_copy = [], None


HANDLERS = {"load_post": on_load, "save_pre": before_save, "save_post": after_save}


def register() -> None:
    scene: Any = bpy.types.Scene
    scene.thin_shell_file = bpy.props.StringProperty(
        name="Thin Shell File", description="Id of this file and where it was saved", options={"HIDDEN"}
    )
    for name, handler in HANDLERS.items():
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    for name, handler in HANDLERS.items():
        handlers = getattr(bpy.app.handlers, name)
        if handler in handlers:
            handlers.remove(handler)
    scene: Any = bpy.types.Scene
    del scene.thin_shell_file
