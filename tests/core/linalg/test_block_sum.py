"""Hessians as one block matrix."""

from __future__ import annotations

import numpy as np

import meshes
from shellcore.linalg.assembly import BlockPattern, BlockSum, Hessian, scalar_matrix


def hessian(seed: int, far: bool = False) -> Hessian:
    """Of faces and of edges, with a scalar part."""
    rng = np.random.default_rng(seed)
    points, faces = meshes.grid(4, 3, 1.0, 1.0)
    n = len(points)
    a, b = faces[:, 0], faces[:, 1] if not far else (faces[:, 1] + 7) % n
    both = BlockPattern.of_elements(faces, n).assemble(rng.standard_normal((9 * len(faces), 3, 3)))
    some = BlockPattern(a, b, n).assemble(rng.standard_normal((len(faces), 3, 3)))
    return Hessian(n, scalar_matrix(b, a, rng.standard_normal(len(faces)), n), [both, some])


def test_is_the_sum() -> None:
    whole = BlockSum(20)
    for case in (hessian(0), hessian(1), hessian(2, far=True), Hessian(20), Hessian(20, None, hessian(3).blocks)):
        found = whole(case)
        assert found.blocksize == (3, 3)
        assert np.allclose(found.toarray(), case.matrix().toarray(), rtol=1e-14, atol=1e-14)


def test_the_pattern_stays_while_those_of_the_parts_do() -> None:
    whole = BlockSum(20)
    first, second, other = whole(hessian(0)), whole(hessian(1)), whole(hessian(2, far=True))
    assert np.array_equal(first.indices, second.indices)
    assert len(first.indices) != len(other.indices)
    # Every vertex has a block, whether anything stands there or not.
    assert (np.diff(whole(Hessian(20)).indptr) == 1).all()
