"""What holds the limit surface, as a change of variables.

A support asks for the limit position, or the slope across the border, at a vertex: a linear condition on control
vertices and ghosts. One unknown per condition is exchanged for the value of the condition: a held vertex's own control
position for its limit position, a ghost (or, where ghosts alone cannot carry it, a vertex near the border) for a
slope. In the new unknowns y every support is a component held fixed, control positions are x = T y, and forces and
matrices become Tᵀf and TᵀKT: the elimination is symmetric and exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr
from scipy.sparse import coo_matrix, csr_matrix, identity, vstack

from ..linalg.assembly import Change, Congruence
from ..types import Bools, Floats, Ints, Sparse
from .surface import LoopSurface

# Entries of the change of variables below this share are round-off; those below the second are left out of matrices to
# be factored (a Newton step is then off by as much; forces are not). With 1e-6 instead Newton's method takes as many
# steps on clamped sleeves of h/t = 11 to 1100, and a matrix of 2.5k vertices has a fifth more entries.
SMALL, FAINT = 1e-13, 1e-4
# The same where the matrix is a preconditioner only: as many products of conjugate gradients, a fifth less fill.
ROUGH = 1e-2
# Slopes that others already fix, by the size left of their condition. On a closed border whose lattice is symmetric
# about it the slopes at every second vertex add up to those at the others; out of round by 1e-5 they are nearly
# dependent, and unknowns would have to move 1e5 times as far as the slope they carry.
DEPENDENT = 1e-3
# What ghosts count more than other vertices where unknowns are chosen to carry slopes.
FAVOUR = 1e3


@dataclass(frozen=True)
class Slopes:
    """Derivatives of the limit surface across its border: `rows` (k, n + g) [1/m], `axes` (k, 3): which components
    are held, and at what value, `at(t)` (k, 3)."""

    rows: Sparse
    axes: Bools
    at: Callable[[float], Floats]


@dataclass(frozen=True)
class Exchange:
    """The change of variables of one coordinate: x = `to_control` y; `slots` hold the slopes of indices `kept`, `fixed`
    are all unknowns that supports hold."""

    to_control: Sparse
    slots: Ints
    kept: Ints
    fixed: Ints


class ToControl:
    """Control positions from unknowns, x = T y, with one (n, n) matrix a coordinate over all vertices of a system.

    `fixed`: unknowns of each coordinate that supports hold.
    """

    def __init__(self, matrices: list[Sparse], fixed: list[Ints]) -> None:
        self.matrices, self.fixed = matrices, fixed
        self._back = [csr_matrix(matrix.T) for matrix in matrices]
        self._near = [without_faint(matrix, faint=ROUGH) for matrix in matrices]
        self._whole: tuple[Sparse, Sparse, Change] | None = None

    def apply(self, y: Floats) -> Floats:
        """Control positions (n, 3) of unknowns y (n, 3), by columns."""
        columns = [matrix @ np.ascontiguousarray(y[:, i]) for i, matrix in enumerate(self.matrices)]
        control: Floats = np.stack(columns).T
        return control

    def transpose(self, forces: Floats) -> Floats:
        """Forces on the unknowns from forces on control vertices, (n, 3), by columns."""
        columns = [matrix @ np.ascontiguousarray(forces[:, i]) for i, matrix in enumerate(self._back)]
        carried: Floats = np.stack(columns).T
        return carried

    def matrix(self) -> Sparse:
        """T as one (3n, 3n) matrix, coordinates of a vertex adjacent."""
        return adjacent(self.matrices)

    def congruent(self, block: Sparse) -> Congruence:
        """TᵀKT of a block matrix K (3n, 3n), coordinates of a vertex adjacent.

        Multiplied out, it leaves out fixed unknowns, and what is far from a support: a held vertex follows its
        neighbours by a sixth of their way, those next to them by a sixth of that, …
        """
        if self._whole is None:
            whole = adjacent(self.matrices)
            near = [without_faint(part, held) for part, held in zip(self.matrices, self.fixed, strict=True)]
            self._whole = whole, csr_matrix(whole.T), Change(adjacent(near))
        return Congruence(block, *self._whole)

    def mean_congruence(self, stiffness: Sparse) -> Sparse:
        """TᵀKT of an (n, n) matrix that serves every coordinate, averaged over them; without what is faint."""
        return sum(near.T @ stiffness @ near for near in self._near) / 3.0


def without_faint(matrix: Sparse, fixed: Ints | None = None, faint: float = FAINT) -> Sparse:
    """A change of variables for matrices that are factored: without what is too faint, and without fixed unknowns."""
    part = matrix.tocoo()
    kept = np.abs(part.data) > faint
    if fixed is not None:
        kept &= ~np.isin(part.col, fixed)
    return csr_matrix((part.data[kept], (part.row[kept], part.col[kept])), shape=matrix.shape)


def adjacent(matrices: list[Sparse]) -> Sparse:
    """One (3n, 3m) matrix of (n, m) ones of the three coordinates, coordinates of a vertex adjacent."""
    parts = [matrix.tocoo() for matrix in matrices]
    rows = np.concatenate([3 * part.row.astype(np.int64) + i for i, part in enumerate(parts)])
    columns = np.concatenate([3 * part.col.astype(np.int64) + i for i, part in enumerate(parts)])
    shape = (3 * matrices[0].shape[0], 3 * matrices[0].shape[1])
    return csr_matrix((np.concatenate([part.data for part in parts]), (rows, columns)), shape=shape)


def across_border(surface: LoopSurface, rest: Floats, vertices: Ints) -> tuple[Ints, Sparse, Floats]:
    """Border vertices among `vertices` that have a neighbour there along the border: their indices into `vertices`,
    rows (k, n + g) of the derivative across the border, and its rest value, a unit vector (k, 3)."""
    n = surface.vertex_count
    ahead = surface.next_on_boundary
    behind = np.full(n, -1, dtype=np.int64)
    behind[ahead[ahead >= 0]] = np.flatnonzero(ahead >= 0)
    held = np.zeros(n + 1, dtype=bool)
    held[vertices] = True
    chosen = np.flatnonzero((ahead[vertices] >= 0) & (held[ahead[vertices]] | held[behind[vertices]]))
    at = vertices[chosen]
    limit = surface.limit(rest)
    forward = np.where(held[ahead[at]], ahead[at], at)
    backward = np.where(held[behind[at]], behind[at], at)
    along = limit[forward] - limit[backward]
    first, second = (mask[at] for mask in surface.mesh.tangents())
    a, b = first @ rest, second @ rest
    normal = np.cross(a, b)
    across = np.cross(along, normal)
    across /= np.linalg.norm(across, axis=1)[:, None]
    aa, ab, bb = (a * a).sum(axis=1), (a * b).sum(axis=1), (b * b).sum(axis=1)
    p, q = (a * across).sum(axis=1), (b * across).sum(axis=1)
    det = aa * bb - ab * ab
    alpha, beta = (bb * p - ab * q) / det, (aa * q - ab * p) / det
    rows = first.multiply(alpha[:, None]) + second.multiply(beta[:, None])
    return chosen, csr_matrix(rows), rows @ rest


def exchange(surface: LoopSurface, base: Sparse | None, held: Ints, slopes: Sparse) -> Exchange:
    """Variables in which limit positions of `held` vertices (k,) and `slopes` (s, n + g) are unknowns.

    `base`: what gives control vertices from the unknowns otherwise (None: they are the unknowns).
    """
    n = surface.vertex_count + surface.ghost_count
    base = identity(n, format="csr") if base is None else base
    positions = surface.limits[held] @ base
    turning = csr_matrix(slopes @ base)
    slots, kept = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if turning.shape[0]:
        slots, kept = _slots(positions, turning, held, surface.vertex_count)
    conditions = csr_matrix(vstack([positions, turning[kept]]))
    exchanged = np.concatenate([held, slots])
    if len(exchanged) == 0:
        return Exchange(base, slots, kept, exchanged)
    inverse = np.linalg.inv(conditions[:, exchanged].toarray())
    others = np.ones(n, dtype=bool)
    others[exchanged] = False
    rest = conditions.multiply(others[None, :]).tocsr()
    dense = -(rest.T @ inverse.T).T
    dense[:, exchanged] = inverse
    row, column = np.nonzero(np.abs(dense) > SMALL)
    own = np.flatnonzero(others)
    rows = np.concatenate([exchanged[row], own])
    columns = np.concatenate([column, own])
    values = np.concatenate([dense[row, column], np.ones(len(own))])
    swap = coo_matrix((values, (rows, columns)), shape=(n, n)).tocsr()
    return Exchange(csr_matrix(base @ swap), slots, kept, exchanged)


def _slots(positions: Sparse, turning: Sparse, held: Ints, own_count: int) -> tuple[Ints, Ints]:
    """An unknown for each slope condition, and the conditions that are independent; ghosts are unknowns from
    `own_count` on.

    Pivoting alone takes ghosts and vertices inside as they come, and then every one of them follows all others around
    the border. With ghosts first, each follows the few vertices inside that are next to it.
    """
    reduced = turning.toarray()
    if len(held):
        own = positions[:, held].toarray()
        reduced = reduced - turning[:, held] @ np.linalg.solve(own, positions.toarray())
        reduced[:, held] = 0.0
    near = np.flatnonzero(np.abs(reduced).max(axis=0) > 0)
    if len(near) == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    reduced = reduced[:, near] / np.abs(reduced).max()
    _, triangle, order = qr(reduced.T, mode="economic", pivoting=True)
    size = np.abs(np.diagonal(triangle))
    kept = np.sort(order[: int((size > DEPENDENT * size[0]).sum())])
    reduced = reduced[kept]
    found: list[tuple[int, Ints]] = []
    for favour in (1.0, FAVOUR):
        _, _, columns = qr(reduced * np.where(near >= own_count, favour, 1.0), mode="economic", pivoting=True)
        chosen = columns[: len(kept)]
        follows = np.linalg.solve(reduced[:, chosen], np.delete(reduced, chosen, axis=1))
        found.append((int((np.abs(follows) > FAINT).sum()), chosen))
    pivots = min(found, key=lambda one: one[0])[1]
    return near[pivots].astype(np.int64), kept.astype(np.int64)
