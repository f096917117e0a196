"""Finding an object again after an undo, whatever library it comes from; and which objects of a scene take part."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy

from .. import compat
from ..errors import UserError


@dataclass(frozen=True)
class Known:
    """An object, kept without keeping Blender's own: two libraries may each have one of the same name."""

    name: str
    library: str | None
    uid: int

    def find(self) -> Any:
        """The object as it is now, also under another name; None where it is gone."""
        every: Any = bpy.data.objects
        quick = every.get((self.name, self.library))
        if quick is not None and compat.session_uid(quick) == self.uid:
            return quick
        return next((obj for obj in every if compat.session_uid(obj) == self.uid), None)

    def get(self) -> Any:
        """The object as it is now. Of our own settings it has what is animated, at once what is edited."""
        obj = self.find()
        if obj is None:
            raise UserError(f"'{self.name}' was deleted or renamed during the bake: bake again", object=self.name)
        return obj

    def evaluated(self, depsgraph: Any) -> Any:
        """The object as the scene evaluates it."""
        return self.get().evaluated_get(depsgraph)


@dataclass(frozen=True)
class KnownScene:
    """A scene and the view layer that evaluates it, kept without keeping Blender's own."""

    name: str
    uid: int
    layer: str

    def find(self) -> Any:
        """The scene as it is now, also under another name; None where it is gone."""
        every: Any = bpy.data.scenes
        return next((scene for scene in every if compat.session_uid(scene) == self.uid), None)

    def get(self) -> Any:
        scene = self.find()
        if scene is None:
            raise UserError(f"the scene '{self.name}' was deleted during the bake: bake again")
        return scene

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Here Blender's context is this scene and its view layer, whatever the windows show by now."""
        scene = self.find()
        if scene is None:
            yield
            return
        layer = scene.view_layers.get(self.layer) or scene.view_layers[0]
        with bpy.context.temp_override(scene=scene, view_layer=layer):
            yield


def known_scene(scene: Any) -> KnownScene:
    """What finds a scene again, with the view layer that the window shows of it, or else its first."""
    shown = bpy.context.scene == scene
    return KnownScene(
        scene.name, compat.session_uid(scene), bpy.context.view_layer.name if shown else scene.view_layers[0].name
    )


def known(obj: Any) -> Known:
    """What finds an object again."""
    return Known(obj.name, obj.library.filepath if obj.library is not None else None, compat.session_uid(obj))


def order(obj: Any) -> tuple[str, str]:
    """A key to sort objects by: the same order in every session."""
    return obj.name, obj.library.filepath if obj.library is not None else ""


def taking_part(view_layer: Any) -> set[int]:
    """Session numbers of the objects that a view layer evaluates for themselves, hidden by the eye or not.

    The others stand still, whatever animates them: those whose collections are excluded or disabled, or that are
    disabled themselves.
    """
    found: set[int] = set()

    def walk(layer: Any) -> None:
        if layer.collection.hide_viewport:
            return
        if not layer.exclude:
            found.update(compat.session_uid(obj) for obj in layer.collection.objects if not obj.hide_viewport)
        for below in layer.children:
            walk(below)

    walk(view_layer.layer_collection)
    return found


def disabled_above(obj: Any, view_layer: Any) -> list[Any]:
    """Collections that keep an object from taking part, though the view layer includes it."""
    found: list[Any] = []

    def walk(layer: Any, above: list[Any]) -> None:
        above = [*above, layer.collection] if layer.collection.hide_viewport else above
        if not layer.exclude and any(each == obj for each in layer.collection.objects):
            found.extend(each for each in above if each not in found)
        for below in layer.children:
            walk(below, above)

    walk(view_layer.layer_collection, [])
    return found


def takes_part(obj: Any) -> bool:
    """Whether the current view layer evaluates an object for itself."""
    return compat.session_uid(obj) in taking_part(bpy.context.view_layer)
