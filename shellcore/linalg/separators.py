"""Graphs of meshes cut in halves by small sets of vertices, which are eliminated last (nested dissection, George 1973).

Minimum degree, which looks one vertex ahead, needs none of this on small meshes; at 6k vertices it multiplies a fifth
more, on a tube twice as much.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from ..types import Bools, Floats, Ints, Sparse

# Vertices of a part that is left to minimum degree.
PART = 400


def separators(graph: Sparse, positions: Floats) -> list[Ints]:
    """Sets of vertices of a symmetric graph (n, n), by rows, of vertices near `positions` (n, 3): each of the last
    parts the graph without them as they come, the first cut last."""
    found: list[Ints] = []
    parts = [np.arange(graph.shape[0])]
    while parts:
        smaller: list[Ints] = []
        for part in parts:
            if len(part) > PART:
                low, between = _cut(graph[part][:, part], positions[part])
                found.append(part[between])
                smaller += [part[low & ~between], part[~low & ~between]]
        parts = smaller
    return found[::-1]


def _cut(graph: Sparse, positions: Floats) -> tuple[Bools, Bools]:
    """One half of a graph, and a smallest set of vertices at all edges between the halves."""
    n = len(positions)
    narrowest, best = n + 1, np.zeros(n, dtype=bool)
    for along in positions.T:
        low = np.zeros(n, dtype=bool)
        low[np.argsort(along, kind="stable")[: n // 2]] = True
        width = int(((graph @ low.astype(np.float64) > 0.0) & ~low).sum())
        if width < narrowest:
            narrowest, best = width, low
    return best, _cover(graph, best)


def _cover(graph: Sparse, low: Bools) -> Bools:
    """Fewest vertices at all edges between two halves: as many as edges that share no vertex (König 1931)."""
    between = np.zeros(len(low), dtype=bool)
    halves = [np.flatnonzero(low), np.flatnonzero(~low)]
    crossing = csr_matrix(graph[halves[0]][:, halves[1]])
    touched = np.flatnonzero(np.diff(crossing.indptr))
    crossing = csr_matrix(crossing[touched])
    matched = maximum_bipartite_matching(crossing, perm_type="column")
    back = np.full(len(halves[1]), -1)
    back[matched[matched >= 0]] = np.flatnonzero(matched >= 0)
    # From all that is not matched, there by any edge and back by those matched.
    seen, beyond = matched < 0, np.zeros(len(halves[1]), dtype=bool)
    ahead, there = seen.copy(), csr_matrix(crossing.T)
    while ahead.any():
        reached = (there @ ahead.astype(np.float64) > 0.0) & ~beyond
        beyond |= reached
        ahead[:] = False
        ahead[back[reached]] = True
        ahead &= ~seen
        seen |= ahead
    between[halves[0][touched[~seen]]] = True
    between[halves[1][beyond]] = True
    return between
