"""The two-loop recursion in one pass over all pairs, and what a saved memory gives back."""

import numpy as np
import pytest

from shellcore.lbfgs import HISTORY, Memory
from shellcore.linalg.vectors import by_columns

N = 700


def pairs(count, seed=1):
    """Steps and gradient changes of a quadratic, (N, 3) each, by columns."""
    rng = np.random.default_rng(seed)
    stiffness = rng.uniform(0.5, 20.0, (N, 3))
    steps = rng.normal(size=(count, N, 3))
    return [(by_columns(s), by_columns(stiffness * s)) for s in steps]


def textbook(kept, gradient, precondition):
    """Nocedal and Wright, algorithm 7.4."""
    q, weights = gradient.copy(), []
    for s, y in reversed(kept):
        weights.append(float((s * q).sum() / (s * y).sum()))
        q = q - weights[-1] * y
    z = precondition(q)
    for (s, y), weight in zip(kept, reversed(weights), strict=True):
        z = z + (weight - float((y * z).sum() / (s * y).sum())) * s
    return z


def precondition(residual):
    return by_columns(residual / (1.0 + np.arange(N)[:, None] % 7))


@pytest.mark.parametrize("count", [0, 1, 5, HISTORY, 3 * HISTORY + 2])
def test_direction_is_that_of_the_textbook(count):
    memory, all_pairs = Memory(N), pairs(count)
    for s, y in all_pairs:
        memory.add(s, y)
    gradient = by_columns(np.random.default_rng(2).normal(size=(N, 3)))
    wanted = textbook(all_pairs[-HISTORY:], gradient, precondition)
    assert np.abs(memory.direction(gradient, precondition) - wanted).max() < 1e-11 * np.abs(wanted).max()


@pytest.mark.parametrize("count", [0, 3, HISTORY, HISTORY + 5])
def test_a_cleared_memory_gives_the_same_bytes_as_a_new_one(count):
    used, fresh = Memory(N), Memory(N)
    for s, y in pairs(count):
        used.add(s, y)
    used.clear()
    gradient = by_columns(np.random.default_rng(3).normal(size=(N, 3)))
    for memory in (used, fresh):
        for s, y in pairs(2, seed=9):
            memory.add(s, y)
    assert used.direction(gradient, precondition).tobytes() == fresh.direction(gradient, precondition).tobytes()


def test_pairs_without_positive_curvature_are_left_out():
    memory, (s, y) = Memory(N), pairs(1)[0]
    memory.add(s, -y)
    memory.add(s, np.full_like(y, np.nan))
    gradient = by_columns(np.ones((N, 3)))
    assert (memory.direction(gradient, precondition) == precondition(gradient)).all()
