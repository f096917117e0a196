"""Kernels of scipy's BLAS called by address, beside the same through scipy's wrappers."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from scipy.linalg import blas, lapack

from shellcore.linalg.blas import DOUBLE, DOUBLE_FREE, SINGLE, SINGLE_FREE, Kernels


def at(numbers: np.ndarray) -> Any:
    return ctypes.c_void_p(numbers.ctypes.data)


def whole(value: int) -> Any:
    return ctypes.byref(ctypes.c_int(value))


def letter(value: str) -> Any:
    return ctypes.c_char_p(value.encode())


@pytest.mark.parametrize(
    ("kernels", "dtype", "first"),
    [
        (DOUBLE, np.float64, "d"),
        (SINGLE, np.float32, "s"),
        (DOUBLE_FREE, np.float64, "d"),
        (SINGLE_FREE, np.float32, "s"),
    ],
)
def test_kernels(kernels: Kernels, dtype: Any, first: str) -> None:
    """Of a matrix within a larger one."""
    rng = np.random.default_rng(0)
    rows, p, q = 9, 4, 5
    close = {"rtol": 1e-13 if first == "d" else 2e-5, "atol": 1e-13 if first == "d" else 2e-5}
    whole_panel = np.asfortranarray(rng.standard_normal((rows, p)), dtype=dtype)
    whole_panel[:p] = whole_panel[:p] @ whole_panel[:p].T + np.eye(p, dtype=dtype)
    top, side = whole_panel[:p].copy("F"), whole_panel[p:].copy("F")
    one, less, nothing = (np.array([value], dtype=dtype) for value in (1.0, -1.0, 0.0))
    lower, right, turned, plain = (letter(value) for value in "LRTN")
    info = np.full(1, 7, dtype=np.int32)
    kernels.potrf(lower, whole(p), at(whole_panel), whole(rows), at(info))
    expected, _ = getattr(lapack, first + "potrf")(top, lower=1, clean=0)
    assert info[0] == 0
    assert np.allclose(np.tril(whole_panel[:p]), np.tril(expected), **close)
    sizes = whole(q), whole(p)
    beside = whole_panel[p:]
    kernels.trsm(right, lower, turned, plain, *sizes, at(one), at(whole_panel), whole(rows), at(beside), whole(rows))
    found = getattr(blas, first + "trsm")(1.0, expected, side, side=1, lower=1, trans_a=1)
    assert np.allclose(beside, found, **close)
    onward = np.zeros((q, q), dtype=dtype, order="F")
    kernels.syrk(lower, plain, *sizes, at(less), at(beside), whole(rows), at(nothing), at(onward), whole(q))
    assert np.allclose(np.tril(onward), -np.tril(found @ found.T), **close)
    x, y = rng.standard_normal(p).astype(dtype), rng.standard_normal(q).astype(dtype)
    image = y.copy()
    step = whole(1)
    kernels.gemv(plain, *sizes, at(less), at(beside), whole(rows), at(x), step, at(one), at(image), step)
    assert np.allclose(image, y - found @ x, **close)
    solution = x.copy()
    kernels.trsv(lower, turned, plain, whole(p), at(whole_panel), whole(rows), at(solution), step)
    assert np.allclose(np.tril(expected).T @ solution, x, **close)


def test_a_pivot_that_is_not_positive_is_told() -> None:
    matrix = np.asfortranarray(np.diag([1.0, 2.0, -1.0, 3.0]))
    info = np.zeros(1, dtype=np.int32)
    DOUBLE.potrf(letter("L"), whole(4), at(matrix), whole(4), at(info))
    assert info[0] == 3
