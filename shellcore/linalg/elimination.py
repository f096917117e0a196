"""In which order the vertices of a graph are eliminated, and which of them together.

The order is SuperLU's minimum degree (Liu 1985), found by factoring a matrix of the graph's pattern with one unknown a
vertex: no entry of it cancels, so that its factor shows the elimination tree (Liu 1990) and the length of each column.
Columns of one structure form a front, and fronts are joined where the zeros that this adds cost less than handling
two of them (Ashcraft and Grimes 1989).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_matrix, diags
from scipy.sparse.linalg import splu

from ..types import Floats, Ints, Sparse
from .separators import separators

# What a front costs besides its arithmetic [s].
FRONT = 20e-6
# One addition and multiplication in BLAS, one number passed from front to front [s].
FLOP, PASSED = 4e-11, 1e-9


@dataclass
class Order:
    """Vertices by fronts, children before parents."""

    vertices: Ints
    """Vertex at each place of the elimination, (n,)."""
    ends: Ints
    """Place after the last of each front, (f,), rising."""


def ordered(graph: Sparse, sizes: Ints, positions: Floats | None = None) -> Order:
    """Order for a symmetric graph (n, n), of `sizes` (n,) unknowns a vertex; `positions` (n, 3): which are near each
    other."""
    n = graph.shape[0]
    vertices, parent, count = _eliminated(graph, "MMD_AT_PLUS_A")
    last_sets = [] if positions is None else separators(graph, positions)
    if last_sets:
        late = np.concatenate(last_sets)
        early = np.setdiff1d(np.arange(n), late)
        inner, _, _ = _eliminated(graph[early][:, early], "MMD_AT_PLUS_A")
        chosen = np.concatenate([early[inner], late])
        places, others, counts = _eliminated(graph[chosen][:, chosen], "NATURAL")
        if _work(counts) < _work(count):
            vertices, parent, count = chosen[places], others, counts
    weight = sizes[vertices]
    # Equal structures: a column, and the next without its first.
    apart = np.ones(n, dtype=bool)
    apart[1:] = (parent[:-1] != np.arange(1, n)) | (count[:-1] != count[1:] + 1)
    first = np.flatnonzero(apart)
    own = np.add.reduceat(weight, first) if n else weight
    last = np.append(first[1:], n) - 1
    front = np.cumsum(apart) - 1
    above = np.where(parent[last] < n, front[np.minimum(parent[last], n - 1)], -1)
    # Rows below a front, in unknowns: those of its last column, at the mean size of a vertex.
    mean = float(weight.mean()) if n else 1.0
    below = (count[last] - 1) * mean
    group = _joined(own.astype(float).tolist(), below.tolist(), above.tolist())
    return _by_groups(vertices, front, np.asarray(group, dtype=np.int64), above)


def _work(count: Ints) -> float:
    """Measure of the arithmetic of a factor with such columns."""
    return float((count.astype(np.float64) ** 2).sum())


def _eliminated(graph: Sparse, order: str) -> tuple[Ints, Ints, Ints]:
    """Vertices in an order that SuperLU finds, (n,); the place of the next of each in the tree, n for none; and how
    many numbers the column of each has in the factor."""
    n = graph.shape[0]
    pattern = csc_matrix((np.full(len(graph.indices), -1.0), graph.indices, graph.indptr), shape=(n, n))
    dominant = csc_matrix(pattern + diags(np.diff(pattern.indptr) + 1.0))
    factor = splu(
        dominant,
        permc_spec=order,
        diag_pivot_thresh=0.0,
        relax=1,
        panel_size=1,
        options={"SymmetricMode": True},
    )
    lower = factor.L
    vertices = np.empty(n, dtype=np.int64)
    vertices[factor.perm_c] = np.arange(n)
    count = np.diff(lower.indptr).astype(np.int64)
    column = np.repeat(np.arange(n), count)
    rows = np.where(lower.indices > column, lower.indices, n)
    parent = np.minimum.reduceat(rows, lower.indptr[:-1]).astype(np.int64) if n else vertices
    return vertices, parent, count


def _joined(own: list[float], below: list[float], above: list[int]) -> list[int]:
    """Of fronts with so many unknowns and rows below them, and the front above each (−1: none), which go together:
    for each the number of the last of its group."""
    group = list(range(len(own)))
    below_of: list[list[int]] = [[] for _ in own]
    spent = [_cost(p, q) for p, q in zip(own, below, strict=True)]
    for i, parent in enumerate(above):
        waiting = below_of[i]
        # The widest fits best: it adds the fewest zeros.
        waiting.sort(key=below.__getitem__, reverse=True)
        at = 0
        while at < len(waiting):
            child = waiting[at]
            together = _cost(own[i] + own[child], below[i])
            if together < spent[i] + spent[child]:
                own[i] += own[child]
                spent[i] = together
                group[child] = i
                # Its own children are now ours, and what did not pay before may.
                waiting[at : at + 1] = below_of[child]
            else:
                at += 1
        if parent >= 0:
            below_of[parent].append(i)
    for i in reversed(range(len(own))):
        group[i] = group[group[i]]
    return group


def _cost(own: float, below: float) -> float:
    """Time that a front takes [s]."""
    rows = own + below
    flops = own * (own * own / 3.0 + own * below + below * below)
    return FRONT + FLOP * flops + PASSED * (own * rows + below * below)


def _by_groups(vertices: Ints, front: Ints, group: Ints, above: Ints) -> Order:
    """The order by groups of fronts; a group stands where its last front does, after all that ends in it."""
    of = group[front]
    order = np.argsort(of, kind="stable")
    ends = np.flatnonzero(np.diff(of[order], append=-1)) + 1
    return Order(vertices[order], ends)
