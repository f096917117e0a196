"""Sides and normals of faces, the geometry that hinges, wind and pressure share, in arrays that are used again.

At 6.4k vertices a pass over the faces takes 3 µs where its result has a place and 10 where it must be found; hence the
buffers. What a method returns holds until it is called again.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ..linalg.vectors import Closed, Product, components, crossed
from ..types import Floats, Ints


class FaceNormals:
    """Of `faces` (m, 3), with corners a, b, c; vectors are components first."""

    def __init__(self, faces: Ints) -> None:
        self.count = m = len(faces)
        self._corners = [np.ascontiguousarray(faces[:, j]) for j in range(3)]
        self.ca, self.ab = Closed(m), Closed(m)
        """Sides a − c and b − a [m]."""
        self.unit = Closed(m)
        """Unit normals."""
        self.per_length = np.empty(m)
        """1/|N| [1/m²], (m,), of the normals N = (b − a) × (c − a)."""
        self.spare = [np.empty((3, m)) for _ in range(3)]
        """For whoever needs some room, until `sides` is called again."""

    def sides(self, x: Floats) -> None:
        """Set `ca` and `ab` at positions x, (n, 3)."""
        xt = components(x)
        a, b, c = self.spare
        at_a, at_b, at_c = self._corners
        xt.take(at_a, axis=1, mode="clip", out=a)
        xt.take(at_b, axis=1, mode="clip", out=b)
        xt.take(at_c, axis=1, mode="clip", out=c)
        np.subtract(a, c, out=self.ca.xyz)
        np.subtract(b, a, out=self.ab.xyz)
        self.ca.close()
        self.ab.close()

    def normals(self, x: Floats) -> Floats:
        """Normals N [m²], twice as long as the faces are large, (3, m), at positions x; `sides` too."""
        self.sides(x)
        return crossed(self.ca, self.ab, self.spare[0], self.spare[1])

    def units(self, x: Floats) -> Floats:
        """Unit normals, (3, m), at positions x; everything else of the faces too."""
        normals, per_length = self.normals(x), self.per_length
        np.einsum("ij,ij->j", normals, normals, out=per_length)
        np.sqrt(per_length, out=per_length)
        np.divide(1.0, per_length, out=per_length)
        np.multiply(normals, per_length, out=self.unit.xyz)
        self.unit.close()
        return self.unit.xyz


class AreaNormals:
    """A third of the area-weighted normals of the faces round each vertex."""

    def __init__(self, faces: Ints, vertex_count: int) -> None:
        self._faces = FaceNormals(faces)
        once = np.repeat(np.arange(len(faces)), 3)
        sixths = csr_matrix((np.full(faces.size, 1.0 / 6.0), (faces.ravel(), once)), shape=(vertex_count, len(faces)))
        self._sixths = Product(sixths, often=True)

    def __call__(self, x: Floats) -> Floats:
        """Area normals [m²], (n, 3), at positions x."""
        return self._sixths(self._faces.normals(x)).T
