"""∑ k [e₀, e₁, e₂] over hinges, the cubic part of Cubic Shells' energy.

e₀ × e₁ is the normal N of the hinge's left face, so the sum is ∑ N·y over faces, with y = ∑ k (right apex − start) over
the hinges that a face is left of: one constant matrix. Three cross products of a face, N and y with two of its
sides, and one more constant matrix make the gradient; a hinge has no vector of its own.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ..linalg.assembly import BlockPattern, Hessian
from ..linalg.vectors import Closed, Product, components, crossed, inner, skew
from ..types import Floats, Ints
from .base import Energy
from .normals import FaceNormals


class TripleProducts(Energy):
    """Factors k [N/m²], (h,), of `hinges` (h, 4), which have the left faces `left` (h,) among `faces` (m, 3).

    Evaluated about the vertex `anchor`, so that y keeps its digits far from the origin.
    """

    def __init__(self, hinges: Ints, left: Ints, factors: Floats, faces: Ints, vertex_count: int, anchor: int) -> None:
        m, n = len(faces), vertex_count
        self._hinges, self._factors, self._anchor = hinges, factors, anchor
        self._pattern: BlockPattern | None = None
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

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        local = x - x[self._anchor]
        gradient = self._gradient(local)
        # Homogeneous of degree three and blind to translation: E = x·∇E/3 about any point.
        return inner(local, gradient) / 3.0, gradient

    def gradient(self, x: Floats) -> Floats:
        return self._gradient(x - x[self._anchor])

    def _gradient(self, local: Floats) -> Floats:
        faces, y = self._faces, self._y
        normals = faces.normals(local)
        self._across(components(local), y.xyz)
        y.close()
        gradient = self._by_normals(normals)
        crossed(y, faces.ca, self._crosses[:, 0], faces.spare[1])
        crossed(faces.ab, y, self._crosses[:, 1], faces.spare[1])
        self._by_sides(self._crosses.reshape(3, -1), gradient, add=True)
        return gradient.T

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        """Linear in x (Appendix A); it has no definite part, so psd: nothing."""
        if psd:
            return Hessian(len(x))
        start = x[self._hinges[:, 0]]
        e0, e1, e2 = (x[self._hinges[:, j]] - start for j in (1, 2, 3))
        blocks = np.zeros((len(self._hinges), 4, 4, 3, 3))
        # ∂(e1×e2)/∂x2 = −e2*, ∂(e1×e2)/∂x3 = e1*, and so on round; row and column 0 close the sum.
        for row, column, vector in ((1, 2, -e2), (1, 3, e1), (2, 3, -e0)):
            blocks[:, row, column] = skew(vector)
            blocks[:, column, row] = -blocks[:, row, column]
        blocks[:, 0, 1:] = -blocks[:, 1:, 1:].sum(axis=1)
        blocks[:, 1:, 0] = -blocks[:, 1:, 1:].sum(axis=2)
        blocks *= self._factors[:, None, None, None, None]
        if self._pattern is None:
            self._pattern = BlockPattern.of_elements(self._hinges, self._by_normals.rows)
        return Hessian(len(x), blocks=[self._pattern.assemble(blocks)])
