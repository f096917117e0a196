"""When explicit steps are too long: motion that grows without bounds and turns round at every step."""

from __future__ import annotations

import numpy as np

from .linalg.vectors import inner
from .types import Floats

# Steps from one look to the next: a look costs two passes over all velocities.
OFTEN = 8
# Growth of the kinetic energy from look to look beyond which a step that turns most of it round is none of nature's:
# what falls or is blown at gains less, what springs back has had the energy before.
GROWTH = 100.0


class ExplicitGuard:
    """Watches a run of explicit steps. `mass` [kg], (n,), of the unknowns; `size` [m] of the scene."""

    def __init__(self, mass: Floats, size: float) -> None:
        self._mass, self._size = mass[:, None], size
        self._count, self._most = 0, -1.0

    def fits(self, mass: Floats) -> bool:
        """Whether it watches a system of these masses: a cut makes another."""
        return len(mass) == len(self._mass)

    def unstable(self, x: Floats, v: Floats, ahead: Floats, speed: Floats) -> bool:
        """Whether the step from positions x with velocities v to `ahead` with `speed`, each (n, 3), is nonsense: it
        deforms the scene by more than its size, or turns round what has grown out of all proportion."""
        way = ahead - x
        way -= (self._mass * way).sum(axis=0) / self._mass.sum()
        if not float(np.sqrt(inner(way, way) / len(way))) <= self._size:
            return True
        self._count += 1
        if self._count % OFTEN:
            return False
        momentum = self._mass * speed
        energy = inner(momentum, speed)
        grown = 0.0 <= self._most * GROWTH < energy and inner(momentum, v) < 0.0
        self._most = max(self._most, energy)
        return grown
