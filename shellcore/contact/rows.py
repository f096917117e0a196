"""Contacts as the solvers see them: one row a pair, with nearest points and normal frozen.

The gap of a row is linear in the positions, g = n · ∑ wₖ xₖ − offset, so the vectors of all rows are a product with one
sparse matrix W of the weights, and the Hessian ∑ b''(g) (wₖ n)(wₗ n)ᵀ is positive semidefinite as it stands. Most rows
are near but do not press: all beyond their gaps is computed for those that do.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property
from itertools import combinations, combinations_with_replacement

import numpy as np
from scipy.sparse import csr_matrix

from ..linalg.assembly import Hessian
from ..linalg.vectors import Product, components, dot, picked
from ..types import Bools, Floats, Ints
from .barrier import barrier
from .normal_cones import NormalCones
from .pairs import Pairs
from .springs import Springs

# Cosine of the angle by which a row's normal may turn when it is frozen anew.
TURNED = 0.5
# Share of the largest error of a gap at colliders that counts beside the mean of all. A sheet that slides over edges of
# a mesh has a few gaps off by up to five times the tolerance in every step: with 1 a drape of 6.4k vertices took 45
# rounds and 899 gradients in 24 frames, with this 24 and 718.
OF_COLLIDERS = 0.1
# Make numbers of several vertices.
PRIMES = (1_000_003, 998_244_353, 2_147_483_647)

Coupled = tuple[Ints, Ints, Floats]
"""A symmetric matrix [N/m] of vertices as a sum of blocks: of the vertices `first` and `second` (k,), which may be one,
the block (9, k); those of (second, first) are the same."""


class Rows:
    """The pairs of `pairs` chosen by `which` (p,).

    `strength`: spring constants [N/m], (r,), of pairs with vertices (4, r) whose force begins at gaps (r,) [m]. `goal`
    (total − count, 3): where colliders are for the solver. `struck`: pairs to keep, whatever is nearest.
    """

    def __init__(
        self,
        pairs: Pairs,
        which: Bools,
        strength: Callable[[Ints, Floats], Floats],
        goal: Floats,
        struck: Ints | None = None,
        cones: NormalCones | None = None,
    ) -> None:
        self._cones = cones
        self.at = _telling(pairs, np.flatnonzero(which), struck)
        self.pairs = pairs
        self.normals, self.corners = picked(pairs.normals, self.at), picked(pairs.corners, self.at)
        self.weights = picked(pairs.weights, self.at)
        self.spread = Spread(self.corners, self.weights, pairs.bodies.count, goal)
        self.offset = (pairs.radius + pairs.core)[self.at]
        self._lift_corners()
        self._offset = self.offset
        self.full = (pairs.reach - pairs.core)[self.at]
        self._round = np.flatnonzero(pairs.radius[self.at] > 0)
        self._seen: tuple[Floats, tuple[Floats, Floats]] | None = None
        self.stiffness = strength(self.corners, self.full)
        self._goal = goal
        self._struck = np.isin(self.at, () if struck is None else struck)

    def _lift_corners(self) -> None:
        """Corners keep so far off a sphere that their faces just touch it: ρ²/2R for faces of circumradius ρ.

        Otherwise every face that slides hits the sphere with its middle, and the solver learns it a round too late.
        Faces large against the sphere are left to their own rows.
        """
        bodies = self.pairs.bodies
        ball = np.flatnonzero((self.pairs.radius[self.at] > 0) & (self.corners[0] < bodies.count))
        radius, size = self.pairs.radius[self.at[ball]], bodies.circumradius[self.corners[0, ball]]
        self.offset[ball] += np.where(_lifts(size, radius), 0.5 * size**2 / radius, 0.0)

    def tell_by(self, pairs: Pairs, at: Ints, x: Floats) -> None:
        """Have only those rows press, pairs `at` of `pairs`, that lie in the normal cones of meshes with the stack at x
        (total, 3)."""
        assert self._cones is not None
        outside = self._cones.outside(pairs, at, x) & ~self._struck
        self.offset = np.where(outside, -np.inf, self._offset)

    def __len__(self) -> int:
        return len(self.at)

    def refrozen(self, stack: Floats) -> Rows:
        """The same rows with nearest points and normals as they are at `stack` (total, 3).

        What has passed through, or has turned too far to be sure that it has not, keeps the side it was seen from.
        """
        weights, normals, _ = self._own_pairs.nearest(stack)
        kept = (dot(normals, self.normals) < TURNED) | self._struck
        weights[:, kept], normals[:, kept] = self.weights[:, kept], self.normals[:, kept]
        rows = copy(self)
        rows.weights, rows.normals, rows._seen = weights, normals, None
        rows.spread = Spread(self.corners, weights, self.pairs.bodies.count, self._goal)
        return rows

    @cached_property
    def _own_pairs(self) -> Pairs:
        """The pairs of the rows."""
        return self.pairs.picked(self.at)

    @cached_property
    def _own_names(self) -> Ints:
        """Names of the pairs of the rows, rising."""
        return np.sort(_names(self.pairs, self.at))

    def have(self, pairs: Pairs, at: Ints) -> bool:
        """Whether there is a row for each of the pairs `at` (k,) that says what no other does."""
        names = _names(pairs, at)
        found = np.minimum(np.searchsorted(self._own_names, names), len(self._own_names) - 1)
        missing = at[self._own_names[found] != names] if len(self) else at
        return len(missing) == 0 or len(_telling(pairs, missing, None)) == 0

    def gaps(self, x: Floats) -> tuple[Floats, Floats]:
        """Gap of each row [m], (r,), and the vector between its points, (3, r), for shells at x (count, 3)."""
        # A line search asks thrice for where it stands.
        if self._seen is not None and self._seen[0] is x:
            return self._seen[1]
        vectors = self.spread.vectors(x)
        self._seen = x, (self._gaps_of(vectors), vectors)
        return self._seen[1]

    def _gaps_of(self, vectors: Floats) -> Floats:
        gaps = self._lengths(vectors)
        gaps -= self.offset
        return gaps

    def _lengths(self, vectors: Floats) -> Floats:
        """How far the sides of each row are apart [m], (r,), by the `vectors` (3, r) between their points."""
        all_round = len(self._round) == vectors.shape[1]
        lengths: Floats = np.sqrt(dot(vectors, vectors)) if all_round else dot(vectors, self.normals)
        if len(self._round) and not all_round:
            part = vectors[:, self._round]
            lengths[self._round] = np.sqrt(dot(part, part))
        return lengths

    def _pressing(self, x: Floats) -> tuple[Ints, Floats, Floats, tuple[Floats, Floats, Floats]]:
        """Rows that press (k,), their gaps, normals (3, k), and energy, slope and curvature."""
        gaps, vectors = self.gaps(x)
        at = np.flatnonzero(gaps < self.full)
        near = gaps[at]
        return at, near, self._turned(at, vectors), barrier(near, self.full[at], self.stiffness[at])

    def _turned(self, at: Ints, vectors: Floats) -> Floats:
        """Normals of rows `at` (k,), (3, k): frozen, but those of spheres point where the `vectors` do."""
        normals = picked(self.normals, at)
        if len(self._round):
            ball = np.flatnonzero(self.pairs.radius[self.at[at]] > 0)
            vector = vectors[:, at[ball]]
            normals[:, ball] = vector / np.maximum(np.sqrt(dot(vector, vector)), 1e-300)
        return normals

    def line(self, x: Floats, direction: Floats) -> Line:
        """Contact energy from x on along a displacement `direction` of the shells, both (count, 3), normals as at x."""
        gaps, vectors = self.gaps(x)
        # No gap closes by more than both its sides move.
        most = 2.0 * np.sqrt(3.0) * float(np.abs(direction).max())
        near = np.flatnonzero(gaps - most < self.full)
        rates = dot(self.spread.moved_at(near, direction), self._turned(near, vectors))
        return Line(gaps[near], rates, self.full[near], self.stiffness[near])

    def pushes(self, x: Floats) -> Floats:
        """Normal force of each row [N], (r,), for shells at x (count, 3)."""
        at, _, _, (_, slope, _) = self._pressing(x)
        forces = np.zeros(len(self))
        forces[at] = -slope
        return forces

    def pushes_of(self, stack: Floats) -> Floats:
        """The same with colliders where `stack` (total, 3) has them."""
        points = components(stack)
        vectors = np.zeros((3, len(self)))
        for weight, corner in zip(self.weights, self.corners, strict=True):
            vectors += weight * picked(points, corner)
        return -barrier(self._gaps_of(vectors), self.full, self.stiffness)[1]

    def pressed(self, x: Floats, share: float) -> Ints:
        """Vertices of the stack in rows whose gap is below a `share` of that at which force begins."""
        found: Ints = np.unique(picked(self.corners, np.flatnonzero(self.gaps(x)[0] < share * self.full)))
        return found

    def drift(self, stack: Floats, x: Floats) -> float:
        """Difference between gaps that press and their true values [m], root mean square: what freezing cost.

        At least the share OF_COLLIDERS of the largest difference at colliders, and all of the largest between shells.
        """
        gaps, vectors = self.gaps(x)
        # Rows that lie outside of their cones do not press, but might where they are.
        near = gaps < self.full if self._cones is None else self._lengths(vectors) - self._offset < 2.0 * self.full
        at = np.flatnonzero(near)
        if len(at) == 0:
            return 0.0
        part = self.pairs.picked(self.at[at])
        part.weights, part.normals, distance = part.nearest(stack)
        true = distance - self._offset[at]
        if self._cones is not None:
            true[self._cones.outside(part, np.arange(len(at)), stack) & ~self._struck[at]] = np.inf
        off = np.abs(np.minimum(true, self.full[at]) - np.minimum(gaps[at], self.full[at]))
        shells = (picked(self.corners, at) < self.pairs.bodies.count).all(axis=0)
        worst = max(float(off[shells].max(initial=0.0)), OF_COLLIDERS * float(off.max()))
        return max(float(np.sqrt(np.mean(off * off))), worst)

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        """Energy [J] and gradient [N] on the shells, (count, 3), by columns."""
        at, _, normals, (value, slope, _) = self._pressing(x)
        return float(value.sum()), self.spread.gathered(at, slope * normals)

    def springs(self, x: Floats) -> Springs:
        """A bound on the Hessian that is alike for all directions."""
        at, _, _, (_, _, curvature) = self._pressing(x)
        return self.spread.springs(at, curvature)

    def hessian(self, x: Floats) -> Hessian:
        """Second derivative [N/m] on the shells."""
        at, _, n, (_, _, curvature) = self._pressing(x)
        blocks = curvature[:, None, None] * (n[:, None, :] * n[None, :, :]).transpose(2, 0, 1)
        return self.spread.blocks(at, blocks)

    def coupled(self, x: Floats) -> Coupled:
        """The second derivative as `Spread.coupled` has it."""
        at, _, n, (_, _, curvature) = self._pressing(x)
        return self.spread.coupled(at, curvature * (n[:, None] * n[None, :]).reshape(9, -1))

    def grip(self, x: Floats, speeds: Floats) -> tuple[Hessian, Floats]:
        """See `Frozen.grip`; `speeds` [m/s] of colliders, (total − count, 3)."""
        at, _, normals, (_, _, curvature) = self._pressing(x)
        corners, weights = picked(self.corners, at), picked(self.weights, at)
        partners = Spread(corners, weights, self.pairs.bodies.count, speeds).shift
        return self.hessian(x), -self.spread.gathered(at, curvature * dot(partners, normals) * normals)


class Spread:
    """The weights of some rows on the vertices of shells: W, (r, count), with what colliders at `goal` add to W x.

    `corners`, `weights` (4, r); `goal` (total − count, 3).
    """

    def __init__(self, corners: Ints, weights: Floats, count: int, goal: Floats) -> None:
        self.count = count
        rows = corners.shape[1]
        self._own = own = corners < count
        self._all_weights = weights
        self._corners = own * corners
        self._weights = own * weights
        # Of pairs with spheres and colliders most weights are none. Places of the others, row by row: a quarter of the
        # time that boolean indexing takes, in what is made two to four times a step.
        there = self._weights != 0.0
        starts = np.zeros(rows + 1, dtype=np.int32)
        np.cumsum(there.view(np.int8).sum(axis=0, dtype=np.int32), out=starts[1:])
        place = np.flatnonzero(np.ascontiguousarray(there.T))
        place = (place & 3) * rows + (place >> 2)
        columns, entries = self._corners.reshape(-1).take(place), self._weights.reshape(-1).take(place)
        self._product = Product.by_rows((rows, count), starts, columns.astype(np.int32), entries)
        self.shift = np.zeros((3, rows))
        if len(goal):
            colliders, theirs = components(goal), weights - self._weights
            for corner, weight in zip(corners, theirs, strict=True):
                # Places of own vertices are clipped: their weight is none.
                self.shift += weight * picked(colliders, corner - count)

    def moved(self, direction: Floats) -> Floats:
        """W times vectors (count, 3): (3, r)."""
        return self._product(components(direction))

    def moved_at(self, at: Ints, direction: Floats) -> Floats:
        """The same for rows `at` (k,) only, (3, k)."""
        parts, total = components(direction), np.zeros((3, len(at)))
        for corner, weight in zip(self._corners, self._weights, strict=True):
            total += weight[at] * picked(parts, corner[at])
        return total

    def vectors(self, x: Floats) -> Floats:
        """The vectors ∑ wₖ xₖ, (3, r), for shells at x (count, 3)."""
        vectors = self.moved(x)
        vectors += self.shift
        return vectors

    def gathered(self, at: Ints, forces: Floats) -> Floats:
        """Wᵀ times `forces` (3, k) of rows `at` (k,): (count, 3) by columns."""
        of_rows = np.zeros((3, self._product.rows))
        of_rows[:, at] = forces
        return self._product.transposed(of_rows).T

    def springs(self, at: Ints, curvature: Floats) -> Springs:
        """Springs no softer than Wᵀ diag(curvature) W.

        The sides of a pair are means, ∑aᵢuᵢ and ∑bⱼuⱼ, and (∑aᵢuᵢ − ∑bⱼuⱼ)² ≤ ∑aᵢbⱼ(uᵢ − uⱼ)². Springs leave the
        momentum of shells that touch each other alone, as a diagonal matrix would not.
        """
        corners, own, weights = picked(self._corners, at), picked(self._own, at), picked(self._all_weights, at)
        # Weights of the two sides have opposite signs.
        first, second = (np.maximum(sign * weights, 0.0) for sign in (1.0, -1.0))
        apart = first * np.where(own, 0.0, second).sum(axis=0) + second * np.where(own, 0.0, first).sum(axis=0)
        stiff = (curvature * np.where(own, apart, 0.0)).ravel()
        ground = np.bincount(corners.ravel(), weights=stiff, minlength=self.count).astype(np.float64)
        shells = np.flatnonzero((own & (first > 0)).any(axis=0) & (own & (second > 0)).any(axis=0))
        rows, columns, values = [], [], []
        for k, m in combinations(range(4), 2) if len(shells) else ():
            spring = first[k, shells] * second[m, shells] + second[k, shells] * first[m, shells]
            both = np.flatnonzero((spring > 0) & own[k, shells] & own[m, shells])
            ends, stiff = corners[:, shells[both]][[k, m]], (curvature[shells] * spring)[both]
            rows += [ends[0], ends[1]]
            columns += [ends[1], ends[0]]
            values += [stiff, stiff]
        if not values:
            return Springs(ground, csr_matrix((self.count, self.count)))
        entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
        return Springs(ground, csr_matrix(entries, shape=(self.count, self.count)))

    def coupled(self, at: Ints, blocks: Floats) -> Coupled:
        """∑ over rows `at` (k,) of wₖ wₗ block, `blocks` (9, k) symmetric, vertex by vertex and pair by pair."""
        corners, weights = picked(self._corners, at), picked(self._weights, at)
        first, second, parts = [], [], []
        for k, m in combinations_with_replacement(range(4), 2):
            both = np.flatnonzero((weights[k] != 0.0) & (weights[m] != 0.0))
            first.append(corners[k, both])
            second.append(corners[m, both])
            parts.append((weights[k] * weights[m])[both] * picked(blocks, both))
        return np.concatenate(first), np.concatenate(second), np.concatenate(parts, axis=1)

    def blocks(self, at: Ints, blocks: Floats) -> Hessian:
        """∑ over rows `at` of wₖ wₗ block, (3 count, 3 count); `blocks` (k, 3, 3)."""
        k, axis = len(at), np.arange(3)
        corners, weights = self._corners[:, at].T.ravel(), self._weights[:, at].T.ravel()
        rows = (3 * np.repeat(np.arange(k), 4)[:, None] + axis).ravel()
        columns = (3 * corners[:, None] + axis).ravel()
        jacobian = csr_matrix((np.repeat(weights, 3), (rows, columns)), shape=(3 * k, 3 * self.count))
        inner = (3 * np.arange(k)[:, None, None] + np.broadcast_to(axis, (3, 3))[None]).ravel()
        middle = csr_matrix((blocks.ravel(), inner, np.arange(0, 9 * k + 1, 3)), shape=(3 * k, 3 * k))
        return Hessian(self.count, blocks=[csr_matrix(jacobian.T @ (middle @ jacobian))])


class Line:
    """Energy of rows along a line: `gaps` [m] at its start, how they change over it (`rates`), each (k,)."""

    def __init__(self, gaps: Floats, rates: Floats, full: Floats, stiffness: Floats) -> None:
        self._gaps, self._rates, self._full, self._stiffness = gaps, rates, full, stiffness
        value, slope, _ = barrier(gaps, full, stiffness)
        self._start = float(value.sum())
        self.slope = float((slope * rates).sum())
        """Derivative at the start [J]."""

    def rise(self, share: float) -> float:
        """Energy after a share of the line less that at its start [J]."""
        return float(barrier(self._gaps + share * self._rates, self._full, self._stiffness)[0].sum()) - self._start


def _lifts(size: Floats, radius: Floats) -> Bools:
    """Whether faces of circumradius `size` are small against spheres of `radius` [m]."""
    small: Bools = size**2 < 0.1 * radius**2
    return small


def _telling(pairs: Pairs, at: Ints, struck: Ints | None) -> Ints:
    """Rows of `at` (k,) that say what no other row does, and those that were `struck`.

    Where the nearest point of an edge is its end, a vertex-face pair says the same; where that of a face is a corner,
    the pair of corner and sphere does.
    """
    weighty = (np.abs(picked(pairs.weights, at)) > 1e-6).sum(axis=0)
    tells = weighty == 4
    bodies, faces = pairs.bodies, int(np.searchsorted(at, pairs.faces))
    corners, radius = picked(pairs.corners, at[:faces]), pairs.radius[at[:faces]]
    ball = (radius > 0) & (corners[0] >= bodies.count)
    # Corners that are lifted (below) keep their faces off, too.
    small = np.zeros(faces, dtype=bool)
    small[ball] = _lifts(bodies.circumradius[corners[1:, ball]], radius[ball]).all(axis=0)
    tells[:faces] = ~(ball & ((weighty[:faces] == 2) | small))
    if struck is not None and len(struck):
        was = np.zeros(len(pairs), dtype=bool)
        was[struck] = True
        tells |= was[at]
    # Lists of candidates overlap: each pair once.
    at = at[tells]
    return at[np.sort(np.unique(_names(pairs, at), return_index=True)[1])]


def _names(pairs: Pairs, at: Ints) -> Ints:
    """A number for each pair of rows `at` (k,) that does not depend on which edge comes first (any hash may clash)."""
    a, b, c, d = picked(pairs.corners, at)
    faces = at < pairs.faces
    first, second = np.where(faces, a, (a + PRIMES[0]) * (b + PRIMES[1])), (c + PRIMES[0]) * (d + PRIMES[1])
    name: Ints = np.where(faces, PRIMES[2] * (first * PRIMES[0] + b) + second, first * second)
    return name
