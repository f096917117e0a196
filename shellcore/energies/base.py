"""What every energy answers: value, gradient, Hessian, and a constant stand-in for the Hessian."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..linalg.assembly import Hessian
from ..linalg.vectors import Product, components, inner
from ..types import Floats, Sparse


class Energy(ABC):
    """A function of the positions x [m], shape (n, 3), of all shells stacked."""

    @abstractmethod
    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        """Energy [J] and its gradient [N], shape (n, 3)."""

    def value(self, x: Floats) -> float:
        """Energy [J]."""
        return self.value_and_gradient(x)[0]

    def gradient(self, x: Floats) -> Floats:
        """Gradient [N], shape (n, 3): minus the force."""
        return self.value_and_gradient(x)[1]

    def value_and_gentle_gradient(self, x: Floats) -> tuple[float, Floats]:
        """Energy [J], and a gradient [N], (n, 3), true where strains are small, that grows no faster than they do."""
        return self.value_and_gradient(x)

    @abstractmethod
    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        """Second derivative [N/m]: exact, or (psd) with what could make it indefinite left out."""

    def round_off(self, x: Floats) -> float:
        """Size [J] of the rounding error of the value last computed, near x; smaller decreases cannot be seen."""
        return 0.0

    def quadratic(self) -> Sparse | None:
        """The (n, n) matrix Q of an energy that is ½ xᵀQx and a constant, alike in x, y and z, and blind to the
        translation of any shell; None if it is not."""
        return None

    def parts(self) -> list[Energy]:
        """Energies that add up to this one but for a constant, so that what is quadratic can be had apart."""
        return [self]

    def stiffness(self) -> Sparse | None:
        """Constant positive semidefinite (n, n) matrix [N/m] that stands in for the Hessian in every
        coordinate: the papers' constant Jacobian, and the matrix the solvers factor once."""
        return None


class VertexEnergy(Energy):
    """An energy that couples no vertices, and whose Hessian stays over a step."""

    @abstractmethod
    def vertex_blocks(self) -> Floats:
        """3 × 3 blocks of the Hessian [N/m], by rows, (9, n)."""


def round_off_of_squares(value: float, stiffness: float) -> float:
    """Rounding error [J] of a sum of squares ½∑ kᵢ sᵢ² = value with ∑ kᵢ = stiffness, each sᵢ good to a few ulps of 1.

    The error ∑ kᵢ sᵢ δ is at most δ √(∑ kᵢ ∑ kᵢ sᵢ²) (Cauchy and Schwarz).
    """
    return 4.0 * float(np.finfo(np.float64).eps) * float(np.sqrt(2.0 * max(value, 0.0) * stiffness))


class QuadraticForm:
    """½ xᵀQx for a translation-invariant (n, n) matrix acting alike on x, y and z.

    Evaluated about the vertex `anchor` of its mesh, so that a sheet far from the origin keeps its digits.
    """

    def __init__(self, matrix: Sparse, anchor: int = 0) -> None:
        self.matrix = matrix.tocsr()
        self._product = Product(self.matrix, often=True)
        self.anchor = anchor
        used = np.flatnonzero(np.diff(self.matrix.indptr))
        self._far_end = int(used[-1]) if len(used) else anchor
        self._entries = float(abs(matrix).sum())

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        """Value and Qx, (n, 3)."""
        local = x - x[self.anchor]
        gradient = self._product(components(local)).T
        return 0.5 * inner(local, gradient), gradient

    def gradient(self, x: Floats) -> Floats:
        """Qx, (n, 3)."""
        place, far = x[self.anchor].tolist(), x[self._far_end].tolist()
        # Near the origin, where at most one digit is lost, the shift would be a tenth of the cost.
        size = max(abs(place[0] - far[0]), abs(place[1] - far[1]), abs(place[2] - far[2]))
        near = max(abs(place[0]), abs(place[1]), abs(place[2])) <= 10.0 * size
        return self._product(components(x if near else x - x[self.anchor])).T

    def round_off(self, x: Floats) -> float:
        """Rounding error of the value: its large terms cancel."""
        extent = float(np.abs(x - x[self.anchor]).max())
        return float(np.finfo(np.float64).eps) * self._entries * extent * extent


class QuadraticEnergy(Energy):
    """½ xᵀQx with one translation-invariant (n, n) matrix for the three coordinates."""

    def __init__(self, matrix: Sparse, anchor: int = 0) -> None:
        self.matrix = matrix
        self._form = QuadraticForm(matrix, anchor)

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        return self._form.value_and_gradient(x)

    def gradient(self, x: Floats) -> Floats:
        return self._form.gradient(x)

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        return Hessian(len(x), scalar=self.matrix)

    def round_off(self, x: Floats) -> float:
        return self._form.round_off(x)

    def quadratic(self) -> Sparse | None:
        return self.matrix

    def stiffness(self) -> Sparse | None:
        return self.matrix
