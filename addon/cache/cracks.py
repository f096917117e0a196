"""Putting a cracked mesh on an object, and taking it off again with nothing lost.

The artist's mesh stays in the file, held by the object's settings, and comes back as it was. A Weld modifier joins
copies that still sit on each other, so that a seam shades smoothly until it breaks; like the Mesh Cache it is Blender's
own and needs no add-on.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ..bridge.mesh import (
    ALEMBIC_MODIFIER,
    CRACKED_MARK,
    CRACKED_NAME,
    MODIFIER,
    RESULTS_MODIFIER,
    WELD_MODIFIER,
    MeshArrays,
    is_cracked,
    own_whole_mesh,
    vertex_positions,
)
from .split_mesh import split_copy
from .splits import Cut, Splits

GROUP = "Thin Shell Cracks"
CRACK_FRAME = "thin_shell_crack_frame"
PIECE = "thin_shell_piece"
NEVER = 1e6
"""Crack frame of vertices that never break: later than any frame."""
# Copies sit on each other to the last bit until they part, so any distance welds them. This share of the mesh's size
# (in its own units, whatever the object's scale) is too small for an open crack to be taken for a closed one.
WELD_SHARE = 1e-7


def put_on(obj: Any, arrays: MeshArrays | Cut, splits: Splits, start: int) -> None:
    """Give the object its mesh with the cracks; `start` is the frame of sample 0."""
    take_off(obj)
    whole = obj.data
    made = split_copy(whole, arrays, splits)
    made.name = f"{whole.name} cracked"
    settings = obj.thin_shell
    settings.whole_mesh, settings.split_mesh = whole, made
    obj.data = made
    _attributes(made, splits, start)
    group = obj.vertex_groups.get(GROUP) or obj.vertex_groups.new(name=GROUP)
    group.add(np.flatnonzero(splits.on_cracks).tolist(), 1.0, "REPLACE")
    made[CRACKED_MARK], made[CRACKED_NAME] = content(made), made.name
    weld(obj)


def weld(obj: Any) -> None:
    """Join what has not parted yet, right below our own modifiers, where the settings want that."""
    modifier = obj.modifiers.get(WELD_MODIFIER)
    if not is_cracked(obj) or not obj.thin_shell.weld_seams:
        if modifier is not None:
            obj.modifiers.remove(modifier)
        return
    if modifier is None:
        modifier = obj.modifiers.new(WELD_MODIFIER, "WELD")
        modifier.name = WELD_MODIFIER
    modifier.mode = "ALL"
    modifier.merge_threshold = WELD_SHARE * float(np.ptp(vertex_positions(obj.data), axis=0).max())
    modifier.vertex_group = GROUP
    modifier.show_expanded = False
    # Results are read by number of vertex, which welding changes.
    above = max(obj.modifiers.find(name) for name in (MODIFIER, ALEMBIC_MODIFIER, RESULTS_MODIFIER))
    obj.modifiers.move(obj.modifiers.find(WELD_MODIFIER), above + 1)


@contextmanager
def welded(obj: Any) -> Iterator[None]:
    """While inside, what has not parted yet is joined, whatever the settings say."""
    smooth = obj.thin_shell.weld_seams
    obj.thin_shell.weld_seams = True
    try:
        yield
    finally:
        obj.thin_shell.weld_seams = smooth


def forget(obj: Any) -> None:
    """Make a mesh taken from a bake the artist's own: without what only the playing of it needed."""
    for name in (CRACKED_MARK, CRACKED_NAME):
        obj.data.pop(name, None)
    group = obj.vertex_groups.get(GROUP)
    if group is not None:
        obj.vertex_groups.remove(group)


def take_off(obj: Any) -> str:
    """Give the object its own mesh back; a note where the cracked one was edited and is kept."""
    settings = obj.thin_shell
    made, cracked = obj.data, is_cracked(obj)
    whole = own_whole_mesh(obj) if cracked else None
    modifier = obj.modifiers.get(WELD_MODIFIER)
    if modifier is not None:
        obj.modifiers.remove(modifier)
    settings.whole_mesh = settings.split_mesh = None
    if not cracked:
        return ""
    _keep_materials(made, whole)
    obj.data = whole
    if made.users == 0 and made.get(CRACKED_MARK) == content(made):
        bpy.data.batch_remove([made])
        return ""
    if made.users == 0:
        made.use_fake_user = True
        return f"the cracked mesh was edited and stays in the file as '{made.name}'"
    return ""


def _attributes(mesh: Any, splits: Splits, start: int) -> None:
    parted = splits.parted
    when = np.where(parted < 0, NEVER, start + parted).astype(np.float32)
    frames = mesh.attributes.get(CRACK_FRAME) or mesh.attributes.new(CRACK_FRAME, "FLOAT", "POINT")
    frames.data.foreach_set("value", when)
    piece = mesh.attributes.get(PIECE) or mesh.attributes.new(PIECE, "INT", "POINT")
    piece.data.foreach_set("value", splits.pieces.astype(np.int32))
    mesh.update()


def _keep_materials(made: Any, whole: Any) -> None:
    """Materials given to the cracked mesh since stay on the whole one."""
    if list(made.materials) != list(whole.materials) and len(made.materials) >= len(whole.materials):
        whole.materials.clear()
        for material in made.materials:
            whole.materials.append(material)


def content(mesh: Any) -> str:
    """A hash of what an artist may have edited: every attribute but our own, selections and hiding, and weights."""
    digest = hashlib.sha256(str((len(mesh.vertices), len(mesh.edges), len(mesh.polygons))).encode())
    for attribute in sorted(mesh.attributes, key=lambda each: each.name):
        if attribute.name.startswith((".", "thin_shell_")) or attribute.name == "velocity":
            continue
        name, kind, width = ATTRIBUTE_VALUES.get(attribute.data_type, ("", "", 0))
        digest.update(f"{attribute.name} {attribute.domain} {attribute.data_type}".encode())
        if width:
            values = np.empty(width * len(attribute.data), dtype=kind)
            attribute.data.foreach_get(name, values)
            digest.update(values.tobytes())
    weights = [(g.group, g.weight) for vertex in mesh.vertices for g in vertex.groups]
    digest.update(np.array(weights, dtype=np.float64).tobytes())
    return digest.hexdigest()[:32]


ATTRIBUTE_VALUES = {
    "FLOAT": ("value", "float32", 1),
    "INT": ("value", "int32", 1),
    "INT8": ("value", "int32", 1),
    "BOOLEAN": ("value", "bool", 1),
    "FLOAT_VECTOR": ("vector", "float32", 3),
    "FLOAT2": ("vector", "float32", 2),
    "FLOAT_COLOR": ("color", "float32", 4),
    "BYTE_COLOR": ("color", "float32", 4),
    "QUATERNION": ("value", "float32", 4),
    "INT32_2D": ("value", "int32", 2),
    "INT16_2D": ("value", "int32", 2),
}
"""How the values of each kind of attribute are read; kinds that are not here are told apart by name only."""
