"""Element blocks to sparse matrices: the only place that builds them.

Sums over elements are products with constant sparse matrices made once: a `scatter` adds element
vectors at their vertices, a `BlockPattern` adds 3 × 3 element blocks at their vertex pairs.
(`np.add.at` is slower and, with broadcast values, was found wrong in one numpy release.)
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import bsr_matrix, csr_matrix, identity, kron

from ..types import Floats, Ints, Sparse


def scatter(vertices: Ints, vertex_count: int) -> Sparse:
    """(n, b) matrix that adds row i of a (b, ·) array at vertex `vertices[i]`."""
    flat = np.ravel(vertices)
    ones = np.ones(len(flat))
    return csr_matrix((ones, (flat, np.arange(len(flat)))), shape=(vertex_count, len(flat)))


def incidence(faces: Ints, vertex_count: int) -> Sparse:
    """(n, m) matrix that adds what each of the faces (m, k) has at its vertices."""
    columns = np.repeat(np.arange(len(faces)), faces.shape[1])
    return csr_matrix((np.ones(faces.size), (faces.ravel(), columns)), shape=(vertex_count, len(faces)))


def scalar_matrix(rows: Ints, columns: Ints, values: Floats, vertex_count: int) -> Sparse:
    """(n, n) matrix from triplets; duplicates add up."""
    shape = (vertex_count, vertex_count)
    return csr_matrix((np.ravel(values), (np.ravel(rows), np.ravel(columns))), shape=shape)


def element_matrix(vertices: Ints, matrices: Floats, vertex_count: int) -> Sparse:
    """(n, n) sum of element matrices (b, k, k) over element vertices (b, k)."""
    k = vertices.shape[1]
    rows = np.repeat(vertices, k, axis=1)
    columns = np.tile(vertices, (1, k))
    return scalar_matrix(rows, columns, matrices, vertex_count)


def with_rows(matrix: Sparse, shift: int, rows: Ints, fresh: Sparse) -> Sparse:
    """`matrix` moved by `shift` along its diagonal, with the sorted `rows` taken from `fresh` (n, n) instead."""
    old = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)) + shift
    count = fresh.shape[0]
    replaced = np.zeros(max(count, matrix.shape[0] + shift), dtype=bool)
    replaced[rows] = True
    kept = ~replaced[old]
    part = fresh[rows]
    row = np.concatenate([old[kept], np.repeat(rows, np.diff(part.indptr))])
    order = np.argsort(row, kind="stable")
    columns = np.concatenate([matrix.indices[kept] + shift, part.indices])[order]
    data = np.concatenate([matrix.data[kept], part.data])[order]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=count))])
    return csr_matrix((data, columns, indptr), shape=(count, count))


class BlockPattern:
    """Constant map from element 3 × 3 blocks to a block-sparse (3n, 3n) matrix.

    Entry i adds `weights[i]` × block `sources[i]` at the vertex pair (rows[i], columns[i]).
    """

    def __init__(
        self,
        rows: Ints,
        columns: Ints,
        vertex_count: int,
        sources: Ints | None = None,
        weights: Floats | None = None,
    ) -> None:
        rows, columns = np.ravel(rows), np.ravel(columns)
        sources = np.arange(len(rows)) if sources is None else np.ravel(sources)
        weights = np.ones(len(rows)) if weights is None else np.ravel(weights)
        pairs, slot = np.unique(rows * vertex_count + columns, return_inverse=True)
        self._shape = (3 * vertex_count, 3 * vertex_count)
        self._indices = pairs % vertex_count
        counts = np.bincount(pairs // vertex_count, minlength=vertex_count)
        self._indptr = np.concatenate([[0], np.cumsum(counts)])
        count = int(sources.max(initial=-1)) + 1
        self._gather = csr_matrix((weights, (slot.ravel(), sources)), shape=(len(pairs), count))

    def assemble(self, blocks: Floats) -> Sparse:
        """Block-sparse matrix from the source blocks, shape (s, 3, 3)."""
        data = (self._gather @ blocks.reshape(-1, 9)).reshape(-1, 3, 3)
        return bsr_matrix((data, self._indices, self._indptr), shape=self._shape)

    @staticmethod
    def of_elements(vertices: Ints, vertex_count: int) -> BlockPattern:
        """Pattern for element blocks (b, k, k, 3, 3) over element vertices (b, k)."""
        k = vertices.shape[1]
        return BlockPattern(np.repeat(vertices, k, axis=1), np.tile(vertices, (1, k)), vertex_count)


class Change:
    """A change of variables C (n, m) that matrices K are multiplied out with, CᵀKC.

    Where most rows of C are those of the identity (supports change the variables next to them only), C = D + W with a
    diagonal D and a W of few rows: CᵀKC = DKD + S + Sᵀ, S = Wᵀ(KD + ½KW), and all products have few rows.
    """

    def __init__(self, change: Sparse) -> None:
        self._change, self._back = change, csr_matrix(change.T)
        n, m = change.shape
        entries = np.diff(change.indptr)
        first = np.minimum(change.indptr[:-1], max(len(change.data) - 1, 0))
        unit = np.zeros(n, dtype=bool)
        if len(change.data):
            unit = (entries == 1) & (change.data[first] == 1.0) & (change.indices[first] == np.arange(n))
        self._few = n == m and 2 * int(unit.sum()) > n
        if self._few:
            self._kept = unit.astype(np.float64)
            self._others = np.flatnonzero(~unit)
            self._rows = csr_matrix(change[self._others])
            self._columns = csr_matrix(self._rows.T)

    def congruence(self, matrix: Sparse) -> Sparse:
        """CᵀKC of a symmetric matrix by rows, indices sorted."""
        if not self._few:
            return csr_matrix(self._back @ (matrix @ self._change))
        beside = matrix[self._others]
        share = csr_matrix(self._columns @ (self._without(beside) + 0.5 * (beside[:, self._others] @ self._rows)))
        both = csr_matrix(share + share.T)
        both.sort_indices()
        rest = self._without(matrix)
        rest.data *= np.repeat(self._kept, np.diff(matrix.indptr))
        return rest + both

    def _without(self, matrix: Sparse) -> Sparse:
        """A matrix by rows with zeros in the columns that W changes."""
        data = matrix.data * self._kept.take(matrix.indices)
        return csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)


class Congruence:
    """CᵀKC of a block matrix K after a sparse change of variables C, multiplied out only when asked for.

    `back` is Cᵀ; `near` what of C counts in the matrix multiplied out.
    """

    def __init__(self, matrix: Sparse, change: Sparse, back: Sparse, near: Change) -> None:
        self._matrix = matrix
        self._change, self._back = change, back
        self._near = near

    def __matmul__(self, direction: Floats) -> Floats:
        image: Floats = self._back @ (self._matrix @ (self._change @ direction))
        return image

    def tocsr(self) -> Sparse:
        """The product as one matrix."""
        return self._near.congruence(self._matrix.tocsr())


@dataclass
class Hessian:
    """A (3n, 3n) matrix kept as a sum: `scalar` (n, n) acting alike on x, y, z, plus block matrices."""

    vertex_count: int
    scalar: Sparse = None
    blocks: list[Sparse] = field(default_factory=list)

    def __add__(self, other: Hessian) -> Hessian:
        if self.scalar is None or other.scalar is None:
            scalar = self.scalar if other.scalar is None else other.scalar
        else:
            scalar = self.scalar + other.scalar
        return Hessian(self.vertex_count, scalar, self.blocks + other.blocks)

    def product(self, direction: Floats) -> Floats:
        """Matrix times a displacement field (n, 3)."""
        flat = np.zeros(direction.size)
        for block in self.blocks:
            flat += block @ direction.ravel()
        image = flat.reshape(direction.shape)
        if self.scalar is not None:
            image += self.scalar @ direction
        return image

    def matrix(self) -> Sparse:
        """The sum as one (3n, 3n) matrix, coordinates of a vertex adjacent."""
        parts = [block.tocsr() for block in self.blocks]
        if self.scalar is not None:
            parts.append(kron(self.scalar, identity(3), format="csr"))
        if not parts:
            return csr_matrix((3 * self.vertex_count, 3 * self.vertex_count))
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total


class BlockSum:
    """Hessians on n vertices as one block matrix (3n, 3n) each, with a block at every vertex and wherever a part of
    one has any: what `Elimination` and `Cholesky` take.

    Where numbers go is found once and kept as long as the parts of Hessians keep their patterns.
    """

    def __init__(self, vertex_count: int) -> None:
        self._n = vertex_count
        self._parts: list[Sparse] = []
        self._slots: list[Ints] = []
        self._columns, self._starts = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)

    def __call__(self, hessian: Hessian) -> Sparse:
        """A Hessian as a block matrix (BSR)."""
        blocks = [part if isinstance(part, bsr_matrix) else part.tocsr().tobsr((3, 3)) for part in hessian.blocks]
        parts = blocks if hessian.scalar is None else [hessian.scalar.tocsr(), *blocks]
        if len(parts) != len(self._parts) or not all(map(_alike, parts, self._parts)):
            self._follow(parts)
        data = np.zeros((len(self._columns), 3, 3))
        for part, slots in zip(parts, self._slots, strict=True):
            if part.data.ndim == 1:
                for axis in range(3):
                    data[slots, axis, axis] += part.data
            elif len(slots) == len(data):
                data += part.data
            else:
                data[slots] += part.data
        return bsr_matrix((data, self._columns, self._starts), shape=(3 * self._n, 3 * self._n))

    def _follow(self, parts: list[Sparse]) -> None:
        """Take up the patterns of these parts."""
        n = self._n
        vertices = np.arange(n)
        keys = [np.repeat(vertices, np.diff(part.indptr)) * n + part.indices for part in parts]
        pairs = np.unique(np.concatenate([vertices * (n + 1), *keys]))
        self._columns = (pairs % n).astype(np.int32)
        self._starts = np.searchsorted(pairs, np.arange(n + 1) * n).astype(np.int32)
        self._slots = [np.searchsorted(pairs, key) for key in keys]
        # Their patterns alone are asked for again; numbers may change in place meanwhile.
        self._parts = parts


def _alike(a: Sparse, b: Sparse) -> bool:
    """Whether two matrices have one pattern."""
    return a.data.shape == b.data.shape and np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices)
