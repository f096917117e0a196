"""Candidates: pairs of features that may come together before the next look, from pairs of faces whose boxes meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import ShellError
from ..types import Bools, Floats, Ints
from ..vectors import by_columns, components, dot, picked
from .bodies import Bodies, Surface
from .distances import edge_edge, vertex_face
from .fans import unfolded
from .tree import Boxes, BoxTree


@dataclass
class Candidates:
    """Pairs as rows of four vertices: `vertex_face` (vertex, face corners), `edge_edge` (both ends, both ends).

    `normal` (p, 3) of the first rows of `vertex_face` that belong to planes; `radius` [m], one for each of its rows.
    """

    vertex_face: Ints
    edge_edge: Ints
    normals: Floats
    radius: Floats

    def joined(self, other: Candidates) -> Candidates:
        """These with pairs of meshes of another list after them."""
        return Candidates(
            np.concatenate([self.vertex_face, other.vertex_face]),
            np.concatenate([self.edge_edge, other.edge_edge]),
            self.normals,
            np.concatenate([self.radius, other.radius]),
        )

    def without(self, exempt: Bools) -> Candidates:
        """Rows with an exempt vertex on both sides left out; `exempt` (total,). Planes and spheres stay."""
        faces, edges = self._both(exempt)
        simple = np.arange(len(faces)) < len(self.normals)
        keep = ~faces | simple | (self.radius > 0)
        return Candidates(self.vertex_face[keep], self.edge_edge[~edges], self.normals, self.radius[keep])

    def within(self, exempt: Bools) -> Candidates:
        """Only the rows of meshes with an exempt vertex on both sides; for lists without planes and spheres."""
        faces, edges = self._both(exempt)
        return Candidates(self.vertex_face[faces], self.edge_edge[edges], self.normals, self.radius[faces])

    def _both(self, exempt: Bools) -> tuple[Bools, Bools]:
        """Which rows of each list have an exempt vertex on both sides."""
        faces, edges = exempt[self.vertex_face], exempt[self.edge_edge]
        both: Bools = np.asarray(edges[:, :2].any(axis=1) & edges[:, 2:].any(axis=1))
        return np.asarray(faces[:, 0] & faces[:, 1:].any(axis=1)), both


# Candidates with colliders are sought this much further than they reach: the next step begins with what this one found.
# With 1 a drape of 6.4k vertices took 36 gradients and 1.8 rounds a step, with this 30 and 1.7 (and fewer candidates
# than with 2, which took 28 and 1.4).
AHEAD = 1.4
# Boxes are made for single pairs where there is less than one for so many vertices.
FEW = 4

_NOTHING = np.zeros((0, 4), dtype=np.int64)
NONE = Candidates(_NOTHING, _NOTHING, np.zeros((0, 3)), np.zeros(0))


class BroadPhase:
    """Finds candidates and knows for how long they stay complete.

    After `build(x, move, margin)` no pair that is missing can touch while the stack goes straight from x to x + move,
    nor afterwards while every coordinate stays within `margin` [m] of x + move (the `anchor`).
    """

    def __init__(self, bodies: Bodies, x: Floats) -> None:
        self.bodies = bodies
        self.builds = 0
        self._shell_tree = BoxTree(x[bodies.shell_surface.faces].mean(axis=1))
        mesh = bodies.mesh_surface
        self._mesh_tree = None if mesh is None else BoxTree(x[mesh.faces].mean(axis=1))
        self._shell_half = float(bodies.half[: bodies.count].max())
        self._mesh_half = AHEAD * float(bodies.half[bodies.count :].max(initial=0.0))
        # Largest halves of contact distances [m]. Sheets are often far thinner than what colliders keep off: with one
        # number for both a sheet of 25.6k vertices had every pair within 20 mm for candidates with itself, for 2 mm.
        self.anchor = x
        self.margin = -1.0
        self.meshes = bodies.together or self._mesh_tree is not None
        """Whether there are pairs of meshes at all."""
        self._empty = False
        self.known: Candidates | None = None
        """Pairs of meshes that the last `build` found."""

    def widen(self, half: float) -> None:
        """Take another largest half of shells' contact distances [m]; what was built no longer covers anything."""
        self._shell_half, self.margin, self.known = half, -1.0, None

    def off(self, *places: Floats) -> Bools:
        """Vertices that are further than the margin from the anchor in any of some `places` (total, 3), (total,)."""
        off: Bools = np.logical_or.reduce([(np.abs(x - self.anchor) > self.margin).any(axis=1) for x in places])
        return off

    def build(self, x: Floats, move: Floats | None, margin: float) -> Candidates:
        """Candidates for the way from x (n, 3) to x + move."""
        self.builds += 1
        self.margin = margin
        self.anchor = x if move is None else x + move
        shell = self._shells(x, move, margin)
        found = self._solids(shell, x, move, margin)
        if self.meshes:
            self._shell_tree.refit(shell.faces)
            self.known = self._meshes(shell, self._shell_tree, x, move, margin)
            found = found.joined(self.known)
        self._empty = len(found.vertex_face) + len(found.edge_edge) == 0
        return found

    def nothing_near(self, *places: Floats) -> bool:
        """Whether the last `build` found no candidates, and they stay complete on straight ways between `places`."""
        return self._empty and self.margin >= 0.0 and not self.off(*places).any()

    def kept(self) -> dict[str, Any]:
        """Plain arrays for a saved state: for how long the pairs of the last `build` stay complete."""
        if self.margin < 0.0:
            return {}
        return {"near_anchor": self.anchor, "near_margin": self.margin, "near_nothing": self._empty}

    def restore(self, known: Candidates, saved: dict[str, Any]) -> None:
        """Take up pairs of meshes that were `known`, and what `kept` gave."""
        self.known = known
        if "near_margin" not in saved:
            return
        anchor, self.margin = by_columns(np.array(saved["near_anchor"], dtype=np.float64)), float(saved["near_margin"])
        self._empty = bool(saved["near_nothing"])
        if anchor.shape != (self.bodies.total, 3) or not np.isfinite(self.margin):
            raise ShellError("resume: near_anchor, near_margin do not fit the meshes; is it a state of this scene?")
        self.anchor = anchor

    def glance(self, x: Floats, move: Floats, margin: float) -> Candidates:
        """What `build` answers, with pairs of meshes as they were found last, complete or not."""
        if self.meshes and self.known is None:
            return self.build(x, move, margin)
        if not self.meshes or self.margin < 0.0 or self.off(x, x + move).any():
            self.margin = -1.0 if self.meshes else margin
            self.anchor = x + move
        solid = self.solids(x, move, margin)
        return solid if self.known is None else solid.joined(self.known)

    def _shells(self, x: Floats, move: Floats | None, margin: float) -> _Moving:
        return _Moving(self.bodies.shell_surface, x, move, margin + self._shell_half)

    def _solids(self, shell: _Moving, x: Floats, move: Floats | None, margin: float) -> Candidates:
        """Pairs with planes and spheres."""
        faces: list[Ints] = []
        radii: list[Floats] = []
        normals = self._planes(x, move, margin, faces, radii)
        self._spheres(shell, x, move, margin, faces, radii)
        found = np.concatenate([np.zeros((0, 4), dtype=np.int64), *faces])
        return Candidates(found, np.zeros((0, 4), dtype=np.int64), normals, np.concatenate([np.zeros(0), *radii]))

    def solids(self, x: Floats, move: Floats, margin: float) -> Candidates:
        """Pairs with planes and spheres for the way from x to x + move."""
        return self._solids(self._shells(x, move, margin), x, move, margin)

    def around(self, x: Floats, move: Floats, margin: float, changed: Bools) -> Candidates:
        """Candidates of meshes for the way from x to x + move that involve vertices `changed` (total,) of shells.

        For a way that differs there only from the one of the last `build`: together they are complete.
        """
        bodies = self.bodies
        which = np.flatnonzero(changed[bodies.shell_surface.faces].any(axis=1))
        if len(which) == 0 or not self.meshes:
            # Candidates of planes and spheres hold for any part of a way.
            return NONE
        shell = self._shells(x, move, margin)
        some = BoxTree(x[bodies.shell_surface.faces[which]].mean(axis=1), which)
        some.refit(shell.faces)
        self._shell_tree.refit(shell.faces)
        return self._meshes(shell, some, x, move, margin)

    def _meshes(self, shell: _Moving, tree: BoxTree, x: Floats, move: Floats | None, margin: float) -> Candidates:
        """Pairs of shell faces in `tree` with all shells and mesh colliders."""
        bodies, faces, edges = self.bodies, [_NOTHING], [_NOTHING]

        def take(half: float, vertices: list[Ints], crossings: Ints) -> None:
            # Both sides of a pair may stray by the margin in every coordinate.
            reach = self._shell_half + half + 2.0 * np.sqrt(3.0) * margin
            faces.append(_coming(np.concatenate(vertices), vertex_face, 1, x, move, reach))
            edges.append(_coming(crossings, edge_edge, 2, x, move, reach))

        if bodies.together:
            f, g = tree.pairs(self._shell_tree)
            f, g = f[f != g], g[f != g]
            f, g = _without_neighbours(shell.surface, f, g, x, move, margin)
            if not bodies.touches_itself.all():
                kept = bodies.allowed(shell.surface.faces[f, 0], shell.surface.faces[g, 0])
                f, g = f[kept], g[kept]
            around = [shell.vertex_face(f, shell, g), shell.vertex_face(g, shell, f)]
            take(self._shell_half, around, shell.edge_edge(f, shell, g))
        if self._mesh_tree is not None and bodies.mesh_surface is not None:
            mesh = _Moving(bodies.mesh_surface, x, move, margin + self._mesh_half)
            self._mesh_tree.refit(mesh.faces)
            f, g = tree.pairs(self._mesh_tree)
            around = [shell.vertex_face(f, mesh, g), mesh.vertex_face(g, shell, f)]
            take(self._mesh_half, around, shell.edge_edge(f, mesh, g))
        found = np.concatenate(faces)
        return Candidates(found, np.concatenate(edges), np.zeros((0, 3)), np.zeros(len(found)))

    def _planes(self, x: Floats, move: Floats | None, margin: float, faces: list[Ints], radii: list[Floats]) -> Floats:
        """Vertices that may reach a plane, on any part of their way: least of the heights at its ends."""
        bodies, found = self.bodies, []
        for at, normal in zip(bodies.planes_at, bodies.normals, strict=True):
            height = (x[: bodies.count] - x[at]) @ normal
            if move is not None:
                # A vertex that is cut short stays behind anywhere between.
                raised = height - move[at] @ normal
                height = np.minimum(np.minimum(height, raised), raised + move[: bodies.count] @ normal)
            near = np.flatnonzero(height <= 2.0 * np.sqrt(3.0) * margin + 4.0 * self._shell_half)
            faces.append(np.column_stack([near, np.full((len(near), 3), at)]))
            radii.append(np.zeros(len(near)))
            found.append(np.broadcast_to(normal, (len(near), 3)))
        return np.concatenate([np.zeros((0, 3)), *found])

    def _spheres(
        self, shell: _Moving, x: Floats, move: Floats | None, margin: float, faces: list[Ints], radii: list[Floats]
    ) -> None:
        """Faces that may reach a sphere, on any part of their way, and their corners."""
        corners = shell.surface.faces
        boxes = shell.faces.from_rest()
        for at, radius in zip(self.bodies.spheres_at, self.bodies.radii, strict=True):
            ball = Boxes.of(x, move, np.array([[at]]), margin + self._shell_half + radius)
            near = boxes.meet(np.arange(len(corners)), ball, np.zeros(len(corners), dtype=int))
            # Corners as well: where a face rolls over the ball, the nearest point leaps from one to another.
            ends = np.unique(corners[near])
            faces.append(np.column_stack([ends, np.full((len(ends), 3), at)]))
            faces.append(np.column_stack([np.full(len(near), at), corners[near]]))
            radii.append(np.full(len(ends) + len(near), radius))


def _without_neighbours(
    surface: Surface, f: Ints, g: Ints, x: Floats, move: Floats | None, margin: float
) -> tuple[Ints, Ints]:
    """Pairs of faces less those that share a vertex whose fan stays unfolded: they cannot meet elsewhere."""
    smooth = unfolded(surface.faces, surface.inner, x, move, margin)
    apart = np.ones(len(f), dtype=bool)
    mine = [corner[f] for corner in surface.corners]
    theirs = [corner[g] for corner in surface.corners]
    for vertex in mine:
        shared = (vertex == theirs[0]) | (vertex == theirs[1]) | (vertex == theirs[2])
        at = np.flatnonzero(shared)
        apart[at[smooth[vertex[at]]]] = False
    return f[apart], g[apart]


def _coming(
    rows: Ints, weights: Callable[..., Floats], first: int, x: Floats, move: Floats | None, reach: float
) -> Ints:
    """Those of `rows` (p, 4) whose sides may come within `reach` [m] on the way from x to x + move.

    Boxes of edges that pass each other askew overlap long before the edges are near. The direction between nearest
    points (by `weights`) separates the sides, the `first` one or two vertices from the others, by at least the
    difference of what its vertices reach along it, any of which may be cut short. That leaves a third of the pairs of
    a sheet with a ball's mesh.
    """
    places = components(x)
    corners = [np.ascontiguousarray(corner) for corner in rows.T]
    points = [picked(places, corner) for corner in corners]
    share = weights(*points)
    normal = share[0] * points[0]
    for k in range(1, 4):
        normal += share[k] * points[k]
    normal /= np.maximum(np.sqrt(dot(normal, normal)), 1e-300)
    along = [dot(point, normal) for point in points]
    if move is not None:
        moves = components(move)
        for k, corner in enumerate(corners):
            further = dot(picked(moves, corner), normal)
            along[k] += np.minimum(further, 0.0) if k < first else np.maximum(further, 0.0)
    low = along[0] if first == 1 else np.minimum(along[0], along[1])
    high = np.maximum(along[2], along[3]) if first == 2 else np.maximum(np.maximum(along[1], along[2]), along[3])
    return rows.compress(low - high <= reach, axis=0)


class _Moving:
    """A surface with the boxes of its vertices, edges and faces."""

    def __init__(self, surface: Surface, x: Floats, move: Floats | None, wide: float) -> None:
        self.surface = surface
        self._way = x, move, wide

    @cached_property
    def vertices(self) -> Boxes:
        """Of vertices of the stack."""
        x, move, wide = self._way
        return Boxes.of(x, move, np.arange(len(x))[:, None], wide)

    @cached_property
    def edges(self) -> Boxes:
        """Of edges of the surface."""
        x, move, wide = self._way
        return Boxes.of(x, move, self.surface.edges, wide)

    @cached_property
    def faces(self) -> Boxes:
        """Of faces of the surface."""
        x, move, wide = self._way
        return Boxes.of(x, move, self.surface.faces, wide)

    def _meet(self, kind: str, mine: Ints, other: _Moving, their_kind: str, theirs: Ints) -> Ints:
        """The k, rising, of which features `mine[k]` and `theirs[k]` may meet."""
        boxes, i = self._boxes(kind, mine)
        others, j = other._boxes(their_kind, theirs)
        return boxes.meet(i, others, j)

    def _boxes(self, kind: str, index: Ints) -> tuple[Boxes, Ints]:
        """Boxes of features, and which of them are those of `index`: all where many are asked for, else only these."""
        x, move, wide = self._way
        if kind in vars(self) or FEW * len(index) > len(x):
            return getattr(self, kind), index
        corners = index[:, None] if kind == "vertices" else getattr(self.surface, kind)[index]
        return Boxes.of(x, move, corners, wide), np.arange(len(index))

    def vertex_face(self, mine: Ints, other: _Moving, theirs: Ints) -> Ints:
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

    def edge_edge(self, mine: Ints, other: _Moving, theirs: Ints) -> Ints:
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
