"""From control vertices to derivatives of the surface at points, and from stresses there back to forces.

All regular faces share one small dense table, so that theirs is a gather of twelve vertices a face and a dense product:
four times as fast as a sparse matrix with the same numbers in it. Faces around irregular vertices have a sparse matrix.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ..linalg.assembly import scatter
from ..types import Floats
from .points import Points


class SurfaceFields:
    """The linear map from n control vertices to the derivatives 1, 2, 11, 22, 12 at k points."""

    def __init__(self, points: Points) -> None:
        n = points.values.shape[1]
        self._tables = points.tables
        self._faces = len(points.patches)
        self._plain = len(points.tables) * self._faces
        self.count = len(points.areas)
        corners = points.patches.T
        # Place of each vertex of each patch among the components of all, (12, 3, faces).
        self._gather = corners[:, None, :] + n * np.arange(3)[:, None]
        self._scatter = scatter(corners, n)
        self._others = points.irregular
        self._others_back = csr_matrix(points.irregular.T)

    def vectors(self, control: Floats) -> Floats:
        """Derivatives (5, 3, k) of control positions, components first (3, n)."""
        result = np.empty((5, 3, self.count))
        if self._faces:
            near = control.ravel().take(self._gather, mode="clip").reshape(12, -1)
            for q, table in enumerate(self._tables):
                part = slice(q * self._faces, (q + 1) * self._faces)
                result[:, :, part] = (table @ near).reshape(5, 3, -1)
        if self._plain < self.count:
            for i in range(3):
                result[:, i, self._plain :] = (self._others @ control[i]).reshape(5, -1)
        return result

    def forces(self, local: Floats) -> Floats:
        """(3, n): the transpose of `vectors`, of (5, 3, k)."""
        total = np.zeros((3, self._scatter.shape[0]))
        if self._faces:
            near = np.zeros((12, 3 * self._faces))
            for q, table in enumerate(self._tables):
                part = local[:, :, q * self._faces : (q + 1) * self._faces]
                near += table.T @ part.reshape(5, -1)
            by_axis = near.reshape(12, 3, -1)
            for i in range(3):
                total[i] = self._scatter @ by_axis[:, i].ravel()
        if self._plain < self.count:
            for i in range(3):
                total[i] += self._others_back @ local[:, i, self._plain :].ravel()
        return total
