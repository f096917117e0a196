"""Lips of a crack that has not opened: they may touch and slide, but not pass through each other.

Copies of a vertex start at distance zero, where no direction separates them. So contact looks at a sheet that is drawn
in a little along its closed cracks: the corner of a lip is replaced by a point of its own piece, a rim's width ε
from both lips that meet there,

    y = x + w₁ (x₁ − x) + w₂ (x₂ − x)     (a fixed point of one of its faces; miter of the inward normals at rest)

or y = T x for all vertices. At birth drawn-in lips are 2ε apart, and all that contact does holds for them: force,
bound, friction. Forces on y are carried back by Tᵀ, which keeps linear and angular momentum since T's rows sum to one.
Lips of one crack may therefore overlap by their two rims, 2ε, and no more. Against all else the rim is added to the
core, so that the sheet as it is keeps clear of it.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, identity, kron

from ..cuts import BOUNDARY
from ..linalg.assembly import Change, Congruence, Hessian
from ..linalg.vectors import by_columns
from ..scene import Scene
from ..shell import Shell
from ..types import Bools, Floats, Ints, Sparse
from .bodies import Bodies
from .pairs import THINNEST, Pairs

# Width of a rim as a share of half the contact distance, and of what a corner may move towards its neighbours.
RIM, MOST = 0.25, 0.05
# Force between lips begins at this share of their distance at birth: none at first, though the sheet was bent there.
TOUCH = 0.85
# Corners sharper than this, cos of the angle between inward normals, are drawn in by less than their miter.
SHARPEST = -0.9


class Lips:
    """Closed lips of the cracked shells of a scene. `closed` (n,): copies that have not come apart."""

    def __init__(self, scene: Scene, bodies: Bodies, closed: Bools) -> None:
        offsets = scene.offsets()
        n = int(offsets[-1])
        drawn, source = [], np.arange(n)
        for shell, at in zip(scene.shells, offsets, strict=False):
            if shell.cut is not None:
                source[at : at + len(shell.cut.source)] = at + shell.cut.source
                drawn.append(_drawn_in(shell, RIM * bodies.half[at : at + len(shell.rest_positions)], int(at)))
        rows, columns, weights = (np.concatenate(part) for part in zip(*drawn, strict=True))
        rest = np.concatenate([shell.rest_positions for shell in scene.shells])
        every = _moved(rows, columns, weights, n)
        self.rest: Floats = rest - every @ rest
        """Rest positions with all lips drawn in, open or closed, (n, 3)."""
        now = closed[rows]
        self._shift = _moved(rows[now], columns[now], weights[now], n)
        """1 − T."""
        self._back = csr_matrix(self._shift.T)
        self.rim = np.zeros(bodies.total)
        """How far each vertex of the stack is drawn in at rest [m], (total,)."""
        self.rim[:n] = np.where(closed, np.sqrt(((self.rest - rest) ** 2).sum(axis=1)), 0.0)
        self._source = np.concatenate([source, np.arange(n, bodies.total)])
        self._twin = np.bincount(self._source, minlength=bodies.total)[self._source] > 1
        self._closed = np.concatenate([closed, np.zeros(bodies.total - n, dtype=bool)])
        self._count = n
        self._block: tuple[Sparse, Sparse, Change] | None = None

    # What contact sees, and back

    def read(self, x: Floats) -> Floats:
        """Drawn-in vertices, (n, 3), of x."""
        return by_columns(x - self._shift @ x)

    def carry(self, forces: Floats) -> Floats:
        """Forces on vertices from forces on the drawn-in ones, (n, 3) each."""
        return by_columns(forces - self._back @ forces)

    def placed(self, x: Floats, points: Floats) -> Floats:
        """x moved so that it is at `points` (n, 3) once drawn in: T⁻¹ by its series."""
        term = points - self.read(x)
        size = float(np.abs(term).max(initial=0.0))
        total = term
        while float(np.abs(term).max(initial=0.0)) > 1e-16 * size:
            term = self._shift @ term
            total = total + term
        return by_columns(x + total)

    def hessian(self, drawn: Hessian) -> Hessian:
        """TᵀHT."""
        if self._block is None:
            block = csr_matrix(kron(identity(self._count) - self._shift, identity(3)))
            self._block = block, csr_matrix(block.T), Change(block)
        blocks = [Congruence(block, *self._block) for block in drawn.blocks]
        return Hessian(self._count, drawn.scalar, blocks)

    def stiffness(self, drawn: Sparse) -> Sparse:
        """As it is: drawing in changes a preconditioner by less than it errs."""
        return drawn

    # What pairs may do

    def _shared(self, pairs: Pairs, which: Bools) -> Bools:
        """Whether the two sides of each pair have a copy of the same vertex among those of `which` (total,), (p,)."""
        v = pairs.corners
        shared = np.zeros(len(pairs), dtype=bool)
        first = np.arange(len(pairs)) >= pairs.faces
        for a, b in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3)):
            mine = (self._source[v[a]] == self._source[v[b]]) & which[v[a]] & which[v[b]]
            # The second vertex of a row is on the face's side, or the other end of the first edge.
            shared |= mine & (first if a else ~first if b == 1 else True)
        return shared

    def limit(self, pairs: Pairs) -> None:
        """Set when force between lips begins, and keep closed ones a rim further from all else."""
        rows = np.flatnonzero(self._twin[pairs.corners].any(axis=0))
        part = pairs.picked(rows)
        reach, core = part.reach.copy(), part.core.copy()
        half = pairs.bodies.half
        full = half[part.corners[0]] + half[part.corners[3]]
        touching, cut = self._shared(part, self._closed), self._shared(part, self._twin)
        at = np.flatnonzero(touching)
        reach[cut] = full[cut]
        reach[at] = np.minimum(full[at], TOUCH * part.rest_distance(at))
        core[cut] = THINNEST * reach[cut]
        rim = self.rim[part.corners]
        edges = np.arange(len(part)) >= part.faces
        mine = np.where(edges, np.maximum(rim[0], rim[1]), rim[0])
        theirs = np.maximum(np.maximum(rim[2], rim[3]), np.where(edges, 0.0, rim[1]))
        wider = np.where(touching, 0.0, mine + theirs)
        pairs.reach[rows], pairs.core[rows] = reach + wider, core + wider

    def near(self, pairs: Pairs, distance: Floats) -> Bools:
        """Closed vertices (n,) with a lip no further than the contact distance; `distance` (p,) [m] of `pairs`."""
        half = pairs.bodies.half
        full = half[pairs.corners[0]] + half[pairs.corners[3]]
        rim = 2.0 * self.rim[pairs.corners].max(axis=0)
        close = np.flatnonzero((distance <= full + rim) & (self.rim[pairs.corners] > 0).any(axis=0))
        part = pairs.picked(close)
        v = part.corners[:, self._shared(part, self._closed)]
        found = np.zeros(len(self._closed), dtype=bool)
        # All that share a source with one of these: what is left closed stays drawn in on both sides.
        found[self._source[v[self._closed[v]]]] = True
        near: Bools = (found[self._source] & self._closed)[: self._count]
        return near


def _moved(rows: Ints, columns: Ints, weights: Floats, n: int) -> Sparse:
    """1 − T from weights (k, 2) of the neighbours `columns` (k, 2) of each vertex of `rows` (k,)."""
    i = np.concatenate([rows, rows, rows])
    j = np.concatenate([rows, columns[:, 0], columns[:, 1]])
    values = np.concatenate([weights.sum(axis=1), -weights[:, 0], -weights[:, 1]])
    return csr_matrix(coo_matrix((values, (i, j)), shape=(n, n)))


def _drawn_in(shell: Shell, width: Floats, at: int) -> tuple[Ints, Ints, Floats]:
    """Corners of lips (k,), the two neighbours in a face of each (k, 2), and their weights (k, 2); `width` ε [m], (n,).

    Numbers start at `at`.
    """
    cut, x = shell.cut, shell.rest_positions
    assert cut is not None
    faces = cut.mesh.faces
    inward, mitred = _inward(shell)
    corners = np.flatnonzero((inward != 0.0).any(axis=1)[faces].ravel())
    face, slot = corners // 3, corners % 3
    vertex = faces[face, slot]
    ends = np.column_stack([faces[face, (slot + 1) % 3], faces[face, (slot + 2) % 3]])
    e1, e2 = x[ends[:, 0]] - x[vertex], x[ends[:, 1]] - x[vertex]
    a, b, c = ((p * q).sum(axis=1) for p, q in ((e1, e1), (e1, e2), (e2, e2)))
    wish = inward[vertex] * (width[vertex] * mitred[vertex])[:, None]
    p, q = (wish * e1).sum(axis=1), (wish * e2).sum(axis=1)
    weights = np.column_stack([c * p - b * q, a * q - b * p]) / (a * c - b * b)[:, None]
    # The face that the way in leads through, or comes nearest to.
    order = np.lexsort((-weights.min(axis=1), vertex))
    first = np.concatenate([[True], vertex[order][1:] != vertex[order][:-1]])[: len(order)]
    best = order[first]
    weights = weights[best]
    weights *= np.minimum(1.0, MOST / np.maximum(np.abs(weights).max(axis=1), 1e-300))[:, None]
    return vertex[best] + at, ends[best] + at, weights


def _inward(shell: Shell) -> tuple[Floats, Floats]:
    """Direction from each corner of a lip into its piece (n, 3), zero elsewhere, and how far to go to be 1 from both
    its lips, (n,)."""
    cut, x = shell.cut, shell.rest_positions
    assert cut is not None
    apart = np.flatnonzero(cut.states == BOUNDARY)
    total, along = np.zeros((len(x), 3)), np.zeros((len(x), 3))
    count = np.zeros(len(x))
    for side in (0, 1):
        corners = cut.mesh.faces[cut.whole.hinge_faces[apart, side]]
        start, end, apex = (corners[np.arange(len(apart)), cut.slots[apart, side, k]] for k in range(3))
        lip = _unit(x[end] - x[start])
        across = x[apex] - x[start]
        across = _unit(across - lip * (across * lip).sum(axis=1)[:, None])
        for ends, way in ((start, lip), (end, -lip)):
            np.add.at(total, ends, across)
            np.add.at(along, ends, way)
            np.add.at(count, ends, 1.0)
    # |m₁ + m₂|² = 2 + 2 cos; the miter (m₁ + m₂)/(1 + cos) is 2/|m₁ + m₂| long.
    size = np.linalg.norm(total, axis=1)
    most = np.where(count == 2.0, 2.0 / np.maximum(size, np.sqrt(2.0 + 2.0 * SHARPEST)), 1.0)
    inward = np.divide(total, size[:, None], out=np.zeros_like(total), where=size[:, None] > 1e-9)
    # Where a lip meets the sheet's own border at an acute angle, across would lead out: along the border instead.
    border = cut.mesh.edges[np.flatnonzero(cut.whole.edge_faces[:, 1] < 0)]
    for a, b in (border.T, border.T[::-1]):
        way = _unit(x[b] - x[a])
        acute = (count[a] == 1.0) & ((way * along[a]).sum(axis=1) > 0.0)
        a, way = a[acute], way[acute]
        most[a] = 1.0 / np.maximum((way * inward[a]).sum(axis=1), np.sqrt(0.5 + 0.5 * SHARPEST))
        inward[a] = way
    # Where a crack ends both lips share the corner; it has no side.
    copied = np.bincount(cut.source, minlength=len(x))[cut.source] > 1
    inward[~copied] = 0.0
    return inward, most


def _unit(v: Floats) -> Floats:
    unit: Floats = v / np.linalg.norm(v, axis=1)[:, None]
    return unit
