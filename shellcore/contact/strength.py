"""How stiff contacts are: in proportion to what presses, for springs neither too hard for a solver nor too soft."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ShellError
from ..scene import Scene
from ..types import Floats, Ints
from .bodies import Bodies

# Spring of a contact: so many times a vertex's inertia m/h², plus so many times its weight over the contact distance,
# plus a share of its stretch stiffness: little against colliders, where sheets rest and springs that are too hard for
# the solver's tolerance flicker and lose their friction; much between shells, which are pressed together.
INERTIAL, WEIGHTS, STRETCH, STRETCH_BETWEEN = 25.0, 20.0, 0.05, 0.5
# Factor on the springs of what was pressed through, a round, and what is left of it after a step that hardly pressed
# them at its end. Loads last longer than a step: a can under a press, whose springs began every step anew, took three
# rounds a step instead of one.
HARDER, RELAXED = 8.0, 0.9
# Share of m/h² of the springs for explicit steps, which are stable up to 4 for all springs of a vertex together. What
# they are too soft to stop, the bound on the step does.
EXPLICIT = 0.1


class Strength:
    """Spring constants of contacts in a step. `mass` [kg], (count,), of the shells' vertices."""

    def __init__(self, scene: Scene, bodies: Bodies, mass: Floats) -> None:
        colliders = np.zeros(bodies.total - bodies.count)
        stretch = [
            np.full(len(s.rest_positions), max(float(np.max(a)) for a in s.material.stretch)) for s in scene.shells
        ]
        self._count = bodies.count
        self._inertial, self._harder = INERTIAL, HARDER
        self.lasting = True
        """Whether springs keep what loads hardened them to. L-BFGS pays for stiff springs of impacts that are over: a
        drape of 6.4k vertices took half as many gradients again."""
        self._hardened = np.ones(bodies.total)
        self._loaded = np.zeros(bodies.total, dtype=bool)
        self._stretch = np.concatenate([*stretch, colliders])
        self._mass = np.concatenate([mass, colliders])
        self._weight = WEIGHTS * float(np.linalg.norm(scene.gravity_at(0.0))) * self._mass

    def soften(self) -> None:
        """Be soft enough for explicit steps."""
        self._inertial, self._harder = EXPLICIT, 1.0

    def begin_step(self, h: float, gravity: Floats, gentle: bool = False) -> None:
        """Springs for a step of h [s] under `gravity` [m/s²], (3,).

        `gentle`: as hard as a vertex's inertia and weight. The harder a spring is the more force hides in an error of
        position: where solves end with forces known, they would go on for nothing else.
        """
        self._weight = WEIGHTS * float(np.linalg.norm(gravity)) * self._mass
        self._hardened = self._next()
        inertial, least, most = (1.0, 0.0, 0.0) if gentle else (self._inertial, STRETCH, STRETCH_BETWEEN)
        self._inertia = self._hardened * (self._mass * (inertial / (h * h)) + least * self._stretch)
        self._between = self._hardened * (most - least) * self._stretch

    def of(self, corners: Ints, full: Floats) -> Floats:
        """Spring constants [N/m], (r,), of pairs with `corners` (4, r) whose force begins at a gap of `full` [m]."""
        total = self._inertia[corners].sum(axis=0) + self._weight[corners].sum(axis=0) / full
        shells = (corners < self._count).sum(axis=0)
        strength: Floats = (total + np.where(shells == 4, self._between[corners].sum(axis=0), 0.0)) / shells
        return strength

    def _next(self) -> Floats:
        """Factors for the step to come, (total,)."""
        if not self.lasting:
            return np.ones_like(self._hardened)
        return np.where(self._loaded, self._hardened, np.maximum(RELAXED * self._hardened, 1.0))

    def harden(self, deep: Ints, loaded: Ints) -> None:
        """Stiffen vertices that were pressed through their core: a load far above their own inertia and weight.

        `loaded`: those pressed half-way or more, which keep what they have.
        """
        self.rest()
        self._loaded[loaded] = True
        deep = deep[deep < self._count]
        for springs in (self._hardened, self._inertia, self._between):
            springs[deep] *= self._harder

    def rest(self) -> None:
        """Nothing is pressed."""
        self._loaded[:] = False

    def kept(self) -> dict[str, Any]:
        """Plain arrays for a saved state: factors that loads have left."""
        hardened = self._next()[: self._count]
        return {"hardened": hardened} if (hardened > 1.0).any() else {}

    def restore(self, saved: dict[str, Any]) -> None:
        """Take up what `kept` gave."""
        if "hardened" not in saved:
            return
        hardened = np.array(saved["hardened"], dtype=np.float64)
        if hardened.shape != (self._count,) or not (np.isfinite(hardened) & (hardened >= 1.0)).all():
            raise ShellError("resume: hardened must have one finite factor of at least 1 a vertex")
        self._hardened[: self._count] = hardened
        self._loaded[:] = True
