"""Loop subdivision: half-edges, refinement and limit masks, all as arrays and sparse matrices.

Half-edge 3f + k runs from corner k of face f to the next corner. A vertex is *whole* when faces surround it; only whole
vertices have masks. Meshes here may have vertices that are not (the outer ends of ghosts): their rows stay empty, and
nothing that is asked of them depends on those.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix

from ..types import Bools, Floats, Ints, Sparse


class LoopMesh:
    """Connectivity of consistently wound faces (m, 3) over `vertex_count` vertices."""

    def __init__(self, faces: Ints, vertex_count: int) -> None:
        self.faces = faces
        self.vertex_count = vertex_count

    @cached_property
    def twin(self) -> Ints:
        """The half-edge that runs the other way, (3m,); −1 where there is none."""
        start, end = self.faces.ravel(), np.roll(self.faces, -1, axis=1).ravel()
        key = np.minimum(start, end) * self.vertex_count + np.maximum(start, end)
        order = np.argsort(key, kind="stable")
        pair = np.flatnonzero(key[order][1:] == key[order][:-1])
        twin = np.full(len(start), -1, dtype=np.int64)
        twin[order[pair]], twin[order[pair + 1]] = order[pair + 1], order[pair]
        return twin

    @cached_property
    def edges(self) -> tuple[Ints, Ints]:
        """One half-edge of each edge, (e,), and the edge of each half-edge, (3m,)."""
        index = np.arange(len(self.twin))
        first = np.flatnonzero((self.twin < 0) | (index < self.twin))
        edge = np.empty(len(index), dtype=np.int64)
        edge[first] = np.arange(len(first))
        other = self.twin[first] >= 0
        edge[self.twin[first][other]] = np.flatnonzero(other)
        return first, edge

    def end(self, half_edges: Ints) -> Ints:
        """Vertex where half-edges end."""
        ends: Ints = self.faces.ravel()[following(half_edges)]
        return ends

    def turned(self, half_edges: Ints) -> Ints:
        """The next half-edge out of the same vertex, counter-clockwise; −1 beyond a border."""
        return np.where(half_edges >= 0, self.twin[preceding(half_edges)], -1)

    @cached_property
    def whole(self) -> Bools:
        """Vertices surrounded by faces, (n,)."""
        whole = np.zeros(self.vertex_count, dtype=bool)
        whole[self.faces] = True
        loose = np.flatnonzero(self.twin < 0)
        whole[self.faces.ravel()[loose]] = False
        whole[self.end(loose)] = False
        return whole

    @cached_property
    def valence(self) -> Ints:
        """Faces at each vertex, (n,): the valence of whole vertices."""
        return np.bincount(self.faces.ravel(), minlength=self.vertex_count).astype(np.int64)

    def _spread(self, centre: Floats, ring: Floats) -> Sparse:
        """(n, n) matrix with `centre` (n,) on the diagonal and `ring` (n,) at the neighbours of whole vertices."""
        start = self.faces.ravel()
        kept = self.whole[start]
        rows, columns = start[kept], np.roll(self.faces, -1, axis=1).ravel()[kept]
        own = np.flatnonzero(self.whole)
        values = np.concatenate([ring[rows], centre[own]])
        at = np.concatenate([rows, own]), np.concatenate([columns, own])
        return csr_matrix((values, at), shape=(self.vertex_count, self.vertex_count))

    def limits(self) -> Sparse:
        """(n, n): limit positions of whole vertices."""
        n = np.maximum(self.valence, 1)
        ring = 1.0 / (3.0 / (8.0 * vertex_weight(n)) + n)
        return self._spread(1.0 - n * ring, ring)

    def tangents(self) -> tuple[Sparse, Sparse]:
        """Two tangent masks (n, n) of whole vertices: ∑ cos(2πi/N) xᵢ and ∑ sin(2πi/N) xᵢ around the ring."""
        step = self.ring_index
        start = self.faces.ravel()
        kept = self.whole[start]
        rows, columns = start[kept], np.roll(self.faces, -1, axis=1).ravel()[kept]
        angle = 2.0 * np.pi * step[kept] / self.valence[rows]
        shape = (self.vertex_count, self.vertex_count)
        cosine = csr_matrix((np.cos(angle), (rows, columns)), shape=shape)
        return cosine, csr_matrix((np.sin(angle), (rows, columns)), shape=shape)

    @cached_property
    def ring_index(self) -> Ints:
        """Place of each half-edge, (3m,), in the ring of the whole vertex it leaves, counted counter-clockwise."""
        start = self.faces.ravel()
        step = np.zeros(len(start), dtype=np.int64)
        _, first = np.unique(start, return_index=True)
        first = first[self.whole[start[first]]]
        at = first
        for i in range(1, int(self.valence.max())):
            at = self.turned(at)
            live = i < self.valence[start[first]]
            first, at = first[live], at[live]
            step[at] = i
        return step

    def refined(self, faces: Ints | None = None) -> tuple[LoopMesh, Sparse]:
        """One step of subdivision (of the chosen faces): the finer mesh and the (n + e, n) matrix of its vertices.

        Face f of those chosen becomes faces 4f … 4f + 3: one at each corner, which comes first in it, and the middle
        one, whose corners lie on the edges 01, 12, 20.
        """
        first, edge = self.edges
        n, count = self.vertex_count, len(first)
        valence = np.maximum(self.valence, 1)
        beta = vertex_weight(valence)
        even = self._spread(1.0 - valence * beta, beta).tocoo()
        inside = np.flatnonzero(self.twin[first] >= 0)
        h, t = first[inside], self.twin[first[inside]]
        corners = [self.faces.ravel()[h], self.end(h), self.end(following(h)), self.end(following(t))]
        rows = np.concatenate([even.row, np.tile(n + inside, 4)])
        columns = np.concatenate([even.col, *corners])
        values = np.concatenate([even.data, np.repeat([0.375, 0.375, 0.125, 0.125], len(inside))])
        matrix = coo_matrix((values, (rows, columns)), shape=(n + count, n)).tocsr()
        chosen = np.arange(len(self.faces)) if faces is None else faces
        a, b, c = self.faces[chosen].T
        ab, bc, ca = (n + edge.reshape(-1, 3)[chosen]).T
        children = np.stack([a, ab, ca, b, bc, ab, c, ca, bc, ab, bc, ca], axis=1)
        return LoopMesh(children.reshape(-1, 3), n + count), matrix

    def around(self, faces: Ints) -> Ints:
        """Faces that share a vertex with the given ones, sorted, themselves included."""
        touched = np.zeros(self.vertex_count, dtype=bool)
        touched[self.faces[faces]] = True
        return np.flatnonzero(touched[self.faces].any(axis=1))


def following(half_edges: Ints) -> Ints:
    """Next half-edge of the same face."""
    ahead: Ints = half_edges - half_edges % 3 + (half_edges + 1) % 3
    return ahead


def preceding(half_edges: Ints) -> Ints:
    """Previous half-edge of the same face."""
    behind: Ints = half_edges - half_edges % 3 + (half_edges + 2) % 3
    return behind


def vertex_weight(valence: Ints) -> Floats:
    """Loop's weight of each neighbour of a vertex."""
    weight: Floats = (0.625 - (0.375 + 0.25 * np.cos(2.0 * np.pi / valence)) ** 2) / valence
    return weight
