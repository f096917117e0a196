"""Matrices after a change of variables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix, identity, random

from shellcore.linalg.assembly import Change


@pytest.mark.parametrize("changed", [0, 1, 5, 40, 60])
def test_congruence_by_few_rows_is_the_product(changed: int) -> None:
    rng = np.random.default_rng(changed)
    rough = random(60, 60, 0.2, random_state=rng)
    matrix = csr_matrix(rough + rough.T)
    change = identity(60).toarray()
    for row in rng.choice(60, changed, replace=False):
        change[row] = 0.0
        # As a support's: its own variable may be among the others or not, or it may depend on nothing that is free.
        change[row, rng.integers(0, 60, row % 7)] = rng.standard_normal(row % 7)
    expected = change.T @ matrix.toarray() @ change
    found = Change(csr_matrix(change)).congruence(matrix)
    assert found.has_sorted_indices or changed > 30
    assert np.abs(found.toarray() - expected).max() < 1e-13


def test_to_another_number_of_variables() -> None:
    rng = np.random.default_rng(0)
    rough = random(50, 50, 0.2, random_state=rng)
    matrix, change = csr_matrix(rough + rough.T), csr_matrix(random(50, 70, 0.1, random_state=rng))
    expected = change.toarray().T @ matrix.toarray() @ change.toarray()
    assert np.abs(Change(change).congruence(matrix).toarray() - expected).max() < 1e-13
