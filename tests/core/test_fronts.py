"""Factorisation by dense fronts against dense algebra and SuperLU."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import block_diag, csc_matrix, diags, identity, kron, random

import meshes
from shellcore import fronts, linalg
from shellcore.linalg import Factor, Lu
from shellcore.mesh import edges_of


def laplacian(points: np.ndarray, faces: np.ndarray, reach: int = 1) -> csc_matrix:
    """Definite matrix whose pattern is that of neighbours up to `reach` edges away, three unknowns a vertex."""
    edges, n = edges_of(faces, len(points))[0], len(points)
    near = csc_matrix((np.ones(len(edges)), edges.T), shape=(n, n))
    near = near + near.T + identity(n)
    for _ in range(reach - 1):
        near = near @ near
    near.data[:] = np.random.default_rng(1).uniform(-1, 1, near.nnz)
    near = near + near.T
    blocks = np.array([[2.0, 0.3, -0.5], [0.3, 1.5, 0.2], [-0.5, 0.2, 1.0]])
    whole = csc_matrix(kron(near, blocks))
    whole = whole + diags(1.0 + np.asarray(abs(whole).sum(axis=1)).ravel())
    whole = csc_matrix(whole)
    whole.sort_indices()
    return whole


MESHES = {
    "grid": meshes.grid(24, 24, 1.0, 1.0),
    "strip": meshes.grid(200, 2, 10.0, 0.1),
    "tube": meshes.cylinder(30, 40, 0.1, 0.4),
    "sphere": meshes.icosphere(3),
}


@pytest.mark.parametrize("reach", [1, 2])
@pytest.mark.parametrize("name", MESHES)
def test_solves_as_superlu(name: str, reach: int) -> None:
    matrix = laplacian(*MESHES[name], reach)
    plan = fronts.Dissection(matrix)
    assert np.array_equal(np.sort(plan.order), np.arange(matrix.shape[0]))
    assert len(plan.fronts) > 3
    right = np.random.default_rng(2).standard_normal((matrix.shape[0], 2))
    found = fronts.Cholesky(plan, matrix.data).solve(right)
    exact = Lu(matrix).solve(right)
    assert np.abs(found - exact).max() < 1e-12 * np.abs(exact).max()


def test_a_plan_serves_other_numbers_of_the_same_pattern() -> None:
    matrix = laplacian(*MESHES["grid"])
    plan = fronts.Dissection(matrix)
    other = matrix.copy()
    other.data[:] *= 3.0
    assert plan.fits(other)
    right = np.ones(matrix.shape[0])
    once, thrice = (fronts.Cholesky(plan, m.data).solve(right) for m in (matrix, other))
    assert np.allclose(once, 3.0 * thrice, rtol=1e-13)
    assert not plan.fits(laplacian(*MESHES["grid"], 2))


def test_parts_without_a_connection() -> None:
    part = laplacian(*meshes.grid(12, 12, 1.0, 1.0))
    matrix = csc_matrix(block_diag([part, 2.0 * part, identity(7)]))
    matrix.sort_indices()
    right = np.random.default_rng(3).standard_normal(matrix.shape[0])
    found = fronts.Cholesky(fronts.Dissection(matrix), matrix.data).solve(right)
    assert np.abs(matrix @ found - right).max() < 1e-12


def test_any_pattern() -> None:
    for seed in range(5):
        rough = random(700, 700, 0.004, random_state=np.random.default_rng(seed))
        matrix = csc_matrix(rough + rough.T)
        matrix = csc_matrix(matrix + diags(1.0 + np.asarray(abs(matrix).sum(axis=1)).ravel()))
        matrix.sort_indices()
        right = np.random.default_rng(seed).standard_normal(700)
        found = fronts.Cholesky(fronts.Dissection(matrix), matrix.data).solve(right)
        assert np.abs(matrix @ found - right).max() < 1e-12


def test_a_clique_that_cannot_be_split() -> None:
    dense = np.random.default_rng(4).uniform(-1, 1, (500, 500))
    matrix = csc_matrix(dense @ dense.T + 50.0 * np.eye(500))
    right = np.ones(500)
    found = fronts.Cholesky(fronts.Dissection(matrix), matrix.data).solve(right)
    assert np.abs(matrix @ found - right).max() < 1e-9


def test_an_entry_that_cancelled_on_one_side_only() -> None:
    """The numbers used are those below the diagonal in the order of elimination, wherever its twin is missing."""
    matrix = laplacian(*MESHES["grid"]).tolil()
    rows, columns = matrix.nonzero()
    chosen = np.flatnonzero(rows < columns)[::7]
    matrix[rows[chosen], columns[chosen]] = 1e-17
    matrix[columns[chosen], rows[chosen]] = 0.0
    lopsided = csc_matrix(matrix)
    lopsided.eliminate_zeros()
    lopsided.sort_indices()
    right = np.ones(lopsided.shape[0])
    found = fronts.Cholesky(fronts.Dissection(lopsided), lopsided.data).solve(right)
    assert np.abs(lopsided @ found - right).max() < 1e-12


def test_not_definite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linalg, "SMALL", 100)
    matrix = laplacian(*meshes.grid(14, 14, 1.0, 1.0))
    definite = Factor(matrix)
    assert definite.negative_pivots == 0
    lower = csc_matrix(matrix - 3.0 * identity(matrix.shape[0]) * matrix.diagonal().min())
    lower.sort_indices()
    with pytest.raises(fronts.NotDefinite):
        fronts.Cholesky(fronts.Dissection(lower), lower.data)
    factor = Factor(lower)
    assert factor.negative_pivots >= 1
    # It still solves, by SuperLU.
    right = np.ones(lower.shape[0])
    assert np.abs(lower @ factor.solve(right) - right).max() < 1e-8
    assert factor.negative_pivots == (np.linalg.eigvalsh(lower.toarray()) < 0).sum()


def test_shells_that_nothing_joins_make_no_larger_fronts() -> None:
    one = laplacian(*MESHES["grid"], reach=2)
    many = csc_matrix(block_diag([one] * 6))
    many.sort_indices()

    def largest(matrix: csc_matrix) -> int:
        return max(front.end - front.start + len(front.below) for front in fronts.Dissection(matrix).fronts)

    assert largest(many) == largest(one)
    right = np.random.default_rng(5).standard_normal(one.shape[0])
    found = fronts.Cholesky(fronts.Dissection(many), many.data).solve(np.tile(right, 6))
    assert np.abs(found - np.tile(Lu(one).solve(right), 6)).max() < 1e-12 * np.abs(found).max()
