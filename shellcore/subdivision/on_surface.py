"""What acts on the surface of shells, not on their unknowns: contact, pressure, springs, wind.

A subdivision shell is touched, blown at and pulled where its limit points are, a linear map of its unknowns. Energies
are written for points of the surface, so they are evaluated there and their derivatives carried back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, identity, kron

from ..linalg.assembly import Change, Congruence, Hessian
from ..linalg.factor import Lu
from ..linalg.vectors import by_columns
from ..types import Bools, Floats, Ints, Sparse
from .model import SubdivisionModel
from .supports import ToControl, adjacent, without_faint


class SurfaceMap:
    """Points of all surfaces, z (visible, 3), from unknowns y (n, 3): limit points of subdivision shells, vertices of
    others. One matrix a coordinate, z = S y."""

    def __init__(
        self, models: dict[int, SubdivisionModel], visible: int, vertex_count: int, to_control: ToControl | None
    ) -> None:
        own = np.ones(visible, dtype=bool)
        rows, columns, values = [], [], []
        for model in models.values():
            part = model.surface.limits.tocoo()
            mine = model.slots[: model.surface.vertex_count]
            own[mine] = False
            rows.append(mine[part.row])
            columns.append(model.slots[part.col])
            values.append(part.data)
        others = np.flatnonzero(own)
        entries = np.concatenate([*values, np.ones(len(others))])
        at = np.concatenate([*rows, others]), np.concatenate([*columns, others])
        limits = coo_matrix((entries, at), shape=(visible, vertex_count)).tocsr()
        changes = [identity(vertex_count, format="csr")] * 3 if to_control is None else to_control.matrices
        fixed = [np.zeros(0, dtype=np.int64)] * 3 if to_control is None else to_control.fixed
        self._read = [csr_matrix(limits @ change) for change in changes]
        self._carry = [csr_matrix(matrix.T) for matrix in self._read]
        self.visible, self.vertex_count = visible, vertex_count
        self._movable = [_movable(models, vertex_count, axis) for axis in range(3)]
        self._placing: list[Lu | None] = [None] * 3
        self._near = [without_faint(part, held) for part, held in zip(self._read, fixed, strict=True)]
        whole = adjacent(self._read)
        self._block = whole, csr_matrix(whole.T), Change(adjacent(self._near))

    def read(self, y: Floats) -> Floats:
        """Points of the surface, (visible, 3), by columns."""
        columns = [matrix @ np.ascontiguousarray(y[:, i]) for i, matrix in enumerate(self._read)]
        points: Floats = np.stack(columns).T
        return points

    def carry(self, forces: Floats) -> Floats:
        """Forces on the unknowns, (n, 3), from forces on the surface, (visible, 3), by columns."""
        columns = [matrix @ np.ascontiguousarray(forces[:, i]) for i, matrix in enumerate(self._carry)]
        carried: Floats = np.stack(columns).T
        return carried

    def placed(self, y: Floats, points: Floats) -> Floats:
        """The unknowns y moved, as little as possible, so that the surface is at `points` (visible, 3); held slopes
        stay."""
        result = by_columns(np.array(y))
        for i in range(3):
            off = points[:, i] - self._read[i] @ np.ascontiguousarray(y[:, i])
            if np.abs(off).max(initial=0.0) <= 1e-14 * np.abs(points).max(initial=1.0):
                continue
            columns = self._movable[i]
            part = self._read[i][:, columns]
            factor = self._placing[i]
            if factor is None:
                factor = self._placing[i] = Lu(csr_matrix(part @ part.T))
            result[columns, i] += part.T @ factor.solve(off)
        return result

    def hessian(self, on_surface: Hessian) -> Hessian:
        """SᵀHS of a second derivative over the surface."""
        blocks: list[Any] = list(on_surface.blocks)
        if on_surface.scalar is not None:
            blocks.append(kron(on_surface.scalar, identity(3), format="csr"))
        return Hessian(self.vertex_count, blocks=[Congruence(block, *self._block) for block in blocks])

    def stiffness(self, on_surface: Sparse) -> Sparse:
        """The same of a (visible, visible) matrix that serves every coordinate, averaged over them."""
        return sum(near.T @ on_surface @ near for near in self._near) / 3.0


def _movable(models: dict[int, SubdivisionModel], vertex_count: int, axis: int) -> Ints:
    """Unknowns that are positions in this coordinate, not slopes."""
    position = np.ones(vertex_count, dtype=bool)
    for model in models.values():
        position[model.slots[model.exchanges[axis].slots]] = False
    return np.flatnonzero(position)


def pinned(shells: Any, offsets: Ints, visible: int) -> Bools:
    """Components of points that pins hold exactly, (visible, 3)."""
    held = np.zeros((visible, 3), dtype=bool)
    for shell, at in zip(shells, offsets, strict=False):
        for pin in shell.pins:
            if pin.stiffness is None:
                held[np.ix_(pin.vertices + at, np.flatnonzero(pin.axes))] = True
    return held
