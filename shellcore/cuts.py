"""Cutting a mesh along its edges (Cubic Shells, Appendix B).

A hinge's edge is INTERIOR, FRACTURED (broken, but still joined at both ends) or BOUNDARY (apart). What the mesh looks
like depends only on which edges are broken, not on the order in which they broke: at every vertex, the corners of its
faces fall into groups joined across unbroken edges, and each group has a copy of the vertex to itself. A broken edge
alone in the sheet changes nothing (the appendix's case B0); where it meets the border or another broken edge at one end
that vertex splits (B1), at both ends both do (B2). No copy is ever joined to another by a corner alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from .mesh import Topology
from .types import Bools, Floats, Ints

INTERIOR, FRACTURED, BOUNDARY = 0, 1, 2


@dataclass(frozen=True)
class Cut:
    """A mesh as it stands after cuts. Hinges and edges are numbered as in the `whole` mesh; faces keep their rows."""

    whole: Topology
    slots: Ints
    """Where each hinge's start, end and apex stand among the corners of its left and right face, (h, 2, 3)."""
    mesh: Topology
    """What is left: hinges of unbroken edges, in their old order; the second halves of parted edges come last."""
    states: Ints
    """INTERIOR, FRACTURED or BOUNDARY of each hinge of the whole mesh, (h,)."""
    source: Ints
    """Vertex of the whole mesh that each vertex is or was copied from, (n,)."""
    birth: Floats
    """When each vertex was split off [s], (n,); −inf for those of the whole mesh."""

    @property
    def hinges(self) -> Ints:
        """Hinges of the whole mesh that are left, (k,): those of `mesh.hinges`."""
        return np.flatnonzero(self.states == INTERIOR)


def uncut(mesh: Topology) -> Cut:
    """A mesh that nothing has happened to."""
    n = mesh.vertex_count
    return Cut(mesh, _slots(mesh), mesh, np.zeros(len(mesh.hinges), dtype=np.int64), np.arange(n), np.full(n, -np.inf))


def broken(cut: Cut, edges: Ints, time: float) -> tuple[Cut, Ints]:
    """Break the hinges `edges`, (k,) of the whole mesh, at `time` [s]: the cut mesh, and where its vertices come from.

    The second is the vertex before the cut of each vertex after it, (n,): old ones keep their numbers, copies follow.
    """
    states = cut.states.copy()
    fresh = edges[states[edges] == INTERIOR]
    before = cut.mesh.vertex_count
    if len(fresh) == 0:
        return cut, np.arange(before)
    states[fresh] = FRACTURED
    slots = cut.slots
    faces, parent = _split(cut.whole, slots, cut.mesh.faces, states, fresh, before)
    left, right = cut.whole.hinge_faces.T
    joined = np.ones(len(states), dtype=bool)
    for end in (0, 1):
        joined &= faces[left, slots[:, 0, end]] == faces[right, slots[:, 1, end]]
    states[~joined] = BOUNDARY
    source = cut.source[parent]
    birth = np.concatenate([cut.birth, np.full(len(parent) - before, time)])
    mesh = _topology(cut.whole, slots, faces, states, len(parent))
    return replace(cut, mesh=mesh, states=states, source=source, birth=birth), parent


def restored(cut: Cut, faces: Ints, states: Ints, source: Ints, birth: Floats) -> Cut:
    """Another cut of the same whole from its plain arrays, as a saved state has them."""
    mesh = _topology(cut.whole, cut.slots, faces, states, len(source))
    return replace(cut, mesh=mesh, states=states, source=source, birth=birth)


def _slots(whole: Topology) -> Ints:
    hinges, faces = whole.hinges, whole.hinge_faces
    slots = np.empty((len(hinges), 2, 3), dtype=np.int64)
    for side in (0, 1):
        corners = whole.faces[faces[:, side]]
        for place, column in enumerate((0, 1, 2 + side)):
            slots[:, side, place] = np.argmax(corners == hinges[:, column, None], axis=1)
    return slots


def _split(whole: Topology, slots: Ints, faces: Ints, states: Ints, fresh: Ints, count: int) -> tuple[Ints, Ints]:
    """Faces with a vertex of their own for each group of corners at the ends of the hinges `fresh`; parents (n,)."""
    hinge_faces = whole.hinge_faces
    touched: Bools = np.zeros(count, dtype=bool)
    for end in (0, 1):
        touched[faces[hinge_faces[fresh, 0], slots[fresh, 0, end]]] = True
    corners = np.flatnonzero(touched[faces].ravel())
    vertex = faces.ravel()[corners]
    near = np.unique(corners // 3)
    hinges = np.unique(whole.face_hinges[near])
    hinges = hinges[hinges >= 0]
    hinges = hinges[states[hinges] == INTERIOR]
    rows, columns = [], []
    for end in (0, 1):
        a, b = (3 * hinge_faces[hinges, side] + slots[hinges, side, end] for side in (0, 1))
        there = touched[faces.ravel()[a]]
        rows.append(np.searchsorted(corners, a[there]))
        columns.append(np.searchsorted(corners, b[there]))
    i, j = np.concatenate(rows), np.concatenate(columns)
    graph = coo_matrix((np.ones(len(i), dtype=np.int8), (i, j)), shape=(len(corners), len(corners)))
    groups, group = connected_components(graph, directed=False)
    # The group with a vertex's first corner keeps the vertex; the others get copies, by vertex, then by first corner.
    first = np.full(groups, len(corners))
    np.minimum.at(first, group, np.arange(len(corners)))
    owner = vertex[first]
    order = np.lexsort((first, owner))
    later = np.zeros(groups, dtype=bool)
    later[order[1:]] = owner[order[1:]] == owner[order[:-1]]
    copies = order[later[order]]
    number = owner.copy()
    number[copies] = count + np.arange(len(copies))
    renamed = faces.copy()
    renamed.ravel()[corners] = number[group]
    return renamed, np.concatenate([np.arange(count), owner[copies]])


def _topology(whole: Topology, slots: Ints, faces: Ints, states: Ints, count: int) -> Topology:
    """Connectivity of the whole mesh's faces on new corners, given which hinges are left and which edges parted."""
    left, right = whole.hinge_faces.T
    alive = np.flatnonzero(states == INTERIOR)
    apart = np.flatnonzero(states == BOUNDARY)
    start, end = (faces[left, slots[:, 0, place]] for place in (0, 1))
    hinges = np.stack(
        [start, end, faces[left, slots[:, 0, 2]], faces[right, slots[:, 1, 2]]],
        axis=1,
    )[alive]
    # Every edge as its first face has it, then the second halves of those that parted.
    second = len(whole.edges) + np.arange(len(apart))
    face_edges = whole.face_edges.copy()
    face_edges[right[apart], slots[apart, 1, 2]] = second
    edge_faces = np.concatenate([whole.edge_faces, np.column_stack([right[apart], np.full(len(apart), -1)])])
    edge_faces[whole.hinge_edges[apart], 1] = -1
    corner = np.arange(3)
    edges = np.empty((len(edge_faces), 2), dtype=np.int64)
    edges[face_edges, 0] = faces[:, (corner + 1) % 3]
    edges[face_edges, 1] = faces[:, (corner + 2) % 3]
    edges.sort(axis=1)
    rank = np.full(len(states) + 1, -1, dtype=np.int64)
    rank[alive] = np.arange(len(alive))
    kept = states < BOUNDARY
    pairs = coo_matrix((np.ones(int(kept.sum()), dtype=np.int8), (left[kept], right[kept])), shape=(len(faces),) * 2)
    _, components = connected_components(pairs, directed=False)
    return replace(
        whole,
        vertex_count=count,
        faces=faces,
        edges=edges,
        face_edges=face_edges,
        edge_faces=edge_faces,
        hinges=hinges,
        hinge_edges=whole.hinge_edges[alive],
        face_hinges=rank[whole.face_hinges],
        components=components.astype(np.int64),
    )
