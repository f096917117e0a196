"""How motion dies out."""

from __future__ import annotations

from dataclasses import dataclass

from .checks import not_negative


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
            not_negative(getattr(self, name), f"damping {name}")
