"""A surface on its way: boxes of its features, and which of them come near those of another.

A way is straight, all vertices at once, from `x` by `move`, both (total, 3) [m]; where `most` is given each vertex may
go by anything between `move` and that, coordinate by coordinate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..linalg.vectors import components, dot, picked
from ..types import Bools, Floats, Ints
from .bodies import Surface
from .candidates import Candidates, Nearest, of_meshes
from .distances import edge_edge, vertex_face
from .tree import Boxes

# Boxes are made for single pairs where there is less than one for so many vertices.
FEW = 4
# Pairs that are looked at in one go: arrays of all 120k of a drape of 25.6k vertices are handed back to the system and
# asked for again, which took most of 48 ms (in pieces 15; at 6.4k 3.8 → 3.4).
PIECE = 16_384


@dataclass(frozen=True)
class Way:
    """Where vertices start and how far they go; without `move` they stay. `alone`: what they may meet does not move."""

    x: Floats
    move: Floats | None = None
    most: Floats | None = None
    alone: bool = False

    def boxes(self, vertices: Ints, wide: float) -> Boxes:
        """Boxes of things with corners `vertices` (k, c), widened by `wide` [m]."""
        boxes = Boxes.of(self.x, self.move, vertices, wide, self.most)
        return boxes.swept() if self.alone else boxes


def together(vertex_faces: Ints, edge_edges: Ints, way: Way, reach: float) -> Candidates:
    """Those of some pairs of meshes, rows of four vertices (p, 4), that may come within `reach` [m] on their `way`."""
    faces, face_weights = _coming(vertex_faces, vertex_face, 1, way, reach)
    edges, edge_weights = _coming(edge_edges, edge_edge, 2, way, reach)
    return of_meshes(faces, edges, Nearest(way.x, face_weights, edge_weights))


def _coming(rows: Ints, weights: Callable[..., Floats], first: int, way: Way, reach: float) -> tuple[Ints, Floats]:
    """Those of `rows` (p, 4) whose sides may come within `reach` [m] on their `way`, and weights of their nearest
    points where it begins, (4, k).

    Boxes of edges that pass each other askew overlap long before the edges are near. The direction between nearest
    points (by `weights`) separates the sides, the `first` one or two vertices from the others, by at least the
    difference of what its vertices reach along it, any of which may be cut short. That leaves a third of the pairs of
    a sheet with a ball's mesh.
    """
    places = components(way.x)
    moves = [components(field) for field in (way.move, way.most) if field is not None]
    kept, shares = [], []
    for start in range(0, max(len(rows), 1), PIECE):
        piece = rows[start : start + PIECE]
        share, near = _near(piece, weights, first, places, moves, reach)
        kept.append(piece.compress(near, axis=0))
        shares.append(share.compress(near, axis=1))
    return np.concatenate(kept), np.concatenate(shares, axis=1)


def _near(
    rows: Ints, weights: Callable[..., Floats], first: int, places: Floats, moves: list[Floats], reach: float
) -> tuple[Floats, Bools]:
    """The weights of all `rows`, (4, p), and which of these may come within `reach`, (p,); `places` and up to two
    displacements `moves`, between which vertices may choose, (3, total)."""
    corners = [np.ascontiguousarray(corner) for corner in rows.T]
    points = [picked(places, corner) for corner in corners]
    share = weights(*points)
    normal = share[0] * points[0]
    for k in range(1, 4):
        normal += share[k] * points[k]
    normal /= np.maximum(np.sqrt(dot(normal, normal)), 1e-300)
    along = [dot(point, normal) for point in points]
    for k, corner in enumerate(corners if moves else ()):
        # The first side towards the second, that towards the first.
        extreme = np.minimum if k < first else np.maximum
        further = picked(moves[0], corner) * normal
        for other in moves[1:]:
            further = extreme(further, picked(other, corner) * normal)
        along[k] += extreme(further[0] + further[1] + further[2], 0.0)
    low = along[0] if first == 1 else np.minimum(along[0], along[1])
    high = np.maximum(along[2], along[3]) if first == 2 else np.maximum(np.maximum(along[1], along[2]), along[3])
    return share, low - high <= reach


class Moving:
    """A surface with the boxes of its vertices, edges and faces."""

    def __init__(self, surface: Surface, way: Way, wide: float) -> None:
        self.surface = surface
        self._way, self._wide = way, wide

    @cached_property
    def vertices(self) -> Boxes:
        """Of vertices of the stack."""
        return self._way.boxes(np.arange(len(self._way.x))[:, None], self._wide)

    @cached_property
    def edges(self) -> Boxes:
        """Of edges of the surface."""
        return self._way.boxes(self.surface.edges, self._wide)

    @cached_property
    def faces(self) -> Boxes:
        """Of faces of the surface."""
        return self._way.boxes(self.surface.faces, self._wide)

    def _meet(self, kind: str, mine: Ints, other: Moving, their_kind: str, theirs: Ints) -> Ints:
        """The k, rising, of which features `mine[k]` and `theirs[k]` may meet."""
        boxes, i = self._boxes(kind, mine)
        others, j = other._boxes(their_kind, theirs)
        return boxes.meet(i, others, j)

    def _boxes(self, kind: str, index: Ints) -> tuple[Boxes, Ints]:
        """Boxes of features, and which of them are those of `index`: all where many are asked for, else only these."""
        if kind in vars(self) or FEW * len(index) > len(self._way.x):
            return getattr(self, kind), index
        corners = index[:, None] if kind == "vertices" else getattr(self.surface, kind)[index]
        return self._way.boxes(corners, self._wide), np.arange(len(index))

    def vertex_face(self, mine: Ints, other: Moving, theirs: Ints) -> Ints:
        """Own vertices of faces `mine` against faces `theirs`, (p, 4)."""
        parts = []
        for corner in range(3):
            vertex = self.surface.own_vertices[mine, corner]
            at = np.flatnonzero(vertex >= 0)
            vertex, face = vertex[at], theirs[at]
            if self.surface is other.surface:
                a, b, c = other.surface.corners
                apart = (a[face] != vertex) & (b[face] != vertex) & (c[face] != vertex)
                vertex, face = vertex[apart], face[apart]
            met = self._meet("vertices", vertex, other, "faces", face)
            parts.append(np.column_stack([vertex[met], other.surface.faces[face[met]]]))
        return np.concatenate(parts)

    def edge_edge(self, mine: Ints, other: Moving, theirs: Ints) -> Ints:
        """Own edges of faces `mine` against those of faces `theirs`, (p, 4)."""
        parts = []
        for i in range(3):
            first = self.surface.own_edges[mine, i]
            at = np.flatnonzero(first >= 0)
            for j in range(3):
                second = other.surface.own_edges[theirs[at], j]
                both = np.flatnonzero(second >= 0)
                a, b = first[at[both]], second[both]
                if self.surface is other.surface:
                    low, high = self.surface.ends
                    p, q, r, s = low[a], high[a], low[b], high[b]
                    apart = (p != r) & (p != s) & (q != r) & (q != s)
                    a, b = a[apart], b[apart]
                met = self._meet("edges", a, other, "edges", b)
                parts.append(np.column_stack([self.surface.edges[a[met]], other.surface.edges[b[met]]]))
        return np.concatenate(parts)
