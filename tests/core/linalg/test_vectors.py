"""Products with sparse matrices by scipy's own kernels, and without them; long inner products in pieces."""

import numpy as np
import pytest
from scipy.sparse import random as random_sparse

from shellcore.linalg import vectors
from shellcore.linalg.vectors import ALONE, SMALL, Added, Product, inner, picked


@pytest.fixture(params=["kernels", "public interface"])
def kernels(request, monkeypatch):
    if request.param == "public interface":
        monkeypatch.setattr(vectors, "csr_matvec", None)
        monkeypatch.setattr(vectors, "csc_matvec", None)
        monkeypatch.setattr(vectors, "coo_matvec", None)


def made(rows, columns, density, form="csr"):
    return random_sparse(rows, columns, density, format=form, random_state=np.random.default_rng(rows))


@pytest.mark.usefixtures("kernels")
class TestProduct:
    @pytest.mark.parametrize("often", [False, True])
    @pytest.mark.parametrize(("shape", "density"), [((40, 70), 0.1), ((0, 70), 0.1), ((300, 200), 0.5)])
    @pytest.mark.parametrize("form", ["csr", "csc"])
    def test_is_that_of_the_matrix(self, often, shape, density, form):
        matrix = made(*shape, density, form)
        assert often or matrix.nnz <= SMALL or shape == (300, 200)
        product, rng = Product(matrix, often), np.random.default_rng(1)
        v, f = rng.normal(size=(3, shape[1])), rng.normal(size=(3, shape[0]))
        wanted = (matrix @ v.T).T
        assert np.allclose(product(v), wanted, rtol=0, atol=1e-13)
        out = np.ones((3, shape[0]))
        assert product(v, out) is out and np.allclose(out, wanted, rtol=0, atol=1e-13)
        assert np.allclose(product(v, out, add=True), 2.0 * wanted, rtol=0, atol=1e-13)
        assert np.allclose(product.transposed(f), (matrix.T @ f.T).T, rtol=0, atol=1e-13)

    def test_of_bare_arrays_is_that_of_the_matrix_they_make(self):
        matrix = made(50, 30, 0.2)
        product = Product.by_rows(matrix.shape, matrix.indptr, matrix.indices, matrix.data)
        v = np.random.default_rng(2).normal(size=(2, 30))
        assert np.allclose(product(v), (matrix @ v.T).T, rtol=0, atol=1e-13)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_added_numbers_come_where_they_belong(sign):
    rng = np.random.default_rng(3)
    # Some places get several, most none.
    targets, sources = (rng.integers(0, high, 400).astype(np.int32) for high in (300, 50))
    values, into = rng.normal(size=50).astype(np.float32), rng.normal(size=2000).astype(np.float32)
    wanted = into.astype(float)
    for target, source in zip(targets, sources, strict=True):
        wanted[target] += sign * float(values[source])
    Added(targets, sources, sign)(values, into)
    assert into.dtype == np.float32 and np.allclose(into, wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("count", [1, ALONE // 3, ALONE // 3 + 1, ALONE, 2 * ALONE + 5])
def test_inner_product_in_pieces(count):
    rng = np.random.default_rng(count)
    a, b = (np.asfortranarray(rng.normal(size=(count, 3))) for _ in range(2))
    assert inner(a, b) == pytest.approx(float((a * b).sum()), abs=1e-12 * np.sqrt((a * a).sum() * (b * b).sum()))


def test_picked_columns_lie_in_a_row():
    v, at = np.arange(12.0).reshape(3, 4), np.array([3, 0, 0])
    found = picked(v, at)
    assert np.array_equal(found, v[:, at]) and found.flags.c_contiguous
