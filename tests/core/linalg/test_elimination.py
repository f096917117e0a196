"""Orders of elimination: trees, and what is eliminated together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random

import meshes
from shellcore.linalg.elimination import _eliminated, ordered
from shellcore.mesh import edges_of


def graph_of(edges: np.ndarray, n: int) -> csr_matrix:
    half = csr_matrix((np.ones(len(edges)), edges.T), shape=(n, n))
    return csr_matrix(half + half.T)


def mesh_graph() -> csr_matrix:
    points, faces = meshes.grid(9, 7, 1.0, 1.0)
    return graph_of(edges_of(faces, len(points))[0], len(points))


def rough_graph() -> csr_matrix:
    rough = random(60, 60, 0.03, random_state=np.random.default_rng(1))
    return csr_matrix(rough + rough.T)


@pytest.mark.parametrize("graph", [mesh_graph(), rough_graph(), csr_matrix((3, 3))], ids=["mesh", "rough", "apart"])
def test_tree_and_counts_are_those_of_elimination(graph: csr_matrix) -> None:
    """Beside elimination by the book: each vertex joins its later neighbours."""
    n = graph.shape[0]
    vertices, parent, count = _eliminated(graph, "MMD_AT_PLUS_A")
    assert np.array_equal(np.sort(vertices), np.arange(n))
    filled = graph.toarray()[np.ix_(vertices, vertices)] != 0.0
    for j in range(n):
        later = j + 1 + np.flatnonzero(filled[j + 1 :, j])
        assert count[j] == 1 + len(later)
        assert parent[j] == (later[0] if len(later) else n)
        filled[np.ix_(later, later)] = True


def test_fronts_are_few_and_whole() -> None:
    graph = mesh_graph()
    n = graph.shape[0]
    order = ordered(graph, np.full(n, 3))
    assert np.array_equal(np.sort(order.vertices), np.arange(n))
    assert order.ends[-1] == n
    assert (np.diff(order.ends) > 0).all()
    # Small as it is, taking more than a few fronts apart costs more than it saves.
    assert len(order.ends) < 6


def test_larger_vertices_make_more_fronts_pay() -> None:
    """Arithmetic weighs more beside what a front costs in itself."""
    graph = mesh_graph()
    few, many = (len(ordered(graph, np.full(graph.shape[0], size)).ends) for size in (1, 12))
    assert few < many
