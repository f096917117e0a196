"""How motion dies out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .errors import ShellError


@dataclass(frozen=True)
class Damping:
    """How motion dies out.

    `mass` α₁ [1/s]: drag against the world, Rayleigh's mass part. `stiffness` α₂ [s]: Rayleigh's stiffness part, on
    strain and angle rates. `hinge` [N·s]: on angle rates per length of edge (Discrete Shells). `viscosity` [s]:
    Kelvin-Voigt, which for these models is one more stiffness part.
    """

    mass: float = 0.0
    stiffness: float = 0.0
    hinge: float = 0.0
    viscosity: float = 0.0

    def __post_init__(self) -> None:
        for name in ("mass", "stiffness", "hinge", "viscosity"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise ShellError(f"damping {name} must be zero or more, not {value}")
