"""What a bake reads, beyond the shell's own settings: meshes, groups, keys, images, modifiers above, the rest object,
colliders, fields, handles, whatever carries them, and their animation; and whether that has changed.

Every data-block is hashed for itself, and again only where Blender said that it changed. In a window nothing is hashed
while a panel is drawn.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from bpy.app.handlers import persistent

from .. import checksums, compat
from ..bridge.colliders import collider_objects
from ..bridge.forces import field_objects
from ..bridge.mesh import input_modifiers, whole_mesh
from ..bridge.units import frames_per_second, gravity, metres_per_unit
from ..cache import playback
from ..properties import physics_names
from ..realtime.properties import is_modal
from . import digests, fingerprint

# Settings of a force field that are one number to Blender: one of them moves all.
SAME_NUMBER = (
    {"field.strength", "field.linear_drag", "field.guide_minimum"},
    {"field.quadratic_drag", "field.harmonic_damping"},
    {"field.size", "field.rest_length"},
)
_known: dict[tuple[int, str], tuple[str, list[tuple[Any, ...]]]] = {}
"""By number of a block and the role it has: its hash, and what it refers to."""
_hashed: dict[tuple[int, str], str] = {}
"""Hashes of meshes alone, which take longest."""
changed_at = 0.0
"""When something may have changed last, on the clock of `time.monotonic`."""
SHARE = 20.0
"""A mesh that a bake under way shows and hides is hashed again after this many times as long as hashing took."""
_costs: dict[int, tuple[float, float]] = {}
"""By number of a mesh: when it was hashed last, and how long that took [s]."""


def of_shell(obj: Any, scene: Any) -> dict[int, tuple[str, str]]:
    """Name and hash of every block that the bake of a shell reads, by number."""
    found: dict[int, tuple[str, str]] = {compat.session_uid(scene): (scene.name, _text(_scene(scene)))}
    ahead: list[tuple[Any, str]] = [(obj, "shell")]
    # Other shells count by what they are made from: baking them changes nothing here.
    ahead += [(o, "shell" if o.thin_shell.enabled else "body") for o in collider_objects(scene, [obj])]
    ahead += [(each, "field") for each in field_objects(scene, [obj])]
    while ahead:
        block, role = ahead.pop()
        uid = compat.session_uid(block)
        if uid in found and not (role == "body" and found[uid][1].startswith("place")):
            continue
        if role == "body" and block.bl_rna.identifier == "Object" and block.type == "MESH" and block.thin_shell.enabled:
            role = "shell"
        digest, others = _block(block, role)
        found[uid] = block.name, f"{role} {digest}"
        for name, library, number, whole in others:
            other = _find(name, library, number)
            if other is not None:
                ahead.append((other, "body" if whole else "place"))
    return found


def digest(obj: Any, scene: Any) -> str:
    """All that the bake of a shell reads, beyond its settings, as one hash: names and their order count for nothing."""
    return _joined(of_shell(obj, scene))


def _joined(found: dict[int, tuple[str, str]]) -> str:
    parts = sorted(each for _name, each in found.values())
    return digests.array(np.frombuffer("\n".join(parts).encode(), np.uint8))


def forget() -> None:
    """Hash everything anew."""
    _known.clear()
    _hashed.clear()
    _costs.clear()
    checksums.doubt()


class Watch:
    """What some shells' bake reads, to be compared with what it began with."""

    def __init__(self, scene: Any, objects: list[Any]) -> None:
        self.uids = [compat.session_uid(obj) for obj in objects]
        forget()
        self._take(scene, objects)
        _listen(True, self)

    def accept(self, scene: Any) -> None:
        """What moving the playhead did, by scripts that hear of it, is animation and no edit."""
        # Blender tells of no changes that are made while the playhead moves.
        _known.clear()
        _hashed.clear()
        every: Any = bpy.data.objects
        found = {compat.session_uid(obj): obj for obj in every}
        if all(uid in found for uid in self.uids):
            self._take(scene, [found[uid] for uid in self.uids])

    def _take(self, scene: Any, objects: list[Any]) -> None:
        self.began = {uid: of_shell(obj, scene) for uid, obj in zip(self.uids, objects, strict=True)}
        self._settings = {uid: settings_of(obj, scene) for uid, obj in zip(self.uids, objects, strict=True)}
        self._looked = time.monotonic()

    def in_edit_mode(self) -> str:
        """Name of an object whose mesh is read and is being edited, which nobody else can read; empty where none is."""
        numbers = {number for began in self.began.values() for number in began}
        every: Any = bpy.context.view_layer.objects
        return next((o.name for o in every if o.mode == "EDIT" and compat.session_uid(o) in numbers), "")

    def digests(self) -> dict[int, str]:
        """What each shell's bake began with, by number."""
        return {uid: _joined(began) for uid, began in self.began.items()}

    def touched(self) -> None:
        """It is compared at the next tick."""

    def changed(self, scene: Any) -> str:
        """What has changed and how, in words; empty where nothing did."""
        if scene is None:
            return "the scene was deleted"
        every: Any = bpy.data.objects
        objects = {compat.session_uid(obj): obj for obj in every}
        for uid in self.uids:
            if uid not in objects:
                name = next(iter(name for number, (name, _) in self.began[uid].items() if number == uid), "a shell")
                return f"'{name}' was deleted"
            if settings_of(objects[uid], scene) != self._settings[uid]:
                return f"settings of '{objects[uid].name}' were changed"
        if changed_at < self._looked:
            return ""
        self._looked = time.monotonic()
        for uid in self.uids:
            now = of_shell(objects[uid], scene)
            before = self.began[uid]
            for number in {**before, **now}:
                if now.get(number, ("", ""))[1] != before.get(number, ("", ""))[1]:
                    name = now.get(number, before.get(number, ("", "")))[0]
                    how = (
                        "was changed"
                        if number in now and number in before
                        else ("acts now" if number in now else "is gone")
                    )
                    return f"'{name}' {how}"
        return ""

    def close(self) -> None:
        _listen(False, self)


def scripted() -> bool:
    """Whether somebody's scripts hear of the playhead, and may move what is read."""
    hear = [*bpy.app.handlers.frame_change_pre, *bpy.app.handlers.frame_change_post]
    ours = __name__.rpartition(".bake.")[0]
    return any(not getattr(handler, "__module__", "").startswith(ours) for handler in hear)


def settings_of(obj: Any, scene: Any) -> str:
    """Settings of a shell that change the result, and the scene's units and gravity."""
    return fingerprint.of_settings(obj, scene)


def _scene(scene: Any) -> list[Any]:
    render, moved = scene.render, compat.animated_paths(scene)
    pull = [] if moved & {"gravity", "use_gravity"} else [float(g) for g in gravity(scene)]
    simplify = [render.use_simplify, render.simplify_subdivision] if render.use_simplify else []
    reader = digests.Reader(lambda *_: None)
    return [frames_per_second(scene), metres_per_unit(scene), pull, simplify,
            reader.animation(scene, lambda path: path in ("gravity", "use_gravity"))]  # fmt: skip


def _block(block: Any, role: str) -> tuple[str, list[tuple[Any, ...]]]:
    key = compat.session_uid(block), role
    # Blender does not tell of painting on an image that it does not show: those have a clock of their own.
    if key not in _known or block.bl_rna.identifier == "Image":
        others: list[tuple[Any, ...]] = []

        def meet(other: Any, whole: bool) -> None:
            library = other.library.filepath if other.library is not None else None
            others.append((other.name, library, compat.session_uid(other), whole))

        _known[key] = _text(_read(block, role, digests.Reader(meet))), others
    return _known[key]


def _read(block: Any, role: str, reader: digests.Reader) -> Any:
    kind = block.bl_rna.identifier
    if kind == "Image":
        return digests.image(block)
    if kind == "Collection":
        for obj in block.all_objects:
            reader._meet(obj, True)
        return None
    if kind != "Object":
        # What modifiers refer to otherwise, textures for one: their numbers.
        return reader.settings(block)
    moved = compat.animated_paths(block)
    made: list[Any] = [reader.place(block)]
    if role == "place":
        return made
    if role == "field":
        for names in SAME_NUMBER:
            moved |= names if moved & names else set()
        return [*made, reader.settings(block.field, moved, "field.")]
    modifiers = input_modifiers(block) if role == "shell" else list(block.modifiers)
    made += [reader.settings(m, moved, f'modifiers["{m.name}"].') for m in modifiers if m.show_viewport]
    if block.type == "MESH":
        made.append(_mesh(block, role, modifiers, reader))
    elif block.data is not None:
        made += [digests.points(block.data), reader.animation(block.data)]
    if role == "body" and block.collision is not None and block.collision.use:
        made += [block.thin_shell.collider_shape, reader.settings(block.collision, moved, "collision.")]
    if role == "shell":
        _refer(block, reader)
    return made


def _refer(obj: Any, reader: digests.Reader) -> None:
    """The blocks that a shell's settings name, where they are used."""
    settings = obj.thin_shell
    if settings.rest_shape == "OBJECT" and settings.rest_object is not None:
        reader._meet(settings.rest_object, True)
    if settings.axes_source == "IMAGE" and settings.axes_image is not None:
        reader._meet(settings.axes_image, True)
    if settings.use_fracture and settings.toughness_source == "IMAGE" and settings.toughness_image is not None:
        reader._meet(settings.toughness_image, True)
    for handle in obj.thin_shell_realtime.handles if is_modal(obj) else ():
        if handle.enabled and handle.target is not None:
            reader._meet(handle.target, False)


def _mesh(obj: Any, role: str, modifiers: list[Any], reader: digests.Reader) -> Any:
    """A mesh as far as it is read: of groups, attributes and maps those that settings and modifiers name."""
    data = whole_mesh(obj) if role == "shell" else obj.data
    names, uvs = _words(modifiers), set()
    if role == "shell":
        settings = obj.thin_shell
        rna = settings.bl_rna.properties
        names |= {str(getattr(settings, name)) for name in physics_names() if rna[name].type == "STRING"}
        names |= {handle.group for handle in obj.thin_shell_realtime.handles if is_modal(obj)}
        if settings.axes_source in ("UV", "IMAGE"):
            uvs.add(settings.axes_uv)
        if settings.rest_shape == "UV":
            uvs.add(settings.rest_uv)
        if settings.use_fracture and settings.toughness_source == "IMAGE":
            uvs.add(settings.toughness_uv)
    uvs |= {layer.name for layer in data.uv_layers} & names
    key = compat.session_uid(data), f"{role} {sorted(names)} {sorted(uvs)}"
    if key not in _hashed:
        began = time.monotonic()
        own = playback.own_keys(obj) if data.shape_keys is not None else []
        if data.shape_keys is not None and own and obj.thin_shell.baked_target != "SHAPE_KEYS":
            own = [each.name for each in data.shape_keys.key_blocks]
        animated = reader.animation(data.shape_keys) if own else []
        with _out_of_edit_mode(obj, data) as readable:
            _hashed[key] = _text([digests.mesh(readable, names - {""}, obj, uvs), digests.keys(data, own), animated])
        _costs[key[0]] = time.monotonic(), time.monotonic() - began
    return _hashed[key]


@contextmanager
def _out_of_edit_mode(obj: Any, data: Any) -> Iterator[Any]:
    """The mesh as its edits stand, with attributes that can be read, which one in Edit Mode does not give."""
    if obj.mode != "EDIT" or data != obj.data:
        yield data
        return
    obj.update_from_editmode()
    copy = data.copy()
    try:
        yield copy
    finally:
        bpy.data.meshes.remove(copy)


def _words(modifiers: list[Any]) -> set[str]:
    """Every word that a modifier is given: names of groups, attributes and maps are among them."""
    return {
        str(getattr(modifier, prop.identifier))
        for modifier in modifiers
        for prop in modifier.bl_rna.properties
        if prop.type == "STRING" and prop.identifier not in digests.UNREAD
    }


def _find(name: str, library: str | None, uid: int) -> Any:
    for blocks in (bpy.data.objects, bpy.data.images, bpy.data.collections, bpy.data.textures):
        every: Any = blocks
        found = every.get((name, library))
        if found is not None and compat.session_uid(found) == uid:
            return found
    return None


def _text(values: Any) -> str:
    return digests.array(np.frombuffer(json.dumps(values, sort_keys=True).encode(), np.uint8))


# Who wants to hear of changes: bakes under way, and panels in a window.
_listeners: list[Any] = []


def _listen(on: bool, who: Any) -> None:
    _listeners[:] = [each for each in _listeners if each is not who] + [who] * on
    for name, handler in HANDLERS.items():
        handlers = getattr(bpy.app.handlers, name)
        if _listeners and handler not in handlers:
            handlers.append(handler)
        elif not _listeners and handler in handlers:
            handlers.remove(handler)


def listen(who: Any) -> None:
    """Call `who.touched()` from now on, whenever something may have changed."""
    _listen(True, who)


@persistent
def on_update(_scene: Any, depsgraph: Any) -> None:
    """Something was evaluated anew."""
    global changed_at
    now = time.monotonic()
    for each in _listeners:
        each.touched()
    watched = {uid for each in _listeners if isinstance(each, Watch) for uid in each.uids}
    read, hashed = {key[0] for key in _known}, {key[0] for key in _hashed}
    for update in depsgraph.updates:
        block = update.id.original
        uid, kind = compat.session_uid(block), block.bl_rna.identifier
        changed_at = now
        if uid in read:
            for key in [key for key in _known if key[0] == uid]:
                del _known[key]
        gone = {uid}
        if kind == "Object" and update.is_updated_geometry and block.data is not None:
            data = compat.session_uid(block.data)
            when, cost = _costs.get(data, (0.0, 0.0))
            if uid not in watched or now > when + SHARE * cost:
                gone.add(data)
        elif kind == "Key":
            gone.add(compat.session_uid(block.user))
        if not gone.isdisjoint(hashed):
            for key in [key for key in _hashed if key[0] in gone]:
                del _hashed[key]


@persistent
def on_undo(*_: Any) -> None:
    global changed_at
    changed_at = time.monotonic()
    forget()
    for each in _listeners:
        each.touched()


HANDLERS = {"depsgraph_update_post": on_update, "undo_post": on_undo, "redo_post": on_undo, "load_post": on_undo}


def register() -> None:
    """Nobody listens yet."""


def unregister() -> None:
    _listeners.clear()
    _listen(False, None)
    forget()
