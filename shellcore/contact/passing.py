"""Pairs of faces that intersect at the start and were let be (`intersections="ignore"`): they pass through each other.

Only they do. A vertex may pass through a face, and an edge through an edge, if all faces about the first are such pairs
with the second, or with all about it: else a pair of faces would come to cross that did not. So tangles stay where they
are or come apart, and do not spread. What touches nothing of a pair is apart and touches as usual. Faces keep their
rows for ever, so that pairs of them outlive cuts, which renumber vertices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ShellError
from ..types import Bools, Ints
from .bodies import Bodies
from .candidates import Candidates

# Corners of a face at the ends of its edges.
EDGES = np.array([[0, 1], [1, 2], [2, 0]])


class Passing:
    """`shells` (k, 2): faces of shells; `meshes` (k, 2): face of a shell, face of the stacked mesh colliders."""

    def __init__(self, bodies: Bodies, shells: Ints, meshes: Ints) -> None:
        self.shells, self.meshes = shells, meshes
        own = bodies.shell_surface.faces
        every, second = own, own[shells[:, 1]]
        if bodies.mesh_surface is not None:
            every = np.concatenate([own, bodies.mesh_surface.faces])
            second = np.concatenate([second, bodies.mesh_surface.faces[meshes[:, 1]]])
        first = own[np.concatenate([shells[:, 0], meshes[:, 0]])]
        self._vertices = np.unique(np.concatenate([first.ravel(), second.ravel()]))
        """Of the stack, in any of these faces."""
        points = [(a[:, [k]], np.sort(b, axis=1)) for a, b in ((first, second), (second, first)) for k in range(3)]
        rows, times = np.unique(np.concatenate([np.hstack(part) for part in points]), axis=0, return_counts=True)
        fans = np.bincount(every.ravel(), minlength=bodies.total)
        self._faces = np.sort(self._keys(rows[times == fans[rows[:, 0]]]))
        lines = [_in_order(first[:, i], second[:, j]) for i in EDGES for j in EDGES]
        rows, times = np.unique(np.concatenate(lines), axis=0, return_counts=True)
        edges, sides = np.unique(np.sort(every[:, EDGES].reshape(-1, 2), axis=1), axis=0, return_counts=True)
        names = edges @ [bodies.total, 1]
        about = [sides[np.searchsorted(names, rows[:, part] @ [bodies.total, 1])] for part in (slice(2), slice(2, 4))]
        self._edges = np.sort(self._keys(rows[times == about[0] * about[1]]))

    def __len__(self) -> int:
        return len(self.shells) + len(self.meshes)

    def left_out(self, candidates: Candidates) -> Candidates:
        """`candidates` without what may pass through each other."""
        faces, edges = candidates.vertex_face, candidates.edge_edge
        through = self._among(faces, self._faces, lambda rows: np.hstack([rows[:, :1], np.sort(rows[:, 1:], axis=1)]))
        crossing = self._among(edges, self._edges, lambda rows: _in_order(rows[:, :2], rows[:, 2:]))
        # Planes, at the head of the list, have no faces.
        return Candidates(faces[~through], edges[~crossing], candidates.normals, candidates.radius[~through])

    def _among(self, rows: Ints, keys: Ints, ordered: Callable[[Ints], Ints]) -> Bools:
        """Which rows (p, 4), once `ordered`, have one of these keys."""
        found = np.zeros(len(rows), dtype=bool)
        at = np.minimum(np.searchsorted(self._vertices, rows), len(self._vertices) - 1)
        known = np.flatnonzero((self._vertices[at] == rows).all(axis=1))
        found[known] = np.isin(self._keys(ordered(rows[known])), keys)
        return found

    def _keys(self, rows: Ints) -> Ints:
        """A number for each row of four of the vertices, (p,)."""
        places, total = np.searchsorted(self._vertices, rows), np.zeros(len(rows), dtype=np.int64)
        for column in places.T:
            total = total * len(self._vertices) + column
        return total

    def kept(self) -> dict[str, Any]:
        """Plain arrays for a saved state."""
        return {"passing_shells": self.shells, "passing_meshes": self.meshes}

    @staticmethod
    def restored(bodies: Bodies, saved: dict[str, Any]) -> Passing | None:
        """From what `kept` gave; None if there is nothing."""
        if "passing_shells" not in saved or "passing_meshes" not in saved:
            return None
        shells, meshes = (np.array(saved[f"passing_{name}"], dtype=np.int64) for name in ("shells", "meshes"))
        count = len(bodies.shell_surface.faces)
        others = 0 if bodies.mesh_surface is None else len(bodies.mesh_surface.faces)
        for pairs, second in ((shells, count), (meshes, others)):
            if pairs.ndim != 2 or pairs.shape[1] != 2 or not ((pairs >= 0) & (pairs < [count, second])).all():
                raise ShellError("resume: passing_… must be pairs of faces; is it a state of this scene?")
        return Passing(bodies, shells, meshes)


def _in_order(first: Ints, second: Ints) -> Ints:
    """Rows of two edges, (p, 2) each, the same in whatever order ends or edges are given, (p, 4)."""
    first, second = np.sort(first, axis=1), np.sort(second, axis=1)
    swap = (first[:, 0] > second[:, 0]) | ((first[:, 0] == second[:, 0]) & (first[:, 1] > second[:, 1]))
    return np.where(swap[:, None], np.hstack([second, first]), np.hstack([first, second]))
