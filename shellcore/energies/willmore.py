"""Willmore energy in vertex form, on the surface as it is now (not frozen at rest as in `quadratic`).

Quadratic bending (Bergou et al. 2006), eq. 3 with linear Lagrange elements: E = ½ xᵀLᵀM⁻¹Lx.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, diags

from ..linalg.assembly import scatter
from ..linalg.vectors import dot
from ..mesh import Topology
from ..types import Floats, Ints, Sparse

# Twice the area over the sum of squared edges: below this, an area computed from edge lengths has lost half its digits.
SLIVER = 1e-7


class _Metric(NamedTuple):
    """What the energy needs of every edge and face: all from squared edge lengths."""

    edge: Floats
    """Edge vectors (3, e), low to high vertex."""
    squares: Floats
    """Squared length of the edge opposite each corner, (3, m)."""
    dots: Floats
    """Dot product of the two edges that leave each corner, (3, m)."""
    double_area: Floats
    """Twice the area, (m,); zero for a sliver."""


class WillmoreEnergy:
    """½ Σ |(Lx)ᵥ|² / Mᵥ over the vertices that are not on the boundary; dimensionless, 8π on a round sphere.

    (Lx)ᵥ is the gradient of the area with respect to vertex v (the cotangent Laplacian: twice the mean
    curvature times the area) and Mᵥ a third of the areas around v. At a boundary vertex Lx holds the
    conormal, which is no curvature, so those are left out: a flat disc has energy zero.

    Vectors live on edges and everything per face is a scalar, which costs a third of vectors per corner.
    """

    def __init__(self, mesh: Topology) -> None:
        n, m, e = mesh.vertex_count, len(mesh.faces), len(mesh.edges)
        self.inside = np.ones(n)
        self.inside[mesh.boundary_vertices] = 0.0
        self._face_edges = np.ascontiguousarray(mesh.face_edges.T)
        self._corners = np.ascontiguousarray(mesh.faces.T)
        ends = (np.tile([-1.0, 1.0], e), mesh.edges.ravel(), np.arange(0, 2 * e + 1, 2))
        corner = np.arange(3 * m)
        self._difference: Sparse = csr_matrix(ends, shape=(e, n))
        self._divergence: Sparse = self._difference.T.tocsr()
        self._to_edges: Sparse = scatter(self._face_edges, e)
        sixth = np.full(3 * m, 1 / 6)
        self._to_mass: Sparse = csr_matrix((sixth, (self._corners.ravel(), corner % m)), shape=(n, m))

    def value(self, x: Floats) -> float:
        """Energy at positions x (n, 3); infinite where a triangle has collapsed."""
        return self.evaluate(x, gradient=False)[0]

    def gradient(self, x: Floats) -> Floats:
        """Exact derivative of `value` at x (n, 3), shape (n, 3) [1/m]."""
        return self.evaluate(x)[1]

    def evaluate(self, x: Floats, gradient: bool = True) -> tuple[float, Floats, float]:
        """Value, gradient (zeros unless asked for) and the cotangent of the mesh's smallest angle, at x (n, 3)."""
        edge, squares, dots, double_area = self._metric(x)
        if not double_area.all():
            return np.inf, np.zeros_like(x), np.inf
        inverse = 1.0 / double_area
        cotangent = dots * inverse
        smallest_angle = float(cotangent.max())
        weight = 0.5 * (self._to_edges @ cotangent.ravel())
        area_gradient = _rows(self._divergence, weight * edge)
        u = area_gradient * (self.inside / (self._to_mass @ double_area))
        value = 0.5 * float(np.einsum("ij,ij->", u, area_gradient))
        if not gradient:
            return value, np.zeros_like(x), smallest_angle

        # With u = Lx/M: dE = u·L dx + u·dL x − ½|u|²·dM. Given s = (edge of u)·(edge of x), the last two terms are,
        # face by face, the differential of ½ Σ s cot − A Σ|u|²/6: a function of squared lengths alone.
        edge_u = _rows(self._difference, u)
        s = dot(edge_u, edge)[self._face_edges]
        by_area = 0.25 * inverse * dot(cotangent, s)
        by_area += dot(u, u)[self._corners].sum(axis=0) / 24
        by_dot = (0.5 * s - by_area * squares) * inverse
        by_length = by_dot.sum(axis=0) - 2.0 * by_dot
        tension = self._to_edges @ by_length.ravel()
        return value, _rows(self._divergence, weight * edge_u + tension * edge).T.copy(), smallest_angle

    def laplacian(self, x: Floats) -> tuple[Sparse, Floats]:
        """Cotangent Laplacian L (n, n) and vertex areas M (n,) [m²] of the surface at x (n, 3)."""
        _, _, dots, double_area = self._metric(x)
        weight = 0.5 * (self._to_edges @ (dots / double_area).ravel())
        return self._divergence @ diags(weight) @ self._difference, self._to_mass @ double_area

    def graph_laplacian(self) -> Sparse:
        """Each vertex minus the mean of its neighbours, (n, n): a Laplacian no noise can spoil."""
        neighbours = (self._divergence @ self._difference).tocsr()
        return diags(1.0 / neighbours.diagonal()) @ neighbours

    def slivers(self, x: Floats) -> Ints:
        """Faces too thin to have curvature in floating point, at x (n, 3)."""
        return np.flatnonzero(self._metric(x).double_area == 0.0)

    def _metric(self, x: Floats) -> _Metric:
        edge = _rows(self._difference, np.ascontiguousarray(x.T))
        squares = dot(edge, edge)[self._face_edges]
        half = 0.5 * squares.sum(axis=0)
        dots = half - squares
        double_area_squared = dots[0] * dots[1] + (dots[0] + dots[1]) * dots[2]
        valid = double_area_squared > (2 * SLIVER * half) ** 2
        return _Metric(edge, squares, dots, np.sqrt(np.where(valid, double_area_squared, 0.0)))


def _rows(matrix: Sparse, values: Floats) -> Floats:
    """`matrix` applied to each row of `values`: coordinates apart, twice as fast here as (n, 3) arrays."""
    return np.stack([matrix @ row for row in values])
