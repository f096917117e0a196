"""Schemes of time stepping by name."""

from __future__ import annotations

from ..integrators import Integrator
from ..system import System
from .sdirk import Sdirk2


def scheme(system: System, name: str, beta: float, gamma: float, jacobian: str) -> Integrator:
    """The scheme of a name for a system; `beta`, `gamma` are Newmark's, `jacobian` that of bending."""
    kind = Sdirk2 if name == "sdirk2" else Integrator
    return kind(system, name, beta, gamma, jacobian)
