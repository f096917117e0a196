"""Corotated strains of a Kirchhoff-Love shell at a point, with their first derivatives, vectorised over points.

With F = (f₁ f₂) the image of the unit warp and weft vectors and U its stretch (F = RU), the corotated membrane strain
is the linear strain of RᵀF: U − I (Thomaszewski et al. 2006, eqs. 21 and 31). The bending strain is the change of the
second fundamental form κᵢⱼ = hᵢⱼ·n, hᵢⱼ second derivatives, n the current normal.

U of a 2 × 2 tensor C = FᵀF needs no eigenvectors: U = (C + J·1)/t with J = √det C and t = √(tr C + 2J). Its
derivatives by C hold all of ∂R, and those of n all of ∂a₃, so gradients are exact. Symmetric tensors are triples
(11, 22, 12).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..linalg.vectors import cross, dot
from ..types import Floats

# √det C below this (the surface folded to a line) is taken as this: the strain has a kink there.
FLATTEST = 1e-9
_IDENTITY = np.array([1.0, 1.0, 0.0])


def metric(a1: Floats, a2: Floats) -> Floats:
    """a₁·a₁, a₂·a₂, a₁·a₂, (3, k), of tangents, each (3, k)."""
    return np.stack([dot(a1, a1), dot(a2, a2), dot(a1, a2)])


@dataclass
class Stretch:
    """U − I, and what its derivatives by C = (c₁₁, c₂₂, c₁₂) are made of."""

    strain: Floats
    """U − I, (3, k)."""
    _area: Floats
    _trace: Floats
    _by_area: Floats

    @staticmethod
    def of(c: Floats) -> Stretch:
        """From the metric by warp and weft, (3, k)."""
        area = np.sqrt(np.maximum(c[0] * c[1] - c[2] * c[2], FLATTEST**2))
        trace = np.sqrt(c[0] + c[1] + 2.0 * area)
        half = 0.5 / area
        by_area = np.stack([c[1] * half, c[0] * half, -2.0 * half * c[2]])
        over = 1.0 / trace
        strain = np.stack([(c[0] + area) * over - 1.0, (c[1] + area) * over - 1.0, c[2] * over])
        return Stretch(strain, area, trace, by_area)

    @property
    def _by_trace(self) -> Floats:
        """∂t/∂C, (3, k)."""
        total: Floats = (_IDENTITY[:, None] + 2.0 * self._by_area) / (2.0 * self._trace)
        return total

    @property
    def by_metric(self) -> Floats:
        """∂U/∂C, (3, 3, k): row a, column b is ∂Uₐ/∂c_b."""
        total: Floats = (np.eye(3)[:, :, None] + _IDENTITY[:, None, None] * self._by_area) / self._trace
        total -= (self.strain + _IDENTITY[:, None])[:, None] * (self._by_trace / self._trace)
        return total

    def metric_stress(self, stress: Floats) -> Floats:
        """Derivative by C, (3, k), of an energy whose derivative by U is `stress` (3, k)."""
        over = 1.0 / self._trace
        pressure = stress[0] + stress[1]
        work = pressure + stress[0] * self.strain[0] + stress[1] * self.strain[1] + stress[2] * self.strain[2]
        # ∂U/∂C = (1 + I ⊗ ∂J/∂C − U ⊗ ∂t/∂C)/t with ∂t/∂C = (I + 2 ∂J/∂C)/2t.
        share = 0.5 * over * work
        towards: Floats = (pressure - 2.0 * share) * self._by_area + stress
        towards[:2] -= share
        towards *= over
        return towards

    def second(self, stress: Floats) -> Floats:
        """∑ₐ stressₐ ∂²Uₐ/∂C², (3, 3, k)."""
        area, trace, by_area, by_trace = self._area, self._trace, self._by_area, self._by_trace
        swap = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -2.0]])[:, :, None]
        area_2 = swap / (2.0 * area) - by_area[:, None] * by_area[None] / area
        trace_2 = area_2 / trace - by_trace[:, None] * by_trace[None] / trace
        pressure = _IDENTITY @ stress
        towards = stress + pressure * by_area
        mixed = towards[:, None] * by_trace[None]
        work = (stress * (self.strain + _IDENTITY[:, None])).sum(axis=0)
        total: Floats = pressure * area_2 / trace - (mixed + mixed.transpose(1, 0, 2)) / trace**2
        total += work * (2.0 * by_trace[:, None] * by_trace[None] / trace**2 - trace_2 / trace)
        return total


@dataclass
class Curvature:
    """κ = hᵢⱼ·n with the normal's derivatives."""

    value: Floats
    """κ₁₁, κ₂₂, κ₁₂, (3, k)."""
    normal: Floats
    area: Floats
    """|a₁ × a₂|, (k,)."""

    @staticmethod
    def of(a1: Floats, a2: Floats, h: Floats) -> Curvature:
        """From tangents (3, k) and second derivatives `h` (3, 3, k): row a, components."""
        raised = cross(a1, a2)
        area = np.sqrt(dot(raised, raised))
        # A surface folded to a line has no normal; its size only matters for scale.
        area = np.maximum(area, FLATTEST * float(area.max()) + 1e-300)
        raised /= area
        return Curvature(np.stack([dot(h[a], raised) for a in range(3)]), raised, area)

    def lever(self, vector: Floats) -> Floats:
        """∂(vector·n)/∂(a₁ × a₂), (3, k)."""
        arm: Floats = vector - dot(vector, self.normal) * self.normal
        arm /= self.area
        return arm


def energy_gradient(vectors: Floats, stress: Floats, moment: Floats, at: Curvature) -> Floats:
    """Derivatives by a₁, a₂, h₁₁, h₂₂, h₁₂ = `vectors`: (5, 3, k). `stress`: derivative by the metric; `moment`: by κ;
    each (3, k)."""
    a1, a2, h = vectors[0], vectors[1], vectors[2:]
    result = np.empty_like(vectors)
    for a in range(3):
        np.multiply(moment[a], at.normal, out=result[2 + a])
    arm = at.lever(moment[0] * h[0] + moment[1] * h[1] + moment[2] * h[2])
    result[0] = (2.0 * stress[0]) * a1
    result[0] += stress[2] * a2
    result[0] += cross(a2, arm)
    result[1] = (2.0 * stress[1]) * a2
    result[1] += stress[2] * a1
    result[1] += cross(arm, a1)
    return result
