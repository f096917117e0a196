"""Connected pieces of a mesh: averages, volumes and conformal motions of each, without a loop over them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from .linalg.vectors import components, dot
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
        x, direction = self._about_mean(components(x)), self._about_mean(components(direction))
        x = x / self._spread(np.sqrt(self._averages(dot(x, x)[None])))
        square, along = dot(x, x), dot(x, direction)
        first, second = np.triu_indices(3)
        by_field = [along, square * direction - 2.0 * along * x]
        rows = np.vstack([square, square * square, square * x, *by_field, x[first] * x[second]])
        means = self._averages(rows).T
        outer = np.empty((self.count, 3, 3))
        outer[:, first, second] = outer[:, second, first] = means[:, 9:]
        inversion_mean = means[:, :1, None] * np.eye(3) - 2.0 * outer
        gram = np.empty((self.count, 4, 4))
        gram[:, 0, 0] = means[:, 0]
        gram[:, 0, 1:] = gram[:, 1:, 0] = -means[:, 2:5]
        gram[:, 1:, 1:] = means[:, 1, None, None] * np.eye(3) - inversion_mean @ inversion_mean
        gram += 1e-12 * np.eye(4)  # symmetric pieces of very few vertices leave a field without a motion
        share = np.linalg.solve(gram, means[:, 5:9, None])[:, :, 0] * self._closed[:, None]
        share = self._spread(share.T)
        drift = (share[0] - 2.0 * dot(x, share[1:])) * x + square * share[1:]
        return np.ascontiguousarray(self._about_mean(drift).T)

    def _averages(self, rows: Floats) -> Floats:
        """Mean of each of the rows (k, n), weighted by area, over each piece, (k, pieces)."""
        return np.stack([self._average @ row for row in rows])

    def _about_mean(self, rows: Floats) -> Floats:
        """Coordinates (k, n) less their means over the piece of each vertex."""
        about: Floats = rows - self._spread(self._averages(rows))
        return about

    def _spread(self, values: Floats) -> Floats:
        """Values (k, pieces) at the vertices of each piece: (k, n), or (k, 1) of the only piece there is."""
        return values if self.count == 1 else np.take(values, self.of_vertex, axis=1)
