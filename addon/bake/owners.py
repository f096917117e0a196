"""Who drives an object: a bake, Live or Real Time, one at a time; and whether Blender renders, when nobody may.

What Live, Real Time and a bake under way show is of this session. A file that is saved must not know of it: it is taken
off before, and put on again after, as after an undo.
"""

from collections.abc import Iterable
from typing import Any, Protocol

import bpy
from bpy.app.handlers import persistent

from .. import compat
from ..errors import UserError


class Owner(Protocol):
    """Who drives objects, and shows them as they are just now."""

    label: str
    """Who it is, in words."""
    lasting: bool
    """Whether it keeps its objects when somebody else asks for them."""

    def hide(self) -> None:
        """Leave the objects as their artist has them."""

    def show(self) -> None:
        """The opposite."""

    def let_go(self) -> None:
        """Somebody else takes an object: end, and keep nothing."""


_owners: list[tuple[Owner, frozenset[int]]] = []
_rendering = False


def take(owner: Owner, objects: Iterable[Any]) -> None:
    """Drive these objects from now on, and these alone. What plays for a look lets go of them; a bake never does."""
    release(owner)
    objects = list(objects)
    let_go(objects)
    _owners.append((owner, frozenset(compat.session_uid(obj) for obj in objects)))
    if len(_owners) == 1:
        for name, handler in HANDLERS.items():
            getattr(bpy.app.handlers, name).append(handler)


def let_go(objects: Iterable[Any]) -> None:
    """End what plays these objects for a look; raises where they are being baked."""
    for obj in objects:
        uid = compat.session_uid(obj)
        for owner, theirs in list(_owners):
            if uid in theirs and owner.lasting:
                raise UserError(f"{obj.name} is driven by {owner.label}: wait for its end, or stop it", object=obj.name)
            if uid in theirs:
                owner.let_go()
                release(owner)


def release(owner: Owner) -> None:
    """Drive nothing any more."""
    had = bool(_owners)
    _owners[:] = [each for each in _owners if each[0] is not owner]
    if had and not _owners:
        _off()


def who(obj: Any) -> Owner | None:
    """Who drives an object."""
    uid = compat.session_uid(obj)
    return next((owner for owner, theirs in _owners if uid in theirs), None)


def baking() -> bool:
    """Whether a bake moves the playhead, in a window or straight through."""
    return any(owner.lasting for owner, _theirs in _owners)


def rendering() -> bool:
    """Whether Blender renders: it moves the playhead then, and nobody else may move anything."""
    return _rendering or bool(bpy.app.is_job_running("RENDER"))


@persistent
def before_save(*_: Any) -> None:
    for owner, _theirs in _owners:
        owner.hide()


@persistent
def after_save(*_: Any) -> None:
    for owner, _theirs in _owners:
        owner.show()


@persistent
def render_begins(*_: Any) -> None:
    global _rendering
    _rendering = True
    before_save()


@persistent
def render_ends(*_: Any) -> None:
    global _rendering
    _rendering = False
    after_save()


@persistent
def before_load(*_: Any) -> None:
    """Another file has nothing to do with what played."""
    for owner, _theirs in list(_owners):
        owner.let_go()
        release(owner)


HANDLERS = {
    "save_pre": before_save,
    "save_post": after_save,
    "undo_post": after_save,
    "redo_post": after_save,
    "render_init": render_begins,
    "render_complete": render_ends,
    "render_cancel": render_ends,
    "load_pre": before_load,
}


def _off() -> None:
    global _rendering
    _rendering = False
    for name, handler in HANDLERS.items():
        handlers = getattr(bpy.app.handlers, name)
        if handler in handlers:
            handlers.remove(handler)


def register() -> None:
    """Nobody drives anything yet."""


def unregister() -> None:
    before_load()
    _owners.clear()
    _off()
