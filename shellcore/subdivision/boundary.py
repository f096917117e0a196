"""Ghost vertices: one layer outside an open mesh, so that every vertex of the mesh has a whole ring.

One ghost across each boundary edge, and more at corners until six faces meet there. A boundary vertex of f ≤ 3 faces
becomes regular; one of more faces gets valence f + 3. At rest a ghost completes a parallelogram (Schweitzer 1996).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from ..errors import ShellError, listed
from ..types import Ints, Sparse
from .loop import LoopMesh, following


@dataclass(frozen=True)
class Ghosted:
    """A mesh with its ghosts, which are numbered after its own vertices."""

    mesh: LoopMesh
    """Own faces first, then those that touch a ghost."""
    ghost_count: int
    extrapolation: Sparse
    """(n + g, n): own vertices, and ghosts where the boundary rule of Schweitzer puts them."""
    next_on_boundary: Ints
    """The vertex that follows along the boundary, (n,); −1 inside."""


def ghosted(faces: Ints, vertex_count: int) -> Ghosted:
    """`faces` (m, 3), wound consistently, with a layer of ghosts around every border."""
    mesh = LoopMesh(faces, vertex_count)
    border = np.flatnonzero(mesh.twin < 0)
    start, end = faces.ravel()[border], mesh.end(border)
    pinched = np.flatnonzero(np.bincount(start, minlength=vertex_count) > 1)
    if len(pinched):
        raise ShellError(
            f"bending='subdivision': the surface touches itself in vertices {listed(pinched)}; split them",
            vertices=pinched,
        )
    following_vertex = np.full(vertex_count, -1, dtype=np.int64)
    following_vertex[start] = end
    edge_ghost = vertex_count + np.arange(len(border))
    outer = [np.column_stack([end, start, edge_ghost])]

    # At each boundary vertex, counter-clockwise after its own faces: ghost in, extra ghosts, ghost out.
    ghost_out = np.empty(vertex_count, dtype=np.int64)
    ghost_out[start] = edge_ghost
    vertex, ghost_in = end, edge_ghost
    out = np.empty(vertex_count, dtype=np.int64)
    out[start] = border
    out = out[vertex]
    few = mesh.valence[vertex]
    one, two = np.flatnonzero(few == 1), np.flatnonzero(few == 2)
    count = vertex_count + len(border)
    extra_two = count + np.arange(len(two))
    extra_one = count + len(two) + np.arange(2 * len(one)).reshape(2, -1)
    total = count + len(two) + 2 * len(one)

    plain = np.flatnonzero(few > 2)
    outer.append(np.column_stack([vertex, ghost_in, ghost_out[vertex]])[plain])
    v = vertex[two]
    outer.append(np.column_stack([v, ghost_in[two], extra_two]))
    outer.append(np.column_stack([v, extra_two, ghost_out[v]]))
    w = vertex[one]
    outer.append(np.column_stack([w, ghost_in[one], extra_one[0]]))
    outer.append(np.column_stack([w, extra_one[0], extra_one[1]]))
    outer.append(np.column_stack([w, extra_one[1], ghost_out[w]]))

    own = np.arange(vertex_count)
    opposite = mesh.end(following(border))
    middle = mesh.end(mesh.turned(out[two]))
    parts = [
        (own, own, 1.0),
        (edge_ghost, start, 1.0),
        (edge_ghost, end, 1.0),
        (edge_ghost, opposite, -1.0),
        (extra_two, v, 2.0),
        (extra_two, middle, -1.0),
        (extra_one[0], w, 2.0),
        (extra_one[0], following_vertex[w], -1.0),
        (extra_one[1], w, 2.0),
        (extra_one[1], mesh.faces.ravel()[border][one], -1.0),
    ]
    rows = np.concatenate([row for row, _, _ in parts])
    columns = np.concatenate([column for _, column, _ in parts])
    values = np.concatenate([np.full(len(row), value) for row, _, value in parts])
    extrapolation = csr_matrix((values, (rows, columns)), shape=(total, vertex_count))
    grown = LoopMesh(np.concatenate([faces, *outer]).astype(np.int64), total)
    return Ghosted(grown, total - vertex_count, extrapolation, following_vertex)
