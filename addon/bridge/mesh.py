"""Reading Blender meshes as arrays."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from .. import compat
from ..errors import UserError
from .lookup import Known, disabled_above, known
from .triangulate import triangles


@dataclass(frozen=True)
class MeshArrays:
    """A mesh in its object's own space."""

    positions: Any
    """(n, 3) float64, scene units."""
    faces: Any
    """Triangles as vertices, (m, 3)."""
    corners: Any
    """Triangles as mesh corners, (m, 3): where UVs live."""
    polygons: Any
    """Polygon each triangle came from, (m,)."""
    loose_edges: Any
    """Edges without a face, (k, 2)."""


def vertex_positions(mesh: Any) -> Any:
    """(n, 3) float64, in scene units of the object's space."""
    flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(np.float64)


def read(mesh: Any, one_way: bool = False) -> MeshArrays:
    """Positions and triangles of a mesh; `one_way`: square quads are cut all one way, not alternately."""
    positions = vertex_positions(mesh)
    vertices = corner_vertices(mesh)
    starts, totals = polygon_starts(mesh), _ints(mesh.polygons, "loop_total")
    ngons = (np.zeros((0, 3), dtype=np.int64), np.zeros(0, dtype=np.int64))
    if (totals > 4).any():
        mesh.calc_loop_triangles()
        corners = _ints(mesh.loop_triangles, "loops", 3).reshape(-1, 3)
        polygon = _ints(mesh.loop_triangles, "polygon_index")
        many = totals[polygon] > 4
        ngons = corners[many], polygon[many]
    faces, corners, polygons = triangles(positions, vertices, starts, totals, ngons, one_way)
    return MeshArrays(positions, faces, corners, polygons, _loose_edges(mesh))


def corner_vertices(mesh: Any) -> Any:
    """Vertex of every corner, (c,)."""
    return _built_in(mesh, ".corner_vert")


def corner_edges(mesh: Any) -> Any:
    """Edge that leaves every corner, (c,)."""
    return _built_in(mesh, ".corner_edge")


def edge_vertices(mesh: Any) -> Any:
    """Ends of every edge, (e, 2)."""
    return _ints(mesh.edges, "vertices", 2).reshape(-1, 2)


def polygon_starts(mesh: Any) -> Any:
    """First corner of every polygon, (p,)."""
    return _ints(mesh.polygons, "loop_start")


def corner_uvs(mesh: Any, name: str, owner: str, reader: str = "Material Axes need") -> Any:
    """Texture coordinates of every corner, (c, 2); an empty name is the active map. `reader` needs them, in words."""
    layer = mesh.uv_layers.get(name) if name else mesh.uv_layers.active
    if layer is None:
        have = ", ".join(each.name for each in mesh.uv_layers) or "none"
        wanted = f"the UV map '{name}'" if name else "a UV map"
        raise UserError(f"{owner}: {reader} {wanted}, the mesh has {have}: unwrap it or choose another source")
    flat = np.empty(2 * len(mesh.loops), dtype=np.float32)
    layer.uv.foreach_get("vector", flat)
    return flat.reshape(-1, 2).astype(np.float64)


def _loose_edges(mesh: Any) -> Any:
    used = np.zeros(len(mesh.edges), dtype=bool)
    used[corner_edges(mesh)] = True
    return edge_vertices(mesh)[~used]


def _built_in(mesh: Any, name: str) -> Any:
    """Blender's own arrays of corners, several times faster to read than corner by corner."""
    attribute = mesh.attributes.get(name)
    return _ints(attribute.data, "value") if attribute is not None else np.zeros(0, dtype=np.int64)


def _ints(collection: Any, name: str, width: int = 1) -> Any:
    flat = np.empty(width * len(collection), dtype=np.int32)
    collection.foreach_get(name, flat)
    return flat.astype(np.int64)


@contextmanager
def inputs_visible(objects: Sequence[Any]) -> Iterator[None]:
    """While inside, the objects evaluate to what feeds the simulation: shown, whole, and cut off at our own modifier.

    Keeps no object to put things back on: a bake lasts over many ticks, and an undo in between replaces the objects.
    """
    changed: list[tuple[Known, str | None, str, Any]] = []

    def put(obj: Any, modifier: Any, name: str, value: Any) -> None:
        target = obj if modifier is None else modifier
        if getattr(target, name) != value:
            changed.append((known(obj), None if modifier is None else modifier.name, name, getattr(target, name)))
            setattr(target, name, value)

    hidden, cracked, disabled = [], [], []
    for obj in objects:
        for collection in disabled_above(obj, bpy.context.view_layer):
            disabled.append(compat.session_uid(collection))
            collection.hide_viewport = False
        if is_cracked(obj):
            cracked.append(known(obj))
            obj.thin_shell.whole_mesh = own_whole_mesh(obj)
            obj.thin_shell.split_mesh = obj.data
            obj.data = obj.thin_shell.whole_mesh
        put(obj, None, "hide_viewport", False)
        if compat.hidden_by_eye(obj):
            hidden.append(known(obj))
            obj.hide_set(False)
        for modifier in output_modifiers(obj):
            put(obj, modifier, "show_viewport", False)
        if obj.thin_shell.baked_target == "SHAPE_KEYS" and obj.data.shape_keys is not None:
            put(obj, None, "active_shape_key_index", 0)
            put(obj, None, "show_only_shape_key", True)
    try:
        yield
    finally:
        for owner, modifier_name, name, value in reversed(changed):
            obj = owner.find()
            target = obj if obj is None or modifier_name is None else obj.modifiers.get(modifier_name)
            if target is not None:
                setattr(target, name, value)
        collections: Any = bpy.data.collections
        for collection in collections:
            if compat.session_uid(collection) in disabled:
                collection.hide_viewport = True
        for owner in hidden:
            again = owner.find()
            if again is not None:
                again.hide_set(True)
        for owner in cracked:
            again = owner.find()
            if again is not None and again.thin_shell.split_mesh is not None:
                again.data = again.thin_shell.split_mesh


MODIFIER = "Thin Shell"
ALEMBIC_MODIFIER = "Thin Shell Alembic"
RESULTS_MODIFIER = "Thin Shell Results"
WELD_MODIFIER = "Thin Shell Weld"
PREVIEW_MODIFIER = "Thin Shell Preview"
CRACKED_MARK, CRACKED_NAME = "thin_shell_cracked", "thin_shell_cracked_name"
"""Custom properties of a mesh that a bake cut: a hash of what it held then, and its name, which no copy shares."""
# Modifiers that carry a mesh along with something else: pins follow them, so they act before the shell.
CARRIERS = {"ARMATURE", "HOOK", "LATTICE", "MESH_DEFORM", "SURFACE_DEFORM", "CURVE"}


def is_cracked(obj: Any) -> bool:
    """Whether the object shows a mesh that a bake cut, and has its own to go back to."""
    return obj.thin_shell.whole_mesh is not None and CRACKED_MARK in obj.data


def own_whole_mesh(obj: Any) -> Any:
    """The mesh a cracked object goes back to. A duplicate has a copy of the cut mesh and gets one of the whole one."""
    whole = obj.thin_shell.whole_mesh
    every: Any = bpy.data.objects
    held = any(o != obj and o.type == "MESH" and o.thin_shell.whole_mesh == whole for o in every)
    return whole.copy() if held and obj.data.get(CRACKED_NAME) != obj.data.name else whole


def whole_mesh(obj: Any) -> Any:
    """The artist's mesh, whatever the object shows."""
    return obj.thin_shell.whole_mesh if is_cracked(obj) else obj.data


def output_modifiers(obj: Any) -> list[Any]:
    """Our own modifiers and those below: they act on the result."""
    return list(obj.modifiers)[stack_place(obj) :]


def input_modifiers(obj: Any) -> list[Any]:
    """The modifiers that act before the simulation."""
    return list(obj.modifiers)[: stack_place(obj)]


def stack_place(obj: Any) -> int:
    """Index of our modifier in the stack, or where it belongs: below the last modifier that carries the mesh along."""
    place = int(obj.modifiers.find(MODIFIER))
    if place >= 0:
        return place
    carriers = [i for i, modifier in enumerate(obj.modifiers) if modifier.type in CARRIERS]
    return carriers[-1] + 1 if carriers else 0
