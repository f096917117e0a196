"""Pressure: −p V with V the volume under the surface.

On a closed mesh its gradient is exactly −p/3 ∑ (area normals) at each vertex. On an open mesh the volume is
that of the cone to the origin, and vertices of the boundary feel the cone's rim in addition. A pressure on a
free rim has no potential, so the rim's share is taken at the start of the step (`begin_step`) and removed there.
"""

from __future__ import annotations

import numpy as np

from ..linalg.assembly import BlockPattern, Hessian, scatter
from ..linalg.vectors import inner, skew
from ..types import Floats, Ints
from .base import Energy
from .normals import AreaNormals


class Pressure(Energy):
    """−p V; `pressure` p [Pa] pushes along the normals and may be changed between steps."""

    def __init__(self, faces: Ints, closed: bool, vertex_count: int) -> None:
        self.faces = faces
        self.closed = closed
        self.vertex_count = vertex_count
        self.pressure = 0.0
        self.scatter = scatter(faces.T, vertex_count)
        self._area_normals = AreaNormals(faces, vertex_count)
        self._rim = np.zeros((vertex_count, 3))
        self._pattern: BlockPattern | None = None

    def begin_step(self, x: Floats) -> None:
        """Take the rim's share of an open mesh at x."""
        if not self.closed:
            self._rim = self._volume(x)[1] - self._area_normals(x)

    def _volume(self, x: Floats) -> tuple[float, Floats]:
        a, b, c = (x[self.faces[:, j]] for j in range(3))
        by_a, by_b, by_c = np.cross(b, c) / 6.0, np.cross(c, a) / 6.0, np.cross(a, b) / 6.0
        return inner(np.asarray(by_a, dtype=np.float64), a), self.scatter @ np.concatenate([by_a, by_b, by_c])

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        volume, by_x = self._volume(x)
        p = self.pressure
        return -p * (volume - inner(self._rim, x)), -p * (by_x - self._rim)

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        """Exact; positive semidefinite only as nothing at all, so that is what psd gives."""
        if psd:
            return Hessian(len(x))
        corners = [x[self.faces[:, j]] for j in range(3)]
        blocks = np.zeros((len(self.faces), 3, 3, 3, 3))
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            # ∂(x_j × x_k)/∂x_j = −skew(x_k), by x_k: skew(x_j)
            blocks[:, i, j] = -skew(corners[k]) / 6.0
            blocks[:, i, k] = skew(corners[j]) / 6.0
        if self._pattern is None:
            self._pattern = BlockPattern.of_elements(self.faces, self.vertex_count)
        return Hessian(len(x), blocks=[self._pattern.assemble(-self.pressure * blocks)])
