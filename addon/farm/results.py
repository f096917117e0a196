"""What came out of a wedge: a row of numbers and a picture a variant, a table and a contact sheet of all."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..bake import attach
from ..bridge.mesh import inputs_visible, whole_mesh
from ..bridge.mesh import read as read_mesh
from ..bridge.units import frames_per_second, metres_per_unit, to_world
from ..cache import fields, pc2, sidecar
from ..cache.files import CacheError, write_whole
from ..cache.paths import CachePaths
from . import locks, picture, variant
from .wedges import Variant, Wedge

TILE = (240, 180)
SMALL_TILE = (120, 90)
MANY = 100
"""A sheet of more variants has small tiles."""
MEASURED = (
    "object", "frames", "seconds", "vertices", "broken", "moved_mean_m", "moved_max_m", "speed_max_m_s", "low_z_m",
    "high_z_m", "centre_x_m", "centre_y_m", "centre_z_m",
)  # fmt: skip
"""Columns after the settings. Moved: from the first frame to the last; low, high and centre: of the last."""
THUMBNAIL = "thumbnail.png"


@dataclass
class Measured:
    """One shell of a variant: its numbers by column, and what is to be drawn of it."""

    row: dict[str, Any]
    positions: Any
    """Last frame [m], world, (n, 3)."""
    faces: Any
    """(m, 3)"""


def collect(scene: Any, objects: list[Any], wedge: Wedge, folder: Path) -> list[str]:
    """Write the table, the sheet and the thumbnails; names of the variants that are not baked to the end."""
    found, missing = {}, []
    places = {obj.name: _Places(scene, obj) for obj in objects}
    for each in wedge.variants:
        try:
            found[each.name] = _measured(scene, objects, folder, each, places)
        except CacheError:
            missing.append(each.name)
    if not folder.is_dir():
        raise CacheError(f"{folder} is not there: bake the wedge first, or name its --cache-folder")
    with locks.one(folder / f"{wedge.name}.collect.lock"):
        _pictures(wedge, found, folder)
        write_whole(folder / f"{wedge.name}.csv", _table(wedge, found).encode())
    return missing


def _pictures(wedge: Wedge, found: dict[str, list[Measured]], folder: Path) -> None:
    """All from the same place and to the same scale, so that they can be compared."""
    width, height = TILE if len(wedge.variants) <= MANY else SMALL_TILE
    tiles = []
    shown = [picture.bounds(part.positions) for parts in found.values() for part in parts]
    for each in wedge.variants:
        if each.name in found:
            parts = [(part.positions, part.faces) for part in found[each.name]]
            tile = picture.draw(parts, picture.joined(shown), width, height)
            picture.save(folder / each.name / THUMBNAIL, tile)
        else:
            tile = picture.blank(width, height)
        picture.number(tile, each.number)
        tiles.append(tile)
    picture.save(folder / f"{wedge.name}.png", picture.sheet(tiles))


def _table(wedge: Wedge, found: dict[str, list[Measured]]) -> str:
    """CSV: number and variant, one column a setting, then what was measured; a row a variant and shell."""
    extra = list(dict.fromkeys(key for parts in found.values() for part in parts for key in part.row))
    columns = ["number", "variant", *wedge.columns, *(extra or MEASURED)]
    text = io.StringIO()
    made = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    made.writeheader()
    for each in wedge.variants:
        start = {"number": each.number, "variant": each.name, **each.row()}
        for row in [part.row for part in found.get(each.name, [])] or [{}]:
            made.writerow(start | row)
    return text.getvalue()


class _Places:
    """Where an object is at each frame; the scene is moved there only where it has something that moves objects."""

    def __init__(self, scene: Any, obj: Any) -> None:
        self._scene, self._obj = scene, obj
        self._moves = any(
            each.animation_data is not None or each.constraints or each.parent_type != "OBJECT" for each in _line(obj)
        )
        self._known: dict[int, Any] = {}

    def at(self, frame: int) -> Any:
        """World matrix, (4, 4)."""
        key = frame if self._moves else 0
        if key not in self._known:
            if self._moves:
                self._scene.frame_set(frame)
            self._known[key] = np.array(self._obj.matrix_world, dtype=np.float64)
        return self._known[key]


def _line(obj: Any) -> list[Any]:
    """An object and its parents."""
    return [obj] if obj.parent is None else [obj, *_line(obj.parent)]


def _measured(
    scene: Any, objects: list[Any], folder: Path, each: Variant, places: dict[str, _Places]
) -> list[Measured]:
    made = []
    with variant.played(scene, objects, str(folder), each.name) as paths:
        for obj in objects:
            variant.check_ours(obj, paths[obj.name])
            info = sidecar.read(paths[obj.name].sidecar)
            if not info.complete:
                raise CacheError(f"{paths[obj.name].name} is not complete")
            made.append(_measure(scene, obj, paths[obj.name], info, places[obj.name]))
    return made


def _measure(scene: Any, obj: Any, paths: CachePaths, info: sidecar.Sidecar, place: _Places) -> Measured:
    scale, fps = metres_per_unit(scene), frames_per_second(scene)
    broken = attach.split_of(obj, paths, info)
    originals = info.points if broken is None else broken[1].originals
    with pc2.Reader(paths.pc2) as reader:
        first = now = before = to_world(reader.sample(0).astype(np.float64), place.at(info.start), scale)
        fastest = 0.0
        for index in range(1, reader.header.samples):
            before, now = now, to_world(reader.sample(index).astype(np.float64), place.at(info.start + index), scale)
            fastest = max(fastest, float(np.linalg.norm(now - before, axis=1).max()) * fps)
        frames = reader.header.samples
    moved = np.linalg.norm((now - first)[:originals], axis=1)
    numbers = [
        info.seconds, info.points, info.points - originals, moved.mean(), moved.max(), fastest, now[:, 2].min(),
        now[:, 2].max(), *now.mean(axis=0),
    ]  # fmt: skip
    row = dict(zip(MEASURED, [obj.name, frames, *(f"{value:.9g}" for value in numbers)], strict=True))
    for name in info.fields:
        samples = [fields.read_sample(paths.field(name), index) for index in range(frames)]
        size = [np.linalg.norm(each.reshape(len(each), -1), axis=1) for each in samples]
        row[f"{name}_max"] = f"{max(float(each.max()) for each in size):.9g}"
        row[f"{name}_last_mean"] = f"{float(size[-1].mean()):.9g}"
    return Measured(row, now, faces_of(obj, info.points, broken))


def faces_of(obj: Any, points: int, broken: Any) -> Any:
    """Triangles of the last frame, (m, 3); modifiers above Thin Shell may have made more of the mesh."""
    if broken is not None:
        return broken[1].faces
    mesh = whole_mesh(obj)
    if len(mesh.vertices) == points:
        return read_mesh(mesh).faces
    with inputs_visible([obj]):
        return read_mesh(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data).faces
