"""Plane and sphere as penalties: ½ k (d̂ − d)² where a vertex is nearer than d̂, with lagged friction.

A simple contact for simple shapes. The stiffness is given per unit of vertex mass and step, k = m s/h²,
so that a resting vertex sinks by g h²/s whatever its size.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.sparse import bsr_matrix

from ..assembly import Hessian
from ..types import Floats
from ..vectors import inner
from .base import Energy

# Resting depth is g h²/STIFFNESS: 0.7 mm at 24 steps a second.
STIFFNESS = 25.0
# Slip speed [m/s] below which friction acts as a viscous bond instead of at full strength.
CREEP = 1e-3


class Surface(Protocol):
    """A shape with a distance field that moves by translation."""

    @property
    def friction(self) -> float:
        """Coulomb coefficient."""

    def place(self, t: float) -> Floats:
        """Where it is at time t [s], (3,)."""

    def distance(self, x: Floats, place: Floats) -> tuple[Floats, Floats, Floats]:
        """Signed distance [m], (n,), unit outward normals (n, 3), and curvature [1/m], (n,), of the level surface
        through each position (n, 3)."""


class Penalty(Energy):
    """Contact of every vertex with a surface. `mass` [kg], `offset` d̂ [m], each (n,)."""

    def __init__(self, surface: Surface, mass: Floats, offset: Floats) -> None:
        self.surface = surface
        self.mass = mass
        self.offset = offset
        self._place = surface.place(0.0)
        self._strength = mass
        self._drag = np.zeros(len(mass))
        self._start = np.zeros((len(mass), 3))
        self._normal = self._start

    def begin_step(self, t: float, h: float, x: Floats, v: Floats) -> None:
        """Start of a step from t to t + h: stiffness for its length, friction from the contact force at its start.

        Smoothed, lagged Coulomb friction as a quadratic: drag μN/(h max(|slip speed|, creep)) on tangential slip.
        """
        place = self.surface.place(t + h)
        motion = place - self.surface.place(t)
        self._place = place
        self._strength = self.mass * (STIFFNESS / (h * h))
        depth, normal, _ = self._depth(x + motion)
        sliding = v - motion / h
        slip = sliding - np.einsum("ij,ij->i", sliding, normal)[:, None] * normal
        speed = np.sqrt(np.einsum("ij,ij->i", slip, slip))
        self._drag = self.surface.friction * self._strength * depth / (h * np.maximum(speed, CREEP))
        self._start = x + motion
        self._normal = normal

    def _depth(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        distance, normal, curvature = self.surface.distance(x, self._place)
        return np.maximum(self.offset - distance, 0.0), normal, curvature

    def _slip(self, x: Floats) -> Floats:
        moved = x - self._start
        slip: Floats = moved - np.einsum("ij,ij->i", moved, self._normal)[:, None] * self._normal
        return slip

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        depth, normal, _ = self._depth(x)
        push = self._strength * depth
        value = 0.5 * inner(push, depth)
        gradient = -push[:, None] * normal
        if self._drag.any():
            drag = self._drag[:, None] * self._slip(x)
            value += 0.5 * inner(drag, x - self._start)
            gradient += drag
        return value, gradient

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        """Exact, or (psd) without the curvature of the surface, which softens sideways motion."""
        depth, normal, curvature = self._depth(x)
        outer = normal[:, :, None] * normal[:, None, :]
        blocks = self.touching(x)[:, None, None] * outer
        if not psd:
            blocks -= (self._strength * depth * curvature)[:, None, None] * (np.eye(3) - outer)
        if self._drag.any():
            across = np.eye(3) - self._normal[:, :, None] * self._normal[:, None, :]
            blocks += self._drag[:, None, None] * across
        indptr = np.arange(len(x) + 1)
        return Hessian(len(x), blocks=[bsr_matrix((blocks, indptr[:-1], indptr))])

    def touching(self, x: Floats) -> Floats:
        """Stiffness [N/m], (n,), of the vertices in contact at x."""
        return np.where(self._depth(x)[0] > 0, self._strength, 0.0)
