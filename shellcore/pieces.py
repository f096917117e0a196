"""Connected pieces of a mesh: averages, volumes and conformal motions of each, without a loop over them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from .mesh import Topology
from .types import Floats, Ints, Sparse


class Pieces:
    """Pieces that share no vertex; `weights` (n,) > 0 [m²] are the vertex areas by which they are averaged."""

    count: int
    of_vertex: Ints
    """Piece of each vertex, shape (n,)."""

    def __init__(self, mesh: Topology, weights: Floats) -> None:
        n = mesh.vertex_count
        graph = csr_matrix((np.ones(len(mesh.edges)), mesh.edges.T), shape=(n, n))
        self.count, of_vertex = connected_components(graph, directed=False)
        self.of_vertex = of_vertex.astype(np.int64)
        share = weights / np.bincount(self.of_vertex, weights)[self.of_vertex]
        self._average: Sparse = csr_matrix((share, (self.of_vertex, np.arange(n))), shape=(self.count, n))
        self._closed = np.ones(self.count)
        self._closed[self.of_vertex[mesh.boundary_vertices]] = 0.0

    def means(self, x: Floats) -> Floats:
        """Mean of x (n, k), weighted by area, over the piece of each vertex, (n, k)."""
        means: Floats = (self._average @ x)[self.of_vertex]
        return means

    def sums(self, values: Floats) -> Floats:
        """Sum of vertex values (n,) over each piece, (pieces,)."""
        return np.bincount(self.of_vertex, values, minlength=self.count).astype(np.float64)

    def volumes(self, x: Floats, faces: Ints) -> Floats:
        """Volume inside each piece, (pieces,)."""
        a, b, c = (x[faces[:, j]] for j in range(3))
        sixth = (a * np.cross(b, c)).sum(axis=1) / 6
        return np.bincount(self.of_vertex[faces[:, 0]], sixth, minlength=self.count).astype(np.float64)

    def drift(self, x: Floats, direction: Floats) -> Floats:
        """The part of `direction` (n, 3) along scalings and inversions of closed pieces at x (n, 3).

        A closed surface has the Willmore energy of all its conformal images, so nothing but chance decides
        how far a flow drifts among them: it would grow, and crowd its vertices on one side.
        The fields are x and, for a vector b, |x|²b − 2(b·x)x less its mean, with x from the piece's mean in units
        of its size.
        """
        x, direction = x - self.means(x), direction - self.means(direction)
        x /= np.sqrt(self.means(_dots(x, x)))
        square = _dots(x, x)
        along = _dots(x, direction)
        moments = self._average @ np.hstack([square, square * square, square * x])
        outer = (self._average @ (x[:, :, None] * x[:, None, :]).reshape(-1, 9)).reshape(-1, 3, 3)
        inversion_mean = moments[:, :1, None] * np.eye(3) - 2.0 * outer
        gram = np.empty((self.count, 4, 4))
        gram[:, 0, 0] = moments[:, 0]
        gram[:, 0, 1:] = gram[:, 1:, 0] = -moments[:, 2:]
        gram[:, 1:, 1:] = moments[:, 1, None, None] * np.eye(3) - inversion_mean @ inversion_mean
        gram += 1e-12 * np.eye(4)  # symmetric pieces of very few vertices leave a field without a motion
        right = self._average @ np.hstack([along, square * direction - 2.0 * along * x])
        share = np.linalg.solve(gram, right[:, :, None])[:, :, 0] * self._closed[:, None]
        scaling, inversion = share[self.of_vertex, :1], share[self.of_vertex, 1:]
        drift: Floats = (scaling - 2.0 * _dots(x, inversion)) * x + square * inversion
        return drift - self.means(drift)


def _dots(a: Floats, b: Floats) -> Floats:
    """Dot products of rows, (n, 1)."""
    products: Floats = np.einsum("ij,ij->i", a, b)[:, None]
    return products
