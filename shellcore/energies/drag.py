"""Air drag along the normals, implicit in the velocity so that light cloth in a strong wind stays stable.

With wind w, normal n and a coefficient c [N·s/m] frozen at the start of the step, the force
c ((w − v)·n) n with v = (x − xₙ)/h is minus the gradient of (1/2h) c ((x − xₙ)·n − h w·n)².
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import bsr_matrix

from ..linalg.assembly import Hessian
from ..linalg.vectors import components, dot, inner
from ..types import Floats
from .base import VertexEnergy


class NormalDrag(VertexEnergy):
    """Drag of one step. `coefficients` c [N·s/m], (n,); `normals`, `start`, `wind` (n, 3); step h [s]."""

    def __init__(self, coefficients: Floats, normals: Floats, start: Floats, wind: Floats, h: float) -> None:
        self._weights = coefficients / h
        self._normals = components(normals)
        self.blows = bool(wind[:1].any() or wind.any())
        """Whether the air moves anywhere."""
        # Air that moves as one is three numbers, and stays three numbers.
        uniform = wind.strides[0] == 0
        ahead = h * wind[:1].T if uniform else h * components(wind)
        self._goal = dot(components(start) + ahead, self._normals)

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        offset = dot(components(x), self._normals) - self._goal
        pull = self._weights * offset
        return 0.5 * inner(pull, offset), (pull * self._normals).T

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        n = self._normals.T
        blocks = self._weights[:, None, None] * n[:, :, None] * n[:, None, :]
        indptr = np.arange(len(x) + 1)
        return Hessian(len(x), blocks=[bsr_matrix((blocks, indptr[:-1], indptr))])

    def vertex_blocks(self) -> Floats:
        n = self._normals
        blocks: Floats = (self._weights * n[:, None, :] * n[None, :, :]).reshape(9, -1)
        return blocks
