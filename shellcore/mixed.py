"""Membrane stress as an unknown of its own, for Newton's method on thin sheets.

A step that bends also stretches, to second order, and a thin sheet answers with stresses far above the true ones. In
the geometric part of the Hessian they spoil the next step. So the stress there is carried from step to step by the
linearised strain instead (a mixed Newton method, condensed: same solution, same size of system; Magisano, Leonetti and
Garcea 2017 call it the mixed integration point strategy). Thin sheets then converge in a handful of whole steps.
"""

from __future__ import annotations

from collections.abc import Sequence

from .energies.base import Energy
from .energies.fem import Fem
from .linalg.assembly import Hessian
from .subdivision.energy import KirchhoffLove
from .types import Floats


class MixedStress:
    """Stresses of the membranes among some energies, started at their true values at x."""

    def __init__(self, energies: Sequence[Energy], x: Floats) -> None:
        self.membranes = [energy for energy in energies if isinstance(energy, (Fem, KirchhoffLove))]
        self._stress = [membrane.stress(*membrane.elastic_strain(x)) for membrane in self.membranes]

    def hessian(self, x: Floats, psd: bool = False) -> Hessian:
        """Of the membranes, with the carried stress in its geometric part (its tensile part only, if psd)."""
        total = Hessian(len(x))
        for membrane, stress in zip(self.membranes, self._stress, strict=True):
            total = total + membrane.hessian_under(x, stress, psd)
        return total

    def advance(
        self, x: Floats, direction: Floats, share: float = 1.0, kind: type | tuple[type, ...] = (Fem, KirchhoffLove)
    ) -> None:
        """Follow the step from x by `share` of a Newton direction; only membranes of a `kind`, where given."""
        for i, membrane in enumerate(self.membranes):
            if not isinstance(membrane, kind):
                continue
            ahead = membrane.stress_ahead(x, direction)
            a, b, c = (s + share * (t - s) for s, t in zip(self._stress[i], ahead, strict=True))
            self._stress[i] = (a, b, c)
