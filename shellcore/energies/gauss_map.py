"""Hinges that are flat at rest, by the normals of the faces: ½ ∑ w |n − n'|² over neighbouring faces.

With |n − n'|² = 2(1 − cos θ) this is Cubic Shells eq. (3) for θ̄ = 0: a quadratic form of the Gauss map. Its derivative
by the normals is one product with a constant matrix over faces; no hinge is visited. What is left is local to a face:
for a derivative g by the unit normal n of N = (b − a) × (c − a), corner b feels n (c − a)·(g × n)/|N| and corner c
n (b − a)·(n × g)/|N|, both along the normal, and corner a the opposite of their sum.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ..linalg.vectors import Closed, Product, VaryingMatrix, crossed, inner
from ..types import Floats, Ints
from .normals import FaceNormals


class GaussMap:
    """`weights` w [J], (h,), between the faces `hinge_faces` (h, 2) of `faces` (m, 3)."""

    def __init__(self, faces: Ints, hinge_faces: Ints, weights: Floats, vertex_count: int) -> None:
        m = len(faces)
        self._faces = FaceNormals(faces)
        self._weights = weights
        self._left, self._right = np.ascontiguousarray(hinge_faces.T)
        rows, columns = np.concatenate([hinge_faces, hinge_faces[:, ::-1]]).T
        # The diagonal, n times the sum of its weights, is left out: it does not turn n.
        around = csr_matrix((-np.tile(weights, 2), (rows, columns)), shape=(m, m))
        self._by_normals = Product(around, often=True)
        self._to_vertices = VaryingMatrix(faces.T.ravel(), np.tile(np.arange(m), 3), (vertex_count, m))
        self._turning = Closed(m)
        self._shares = np.empty((3, m))
        self._off_a = self._shares[1:]

    def gradient(self, x: Floats) -> Floats:
        """Gradient [N], (n, 3)."""
        return self._pulled(self._faces.units(x))

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        """Energy [J] and gradient [N], (n, 3)."""
        unit = self._faces.units(x)
        # By differences: 1 − cos θ would lose small angles.
        apart = unit.take(self._left, axis=1, mode="clip")
        apart -= unit.take(self._right, axis=1, mode="clip")
        value = 0.5 * inner((self._weights * apart).T, apart.T)
        return value, self._pulled(unit)

    def _pulled(self, unit: Floats) -> Floats:
        faces, turning = self._faces, self._turning
        self._by_normals(unit, turning.xyz)
        turning.close()
        turn = crossed(faces.unit, turning, faces.spare[0], faces.spare[1])
        at_a, at_b, at_c = self._shares
        np.einsum("ij,ij->j", faces.ca.xyz, turn, out=at_b)
        np.einsum("ij,ij->j", faces.ab.xyz, turn, out=at_c)
        np.multiply(self._off_a, faces.per_length, out=self._off_a)
        np.add(at_b, at_c, out=at_a)
        np.negative(at_a, out=at_a)
        return self._to_vertices(self._shares.reshape(-1), unit).T
