"""Candidates: pairs of features that may come together before the next look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..types import Bools, Floats, Ints


@dataclass(frozen=True)
class Nearest:
    """Weights (4, p) of nearest points of pairs, vertex-face and edge-edge, with the stack at x (total, 3)."""

    x: Floats
    vertex_face: Floats
    edge_edge: Floats


@dataclass
class Candidates:
    """Pairs as rows of four vertices: `vertex_face` (vertex, face corners), `edge_edge` (both ends, both ends).

    `normal` (p, 3) of the first rows of `vertex_face` that belong to planes; `radius` [m], one for each of its rows;
    `nearest`: their nearest points, where these were found on the way to them.
    """

    vertex_face: Ints
    edge_edge: Ints
    normals: Floats
    radius: Floats
    nearest: Nearest | None = None

    def joined(self, other: Candidates) -> Candidates:
        """These with pairs of meshes of another list after them."""
        if not len(self) or not len(other):
            return self if len(self) else other
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

    def __len__(self) -> int:
        return len(self.vertex_face) + len(self.edge_edge)


def of_meshes(vertex_face: Ints, edge_edge: Ints, nearest: Nearest | None = None) -> Candidates:
    """Pairs without planes and spheres."""
    return Candidates(vertex_face, edge_edge, np.zeros((0, 3)), np.zeros(len(vertex_face)), nearest)


NOTHING = np.zeros((0, 4), dtype=np.int64)
NONE = of_meshes(NOTHING, NOTHING)
