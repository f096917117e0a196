"""How stiff contacts are: in proportion to what presses, for springs neither too hard for a solver nor too soft."""

from __future__ import annotations

import numpy as np

from ..scene import Scene
from ..types import Floats, Ints
from .bodies import Bodies

# Spring of a contact: so many times a vertex's inertia m/h², plus so many times its weight over the contact distance,
# plus a share of its stretch stiffness: little against colliders, where sheets rest and springs that are too hard for
# the solver's tolerance flicker and lose their friction; much between shells, which are pressed together.
INERTIAL, WEIGHTS, STRETCH, STRETCH_BETWEEN = 25.0, 20.0, 0.05, 0.5
# Factor on the springs of what was pressed through, a round.
HARDER = 8.0


class Strength:
    """Spring constants of contacts in a step. `mass` [kg], (count,), of the shells' vertices."""

    def __init__(self, scene: Scene, bodies: Bodies, mass: Floats) -> None:
        colliders = np.zeros(bodies.total - bodies.count)
        stretch = [
            np.full(len(s.rest_positions), max(float(np.max(a)) for a in s.material.stretch)) for s in scene.shells
        ]
        self._count = bodies.count
        self._stretch = np.concatenate([*stretch, colliders])
        self._mass = np.concatenate([mass, colliders])
        self._weight = WEIGHTS * float(np.linalg.norm(scene.gravity)) * self._mass

    def begin_step(self, h: float) -> None:
        """Springs for a step of h [s]."""
        self._inertia = self._mass * (INERTIAL / (h * h)) + STRETCH * self._stretch
        self._between = (STRETCH_BETWEEN - STRETCH) * self._stretch

    def of(self, corners: Ints, full: Floats) -> Floats:
        """Spring constants [N/m], (r,), of pairs with `corners` (4, r) whose force begins at a gap of `full` [m]."""
        total = self._inertia[corners].sum(axis=0) + self._weight[corners].sum(axis=0) / full
        shells = (corners < self._count).sum(axis=0)
        strength: Floats = (total + np.where(shells == 4, self._between[corners].sum(axis=0), 0.0)) / shells
        return strength

    def harden(self, deep: Ints) -> None:
        """Stiffen vertices that were pressed through their core: a load far above their own inertia and weight."""
        deep = deep[deep < self._count]
        self._inertia[deep] *= HARDER
        self._between[deep] *= HARDER
