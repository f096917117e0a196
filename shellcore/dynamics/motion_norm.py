"""How much of a displacement shows: the measure that errors of steps and of solves have in common.

What a shell does as a whole counts in full: its part among polynomials of third degree in the rest positions, which
have translation, rotation, stretch, bending and twist in them. What is finer (wrinkles, ringing) counts by a share:
it looks alike wherever its folds are, and nature would have them elsewhere after the slightest push.
"""

from __future__ import annotations

import numpy as np

from ..linalg.vectors import by_columns
from ..system import System
from ..types import Floats

# Share by which fine motion counts.
FINE = 0.2


class MotionNorm:
    """Of the shells of one system."""

    def __init__(self, system: System) -> None:
        self._parts = [part for part, _ in system.parts]
        self._mass = [system.mass[part] for part in self._parts]
        rest = system.with_hidden(np.concatenate([shell.rest_positions for shell in system.scene.shells]))
        self._bases = [
            by_columns(_polynomials(rest[part], mass)) for part, mass in zip(self._parts, self._mass, strict=True)
        ]

    def __call__(self, displacement: Floats, fine: float = FINE) -> list[float]:
        """Root mean square over the mass of each shell [m], of a displacement (n, 3)."""
        sizes = []
        for part, mass, basis in zip(self._parts, self._mass, self._bases, strict=True):
            momentum = mass[:, None] * displacement[part]
            whole = float((np.einsum("kb,kc->bc", basis, momentum) ** 2).sum())
            total = float((momentum * displacement[part]).sum())
            sizes.append(float(np.sqrt((whole + fine**2 * max(total - whole, 0.0)) / mass.sum())))
        return sizes


def _polynomials(rest: Floats, mass: Floats) -> Floats:
    """Polynomials of rest positions (k, 3), orthonormal under `mass` (k,), as columns."""
    x = rest - mass @ rest / mass.sum()
    x = x / np.abs(x).max()
    powers = [(a, b, c) for a in range(4) for b in range(4 - a) for c in range(4 - a - b)]
    values = np.stack([x[:, 0] ** a * x[:, 1] ** b * x[:, 2] ** c for a, b, c in powers], axis=1)
    root = np.sqrt(mass)[:, None]
    u, sizes, _ = np.linalg.svd(root * values, full_matrices=False)
    # Some are none on this shell: those of its height, where it is flat.
    basis: Floats = u[:, sizes > np.finfo(np.float64).eps * len(x) * sizes[0]]
    by_mass: Floats = np.divide(basis, root, out=np.zeros_like(basis), where=root > 0.0)
    return by_mass
