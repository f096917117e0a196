"""Which directions a mesh collider's edges and vertices can press in.

The nearest point of a whole surface to anything lies in a face, or on an edge or a vertex that nothing of the surface
lies nearer than: the way from there points away from all faces round it, into the normal cone. Pairs whose direction
lies outside of the cone are not nearest; a face, or an edge, next to theirs says how far it is. On a floor of many
triangles they would stand in the way of what slides over them like steps.
"""

from __future__ import annotations

import numpy as np

from ..linalg.vectors import components, dot, picked
from ..types import Bools, Floats, Ints
from .bodies import Surface
from .pairs import Pairs

# Sine of the angle by which a direction may lie outside of a cone, and the weight below which a vertex has no part in
# a nearest point.
OUTSIDE, WEIGHTLESS = 0.05, 1e-6


class NormalCones:
    """Of a surface whose vertices are numbered from `first` on in the stack."""

    def __init__(self, surface: Surface, first: int) -> None:
        self._first = first
        edges, flat = np.sort(surface.edges, axis=1), surface.face_edges.ravel()
        order = np.argsort(flat, kind="stable")
        count = np.arange(len(edges))
        low, high = (np.searchsorted(flat[order], count, side=side) for side in ("left", "right"))
        # Opposite corners of the faces at either side of an edge: the same one twice where there is one face.
        self._opposite = surface.faces.ravel()[order[np.stack([low, high - 1])]]
        self._edges = edges.T
        self._stride = int(edges.max()) + 1
        keys = edges[:, 0] * self._stride + edges[:, 1]
        self._sorted = np.argsort(keys)
        self._keys = keys[self._sorted]
        tails, heads = np.concatenate([edges[:, 0], edges[:, 1]]), np.concatenate([edges[:, 1], edges[:, 0]])
        by_tail = np.argsort(tails, kind="stable")
        self._heads, self._starts = heads[by_tail], np.searchsorted(tails[by_tail], np.arange(self._stride + 1))

    def outside(self, pairs: Pairs, at: Ints, x: Floats) -> Bools:
        """Whether the directions of the pairs `at` (k,), sorted, lie outside of the cones of the surface, for the stack
        at x (total, 3)."""
        points, first = components(x), self._first
        corners, weights = picked(pairs.corners, at), np.abs(picked(pairs.weights, at))
        normals = picked(pairs.normals, at)
        result = np.zeros(len(at), dtype=bool)
        faces = at < pairs.faces
        heavy = weights > WEIGHTLESS
        # Shell vertices at its faces, its vertices at faces of shells, its edges on either side.
        mine = faces & (corners[1] >= first) & (corners[3] >= first)
        on = heavy[1:].sum(axis=0)
        there = np.flatnonzero(mine & (on == 2))
        ends = np.sort(np.where(heavy[1:, there], corners[1:, there], -1), axis=0)[1:]
        result[there] = self._beyond_edges(points, ends, normals[:, there])
        there = np.flatnonzero(mine & (on == 1))
        result[there] = self._beyond_vertices(points, corners[1:, there].max(axis=0, where=heavy[1:, there], initial=0),
                                              normals[:, there])  # fmt: skip
        there = np.flatnonzero(faces & (corners[0] >= first))
        result[there] = self._beyond_vertices(points, corners[0, there], -normals[:, there])
        for side, sign in ((slice(0, 2), -1.0), (slice(2, 4), 1.0)):
            there = np.flatnonzero(~faces & (corners[side] >= first).all(axis=0) & heavy[side].all(axis=0))
            result[there] = self._beyond_edges(points, np.sort(corners[side, there], axis=0), sign * normals[:, there])
        return result

    def _beyond_edges(self, points: Floats, ends: Ints, direction: Floats) -> Bools:
        """Whether directions (3, k) from points of edges with sorted `ends` (2, k) lean over a face of theirs."""
        edge = self._sorted[np.searchsorted(self._keys, ends[0] * self._stride + ends[1])]
        tail, head = (picked(points, self._edges[k, edge]) for k in (0, 1))
        along = head - tail
        along /= np.maximum(np.sqrt(dot(along, along)), 1e-300)
        beyond = np.zeros(len(edge), dtype=bool)
        for opposite in self._opposite:
            inward = picked(points, opposite[edge]) - tail
            inward -= dot(inward, along) * along
            beyond |= dot(direction, inward) > OUTSIDE * np.sqrt(dot(inward, inward))
        return beyond

    def _beyond_vertices(self, points: Floats, vertex: Ints, direction: Floats) -> Bools:
        """Whether directions (3, k) from vertices (k,) lean over an edge of theirs."""
        counts = self._starts[vertex + 1] - self._starts[vertex]
        which = np.repeat(np.arange(len(vertex)), counts)
        place = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts) + self._starts[vertex][which]
        way = picked(points, self._heads[place]) - picked(points, vertex[which])
        leans = dot(direction[:, which], way) > OUTSIDE * np.sqrt(dot(way, way))
        beyond = np.zeros(len(vertex), dtype=bool)
        beyond[which[leans]] = True
        return beyond
