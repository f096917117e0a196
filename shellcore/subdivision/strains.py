"""Corotated strains of a Kirchhoff-Love shell at a point, with all their derivatives, vectorised over points.

With F = (f₁ f₂) the image of the unit warp and weft vectors and U its stretch (F = RU), the corotated membrane strain
is the linear strain of RᵀF: U − I (Thomaszewski et al. 2006, eqs. 21 and 31). The bending strain is the change of the
second fundamental form κᵢⱼ = hᵢⱼ·n, hᵢⱼ second derivatives along warp and weft, n the current normal.

U of a 2 × 2 tensor C = FᵀF needs no eigenvectors: U = (C + J·1)/t with J = √det C and t = √(tr C + 2J). Its
derivatives by C hold all of ∂R, and those of n all of ∂a₃, so gradients are exact. Symmetric tensors are triples
(11, 22, 12).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..types import Floats
from ..vectors import cross, dot, skew

# √det C below this (the surface folded to a line) is taken as this: the strain has a kink there.
FLATTEST = 1e-9
_IDENTITY = np.array([1.0, 1.0, 0.0])


@dataclass
class Stretch:
    """U − I, and what its derivatives by C = (c₁₁, c₂₂, c₁₂) are made of."""

    strain: Floats
    """U − I, (3, k)."""
    by_metric: Floats
    """∂U/∂C, (3, 3, k): row a, column b is ∂Uₐ/∂c_b."""
    _parts: tuple[Floats, Floats, Floats, Floats, Floats]

    @staticmethod
    def of(f1: Floats, f2: Floats) -> Stretch:
        """From the images of warp and weft, each (3, k)."""
        c = np.stack([dot(f1, f1), dot(f2, f2), dot(f1, f2)])
        area = np.sqrt(np.maximum(c[0] * c[1] - c[2] * c[2], FLATTEST**2))
        trace = np.sqrt(c[0] + c[1] + 2.0 * area)
        by_area = np.stack([c[1], c[0], -2.0 * c[2]]) / (2.0 * area)
        by_trace = (_IDENTITY[:, None] + 2.0 * by_area) / (2.0 * trace)
        stretch = (c + _IDENTITY[:, None] * area) / trace
        by_metric = (np.eye(3)[:, :, None] + _IDENTITY[:, None, None] * by_area) / trace
        by_metric -= stretch[:, None] * (by_trace / trace)
        return Stretch(stretch - _IDENTITY[:, None], by_metric, (area, trace, by_area, by_trace, stretch))

    def metric_stress(self, stress: Floats) -> Floats:
        """Derivative by C, (3, k), of an energy whose derivative by U is `stress` (3, k)."""
        total: Floats = np.einsum("abk,ak->bk", self.by_metric, stress)
        return total

    def second(self, stress: Floats) -> Floats:
        """∑ₐ stressₐ ∂²Uₐ/∂C², (3, 3, k)."""
        area, trace, by_area, by_trace, stretch = self._parts
        swap = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -2.0]])[:, :, None]
        area_2 = swap / (2.0 * area) - by_area[:, None] * by_area[None] / area
        trace_2 = area_2 / trace - by_trace[:, None] * by_trace[None] / trace
        pressure = _IDENTITY @ stress
        towards = stress + pressure * by_area
        mixed = towards[:, None] * by_trace[None]
        work = (stress * stretch).sum(axis=0)
        total: Floats = pressure * area_2 / trace - (mixed + mixed.transpose(1, 0, 2)) / trace**2
        total += work * (2.0 * by_trace[:, None] * by_trace[None] / trace**2 - trace_2 / trace)
        return total


@dataclass
class Curvature:
    """κ = hᵢⱼ·n with the normal's derivatives."""

    value: Floats
    """κ₁₁, κ₂₂, κ₁₂ [1/m], (3, k)."""
    normal: Floats
    area: Floats

    @staticmethod
    def of(f1: Floats, f2: Floats, h: Floats) -> Curvature:
        """From the images of warp and weft (3, k) and second derivatives `h` (3, 3, k): row a, components."""
        raised = cross(f1, f2)
        area = np.maximum(np.sqrt(dot(raised, raised)), FLATTEST)
        normal = raised / area
        return Curvature(np.stack([dot(h[a], normal) for a in range(3)]), normal, area)

    def lever(self, vector: Floats) -> Floats:
        """∂(vector·n)/∂(f₁ × f₂), (3, k)."""
        arm: Floats = (vector - dot(vector, self.normal) * self.normal) / self.area
        return arm


def energy_gradient(f1: Floats, f2: Floats, stress: Floats, moment: Floats, h: Floats, at: Curvature) -> Floats:
    """Derivatives by f₁, f₂, h₁₁, h₂₂, h₁₂: (5, 3, k). `stress`: derivative by C; `moment`: by κ; each (3, k)."""
    result = np.empty((5, *f1.shape))
    arm = at.lever(moment[0] * h[0] + moment[1] * h[1] + moment[2] * h[2])
    result[0] = 2.0 * stress[0] * f1 + stress[2] * f2 + cross(f2, arm)
    result[1] = 2.0 * stress[1] * f2 + stress[2] * f1 + cross(arm, f1)
    for a in range(3):
        result[2 + a] = moment[a] * at.normal
    return result


def strain_rows(f1: Floats, f2: Floats, h: Floats, at: Curvature) -> Floats:
    """Derivatives of C and κ, (k, 6, 15), by the five vectors; columns by component, then vector."""
    rows = np.zeros((6, 3, 5, f1.shape[1]))
    rows[0, :, 0] = 2.0 * f1
    rows[1, :, 1] = 2.0 * f2
    rows[2, :, 0], rows[2, :, 1] = f2, f1
    for a in range(3):
        arm = at.lever(h[a])
        rows[3 + a, :, 0], rows[3 + a, :, 1] = cross(f2, arm), cross(arm, f1)
        rows[3 + a, :, 2 + a] = at.normal
    return np.ascontiguousarray(rows.reshape(6, 15, -1).transpose(2, 0, 1))


def add_metric_geometry(local: Floats, stress: Floats) -> None:
    """Add the part of the second derivative, (k, 15, 15), that stress by C, (3, k), has through F."""
    for r in range(0, 15, 5):
        local[:, r, r] += 2.0 * stress[0]
        local[:, r + 1, r + 1] += 2.0 * stress[1]
        local[:, r, r + 1] += stress[2]
        local[:, r + 1, r] += stress[2]


def add_normal_geometry(local: Floats, f1: Floats, f2: Floats, h: Floats, moment: Floats, at: Curvature) -> None:
    """Add the part of the second derivative that moments, (3, k), have through the turning of the normal."""
    vector = moment[0] * h[0] + moment[1] * h[1] + moment[2] * h[2]
    arm, n = at.lever(vector).T, at.normal.T
    along = n[:, :, None] * n[:, None, :]
    across = (np.eye(3) - along) / at.area[:, None, None]
    mixed = arm[:, :, None] * n[:, None, :]
    bent = -(mixed + mixed.transpose(0, 2, 1) + dot(vector, at.normal)[:, None, None] * across)
    bent /= at.area[:, None, None]
    turn = (-skew(f2.T), skew(f1.T))
    blocks = local.reshape(-1, 3, 5, 3, 5)
    for i in range(2):
        for j in range(2):
            blocks[:, :, i, :, j] += turn[i].transpose(0, 2, 1) @ bent @ turn[j]
        for a in range(3):
            swing = moment[a][:, None, None] * (across @ turn[i])
            blocks[:, :, 2 + a, :, i] += swing
            blocks[:, :, i, :, 2 + a] += swing.transpose(0, 2, 1)
    blocks[:, :, 0, :, 1] -= skew(arm)
    blocks[:, :, 1, :, 0] += skew(arm)
