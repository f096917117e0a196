"""Broad phase of shells with mesh colliders."""

from __future__ import annotations

import numpy as np

from ..types import Bools, Floats, Ints
from .bodies import Bodies, Surface
from .candidates import NONE, Candidates
from .lasting import Lasting
from .moving import Moving, Way, together
from .tree import BoxTree

# How far vertices of shells may stray from where they were looked for, as a share of the mean edge; colliders, which go
# where they are told, stray by round-off.
MARGIN, ROUND_OFF = 0.1, 1e-6


class MeshPairs(Lasting):
    """Pairs of shells with meshes. `tree`: of the shells' faces; `edge` [m]: a mean edge.

    Where a sheet will go in a step is not known before the step is solved, but that it will go somewhere between
    staying and falling freely is: `look(x, move, most)` finds all pairs that can touch while colliders go by `move` and
    every vertex of a shell by anything between `move` and `most` (coordinate by coordinate, and a margin), and
    afterwards while colliders stay and vertices are in the boxes that they can so reach.
    """

    name = "mesh_pairs"

    def __init__(self, bodies: Bodies, mesh: Surface, tree: BoxTree, x: Floats, edge: float) -> None:
        super().__init__(bodies, bodies.total)
        self._mesh = mesh
        self._tree = tree
        self._mesh_tree = BoxTree.over(x[mesh.faces].mean(axis=1))
        self._margin = MARGIN * edge
        self._slack = ROUND_OFF * edge
        self.half = float(bodies.half[: bodies.count].max())
        """Largest half of a contact distance of shells [m]."""
        self._mesh_half = float(bodies.half[bodies.count :].max(initial=0.0))
        self._from: Floats | None = None
        # Where meshes at rest were when their tree was made to fit.
        self._fitted: Floats | None = None

    def look(self, x: Floats, move: Floats, most: Floats | None = None) -> Candidates:
        """Find all pairs for ways from x (total, 3) by anything between `move` and `most`, or by `move` alone."""
        way = self._way(x, move, most)
        shell = self._shells(way)
        self._tree.refit(shell.faces)
        mesh = self._colliders(way)
        self.found = self._features(shell, mesh, way, *self._tree.pairs(self._mesh_tree))
        end = x + move
        other = end if most is None else x + most
        margin = np.full((self.size, 1), self._margin)
        margin[self.bodies.count :] = self._slack
        self.last(np.minimum(end, other) - margin, np.maximum(end, other) + margin)
        self._from = x
        return self.found

    def astray(self, x: Floats, move: Floats) -> Bools:
        """Vertices (total,) for whose way from x to x + move, both (total, 3), what was found may be incomplete."""
        # From where it was looked only ends count; elsewhere colliders must have arrived.
        return self.outside(x + move) if x is self._from else self.outside(x, x + move)

    def around(self, x: Floats, move: Floats, changed: Bools) -> Candidates:
        """Pairs for the way from x to x + move that involve vertices `changed` (total,) of shells."""
        faces = self.bodies.shell_surface.faces
        which = self._tree.among(faces, changed)
        if len(which) == 0:
            return NONE
        way = self._way(x, move, None)
        some = BoxTree(np.arange(len(which)))
        some.refit(way.boxes(faces[which], self._margin + self.half))
        mesh = self._colliders(way)
        f, g = some.pairs(self._mesh_tree)
        return self._features(self._shells(way), mesh, way, which[f], g)

    def _way(self, x: Floats, move: Floats, most: Floats | None) -> Way:
        # One box in place of a box and its displacement is half of the work.
        return Way(x, move, most, alone=not move[self.bodies.count :].any())

    def _shells(self, way: Way) -> Moving:
        return Moving(self.bodies.shell_surface, way, self._margin + self.half)

    def _colliders(self, way: Way) -> Moving:
        """Meshes on their way, and their tree made fit for it."""
        mesh = Moving(self._mesh, Way(way.x) if way.alone else way, self._slack + self._mesh_half)
        places = way.x[self.bodies.count :] if way.alone else None
        if places is None or self._fitted is None or not np.array_equal(places, self._fitted):
            self._mesh_tree.refit(mesh.faces)
        self._fitted = places
        return mesh

    def _features(self, shell: Moving, mesh: Moving, way: Way, f: Ints, g: Ints) -> Candidates:
        """Pairs of features of shell faces `f` and mesh faces `g`, (p,) each, that may come together."""
        reach = self.half + self._mesh_half + np.sqrt(3.0) * (self._margin + self._slack)
        vertices = np.concatenate([shell.vertex_face(f, mesh, g), mesh.vertex_face(g, shell, f)])
        return together(vertices, shell.edge_edge(f, mesh, g), way, reach)
