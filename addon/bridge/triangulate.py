"""Triangles of a polygon mesh, by a rule that keeps a sheet's stiffness even in all directions.

Quads that are longer one way are cut along their shorter diagonal. The rest are cut alternately: cutting a grid all
one way makes it at least twice as stiff along one diagonal as along the other. Subdivision shells have no such error,
and want six edges at a vertex: for them (`one_way`) the rest are cut from their first corner to their third.
"""

from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import breadth_first_order, connected_components

# Diagonals within this share of each other count as equal, and the quad is cut by the alternating rule.
ALIKE = 0.02


def triangles(
    positions: Any,
    corner_vertices: Any,
    starts: Any,
    totals: Any,
    ngon_triangles: tuple[Any, Any],
    one_way: bool = False,
) -> tuple[Any, Any, Any]:
    """Corners of each triangle as vertices (m, 3) and as mesh corners (m, 3), and its polygon (m,).

    `corner_vertices` (c,), `starts` and `totals` (p,) describe the polygons; `ngon_triangles`: mesh corners (k, 3) and
    polygons (k,) of the triangles of polygons with five or more sides. Sorted by polygon.
    """
    tri = np.flatnonzero(totals == 3)
    quad = np.flatnonzero(totals == 4)
    tri_corners = starts[tri, None] + np.arange(3)
    quad_corners = starts[quad, None] + np.arange(4)
    first = cut_first_diagonal(positions, corner_vertices[quad_corners], one_way)
    # Along 0-2: (0, 1, 2), (0, 2, 3). Along 1-3: (0, 1, 3), (1, 2, 3).
    upper = np.where(first[:, None], quad_corners[:, [0, 1, 2]], quad_corners[:, [0, 1, 3]])
    lower = np.where(first[:, None], quad_corners[:, [0, 2, 3]], quad_corners[:, [1, 2, 3]])
    corners = np.concatenate([tri_corners, upper, lower, ngon_triangles[0]])
    polygons = np.concatenate([tri, quad, quad, ngon_triangles[1]])
    order = np.argsort(polygons, kind="stable")
    corners = corners[order]
    return corner_vertices[corners], corners, polygons[order]


def cut_first_diagonal(positions: Any, quads: Any, one_way: bool = False) -> Any:
    """Whether each quad (q, 4) is cut from corner 0 to 2 rather than from 1 to 3, (q,)."""
    if len(quads) == 0:
        return np.zeros(0, dtype=bool)
    first = np.linalg.norm(positions[quads[:, 2]] - positions[quads[:, 0]], axis=1)
    second = np.linalg.norm(positions[quads[:, 3]] - positions[quads[:, 1]], axis=1)
    alike = np.abs(first - second) <= ALIKE * np.maximum(first, second)
    if one_way:
        return alike | (first < second)
    even = _parity(quads, len(positions))[quads]
    # In a grid two opposite corners of every quad are even and two odd: joining the even ones alternates.
    alternate = even[:, 0] & even[:, 2] & ~(even[:, 1] & even[:, 3])
    mixed = (even[:, 0] != even[:, 2]) | (even[:, 1] != even[:, 3])
    alternate = np.where(mixed, first <= second, alternate)
    return np.where(alike, alternate, first < second)


def _parity(quads: Any, count: int) -> Any:
    """Whether each vertex lies an even number of quad edges from a corner of its piece, (count,)."""
    a, b = quads.ravel(), np.roll(quads, -1, axis=1).ravel()
    graph = coo_matrix((np.ones(len(a), dtype=np.int8), (a, b)), shape=(count + 1, count + 1))
    _, piece = connected_components(graph, directed=False)
    _, seeds = np.unique(piece[:count], return_index=True)
    # One extra node joins the first vertex of every piece, so that one search reaches all.
    rows, columns = np.concatenate([a, np.full(len(seeds), count)]), np.concatenate([b, seeds])
    graph = coo_matrix((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(count + 1, count + 1)).tocsr()
    _, parent = breadth_first_order(graph, count, directed=False)
    parent = np.where(parent < 0, np.arange(count + 1), parent)
    depth = (parent != np.arange(count + 1)).astype(np.int64)
    while True:
        further = depth[parent]
        if not further.any():
            break
        depth, parent = depth + further, parent[parent]
    return depth[:count] % 2 == 1
