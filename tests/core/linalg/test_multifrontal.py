"""Factorisation by dense fronts against dense algebra and SuperLU."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import block_diag, bsr_matrix, csc_matrix, diags, identity, kron, random

import meshes
from shellcore.linalg import factor as factors
from shellcore.linalg import multifrontal, vectors
from shellcore.linalg.factor import Factor, Lu
from shellcore.linalg.fronts import Elimination
from shellcore.linalg.multifrontal import Cholesky, NotDefinite
from shellcore.linalg.threads import limited
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
    plan = Elimination(matrix)
    assert np.array_equal(np.sort(plan.order), np.arange(matrix.shape[0]))
    assert len(plan.fronts) > 3
    right = np.random.default_rng(2).standard_normal((matrix.shape[0], 2))
    found = Cholesky(plan, matrix.data).solve(right)
    exact = Lu(matrix).solve(right)
    assert np.abs(found - exact).max() < 1e-12 * np.abs(exact).max()


def test_a_plan_serves_other_numbers_of_the_same_pattern() -> None:
    matrix = laplacian(*MESHES["grid"])
    plan = Elimination(matrix)
    other = matrix.copy()
    other.data[:] *= 3.0
    assert plan.fits(other)
    right = np.ones(matrix.shape[0])
    once, thrice = (Cholesky(plan, m.data).solve(right) for m in (matrix, other))
    assert np.allclose(once, 3.0 * thrice, rtol=1e-13)
    assert not plan.fits(laplacian(*MESHES["grid"], 2))


def test_parts_without_a_connection() -> None:
    part = laplacian(*meshes.grid(12, 12, 1.0, 1.0))
    matrix = csc_matrix(block_diag([part, 2.0 * part, identity(7)]))
    matrix.sort_indices()
    right = np.random.default_rng(3).standard_normal(matrix.shape[0])
    found = Cholesky(Elimination(matrix), matrix.data).solve(right)
    assert np.abs(matrix @ found - right).max() < 1e-12


def test_any_pattern() -> None:
    for seed in range(5):
        rough = random(700, 700, 0.004, random_state=np.random.default_rng(seed))
        matrix = csc_matrix(rough + rough.T)
        matrix = csc_matrix(matrix + diags(1.0 + np.asarray(abs(matrix).sum(axis=1)).ravel()))
        matrix.sort_indices()
        right = np.random.default_rng(seed).standard_normal(700)
        found = Cholesky(Elimination(matrix), matrix.data).solve(right)
        assert np.abs(matrix @ found - right).max() < 1e-12


def test_a_clique_that_cannot_be_split() -> None:
    dense = np.random.default_rng(4).uniform(-1, 1, (500, 500))
    matrix = csc_matrix(dense @ dense.T + 50.0 * np.eye(500))
    right = np.ones(500)
    found = Cholesky(Elimination(matrix), matrix.data).solve(right)
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
    found = Cholesky(Elimination(lopsided), lopsided.data).solve(right)
    assert np.abs(lopsided @ found - right).max() < 1e-12


def test_not_definite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors, "SMALL", 100)
    matrix = laplacian(*meshes.grid(14, 14, 1.0, 1.0))
    definite = Factor(matrix)
    assert definite.negative_pivots == 0
    lower = csc_matrix(matrix - 3.0 * identity(matrix.shape[0]) * matrix.diagonal().min())
    lower.sort_indices()
    with pytest.raises(NotDefinite):
        Cholesky(Elimination(lower), lower.data)
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
        return max(front.rows for front in Elimination(matrix).fronts)

    assert largest(many) <= 1.1 * largest(one)
    right = np.random.default_rng(5).standard_normal(one.shape[0])
    found = Cholesky(Elimination(many), many.data).solve(np.tile(right, 6))
    assert np.abs(found - np.tile(Lu(one).solve(right), 6)).max() < 1e-12 * np.abs(found).max()


def blocks(matrix: csc_matrix) -> bsr_matrix:
    found = matrix.tocsr().tobsr((3, 3))
    found.sort_indices()
    return found


@pytest.mark.parametrize("name", MESHES)
def test_a_block_matrix_is_ordered_by_its_blocks(name: str) -> None:
    matrix = laplacian(*MESHES[name], reach=2)
    plan = Elimination(blocks(matrix))
    # The three unknowns of a vertex stay together.
    vertices = plan.order.reshape(-1, 3) // 3
    assert (vertices == vertices[:, :1]).all()
    right = np.random.default_rng(2).standard_normal(matrix.shape[0])
    found = Cholesky(plan, blocks(matrix).data).solve(right)
    assert np.abs(matrix @ found - right).max() < 1e-12
    assert not plan.fits(matrix)
    assert plan.fits(blocks(2.0 * matrix))


def test_the_factor_is_a_factor() -> None:
    """Panels hold L: what they are not zero at is all there is, and LLᵀ is the matrix in the order of elimination."""
    matrix = blocks(laplacian(*MESHES["sphere"]))
    plan = Elimination(matrix)
    numbers = Cholesky(plan, matrix.data)._workspace.numbers
    lower = np.zeros(matrix.shape)
    for front in plan.fronts:
        panel = numbers[front.panel : front.panel + front.own * front.rows].reshape(front.own, front.rows).T
        rows = np.concatenate([np.arange(front.start, front.end), front.below])
        lower[np.ix_(rows, np.arange(front.start, front.end))] = np.tril(panel)
    ordered = matrix.toarray()[np.ix_(plan.order, plan.order)]
    assert np.abs(lower @ lower.T - ordered).max() < 1e-12 * np.abs(ordered).max()
    assert np.count_nonzero(lower) <= plan.fill


def test_factors_that_live_at_once_do_not_share_room_and_room_comes_back() -> None:
    matrix = blocks(laplacian(*MESHES["grid"]))
    plan = Elimination(matrix)
    right = np.ones(matrix.shape[0])
    once, twice = (Cholesky(plan, k * matrix.data) for k in (1.0, 2.0))
    assert np.allclose(once.solve(right), 2.0 * twice.solve(right), rtol=1e-13)
    first = once.solve(right)
    room = once._workspace.numbers
    del once
    again = Cholesky(plan, matrix.data)
    assert again._workspace.numbers is room
    assert again.solve(right).tobytes() == first.tobytes()


def test_the_unknown_at_fault_is_named() -> None:
    """The leading part of the matrix up to it, in the order of elimination, is the first that is not definite."""
    matrix = blocks(laplacian(*MESHES["grid"]))
    plan = Elimination(matrix)
    least = np.linalg.eigvalsh(matrix.toarray())[0]
    shifted = csc_matrix(matrix - (0.7 * least + 0.3 * matrix.diagonal().min()) * identity(matrix.shape[0]))
    dense = shifted.toarray()
    with pytest.raises(NotDefinite) as found:
        Cholesky(plan, blocks(shifted).data)
    front = next(f for f in plan.fronts if found.value.unknown in plan.order[f.start : f.end])
    branch = [front]
    for other in reversed(plan.fronts[: plan.fronts.index(front)]):
        if len(other.below) and any(f.start <= other.below[0] < f.end for f in branch):
            branch.append(other)
    before = [plan.order[f.start : f.end] for f in branch[1:]]
    own = plan.order[front.start : front.end].tolist()
    upto = np.concatenate([*before, own[: own.index(found.value.unknown) + 1]]).astype(int)
    assert np.linalg.eigvalsh(dense[np.ix_(upto, upto)])[0] <= 1e-12
    assert np.linalg.eigvalsh(dense[np.ix_(upto[:-1], upto[:-1])])[0] > 0.0
    with pytest.raises(NotDefinite) as found:
        Cholesky(plan, -matrix.data)
    assert 0 <= found.value.unknown < matrix.shape[0]


def test_what_is_not_definite_leaves_nothing_behind() -> None:
    matrix = blocks(laplacian(*MESHES["tube"]))
    plan = Elimination(matrix)
    right = np.ones(matrix.shape[0])
    expected = Cholesky(plan, matrix.data).solve(right).tobytes()
    for data in (-matrix.data, np.where(matrix.data < 0.0, 30.0 * matrix.data, matrix.data), matrix.data * np.nan):
        with pytest.raises(NotDefinite):
            Cholesky(plan, data)
        assert Cholesky(plan, matrix.data).solve(right).tobytes() == expected
    broken = matrix.tolil()
    broken[100, 101] = broken[101, 100] = np.nan
    with pytest.raises(NotDefinite):
        Cholesky(plan, blocks(csc_matrix(broken)).data)


def test_a_pivot_that_is_not_positive_ends_the_work() -> None:
    """Nothing is done for the fronts after it."""
    matrix = blocks(laplacian(*MESHES["grid"]))
    plan = Elimination(matrix)
    chosen = plan.sequence[len(plan.sequence) // 2]
    unknown = plan.order[plan.fronts[chosen].start]
    shifted = matrix.tolil()
    shifted[unknown, unknown] = 1e-9
    shifted = blocks(csc_matrix(shifted))
    assert plan.fits(shifted)
    Cholesky(plan, matrix.data)
    told = plan.spare[0]._infos
    told[:] = 7
    with pytest.raises(NotDefinite) as found:
        Cholesky(plan, shifted.data)
    # The vertex is at fault, whose block comes first in its front.
    assert found.value.unknown // 3 == unknown // 3
    at = plan.sequence.index(chosen)
    assert (told[plan.sequence[:at]] == 0).all()
    assert told[chosen] > 0
    assert (told[plan.sequence[at + 1 :]] == 7).all()


@pytest.mark.parametrize("name", MESHES)
def test_two_halves_have_nothing_to_do_with_each_other(name: str) -> None:
    matrix = blocks(laplacian(*MESHES[name], reach=2))
    plan = Elimination(matrix)
    assert sorted(plan.sequence) == list(range(len(plan.fronts)))
    half = dict.fromkeys(plan.halves[0], 0) | dict.fromkeys(plan.halves[1], 1)
    home = np.repeat(np.arange(len(plan.fronts)), [front.own for front in plan.fronts])
    done: set[int] = set()
    for i in plan.sequence:
        later = set(home[plan.fronts[i].below].tolist())
        assert not later & done
        assert {half[other] for other in later if other in half} <= {half.get(i)}
        done.add(i)
    work = [sum(plan.fronts[i].work for i in some) for some in (*plan.halves, plan.rest)]
    assert max(work[:2]) + work[2] < 0.8 * sum(work)


@pytest.mark.parametrize("name", [*MESHES, "cut by separators", *range(5)])
def test_what_waits_is_not_written_over(name: str | int) -> None:
    """What fronts pass on lies apart from the rest until it is taken, also while the other half works."""
    if isinstance(name, int):
        rough = random(900, 900, 0.003, random_state=np.random.default_rng(name))
        plan = Elimination(csc_matrix(rough + rough.T + identity(900)))
    else:
        points, faces = MESHES.get(name) or meshes.cylinder(60, 40, 0.1, 0.5)
        plan = Elimination(blocks(laplacian(points, faces)), points)
    home = np.repeat(np.arange(len(plan.fronts)), [front.own for front in plan.fronts])
    taker = [int(home[front.below[0]]) if len(front.below) else -1 for front in plan.fronts]
    span = [(front.passed, front.passed + len(front.below) ** 2) for front in plan.fronts]
    reach = [[span[i] for i in half if span[i][0] < span[i][1]] for half in plan.halves]
    if all(reach):
        ends = [(min(a for a, _ in part), max(b for _, b in part)) for part in reach]
        assert ends[0][1] <= ends[1][0] or ends[1][1] <= ends[0][0]
    waiting: set[int] = set()
    for i in plan.sequence:
        assert span[i][0] >= plan.panels and span[i][1] <= plan.room
        # It is written while what it takes still lies there.
        for other in waiting:
            assert span[i][1] <= span[other][0] or span[other][1] <= span[i][0] or span[i][0] == span[i][1]
        waiting -= {other for other in waiting if taker[other] == i}
        if taker[i] >= 0:
            waiting.add(i)
    assert not waiting


def test_a_second_thread_changes_no_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multifrontal, "SHARED", 0)
    monkeypatch.setattr(multifrontal, "LARGE", 1000)
    matrix = blocks(laplacian(*MESHES["sphere"], reach=2))
    plan = Elimination(matrix)
    right = np.random.default_rng(8).standard_normal(matrix.shape[0])
    found = []
    for count in (1, 2, 2, 1):
        with limited(count):
            found.append(Cholesky(plan, matrix.data).solve(right).tobytes())
    assert len(set(found)) == 1


@pytest.mark.parametrize("half", [0, 1])
def test_what_fails_in_either_thread_is_heard_of(half: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multifrontal, "SHARED", 0)
    matrix = blocks(laplacian(*MESHES["sphere"]))
    plan = Elimination(matrix)
    unknown = plan.order[plan.fronts[plan.halves[half][-1]].start]
    broken = matrix.tolil()
    broken[unknown, unknown] = 1e-9
    with limited(2), pytest.raises(NotDefinite) as found:
        Cholesky(plan, blocks(csc_matrix(broken)).data)
    assert found.value.unknown // 3 == unknown // 3
    right = np.ones(matrix.shape[0])
    with limited(2):
        assert np.abs(matrix @ Cholesky(plan, matrix.data).solve(right) - right).max() < 1e-12


def test_single_precision() -> None:
    matrix = blocks(laplacian(*MESHES["sphere"], reach=2))
    plan = Elimination(matrix)
    right = np.random.default_rng(6).standard_normal(matrix.shape[0])
    exact, rough = (Cholesky(plan, matrix.data, single).solve(right) for single in (False, True))
    assert 1e-12 < np.abs(rough - exact).max() / np.abs(exact).max() < 1e-5


def test_order_and_structure_are_worth_it() -> None:
    """Hessians of sheets with hinges fill less than with SuperLU's own order and its two halves."""
    matrix = laplacian(*meshes.grid(40, 40, 1.0, 1.0), reach=2)
    plan = Elimination(blocks(matrix))
    assert plan.fill < 0.9 * Lu(matrix).fill
    assert len(plan.fronts) < len(plan.order) / 30


def test_without_a_kernel_of_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = blocks(laplacian(*MESHES["grid"]))
    right = np.ones(matrix.shape[0])
    with_it = Cholesky(Elimination(matrix), matrix.data).solve(right)
    monkeypatch.setattr(vectors, "coo_matvec", None)
    without = Cholesky(Elimination(matrix), matrix.data).solve(right)
    assert np.abs(with_it - without).max() < 1e-13 * np.abs(with_it).max()


@pytest.mark.parametrize("dissected", [False, True])
def test_same_bytes_in_room_that_others_used(dissected: bool) -> None:
    points, faces = meshes.cylinder(60, 30, 0.1, 0.5)
    matrix = blocks(laplacian(points, faces))
    right = np.random.default_rng(7).standard_normal(matrix.shape[0])
    positions = points if dissected else None
    first = Cholesky(Elimination(matrix, positions), matrix.data).solve(right)
    assert np.abs(matrix @ first - right).max() < 1e-12
    other = blocks(laplacian(*MESHES["tube"], reach=2))
    Cholesky(Elimination(other), 1e3 * other.data)
    assert Cholesky(Elimination(matrix, positions), matrix.data).solve(right).tobytes() == first.tobytes()
