"""Energies of points that are a linear map of the unknowns: limit points of a subdivision surface, drawn-in lips."""

from __future__ import annotations

from typing import Protocol

from ..linalg.assembly import Hessian
from ..types import Floats, Sparse
from .base import Energy


class Points(Protocol):
    """Points z (k, 3) = S x of unknowns x (n, 3)."""

    def read(self, x: Floats, /) -> Floats:
        """Where the points are, (k, 3)."""

    def carry(self, forces: Floats, /) -> Floats:
        """Forces on the unknowns, (n, 3), from forces on the points, (k, 3)."""

    def placed(self, x: Floats, points: Floats, /) -> Floats:
        """x moved so that its points are at `points`."""

    def hessian(self, of_points: Hessian, /) -> Hessian:
        """SᵀHS."""

    def stiffness(self, of_points: Sparse, /) -> Sparse:
        """The same of a (k, k) matrix that serves every coordinate."""


class Carried(Energy):
    """An energy of points as one of the unknowns."""

    def __init__(self, energy: Energy, points: Points) -> None:
        self.energy = energy
        self._points = points

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        value, gradient = self.energy.value_and_gradient(self._points.read(x))
        return value, self._points.carry(gradient)

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        return self._points.hessian(self.energy.hessian(self._points.read(x), psd))

    def round_off(self, x: Floats) -> float:
        return self.energy.round_off(self._points.read(x))

    def stiffness(self) -> Sparse | None:
        part = self.energy.stiffness()
        return None if part is None else self._points.stiffness(part)


def acting(energy: Energy) -> Energy:
    """What an energy is, wherever it acts."""
    return energy.energy if isinstance(energy, Carried) else energy
