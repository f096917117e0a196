"""Gradient of ∑ k [e₀, e₁, e₂] over hinges, the cubic part of Cubic Shells' energy.

e₀ × e₁ is the normal N of the hinge's left face, so the sum is ∑ N·y over faces, with y = ∑ k (right apex − start) over
the hinges that a face is left of: one constant matrix. Three cross products of a face, N and y with two of its
sides, and one more constant matrix make the gradient; a hinge has no vector of its own.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ..types import Floats, Ints
from ..vectors import Closed, Product, components, crossed
from .normals import FaceNormals


class TripleProducts:
    """Factors k [N/m²], (h,), of `hinges` (h, 4), which have the left faces `left` (h,) among `faces` (m, 3)."""

    def __init__(self, hinges: Ints, left: Ints, factors: Floats, faces: Ints, vertex_count: int) -> None:
        m, n = len(faces), vertex_count
        start, _, _, right = hinges.T
        rows, columns = np.concatenate([left, left]), np.concatenate([right, start])
        across = csr_matrix((np.concatenate([factors, -factors]), (rows, columns)), shape=(m, n))
        # Of N·y = (ca × ab)·y: N by y, y × ca by ab = b − a, ab × y by ca = a − c.
        a, b, c = faces.T
        once = np.arange(m)
        ends = np.concatenate([b, a, a, c]), np.concatenate([once, once, once + m, once + m])
        by_sides = csr_matrix((np.repeat([1.0, -1.0, 1.0, -1.0], m), ends), shape=(n, 2 * m))
        self._across = Product(across, often=True)
        self._by_normals = Product(csr_matrix(across.T), often=True)
        self._by_sides = Product(by_sides, often=True)
        # Reused in every evaluation.
        self._faces = FaceNormals(faces)
        self._y = Closed(m)
        self._crosses = np.empty((3, 2, m))

    def gradient(self, x: Floats) -> Floats:
        """Gradient [N], (n, 3), at positions x; best near the origin, where y loses no digits."""
        faces, y = self._faces, self._y
        normals = faces.normals(x)
        self._across(components(x), y.xyz)
        y.close()
        gradient = self._by_normals(normals)
        crossed(y, faces.ca, self._crosses[:, 0], faces.spare[1])
        crossed(faces.ab, y, self._crosses[:, 1], faces.spare[1])
        self._by_sides(self._crosses.reshape(3, -1), gradient, add=True)
        return gradient.T
