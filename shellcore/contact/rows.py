"""Contacts as the solvers see them: one row a pair, with nearest points and normal frozen.

The gap of a row is linear in the positions, g = n · ∑ wₖ xₖ − offset, so value, gradient and Hessian are products with
one sparse matrix W of the weights, and the Hessian ∑ b''(g) (wₖ n)(wₗ n)ᵀ is positive semidefinite as it stands.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ..assembly import Hessian
from ..types import Bools, Floats, Ints, Sparse
from .barrier import barrier
from .pairs import Pairs


class Rows:
    """The pairs of `pairs` chosen by `which` (p,), with spring constants from the shell vertices they join.

    `inertia` [N/m] and `weight` [N] per vertex of the stack, (total,), zero for colliders: k = inertia + weight/ĝ.
    `struck`: pairs to keep whatever features are nearest.
    """

    def __init__(self, pairs: Pairs, which: Bools, inertia: Floats, weight: Floats, struck: Ints | None = None) -> None:
        # Where the nearest point of an edge is its end, a vertex-face pair says the same; where that of a face is a
        # corner, the pair of corner and sphere does.
        inner = np.asarray((np.abs(pairs.weights) > 1e-6).all(axis=1))
        ball = (pairs.radius > 0) & (pairs.vertices[:, 0] >= pairs.bodies.count)
        inner[: pairs.faces] = ~(ball & ((np.abs(pairs.weights) > 1e-6).sum(axis=1) == 2))[: pairs.faces]
        if struck is not None:
            inner[struck] = True
        self.at = np.flatnonzero(inner & which)
        self.pairs = pairs
        count = pairs.bodies.count
        vertices, self.normals = pairs.vertices[self.at], pairs.normals[self.at]
        p, total = len(self.at), pairs.bodies.total
        starts = np.arange(0, 4 * p + 1, 4)
        self.weights = csr_matrix((pairs.weights[self.at].ravel(), vertices.ravel(), starts), shape=(p, total))
        # The shells' part of W: a slice of a sparse matrix costs as much as a product with it.
        self.own_weights = csr_matrix(self.weights[:, :count])
        self.spread = csr_matrix(self.own_weights.T)
        self.offset = (pairs.radius + pairs.core)[self.at]
        self._lift_corners(vertices)
        self.full = (pairs.reach - pairs.core)[self.at]
        self._round = np.flatnonzero(pairs.radius[self.at] > 0)
        self._seen: tuple[Floats, tuple[Floats, Floats]] | None = None
        mine = (vertices < count).sum(axis=1)
        self.stiffness = (inertia[vertices].sum(axis=1) + weight[vertices].sum(axis=1) / self.full) / mine

    def _lift_corners(self, vertices: Ints) -> None:
        """Corners keep so far off a sphere that their faces just touch it: ρ²/2R for faces of circumradius ρ.

        Otherwise every face that slides hits the sphere with its middle, and the solver learns it a round too late.
        Faces large against the sphere are left to their own rows.
        """
        bodies = self.pairs.bodies
        ball = np.flatnonzero((self.pairs.radius[self.at] > 0) & (vertices[:, 0] < bodies.count))
        radius = self.pairs.radius[self.at[ball]]
        lift = 0.5 * bodies.circumradius[vertices[ball, 0]] ** 2 / radius
        self.offset[ball] += np.where(lift < 0.05 * radius, lift, 0.0)

    def __len__(self) -> int:
        return len(self.at)

    def gaps(self, stack: Floats) -> tuple[Floats, Floats]:
        """Gap of each row [m], (p,), and its normals (p, 3): frozen, except that those of spheres turn."""
        # A line search asks thrice for where it stands.
        if self._seen is not None and self._seen[0] is stack:
            return self._seen[1]
        vector, normals = self.weights @ stack, self.normals
        gaps: Floats = np.einsum("ij,ij->i", vector, normals)
        if len(self._round):
            at, normals = self._round, normals.copy()
            gaps[at] = np.sqrt(np.einsum("ij,ij->i", vector[at], vector[at]))
            normals[at] = vector[at] / np.maximum(gaps[at, None], 1e-300)
        self._seen = stack, (gaps - self.offset, normals)
        return self._seen[1]

    def line(self, stack: Floats, direction: Floats) -> Line:
        """Contact energy from `stack` on along a displacement `direction` of the shells, normals as at `stack`."""
        gaps, normals = self.gaps(stack)
        rates = np.einsum("ij,ij->i", self.own_weights @ direction, normals)
        near = np.flatnonzero(gaps + np.minimum(rates, 0.0) < self.full)
        return Line(gaps[near], rates[near], self.full[near], self.stiffness[near])

    def slopes(self, stack: Floats) -> Floats:
        """Minus the normal force of each row [N], (p,)."""
        return barrier(self.gaps(stack)[0], self.full, self.stiffness)[1]

    def drift(self, stack: Floats) -> float:
        """Largest difference between a gap that presses and its true value [m]: what freezing cost."""
        gaps = self.gaps(stack)[0]
        near = np.flatnonzero(gaps < self.full)
        pairs = self.pairs.picked(self.at[near])
        true = pairs.nearest(stack)[2] - self.offset[near]
        return float(np.abs(np.minimum(true, self.full[near]) - gaps[near]).max(initial=0.0))

    def value_and_gradient(self, stack: Floats) -> tuple[float, Floats]:
        """Energy [J] and gradient [N] on the shells, (count, 3)."""
        gaps, normals = self.gaps(stack)
        value, slope, _ = barrier(gaps, self.full, self.stiffness)
        gradient: Floats = self.spread @ (slope[:, None] * normals)
        return float(value.sum()), gradient

    def stiffness_at(self, stack: Floats) -> Sparse:
        """Wᵀ b'' W, (count, count): the Hessian with every normal replaced by all three directions."""
        curvature = barrier(self.gaps(stack)[0], self.full, self.stiffness)[2]
        return self.spread @ self.own_weights.multiply(curvature[:, None]).tocsr()

    def vertex_stiffness(self, stack: Floats) -> Floats:
        """Diagonal of `stiffness_at`, (count,)."""
        curvature = barrier(self.gaps(stack)[0], self.full, self.stiffness)[2]
        at = np.flatnonzero(curvature > 0)
        part = self.own_weights[at]
        each = np.repeat(curvature[at], np.diff(part.indptr)) * part.data**2
        return np.bincount(part.indices, weights=each, minlength=part.shape[1]).astype(np.float64)

    def hessian(self, stack: Floats) -> Hessian:
        """Second derivative [N/m] on the shells."""
        gaps, normals = self.gaps(stack)
        curvature = barrier(gaps, self.full, self.stiffness)[2]
        at = np.flatnonzero(curvature > 0)
        n = normals[at]
        blocks = curvature[at, None, None] * n[:, :, None] * n[:, None, :]
        return block_products(self.weights[at], blocks, self.pairs.bodies.count)


class Line:
    """Energy of rows along a line: `gaps` [m] at its start, how they change over it (`rates`), each (p,)."""

    def __init__(self, gaps: Floats, rates: Floats, full: Floats, stiffness: Floats) -> None:
        self._gaps, self._rates, self._full, self._stiffness = gaps, rates, full, stiffness
        value, slope, _ = barrier(gaps, full, stiffness)
        self._start = float(value.sum())
        self.slope = float(slope @ rates)
        """Derivative at the start [J]."""

    def rise(self, share: float) -> float:
        """Energy after a share of the line less that at its start [J]."""
        return float(barrier(self._gaps + share * self._rates, self._full, self._stiffness)[0].sum()) - self._start


def block_products(weights: Sparse, blocks: Floats, count: int) -> Hessian:
    """∑ over rows of wₖ wₗ block, (3 count, 3 count); `weights` (p, total), `blocks` (p, 3, 3)."""
    entries = weights[:, :count].tocoo()
    p, axis = weights.shape[0], np.arange(3)
    rows, columns = (3 * entries.row[:, None] + axis).ravel(), (3 * entries.col[:, None] + axis).ravel()
    jacobian = csr_matrix((np.repeat(entries.data, 3), (rows, columns)), shape=(3 * p, 3 * count))
    starts = np.arange(0, 9 * p + 1, 3)
    inner = (3 * np.arange(p)[:, None, None] + np.broadcast_to(axis, (3, 3))[None]).ravel()
    middle = csr_matrix((blocks.ravel(), inner, starts), shape=(3 * p, 3 * p))
    return Hessian(count, blocks=[csr_matrix(jacobian.T @ (middle @ jacobian))])
