"""Candidates: pairs of features that may come together before the next look, from pairs of faces whose boxes meet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..types import Bools, Floats, Ints
from .bodies import Bodies, Surface
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

    def without(self, exempt: Bools) -> Candidates:
        """Rows with an exempt vertex on both sides left out; `exempt` (total,). Planes and spheres stay."""
        faces, edges = exempt[self.vertex_face], exempt[self.edge_edge]
        simple = np.arange(len(faces)) < len(self.normals)
        keep = ~(faces[:, 0] & faces[:, 1:].any(axis=1)) | simple | (self.radius > 0)
        kept = ~(edges[:, :2].any(axis=1) & edges[:, 2:].any(axis=1))
        return Candidates(self.vertex_face[keep], self.edge_edge[kept], self.normals, self.radius[keep])


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
        self._widest = 2.0 * float(bodies.half.max())
        self.anchor = x
        self.margin = -1.0

    def covers(self, x: Floats) -> bool:
        """Whether the candidates are complete at x."""
        return self.margin >= 0 and float(np.abs(x - self.anchor).max()) <= self.margin

    def build(self, x: Floats, move: Floats | None, margin: float) -> Candidates:
        """Candidates for the way from x (n, 3) to x + move."""
        self.builds += 1
        self.margin = margin
        self.anchor = x if move is None else x + move
        bodies = self.bodies
        wide = margin + 0.5 * self._widest
        shell = _Moving(bodies.shell_surface, x, move, wide)
        faces: list[Ints] = []
        edges: list[Ints] = []
        radii: list[Floats] = []
        normals = self._planes(x, move, margin, faces, radii)
        self._spheres(shell, x, move, wide, faces, radii)
        if bodies.together or self._mesh_tree is not None:
            self._shell_tree.refit(shell.faces)
        if bodies.together:
            f, g = self._shell_tree.pairs(self._shell_tree)
            if not bodies.touches_itself.all():
                kept = bodies.allowed(shell.surface.faces[f, 0], shell.surface.faces[g, 0])
                f, g = f[kept], g[kept]
            faces += [shell.vertex_face(f, shell, g), shell.vertex_face(g, shell, f)]
            edges.append(shell.edge_edge(f, shell, g))
        if self._mesh_tree is not None and bodies.mesh_surface is not None:
            mesh = _Moving(bodies.mesh_surface, x, move, wide)
            self._mesh_tree.refit(mesh.faces)
            f, g = self._shell_tree.pairs(self._mesh_tree)
            faces += [shell.vertex_face(f, mesh, g), mesh.vertex_face(g, shell, f)]
            edges.append(shell.edge_edge(f, mesh, g))
        found = np.concatenate([np.zeros((0, 4), dtype=np.int64), *faces])
        radius = np.zeros(len(found))
        known = np.concatenate([np.zeros(0), *radii])
        radius[: len(known)] = known
        return Candidates(found, np.concatenate([np.zeros((0, 4), dtype=np.int64), *edges]), normals, radius)

    def _planes(self, x: Floats, move: Floats | None, margin: float, faces: list[Ints], radii: list[Floats]) -> Floats:
        """Vertices that may reach a plane: the least of the heights at both ends bounds the way between."""
        bodies, found = self.bodies, []
        for at, normal in zip(bodies.planes_at, bodies.normals, strict=True):
            height = (x[: bodies.count] - x[at]) @ normal
            if move is not None:
                height = np.minimum(height, height + (move[: bodies.count] - move[at]) @ normal)
            near = np.flatnonzero(height <= 2.0 * np.sqrt(3.0) * margin + 2.0 * self._widest)
            faces.append(np.column_stack([near, np.full((len(near), 3), at)]))
            radii.append(np.zeros(len(near)))
            found.append(np.broadcast_to(normal, (len(near), 3)))
        return np.concatenate([np.zeros((0, 3)), *found])

    def _spheres(
        self, shell: _Moving, x: Floats, move: Floats | None, wide: float, faces: list[Ints], radii: list[Floats]
    ) -> None:
        corners = shell.surface.faces
        for at, radius in zip(self.bodies.spheres_at, self.bodies.radii, strict=True):
            ball = Boxes.of(x, move, np.array([[at]]), wide + radius)
            near = np.flatnonzero(shell.faces.meet(np.arange(len(corners)), ball, np.zeros(len(corners), dtype=int)))
            # Corners as well: where a face rolls over the ball, the nearest point leaps from one to another.
            ends = np.unique(corners[near])
            faces.append(np.column_stack([ends, np.full((len(ends), 3), at)]))
            faces.append(np.column_stack([np.full(len(near), at), corners[near]]))
            radii.append(np.full(len(ends) + len(near), radius))


class _Moving:
    """A surface with the boxes of its vertices, edges and faces."""

    def __init__(self, surface: Surface, x: Floats, move: Floats | None, wide: float) -> None:
        self.surface = surface
        self.vertices = Boxes.of(x, move, np.arange(len(x))[:, None], wide)
        self.edges = Boxes.of(x, move, surface.edges, wide)
        self.faces = Boxes.of(x, move, surface.faces, wide)

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
            met = self.vertices.meet(vertex, other.faces, face)
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
                met = self.edges.meet(a, other.edges, b)
                parts.append(np.column_stack([self.surface.edges[a[met]], other.surface.edges[b[met]]]))
        return np.concatenate(parts)
