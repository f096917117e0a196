"""The artist's mesh with its cracks: vertices copied, faces moved to the copies, everything else as it was.

BMesh carries every layer along (UVs, colours, attributes, vertex groups, shape keys, sharp edges, seams, custom
normals), so faces that the cracks do not touch are not touched here either. A polygon that is cracked inside becomes
the triangles it was simulated as; all others stay what they are.
"""

from typing import Any

import bmesh
import numpy as np

from ..bridge.mesh import MeshArrays, corner_vertices, polygon_starts
from .splits import Cut, Splits

PLACE = "thin_shell_place"


def corner_targets(mesh: Any, arrays: MeshArrays | Cut, splits: Splits) -> tuple[Any, Any, Any]:
    """Vertex of each corner at the end (c,), polygons (p,) that moved to copies, polygons (p,) cracked inside."""
    before = corner_vertices(mesh)
    corners, vertices = arrays.corners.ravel(), splits.faces.ravel()
    low, high = np.full(len(before), splits.total), np.full(len(before), -1)
    np.minimum.at(low, corners, vertices)
    np.maximum.at(high, corners, vertices)
    after = np.where(high < 0, before, low)
    owner = np.repeat(arrays.polygons, 3)
    count = len(mesh.polygons)
    cracked, moved = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    cracked[owner[(low != high)[corners]]] = True
    moved[owner[(after != before)[corners]]] = True
    return after, moved & ~cracked, cracked


def split_copy(mesh: Any, arrays: MeshArrays | Cut, splits: Splits) -> Any:
    """A new mesh data-block: `mesh` with the cracks of `splits`, copies after its own vertices."""
    after, moved, cracked = corner_targets(mesh, arrays, splits)
    made = mesh.copy()
    edited = bmesh.new()
    try:
        edited.from_mesh(made)
        _Cutter(edited, splits, polygon_starts(mesh)).cut(arrays, after, moved, cracked)
        edited.to_mesh(made)
    finally:
        edited.free()
    made.update()
    return made


class _Cutter:
    """Moves faces to copies. Loops run over what the cracks touch, not over the mesh.

    A face is copied with corners, edges and vertices of its own, which are then welded to the vertices it goes to: so
    every layer, also those Python cannot see, is carried over by Blender itself.
    """

    def __init__(self, edited: Any, splits: Splits, starts: Any) -> None:
        self.mesh, self.splits, self.starts = edited, splits, starts
        self.place = edited.faces.layers.float.new(PLACE)
        # Lists of our own: Blender's tables go stale with every new element.
        self.verts, self.faces = list(edited.verts), list(edited.faces)
        for index, face in enumerate(self.faces):
            face[self.place] = float(index)
        for source in splits.sources[splits.originals :]:
            old = self.verts[int(source)]
            self.verts.append(edited.verts.new(old.co, old))
        self.welded: dict[Any, Any] = {}
        self.spare: list[Any] = []

    def cut(self, arrays: MeshArrays | Cut, after: Any, moved: Any, cracked: Any) -> None:
        """Corners go to the vertices `after`; polygons that are `moved` stay whole, those `cracked` come apart."""
        old = [self.faces[int(i)] for i in np.flatnonzero(moved | cracked)]
        old_edges = {edge for face in old for edge in face.edges}
        for index in np.flatnonzero(moved):
            face, start = self.faces[int(index)], int(self.starts[index])
            self._weld(face.copy(verts=True, edges=True).verts, after[start : start + len(face.verts)])
        rows = np.flatnonzero(cracked[arrays.polygons])
        for number, row in enumerate(rows):
            index = int(arrays.polygons[row])
            part, corners = self._triangle(
                self.faces[index], [int(c - self.starts[index]) for c in arrays.corners[row]]
            )
            part[self.place] = index + number / len(rows)
            self._weld(corners, self.splits.faces[row])
        for face in old:
            self.mesh.faces.remove(face)
        for edge in old_edges:
            if not edge.link_faces:
                self.mesh.edges.remove(edge)
        bmesh.ops.weld_verts(self.mesh, targetmap=self.welded)
        bmesh.ops.delete(self.mesh, geom=[v for v in self.spare if v.is_valid], context="VERTS")
        place = self.place
        self.mesh.faces.sort(key=lambda face: face[place])
        self.mesh.faces.layers.float.remove(place)

    def _weld(self, corners: Any, vertices: Any) -> None:
        """The corners of a copied face go to these vertices of the end."""
        for corner, vertex in zip(corners, vertices, strict=True):
            self.welded[corner] = self.verts[int(vertex)]

    def _triangle(self, polygon: Any, corners: list[int]) -> tuple[Any, list[Any]]:
        """A copy of the part of a polygon between three of its corners, and the vertices of those."""
        face = polygon.copy(verts=True, edges=True)
        verts = list(face.verts)
        wanted = [verts[corner] for corner in corners]
        for a, b in zip(wanted, wanted[1:] + wanted[:1], strict=True):
            if not any(edge.other_vert(a) is b for edge in a.link_edges):
                other, _ = bmesh.utils.face_split(face, a, b)
                if not set(wanted) <= set(face.verts):
                    face, other = other, face
                self.mesh.faces.remove(other)
        self.spare += [vert for vert in verts if vert not in wanted]
        return face, wanted
