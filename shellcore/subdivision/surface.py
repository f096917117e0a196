"""A Loop surface over a control mesh: limit positions, normals, refinement, and the fit through given points."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ..errors import ShellError, listed
from ..linalg.factor import solved
from ..mesh import check_positions, topology
from ..types import Floats, Ints, Sparse
from .boundary import ghosted

VALENCES = (3, 12)


class LoopSurface:
    """Control mesh of n vertices and g ghosts around its borders (numbered from n on)."""

    def __init__(self, faces: Ints, vertex_count: int) -> None:
        grown = ghosted(faces, vertex_count)
        self.faces = faces
        self.vertex_count = vertex_count
        self.mesh = grown.mesh
        self.ghost_count = grown.ghost_count
        self.extrapolation = grown.extrapolation
        self.next_on_boundary = grown.next_on_boundary
        valence = self.mesh.valence[:vertex_count]
        bad = np.flatnonzero((valence < VALENCES[0]) | (valence > VALENCES[1]))
        if len(bad):
            raise ShellError(
                f"bending='subdivision' takes {VALENCES[0]} to {VALENCES[1]} edges at a vertex (with those that a "
                f"border adds); vertices {listed(bad)} have {listed(valence[bad])}",
                vertices=bad,
            )
        self.limits: Sparse = csr_matrix(self.mesh.limits()[:vertex_count])
        """(n, n + g): limit positions of the control vertices."""

    def complete(self, x: Floats) -> Floats:
        """Positions with ghosts, (n + g, 3): as given, or of (n, 3) with ghosts as at rest, on parallelograms."""
        x = np.asarray(x, dtype=np.float64)
        if x.shape == (self.vertex_count + self.ghost_count, 3):
            return x
        if x.shape != (self.vertex_count, 3):
            raise ShellError(
                f"a surface takes positions of shape ({self.vertex_count}, 3), or with ghosts "
                f"({self.vertex_count + self.ghost_count}, 3), not {x.shape}"
            )
        whole: Floats = self.extrapolation @ x
        return whole

    def limit(self, x: Floats) -> Floats:
        """Limit positions of the vertices [m], (n, 3)."""
        positions: Floats = self.limits @ self.complete(x)
        return positions

    def normals(self, x: Floats) -> Floats:
        """Unit normals of the limit surface at the vertices, (n, 3)."""
        first, second = (mask[: self.vertex_count] @ self.complete(x) for mask in self.mesh.tangents())
        normals = np.cross(first, second)
        unit: Floats = normals / np.linalg.norm(normals, axis=1)[:, None]
        return unit

    def refined(self, levels: int) -> tuple[Sparse, Ints]:
        """Limit positions after `levels` steps of refinement, as a (p, n + g) matrix, and faces (4^levels m, 3).

        The control vertices come first, in their order.
        """
        if levels not in range(7):
            raise ShellError(f"levels must be a whole number from 0 to 6, not {levels!r}")
        mesh, matrix, count = self.mesh, None, len(self.faces)
        for _ in range(levels):
            mesh, step = mesh.refined(mesh.around(np.arange(count)))
            matrix = step if matrix is None else step @ matrix
            count *= 4
        used = np.unique(mesh.faces[:count])
        limits = mesh.limits()[used]
        place = np.empty(mesh.vertex_count, dtype=np.int64)
        place[used] = np.arange(len(used))
        return csr_matrix(limits if matrix is None else limits @ matrix), place[mesh.faces[:count]]


def fit_control(positions: Floats, faces: Ints) -> Floats:
    """Control mesh [m], (n, 3), whose limit surface passes through `positions` (n, 3) at its vertices."""
    x = check_positions(positions, faces)
    surface = LoopSurface(topology(faces, len(x)).faces, len(x))
    return solved(surface.limits @ surface.extrapolation, x)


def refine_control(positions: Floats, faces: Ints) -> tuple[Floats, Ints]:
    """One step of Loop subdivision: a control mesh (n + e, 3), (4m, 3) of the same surface, the given vertices first.

    Around vertices that have not six edges a subdivision shell is too stiff; after a step only the given ones
    are left of them, in faces of half the size.
    """
    x = check_positions(positions, faces)
    surface = LoopSurface(topology(faces, len(x)).faces, len(x))
    finer, step = surface.mesh.refined(np.arange(len(surface.faces)))
    used, local = np.unique(finer.faces, return_inverse=True)
    return (step @ surface.complete(x))[used], local.reshape(-1, 3).astype(np.int64)
