"""Broad phase of shells with each other and with themselves."""

from __future__ import annotations

import numpy as np

from ..types import Bools, Floats, Ints
from .bodies import Bodies, Surface
from .candidates import NONE, Candidates
from .fans import unfolded
from .lasting import Lasting
from .moving import Moving, Way, together
from .tree import BoxTree


class ShellPairs(Lasting):
    """Pairs of shells. `tree`: of their faces.

    After `look(x, move, margin)` no pair that is missing can touch while the stack goes straight from x to x + move,
    nor afterwards while every coordinate stays within `margin` [m] of x + move.
    """

    name = "shell_pairs"

    def __init__(self, bodies: Bodies, tree: BoxTree) -> None:
        super().__init__(bodies, bodies.count)
        self._tree = tree
        self.half = float(bodies.half[: bodies.count].max())
        """Largest half of a contact distance [m]. Sheets are often far thinner than what colliders keep off: with one
        number for both a sheet of 25.6k vertices had every pair within 20 mm for candidates with itself, for 2 mm."""

    def look(self, x: Floats, move: Floats | None, margin: float) -> Candidates:
        """Find all pairs for the way from x (total, 3) to x + move."""
        shell = self._moving(x, move, margin)
        self._tree.refit(shell.faces)
        self.found = self._pairs(shell, self._tree, x, move, margin)
        end = (x if move is None else x + move)[: self.size]
        self.last(end - margin, end + margin)
        return self.found

    def around(self, x: Floats, move: Floats, margin: float, changed: Bools) -> Candidates:
        """Pairs for the way from x to x + move that involve vertices `changed` (count,).

        For a way that differs there only from the one of the last look: together they are complete.
        """
        faces = self.bodies.shell_surface.faces
        which = self._tree.among(faces, changed)
        if len(which) == 0:
            return NONE
        shell = self._moving(x, move, margin)
        some = BoxTree(which)
        some.refit(shell.faces)
        self._tree.refit(shell.faces)
        return self._pairs(shell, some, x, move, margin)

    def _moving(self, x: Floats, move: Floats | None, margin: float) -> Moving:
        return Moving(self.bodies.shell_surface, Way(x, move), margin + self.half)

    def _pairs(self, shell: Moving, tree: BoxTree, x: Floats, move: Floats | None, margin: float) -> Candidates:
        """Pairs of faces in `tree` with all others."""
        bodies, surface, way = self.bodies, shell.surface, Way(x, move)
        f, g = tree.pairs(self._tree)
        f, g = f[f != g], g[f != g]
        f, g = _without_neighbours(surface, f, g, x, move, margin)
        if not bodies.touches_itself.all():
            kept = bodies.allowed(surface.faces[f, 0], surface.faces[g, 0])
            f, g = f[kept], g[kept]
        # Both sides of a pair may stray by the margin in every coordinate.
        reach = 2.0 * self.half + 2.0 * np.sqrt(3.0) * margin
        vertices = np.concatenate([shell.vertex_face(f, shell, g), shell.vertex_face(g, shell, f)])
        return together(vertices, shell.edge_edge(f, shell, g), way, reach)


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
