"""Factors of matrices of meshes, in single precision, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest

import meshes
from shellcore.linalg import block_cholesky
from shellcore.linalg.block_cholesky import NotDefinite, TreeFactor
from shellcore.mesh import edges_of


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


def test_the_plan_of_the_last_mesh_is_kept_and_its_numbers_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_cholesky, "_last", None)
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
    monkeypatch.setattr(block_cholesky, "_last", None)
    points = MESHES["grid"][0]
    plans = []
    for place in (points, points * (1.0, 3.0, 1.0), points):
        tree = TreeFactor(edges("grid"), place)
        list(tree.prepare())
        plans.append(tree._plan)
    # Only the last is kept, and none of a mesh that takes too much room.
    assert plans[0] is not plans[1] and plans[0] is not plans[2]
    monkeypatch.setattr(block_cholesky, "KEPT", 10)
    large = ready("scattered")
    assert large._plan is not ready("scattered")._plan
    assert ready("grid")._plan is plans[2]
