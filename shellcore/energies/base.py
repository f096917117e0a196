"""What every energy answers: value, gradient, Hessian, and a constant stand-in for the Hessian."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..assembly import Hessian
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

    @abstractmethod
    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        """Second derivative [N/m]: exact, or (psd) with what could make it indefinite left out."""

    def stiffness(self) -> Sparse | None:
        """Constant positive semidefinite (n, n) matrix [N/m] that stands in for the Hessian in every
        coordinate: the papers' constant Jacobian, and the matrix the solvers factor once."""
        return None


class QuadraticEnergy(Energy):
    """½ (x − x̄)ᵀ Q (x − x̄) + constant, with one (n, n) matrix for the three coordinates."""

    def __init__(self, matrix: Sparse, centre: Floats | None = None, constant: float = 0.0) -> None:
        self.matrix = matrix
        self.centre = centre
        self.constant = constant

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        offset = x if self.centre is None else x - self.centre
        gradient: Floats = self.matrix @ offset
        return 0.5 * float(np.vdot(offset, gradient)) + self.constant, gradient

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        return Hessian(len(x), scalar=self.matrix)

    def stiffness(self) -> Sparse | None:
        return self.matrix
