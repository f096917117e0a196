"""Factors on the tree of a mesh against dense algebra; the tree itself."""

from __future__ import annotations

import numpy as np
import pytest

import meshes
from shellcore import tree_factor, tree_plan
from shellcore.bisection import bisected
from shellcore.mesh import edges_of
from shellcore.tree_factor import NotDefinite, TreeFactor


def apart(first: meshes.Mesh, second: meshes.Mesh) -> meshes.Mesh:
    """Two meshes in one place."""
    return np.concatenate([first[0], second[0]]), np.concatenate([first[1], second[1] + len(first[0])])


MESHES = {
    "triangle": (np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]])),
    "grid": meshes.grid(17, 12, 1.0, 1.0),
    "strip": meshes.grid(150, 1, 10.0, 0.1),
    "scattered": meshes.unstructured(350, 1.0, 1.0),
    "sphere": meshes.icosphere(3),
    "two": apart(meshes.grid(9, 9, 1.0, 1.0), meshes.unstructured(120, 1.0, 2.0)),
    "one point": (np.tile(meshes.grid(6, 6, 1.0, 1.0)[0][:1], (49, 1)), meshes.grid(6, 6, 1.0, 1.0)[1]),
}


def edges(name: str) -> np.ndarray:
    points, faces = MESHES[name]
    return edges_of(faces, len(points))[0]


def random_matrix(name: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Blocks (9, e + n) of a definite matrix, and the matrix."""
    pairs, n = edges(name), len(MESHES[name][0])
    rng = np.random.default_rng(seed)
    dense = np.zeros((n, 3, n, 3))
    blocks = rng.uniform(-1.0, 1.0, (len(pairs), 3, 3))
    dense[pairs[:, 0], :, pairs[:, 1]] = blocks
    dense[pairs[:, 1], :, pairs[:, 0]] = blocks.transpose(0, 2, 1)
    own = rng.uniform(-1.0, 1.0, (n, 3, 3))
    own = own + own.transpose(0, 2, 1)
    weight = np.abs(dense).sum(axis=(2, 3)) + np.abs(own).sum(axis=2) + 0.1
    own[:, range(3), range(3)] += weight
    dense[np.arange(n), :, np.arange(n)] = own
    values = np.concatenate([blocks, own]).reshape(-1, 9).T
    return np.ascontiguousarray(values, dtype=np.float32), dense.reshape(3 * n, 3 * n)


def ready(name: str) -> TreeFactor:
    tree = TreeFactor(edges(name), MESHES[name][0])
    for _ in tree.prepare():
        pass
    return tree


@pytest.mark.parametrize("name", MESHES)
def test_solves_as_dense_algebra(name: str) -> None:
    tree = ready(name)
    assert not list(tree.prepare())
    # A second matrix in the same room must not see the first.
    for seed in (0, 1):
        values, dense = random_matrix(name, seed)
        right = np.random.default_rng(5).standard_normal((len(dense) // 3, 3))
        tree.factor(values)
        exact = np.linalg.solve(dense, right.ravel()).reshape(-1, 3)
        assert np.abs(tree.solve(right) - exact).max() < 2e-5 * np.abs(exact).max()


def test_says_that_a_matrix_is_not_definite() -> None:
    values, _ = random_matrix("grid")
    values[0, len(edges("grid")) + 100] = -50.0
    tree = ready("grid")
    with pytest.raises(NotDefinite):
        tree.factor(values)


def test_what_is_not_a_number_is_not_definite() -> None:
    values, _ = random_matrix("grid")
    values[4, len(edges("grid")) + 3] = np.nan
    tree = ready("grid")
    with pytest.raises(NotDefinite):
        tree.factor(values)


def test_a_second_thread_changes_no_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    values, dense = random_matrix("scattered")
    right = np.random.default_rng(1).standard_normal((len(dense) // 3, 3))
    found = []
    for least in (10**9, 0):
        monkeypatch.setattr(tree_plan, "THREADED", least)
        monkeypatch.setattr(tree_factor, "MANY", least)
        monkeypatch.setattr(tree_plan, "_last", None)
        monkeypatch.setattr(tree_plan, "one_thread_possible", lambda: True)
        tree = ready("scattered")
        assert tree._plan is not None and bool(tree._plan.halves[0]) == (least == 0)
        tree.factor(values)
        found.append(tree.solve(right))
    assert np.array_equal(*found)
    # What fails in the other thread is heard of.
    values[0, len(edges("scattered")) :] = -50.0
    with pytest.raises(NotDefinite):
        tree.factor(values)


def test_the_plan_of_the_last_mesh_is_kept_and_its_numbers_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_plan, "_last", None)
    first, second = ready("grid"), ready("grid")
    assert first._plan is second._plan
    (one, dense), (two, other) = random_matrix("grid", 0), random_matrix("grid", 1)
    right = np.random.default_rng(5).standard_normal((len(dense) // 3, 3))
    # Two runs in turns, each with a matrix of its own.
    first.factor(one)
    second.factor(two)
    for tree, matrix in ((first, dense), (second, other)):
        exact = np.linalg.solve(matrix, right.ravel()).reshape(-1, 3)
        assert np.abs(tree.solve(right) - exact).max() < 2e-5 * np.abs(exact).max()


def test_another_mesh_has_another_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_plan, "_last", None)
    points = MESHES["grid"][0]
    plans = []
    for place in (points, points * (1.0, 3.0, 1.0), points):
        tree = TreeFactor(edges("grid"), place)
        list(tree.prepare())
        plans.append(tree._plan)
    # Only the last is kept, and none of a mesh that takes too much room.
    assert plans[0] is not plans[1] and plans[0] is not plans[2]
    monkeypatch.setattr(tree_plan, "KEPT", 10)
    large = ready("scattered")
    assert large._plan is not ready("scattered")._plan
    assert ready("grid")._plan is plans[2]


@pytest.mark.parametrize("name", MESHES)
def test_parts_eliminate_every_vertex_once_and_reach_what_they_couple_with(name: str) -> None:
    points, n = MESHES[name][0], len(MESHES[name][0])
    tree = bisected(edges(name), points)
    own = np.concatenate([level.own.ravel() for level in tree.levels])
    assert np.array_equal(np.sort(own[own < n]), np.arange(n))
    for a, b in edges(name):
        first, later = (a, b) if tree.level[a] <= tree.level[b] else (b, a)
        level, part = tree.levels[tree.level[first]], tree.part[first]
        if tree.level[a] == tree.level[b]:
            assert tree.part[a] == tree.part[b]
        else:
            assert later in level.below[part]


def test_cuts_of_a_square_are_short() -> None:
    points, faces = meshes.grid(63, 63, 1.0, 1.0)
    tree = bisected(edges_of(faces, len(points))[0], points)
    # One row for the first cut, half a row each for the next two.
    assert tree.levels[-1].own.shape == (1, 64)
    assert tree.levels[-2].own.shape[1] <= 34
    # Halves are halves.
    sizes = np.bincount(tree.part[tree.level == 0])
    assert sizes.min() > 0 and sizes.max() <= 4 * sizes.mean()


@pytest.mark.parametrize("seed", range(3))
def test_parts_of_a_scattered_mesh_are_alike(seed: int) -> None:
    """What they are padded with is multiplied too: cut at the median and left at that, it is twice what there is."""
    points, faces = meshes.unstructured(1500, 1.0, 1.0, seed)
    n = len(points)
    tree = bisected(edges_of(faces, n)[0], points)
    padded = there = 0
    for level in tree.levels:
        own, later = (np.count_nonzero(part < n, axis=1) for part in (level.own, level.below))
        there += int((own * (own**2 + own * later + later**2)).sum())
        (b, p), q = level.own.shape, level.below.shape[1]
        padded += b * p * (p**2 + p * q + q**2)
    assert padded < 1.65 * there
