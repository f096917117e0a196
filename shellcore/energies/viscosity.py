"""Internal damping as a potential of one step: half the step's strain change, squared, over its length.

Rayleigh's −α₂ H v has a torque on a stressed sheet (`physics.md`, erratum 8). Built on changes of strain and of
hinge angle instead, the force is zero for every rigid motion and has neither resultant nor torque:

    membrane  (α₂/2h) ∑ area (E − Eₙ) : C : (E − Eₙ)
    bending   (1/2h) ∑ c (θ − θₙ − (θ̄ − θ̄ₙ))²,   c = α₂ w + hinge damping · |ē| [N·m·s]

(the second is Discrete Shells' (θ̇ − dθ̄/dt)∇θ). Both are of first order in a step of implicit Euler; stages of a
scheme of second order count from where its formula takes strains and angles themselves (`Stage.carried`).
"""

from __future__ import annotations

import numpy as np

from ..dynamics.stage import Stage
from ..linalg.assembly import Hessian
from ..linalg.vectors import inner
from ..types import Floats, Sparse
from .base import Energy
from .fem import Fem, green_strain, positive_part
from .hinge import Hinge


class StrainViscosity(Energy):
    """Damping of the membrane's Green strain; `coefficient` α₂ [s]."""

    def __init__(self, membrane: Fem, coefficient: float) -> None:
        self.membrane = membrane
        self.coefficient = coefficient
        self._rate = 0.0

    def begin_step(self, stage: Stage) -> None:
        """Count strain from where a step starts."""
        now = self.membrane.strain(stage.start)
        then = now if stage.first is None else self.membrane.strain(stage.first)
        e11, e22, e12 = (stage.carried(a, b) for a, b in zip(then, now, strict=True))
        self._strain = e11, e22, e12
        self._rate = self.coefficient / stage.h

    def _change(self, warp: Floats, weft: Floats) -> tuple[Floats, Floats, Floats]:
        e11, e22, e12 = green_strain(warp, weft)
        s11, s22, s12 = self._strain
        return e11 - s11, e22 - s22, e12 - s12

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        warp, weft = self.membrane.deformation(x)
        change = self._change(warp, weft)
        s11, s22, s12 = (self._rate * s for s in self.membrane.stress(*change))
        density = 0.5 * (s11 * change[0] + s22 * change[1]) + s12 * change[2]
        return inner(self.membrane.areas, density), self.membrane.forces_of(warp, weft, s11, s22, s12)

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        warp, weft = self.membrane.deformation(x)
        s11, s22, s12 = (self._rate * s for s in self.membrane.stress(*self._change(warp, weft)))
        if psd:
            s11, s22, s12 = positive_part(s11, s22, s12)
        a11, a22, a12, a66 = (self._rate * a for a in self.membrane.moduli)
        block = self.membrane.tangent(warp, weft, (a11, a22, a12, a66), (s11, s22, s12))
        return Hessian(len(x), blocks=[block])

    def stiffness(self) -> Sparse:
        return self._rate * self.membrane.stiffness()


class AngleViscosity(Energy):
    """Damping of hinge angles; `coefficients` c [N·m·s], (h,). `hinge` supplies geometry and rest angles;
    `constant` is a matrix [N·m/m²] of the same hinges with unit weights, for the constant Jacobian."""

    def __init__(self, hinge: Hinge, coefficients: Floats, constant: Sparse) -> None:
        self.hinge = hinge
        self.coefficients = coefficients
        self._constant = constant

    def begin_step(self, stage: Stage) -> None:
        """Count angles from where a step starts."""
        now = self.hinge.angles(stage.start)
        then = now if stage.first is None else now - self._wrapped(now - self.hinge.angles(stage.first))
        self._start = stage.carried(then, now)
        self._weights = self.coefficients / stage.h
        self._per_step = 1.0 / stage.h

    def flow(self, change: Floats) -> None:
        """Rest angles move by `change` [rad], (h,), during the step: that is flow, not motion to be damped."""
        self._start = self._start + change

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        cosine, sine = self.hinge.geometry.measure(x)
        change = self._wrapped(np.arctan2(sine, cosine) - self._start)
        moment = self._weights * change
        return 0.5 * inner(moment, change), self.hinge.geometry.forces_of(moment)

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        moment = self._weights * self._wrapped(self.hinge.angles(x) - self._start)
        return self.hinge.hessian_of(x, self._weights, None if psd else moment)

    def stiffness(self) -> Sparse:
        return self._per_step * self._constant

    @staticmethod
    def _wrapped(change: Floats) -> Floats:
        """A hinge that passes 180° jumps by a turn; its change over a step is the short way."""
        result: Floats = (change + np.pi) % (2.0 * np.pi) - np.pi
        return result
