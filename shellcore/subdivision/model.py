"""A subdivision shell inside a system: where its control vertices sit, their mass, what holds them, its energy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, identity, vstack

from ..energies.fem import Stress
from ..types import Bools, Floats, Ints, Sparse
from .energy import KirchhoffLove
from .points import Points, quadrature
from .supports import Exchange, ToControl, exchange

if TYPE_CHECKING:
    from ..shell import Shell


@dataclass
class Held:
    """Unknowns of one coordinate that hold slopes: `vertices` (k,) of the stack, set to `slopes(t)`."""

    axis: int
    vertices: Ints
    kept: Ints


class SubdivisionModel:
    """`slots` (n + g,): places of control vertices and ghosts among the unknowns of a system."""

    def __init__(self, shell: Shell, slots: Ints) -> None:
        assert shell.loop is not None
        self.shell = shell
        self.surface = shell.loop
        self.slots = slots
        rest = self.surface.complete(shell.rest_positions)
        self.points = quadrature(self.surface.mesh, len(shell.faces), rest, shell.axes, shell.quadrature)
        density = shell.material.face_areal_density(len(shell.faces))[self.points.faces]
        control_mass: Floats = self.points.values.T @ (self.points.areas * density)
        self.tied = shell.ghosts == "tied"
        n = self.surface.vertex_count
        base: Sparse | None = None
        self.mass = control_mass
        """Lumped mass of control vertices and ghosts [kg], (n + g,)."""
        if self.tied:
            ties = self.surface.extrapolation.tocoo()
            base = csr_matrix((ties.data, (ties.row, ties.col)), shape=(len(slots), len(slots)))
            self.mass = np.maximum(base.T @ control_mass, 0.0)
        self.weights = control_mass
        """What gravity pulls at control vertices and ghosts [kg], (n + g,)."""
        held = np.zeros((n, 3), dtype=bool)
        for pin in shell.pins:
            if pin.stiffness is None:
                held[np.ix_(pin.vertices, np.flatnonzero(pin.axes))] = True
        self.exchanges = self._exchanges(base, held)
        self.held = [
            Held(axis, slots[change.slots], change.kept)
            for axis, change in enumerate(self.exchanges)
            if len(change.slots)
        ]
        self.plain = base is None and not held.any() and not self.held

    def _exchanges(self, base: Sparse | None, held: Bools) -> list[Exchange]:
        slopes = self.shell.border_slopes
        size = len(self.slots)
        rows = vstack([part.rows for part in slopes]).tocsr() if slopes else csr_matrix((0, size))
        axes = np.concatenate([part.axes for part in slopes]) if slopes else np.zeros((0, 3), dtype=bool)
        found: dict[bytes, Exchange] = {}
        result = []
        for axis in range(3):
            key = held[:, axis].tobytes() + axes[:, axis].tobytes()
            if key not in found:
                chosen = np.flatnonzero(axes[:, axis])
                change = exchange(self.surface, base, np.flatnonzero(held[:, axis]), rows[chosen])
                found[key] = replace(change, kept=chosen[change.kept])
            result.append(found[key])
        return result

    def slopes_at(self, t: float) -> Floats:
        """Slopes held at time t [s], (s, 3)."""
        return np.concatenate([part.at(t) for part in self.shell.border_slopes])

    def energy(self, vertex_count: int, scale: float, to_control: ToControl | None) -> KirchhoffLove:
        """Elastic energy over a stack of `vertex_count` unknowns; `scale` multiplies the membrane's stiffness."""
        a11, a22, a12, a66 = self.shell.material.membrane_moduli(len(self.shell.faces))
        bending = self.shell.material.bending_moduli(len(self.shell.faces))
        points = stacked(self.points, self.slots, vertex_count)
        membrane = (scale * a11, scale * a22, scale * a12, scale * a66)
        return KirchhoffLove(points, membrane, bending, self.shell.rests_flat, to_control)


def stacked(points: Points, slots: Ints, vertex_count: int) -> Points:
    """Points with their columns moved to `slots` of a stack."""

    def moved(row: Sparse) -> Sparse:
        return csr_matrix((row.data, slots[row.indices], row.indptr), shape=(row.shape[0], vertex_count))

    return replace(
        points,
        values=moved(points.values),
        derivatives=[moved(row) for row in points.derivatives],
        patches=slots[points.patches],
        irregular=moved(points.irregular),
    )


def control_map(models: list[SubdivisionModel], vertex_count: int) -> ToControl | None:
    """From unknowns to control positions of a whole stack; None where they are the same."""
    if all(model.plain for model in models):
        return None
    matrices: list[Sparse] = []
    fixed: list[Ints] = []
    for axis in range(3):
        # The part of each shell replaces the identity in its own rows.
        total = identity(vertex_count, format="coo")
        own = np.ones(vertex_count, dtype=bool)
        for model in models:
            own[model.slots] = False
        rows, columns, values = [total.row[own]], [total.col[own]], [total.data[own]]
        for model in models:
            part = model.exchanges[axis].to_control.tocoo()
            rows.append(model.slots[part.row])
            columns.append(model.slots[part.col])
            values.append(part.data)
        shape = (vertex_count, vertex_count)
        entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
        matrices.append(coo_matrix(entries, shape=shape).tocsr())
        fixed.append(np.concatenate([model.slots[model.exchanges[axis].fixed] for model in models]))
    return ToControl(matrices, fixed)


class FaceStrains:
    """Green strain and stress of the faces of a subdivision shell, for overlays: means over the points of a face."""

    def __init__(self, energy: KirchhoffLove) -> None:
        self._energy = energy

    def stiffen(self, factor: float) -> None:
        """Nothing of its own to stiffen: the energy has the moduli."""

    def strain(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Green strain E11, E22, E12, each (m,)."""
        u11, u22, u12 = self._energy.strain(x)
        green = u11 + 0.5 * (u11**2 + u12**2), u22 + 0.5 * (u22**2 + u12**2), u12 + 0.5 * u12 * (u11 + u22)
        e11, e22, e12 = (self._energy.by_face(part) for part in green)
        return e11, e22, e12

    def stress(self, e11: Floats, e22: Floats, e12: Floats) -> Stress:
        """Stress resultants [N/m], each (m,)."""
        first = np.unique(self._energy.points.faces, return_index=True)[1]
        a = self._energy.membrane[:, :, first]
        return a[0, 0] * e11 + a[0, 1] * e22, a[1, 0] * e11 + a[1, 1] * e22, 0.5 * a[2, 2] * e12
