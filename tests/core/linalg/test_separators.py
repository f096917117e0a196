"""Graphs cut in halves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix, kron
from scipy.sparse.csgraph import connected_components

import meshes
from shellcore.linalg.elimination import _eliminated, _work, ordered
from shellcore.linalg.fronts import Elimination
from shellcore.linalg.separators import PART, _cover, separators
from shellcore.mesh import edges_of


def mesh(name: str) -> tuple[np.ndarray, csr_matrix]:
    points, faces = {"tube": meshes.cylinder(60, 40, 0.1, 0.5), "sphere": meshes.icosphere(4)}[name]
    edges = edges_of(faces, len(points))[0]
    half = csr_matrix((np.ones(len(edges)), edges.T), shape=(len(points), len(points)))
    near = half + half.T
    return points, csr_matrix(near @ near)


@pytest.mark.parametrize("name", ["tube", "sphere"])
def test_without_them_only_small_parts_are_left(name: str) -> None:
    points, graph = mesh(name)
    sets = separators(graph, points)
    late = np.concatenate(sets)
    assert len(np.unique(late)) == len(late)
    rest = np.setdiff1d(np.arange(len(points)), late)
    _, part = connected_components(graph[rest][:, rest], directed=False)
    assert np.bincount(part).max() <= PART
    assert len(late) < 0.35 * len(points)


@pytest.mark.parametrize("name", ["tube", "sphere"])
def test_they_save_work_and_are_left_aside_where_they_do_not(name: str) -> None:
    points, graph = mesh(name)
    sizes = np.full(len(points), 3)

    def work(positions: np.ndarray | None) -> float:
        order = ordered(graph, sizes, positions).vertices
        return _work(_eliminated(graph[order][:, order], "NATURAL")[2])

    alone = work(None)
    assert work(points) < 0.95 * alone
    misled = np.random.default_rng(0).permutation(points)
    assert work(misled) == alone


def test_a_cover_is_one_and_the_smallest() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        half = np.triu(rng.random((12, 12)) < 0.2, 1)
        graph, low = csr_matrix((half | half.T).astype(float)), rng.random(12) < 0.5
        crossing = np.argwhere(half & (low[:, None] != low))
        cover = _cover(graph, low)
        assert cover[crossing].any(axis=1).all()
        sizes = [bin(s).count("1") for s in range(1 << 12) if all(s >> a & 1 or s >> b & 1 for a, b in crossing)]
        assert cover.sum() == min(sizes)


def test_positions_of_unknowns_serve_as_those_of_blocks() -> None:
    points, graph = mesh("sphere")
    matrix = csr_matrix(kron(graph, np.ones((3, 3))))
    by_block, by_unknown = Elimination(matrix.tobsr((3, 3)), points), Elimination(matrix, np.repeat(points, 3, axis=0))
    assert by_unknown.flops == by_block.flops
