"""Angles of hinges, and the forces that moments on them are, from the normals of faces.

The hinge's left triangle has the unit normal n, its right apex lies d above that triangle's plane: with the normal N'
of the right triangle, whose altitude over the edge is |N'|/|e|, sin θ = d |e|/|N'|.
"""

from __future__ import annotations

import numpy as np

from ..linalg.vectors import VaryingMatrix, components
from ..types import Floats, Ints
from .normals import FaceNormals


class HingeGeometry:
    """Of `hinges` (h, 4) with their two `hinge_faces` (h, 2) among `faces` (m, 3); `face_hinges` (m, 3) lie opposite
    the corners of the faces, -1 where there is none."""

    def __init__(self, hinges: Ints, hinge_faces: Ints, faces: Ints, face_hinges: Ints, vertex_count: int) -> None:
        m, h = len(faces), len(hinges)
        self._faces = FaceNormals(faces)
        self._left, self._right = np.ascontiguousarray(hinge_faces.T)
        self._start, _, _, self._apex = np.ascontiguousarray(hinges.T)
        # -1, a boundary edge, picks the zero kept behind the last hinge.
        self._edges_of_face = [np.where(edges < 0, h, edges) for edges in face_hinges.T]
        # Where a hinge's edge stands among the three sides of the left face, (3, m) by side.
        self._side = self._left + m * np.argmax(face_hinges[self._left] == np.arange(h)[:, None], axis=1)
        self._to_vertices = VaryingMatrix(faces.T.ravel(), np.tile(np.arange(m), 3), (vertex_count, m))
        # Reused in every evaluation.
        self._ratio = np.zeros(h + 1)
        self._length, self._per_right = np.empty(h), np.empty(h)
        self._spare = [np.empty((3, h)) for _ in range(3)]
        self._dots, self._squares, self._shares = (np.empty((3, m)) for _ in range(3))
        self._ratios = [np.empty(m) for _ in range(3)]

    def angles(self, x: Floats) -> Floats:
        """Exterior angles θ [rad], (h,), at positions x, (n, 3)."""
        cosine, sine = self.measure(x)
        angles: Floats = np.arctan2(sine, cosine)
        return angles

    def measure(self, x: Floats) -> tuple[Floats, Floats]:
        """cos θ and sin θ, (h,), at positions x, (n, 3)."""
        unit = self._faces.units(x)
        self._measure_sides()
        xt = components(x)
        left, other, start = self._spare
        unit.take(self._left, axis=1, mode="clip", out=left)
        unit.take(self._right, axis=1, mode="clip", out=other)
        cosine: Floats = np.einsum("ij,ij->j", left, other)
        xt.take(self._start, axis=1, mode="clip", out=start)
        xt.take(self._apex, axis=1, mode="clip", out=other)
        other -= start
        sine: Floats = np.einsum("ij,ij->j", left, other)
        self._faces.per_length.take(self._right, mode="clip", out=self._per_right)
        sine *= self._per_right
        sine *= self._length
        return cosine, sine

    def _measure_sides(self) -> None:
        """Squared sides of faces, dot products of the two that meet in a corner, and lengths of hinges."""
        ca, ab = self._faces.ca.xyz, self._faces.ab.xyz
        d0, d1, d2 = self._dots
        opposite_a, opposite_b, opposite_c = self._squares
        # ca and ab point in and out of a: this one has the other sign.
        np.einsum("ij,ij->j", ca, ab, out=d0)
        np.einsum("ij,ij->j", ca, ca, out=opposite_b)
        np.einsum("ij,ij->j", ab, ab, out=opposite_c)
        np.add(opposite_c, d0, out=d1)
        np.add(opposite_b, d0, out=d2)
        np.add(d1, d2, out=opposite_a)
        self._squares.reshape(-1).take(self._side, mode="clip", out=self._length)
        np.sqrt(self._length, out=self._length)

    def forces_of(self, moment: Floats) -> Floats:
        """∑ m ∂θ/∂x [N], (n, 3), of moments m [N·m], (h,), on the hinges as they were last measured.

        Corner i of a face moves θ of its opposite edge by l N/|N|², and that of a neighbouring edge j by
        the (negative) share of the altitude's foot; with r = m/l both come out as below.
        """
        faces = self._faces
        np.divide(moment, self._length, out=self._ratio[:-1])
        r0, r1, r2 = self._ratios
        for edges, ratios in zip(self._edges_of_face, self._ratios, strict=True):
            self._ratio.take(edges, mode="clip", out=ratios)
        t0, t1, t2 = twists = self._squares
        # The first with the other sign, as its dot product.
        np.subtract(r2, r1, out=t0)
        np.subtract(r2, r0, out=t1)
        np.subtract(r0, r1, out=t2)
        twists *= self._dots
        twists *= faces.per_length
        s0, s1, s2 = shares = self._shares
        np.subtract(t2, t1, out=s0)
        np.subtract(t0, t2, out=s1)
        np.subtract(t1, t0, out=s2)
        return self._to_vertices(shares.reshape(-1), faces.unit.xyz).T
