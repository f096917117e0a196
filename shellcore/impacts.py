"""Contacts in Newmark's steps: forces that act in no step but their own, and impacts without rebound.

Newmark's scheme takes half of every force over into the next step. A contact that has parted meanwhile still throws the
sheet about there, and what presses on swings about its gap from step to step, undamped: a sheet that fell on a ball had
100, 2,000 and 4 times its energy after twelve frames with 4, 16 and 64 steps each. So, after Kane, Repetto, Ortiz and
Marsden (1999), contacts and friction are not taken over. With the force F that holds a step's end x in place beside all
others,

    x = x₀ + h v₀ + h² [(½ − β) a₀ + β a] + ½ h² f,    v = v₀ + h [(1 − γ) a₀ + γ a] + h f,    f = 2β F/M,

where a is the acceleration by all other forces at x: still of second order, and exact for what lies or slides evenly.
F, which is in the step's potential, is 1/2β of the force M f that acts.

Such contacts are elastic, each vertex by itself: what strikes within a step leaves it with any share of its speed.
Sheets do not rebound so. Velocities therefore lose what still moves along normals that press, and across them where
friction sticks: (M + h²K) v′ = M v + h² b with the matrix K and the vector b of `grip`. That takes kinetic energy only,
and leaves the momentum of sheets that strike each other alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_matrix, diags

from .linalg.assembly import Hessian
from .linalg.factor import Lu
from .linalg.vectors import by_columns
from .types import Bools, Floats

if TYPE_CHECKING:
    from .system import System


def touches(system: System, x: Floats) -> bool:
    """Whether any contact presses at x (n, 3)."""
    points = system.on_surface(x)
    pressed = system.contact.exists and system.contact.presses(x)
    return bool(pressed or any(penalty.touching(points).any() for penalty in system.penalties))


class Grip:
    """What contacts hold at x (n, 3), the end of a solve with h [s]: motion along normals that press, and across them
    where friction sticks."""

    def __init__(self, system: System, x: Floats, h: float) -> None:
        total, drive = system.contact.grip(x) if system.contact.exists else (Hessian(len(x)), np.zeros_like(x))
        for penalty in system.penalties:
            part, of_part = penalty.grip(system.on_surface(x))
            if system.surface is not None:
                part, of_part = system.surface.hessian(part), system.surface.carry(of_part)
            total, drive = total + part, drive + of_part
        matrix = (h * h * total.matrix()).tocsr()
        # Springs hardened without end would drown the mass in round-off; so hard ones hold as well.
        hardest = float(system.mass.max()) / float(np.sqrt(np.finfo(np.float64).eps))
        share = min(1.0, hardest / max(float(abs(matrix.data).max(initial=0.0)), hardest))
        self._matrix, self._drive = share * matrix, share * h * h * drive.ravel()
        touched = np.diff(self._matrix.indptr) > 0
        free = system.free.ravel()
        self.touched: Bools = np.asarray(touched.reshape(-1, 3).any(axis=1))
        """Unknowns (n,) that contacts act on."""
        self._at, self._fixed = np.flatnonzero(touched & free), np.flatnonzero(~free)
        self._mass = np.repeat(system.mass, 3)
        self._factor: Lu | None = None
        if len(self._at):
            self._factor = Lu(csc_matrix(self._matrix[self._at][:, self._at] + diags(self._mass[self._at])))

    def velocity(self, v: Floats) -> Floats:
        """What is left of velocities v [m/s], (n, 3)."""
        return self._left(v, self._drive)

    def acceleration(self, a: Floats) -> Floats:
        """What is left of accelerations a [m/s²], (n, 3): what is held goes on with the speed of what holds it."""
        return self._left(a, np.zeros_like(self._drive))

    def _left(self, v: Floats, drive: Floats) -> Floats:
        at = self._at
        if self._factor is None:
            return v
        found = v.ravel()
        right = (self._mass * found)[at] + drive[at] - self._matrix[at][:, self._fixed] @ found[self._fixed]
        found[at] = self._factor.solve(right)
        return by_columns(found.reshape(v.shape))


def without_rebound(system: System, x: Floats, v: Floats, h: float) -> Floats:
    """Velocities (n, 3) that contacts at x (n, 3), the end of a step of h [s], leave of v."""
    return Grip(system, x, h).velocity(v)
