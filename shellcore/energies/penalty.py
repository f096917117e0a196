"""Plane and sphere as penalties: ½ k (d̂ − d)² where a vertex is nearer than d̂, with lagged friction.

A simple contact for simple shapes. The stiffness is given per unit of vertex mass and step, k = m s/h²,
so that a resting vertex sinks by g h²/s whatever its size.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.sparse import bsr_matrix

from ..dynamics.stage import Stage
from ..linalg.assembly import Hessian
from ..linalg.vectors import components, dot, inner, picked
from ..types import Floats, Ints
from .base import Energy

# Resting depth is g h²/STIFFNESS times the weight a vertex carries over its own: 0.04 mm at 24 steps a second on a
# floor, 1 mm where a draped cloth presses hardest on a ball of 0.3 m. With 25 that was 10 mm, and the ball showed.
STIFFNESS = 400.0
# Explicit steps follow springs of less than 4 m/h² alone, and membranes pull besides; nor need springs be harder than
# those of 24 implicit steps a second [1/s²].
EXPLICIT, HARDEST = 0.25, STIFFNESS * 24.0**2
# Slip speed [m/s] below which friction acts as a viscous bond instead of at full strength.
CREEP = 1e-3


class Surface(Protocol):
    """A shape with a distance field that moves by translation."""

    def friction_at(self, t: float) -> float:
        """Coulomb coefficient at time t [s]."""

    def place(self, t: float) -> Floats:
        """Where it is at time t [s], (3,)."""

    def distance(self, x: Floats, place: Floats) -> tuple[Floats, Floats, Floats]:
        """Signed distance [m], (n,), unit outward normals (n, 3), and curvature [1/m], (n,), of the level surface
        through each position (n, 3)."""

    def near(self, x: Floats, place: Floats, reach: float) -> Ints:
        """Indices of the positions, components first (3, n), whose signed distance is below `reach` [m]."""


class Penalty(Energy):
    """Contact of every vertex with a surface. `mass` [kg], `offset` d̂ [m], each (n,).

    Most vertices of a sheet touch nothing: the few that may are picked first, by a test of a few array passes.
    """

    def __init__(self, surface: Surface, mass: Floats, offset: Floats) -> None:
        self.surface = surface
        self.mass = mass
        self.offset = offset
        self._reach = float(offset.max(initial=0.0))
        self._place = surface.place(0.0)
        self.at_rest = True
        """Whether the surface does not move in this step."""
        self._per_mass = 1.0
        self._soft = False
        self.friction = surface.friction_at(0.0)
        """Coulomb coefficient in this step."""
        self._rubbing = np.zeros(0, dtype=np.int64)
        self._drag = np.zeros(0)
        self._start = self._normal = np.zeros((3, 0))
        self._speed, self._creep = np.zeros(3), 0.0

    def soften(self) -> None:
        """Have springs that explicit steps can follow."""
        self._soft = True

    def begin_step(self, stage: Stage) -> None:
        """Start of a step: stiffness for its length, friction from the contact force at its start.

        Smoothed, lagged Coulomb friction as a quadratic: drag μN/(h max(|slip speed|, creep)) on tangential slip.
        """
        h, x = stage.h, stage.start
        place = self.surface.place
        motion = place(stage.closes) - place(stage.opens)
        self.friction = self.surface.friction_at(stage.closes)
        self.at_rest = not motion.any()
        self._place = place(stage.opens)
        times = stage.began, 0.5 * (stage.began + stage.closes), stage.closes
        self._speed = stage.speed_of(*(place(t) for t in times))
        self._creep = CREEP * h
        self._per_mass = min(EXPLICIT / (h * h), HARDEST) if self._soft else STIFFNESS / (h * h)
        # The surface seen from where it starts: x + motion near the place it ends at is x near where it starts.
        touched, force, normal, _ = self._contacts(x)
        slip = _across(picked(components(stage.moving), touched) - self._speed[:, None], normal)
        speed = np.sqrt(dot(slip, slip))
        self._place = self._place + motion
        self._rubbing = touched
        self._drag = self.friction * force / (h * np.maximum(speed, CREEP))
        self._start = picked(components(stage.base), touched) + h * self._speed[:, None]
        self._normal = normal

    def _contacts(self, x: Floats) -> tuple[Ints, Floats, Floats, Floats]:
        """Vertices in contact (k,), pushing forces [N], (k,), outward normals (3, k), and curvatures [1/m], (k,)."""
        xt = components(x)
        touched = self.surface.near(xt, self._place, self._reach)
        distance, normal, curvature = self.surface.distance(picked(xt, touched).T, self._place)
        depth = self.offset[touched] - distance
        if depth.size and depth.min() <= 0.0:  # an offset of its own, smaller than the largest
            inside = depth > 0.0
            touched, depth, normal, curvature = touched[inside], depth[inside], normal[inside], curvature[inside]
        return touched, self._per_mass * self.mass[touched] * depth, components(normal), curvature

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        touched, force, normal, _ = self._contacts(x)
        gradient = np.zeros((3, len(x)))
        gradient[:, touched] = -force * normal
        value = 0.5 * inner(force, force / (self._per_mass * self.mass[touched]))
        if len(self._rubbing) and self.friction:
            moved = picked(components(x), self._rubbing) - self._start
            drag = self._drag * _across(moved, self._normal)
            value += 0.5 * inner(drag, moved)
            gradient[:, self._rubbing] += drag
        return value, gradient.T

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        """Exact, or (psd) without the curvature of the surface, which softens sideways motion."""
        touched, force, normal, curvature = self._contacts(x)
        blocks = np.zeros((len(x), 3, 3))
        outer = _outer(normal)
        blocks[touched] = (self._per_mass * self.mass[touched])[:, None, None] * outer
        if not psd:
            blocks[touched] -= (force * curvature)[:, None, None] * (np.eye(3) - outer)
        blocks[self._rubbing] += self._drag[:, None, None] * (np.eye(3) - _outer(self._normal))
        indptr = np.arange(len(x) + 1)
        return Hessian(len(x), blocks=[bsr_matrix((blocks, indptr[:-1], indptr))])

    def grip(self, x: Floats) -> tuple[Hessian, Floats]:
        """What should not move against the surface at x (n, 3): K [N/m] and b [N/s], (n, 3), of K v = b, as of contact
        (`Frozen.grip`): along normals where it presses, across them where friction sticks."""
        touched, _, normal, _ = self._contacts(x)
        blocks = np.zeros((len(x), 3, 3))
        blocks[touched] = (self._per_mass * self.mass[touched])[:, None, None] * _outer(normal)
        slip = _across(picked(components(x), self._rubbing) - self._start, self._normal)
        stuck = np.flatnonzero(dot(slip, slip) < self._creep**2)
        across = np.eye(3) - _outer(picked(self._normal, stuck))
        blocks[self._rubbing[stuck]] += self._drag[stuck, None, None] * across
        indptr = np.arange(len(x) + 1)
        return Hessian(len(x), blocks=[bsr_matrix((blocks, indptr[:-1], indptr))]), blocks @ self._speed

    def stored(self, x: Floats) -> float:
        """Energy [J] that the contacts at x (n, 3) hold and give back."""
        touched, force, _, _ = self._contacts(x)
        return 0.5 * inner(force, force / (self._per_mass * self.mass[touched]))

    def touching(self, x: Floats) -> Floats:
        """Stiffness [N/m], (n,), of the vertices in contact at x."""
        touched = self._contacts(x)[0]
        stiffness = np.zeros(len(x))
        stiffness[touched] = self._per_mass * self.mass[touched]
        return stiffness


def _across(v: Floats, normal: Floats) -> Floats:
    """The part of vectors (3, k) square to unit normals (3, k)."""
    tangential: Floats = v - dot(v, normal) * normal
    return tangential


def _outer(normal: Floats) -> Floats:
    """n nᵀ, (k, 3, 3), of unit normals (3, k)."""
    outer: Floats = np.einsum("ik,jk->kij", normal, normal)
    return outer
