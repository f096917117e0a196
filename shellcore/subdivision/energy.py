"""The corotated Kirchhoff-Love energy on Loop basis functions: membrane and bending of one theory.

    E = ½ ∑ area [ (U − I) : A : (U − I) + (κ − κ̄) : D : (κ − κ̄) ]

over quadrature points. Control vertices enter by one constant sparse matrix, which takes them to the first and
second derivatives of the surface; its transpose takes stresses and moments to forces. Kelvin-Voigt viscosity is
the same energy about the strains at the start of a step.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, diags, vstack

from ..assembly import Congruence, Hessian, Scaled
from ..energies.base import Energy, round_off_of_squares
from ..energies.fem import Moduli, Stress, positive_part
from ..types import Floats, Sparse
from ..vectors import components, inner
from .assembly import Patches
from .points import Points
from .strains import Curvature, Stretch, add_metric_geometry, add_normal_geometry, energy_gradient, strain_rows
from .supports import ToControl


class KirchhoffLove(Energy):
    """Energy of a shell whose control vertices are the columns of `points`.

    `membrane` A11, A22, A12, A66 [N/m] and `bending` D11, D22, D12, D66 [N·m], each (faces,). `flat`: no rest
    curvature. `to_control`: what takes the unknowns to control positions, where a support makes them differ.
    """

    def __init__(
        self,
        points: Points,
        membrane: Moduli,
        bending: Moduli,
        flat: bool = False,
        to_control: ToControl | None = None,
    ) -> None:
        self.points = points
        self.to_control = to_control
        self.count = len(points.areas)
        self.vertex_count = points.values.shape[1]
        self.membrane = _matrix(membrane, points)
        self.bending = _matrix(bending, points)
        rest = np.zeros_like(points.curvature) if flat else points.curvature
        self.reference = (np.zeros((3, self.count)), rest)
        """Strain U − I and curvature [1/m] without stress, each (3, k)."""
        self._gather: Sparse = csr_matrix(vstack(points.derivatives))
        self._scatter: Sparse = csr_matrix(self._gather.T)
        self._patches: Patches | None = None
        self._latest: tuple[Floats, Hessian] | None = None
        self._last_value = 0.0
        total = self.membrane[0, 0] + self.membrane[1, 1]
        self._total_stiffness = float(points.areas @ total)

    def stiffen(self, factor: float) -> None:
        """Multiply the moduli of the membrane; bending stays."""
        self.membrane = factor * self.membrane
        self._total_stiffness *= factor
        self._latest = None

    def _fields(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """f₁, f₂ (3, k), and h (3, 3, k)."""
        control = x if self.to_control is None else self.to_control.apply(x)
        parts = np.empty((3, 5, self.count))
        for i, component in enumerate(components(control)):
            parts[i] = (self._gather @ component).reshape(5, self.count)
        fields = np.ascontiguousarray(parts.transpose(1, 0, 2))
        return fields[0], fields[1], fields[2:]

    def strain(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Corotated membrane strain U − I, each (k,)."""
        f1, f2, _ = self._fields(x)
        e11, e22, e12 = Stretch.of(f1, f2).strain
        return e11, e22, e12

    def strains(self, x: Floats) -> tuple[Floats, Floats]:
        """Membrane strain and curvature, each (3, k)."""
        f1, f2, h = self._fields(x)
        return Stretch.of(f1, f2).strain, Curvature.of(f1, f2, h).value

    def stress(self, e11: Floats, e22: Floats, e12: Floats) -> Stress:
        """Stress that works on the strain [N/m], each (k,)."""
        s11, s22, twice = _times(self.membrane, np.stack([e11, e22, e12]))
        return s11, s22, 0.5 * twice

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        f1, f2, h = self._fields(x)
        stretch, curvature = Stretch.of(f1, f2), Curvature.of(f1, f2, h)
        strain, bend = stretch.strain - self.reference[0], curvature.value - self.reference[1]
        stress, moment = _times(self.membrane, strain), _times(self.bending, bend)
        density = 0.5 * ((stress * strain).sum(axis=0) + (moment * bend).sum(axis=0))
        self._last_value = inner(self.points.areas, density)
        local = energy_gradient(f1, f2, stretch.metric_stress(stress), moment, h, curvature)
        local *= self.points.areas
        gradient = np.empty((3, len(x)))
        for i in range(3):
            gradient[i] = self._scatter @ np.ascontiguousarray(local[:, i]).ravel()
        if self.to_control is not None:
            return self._last_value, self.to_control.transpose(gradient.T)
        return self._last_value, gradient.T

    def round_off(self, x: Floats) -> float:
        return round_off_of_squares(self._last_value, self._total_stiffness)

    def bending_density(self, x: Floats) -> Floats:
        """Bending energy per area [J/m²] of each face."""
        bend = self.strains(x)[1] - self.reference[1]
        density = 0.5 * (_times(self.bending, bend) * bend).sum(axis=0)
        return self.by_face(density)

    def by_face(self, values: Floats) -> Floats:
        """Mean over the points of each face, (faces,)."""
        areas, faces = self.points.areas, self.points.faces
        mean: Floats = np.bincount(faces, areas * values) / np.bincount(faces, areas)
        return mean

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        """Exact, or (psd) with frozen curvature of the strains and tensile stress only."""
        if not psd:
            return self._hessian(x, None, psd)
        # Viscosity asks for the same matrix at the same place.
        if self._latest is None or self._latest[0] is not x:
            self._latest = (x, self._hessian(x, None, psd))
        return self._latest[1]

    def hessian_under(self, x: Floats, stress: Stress, psd: bool = False) -> Hessian:
        """As `hessian`, but for the membrane stress of its geometric part, which is given."""
        return self._hessian(x, np.stack([stress[0], stress[1], 2.0 * stress[2]]), psd)

    def stress_ahead(self, x: Floats, step: Floats) -> Stress:
        """Membrane stress [N/m] at x + step by the strain linearised at x."""
        f1, f2, _ = self._fields(x)
        g1, g2, _ = self._fields(step)
        stretch = Stretch.of(f1, f2)
        metric = np.stack([2.0 * (f1 * g1).sum(axis=0), 2.0 * (f2 * g2).sum(axis=0), (f1 * g2 + f2 * g1).sum(axis=0)])
        e11, e22, e12 = stretch.strain + np.einsum("abk,bk->ak", stretch.by_metric, metric) - self.reference[0]
        return self.stress(e11, e22, e12)

    def _hessian(self, x: Floats, stress: Floats | None, psd: bool) -> Hessian:
        f1, f2, h = self._fields(x)
        stretch, curvature = Stretch.of(f1, f2), Curvature.of(f1, f2, h)
        if stress is None:
            stress = _times(self.membrane, stretch.strain - self.reference[0])
        moment = _times(self.bending, curvature.value - self.reference[1])
        moduli = np.zeros((self.count, 6, 6))
        metric = np.einsum("abk,ack,cdk->bdk", stretch.by_metric, self.membrane, stretch.by_metric, optimize=True)
        on_metric = stretch.metric_stress(stress)
        if psd:
            s11, s22, half = positive_part(2.0 * on_metric[0], 2.0 * on_metric[1], on_metric[2])
            on_metric = np.stack([0.5 * s11, 0.5 * s22, half])
        else:
            metric = metric + stretch.second(stress)
        moduli[:, :3, :3] = metric.transpose(2, 0, 1)
        moduli[:, 3:, 3:] = self.bending.transpose(2, 0, 1)
        rows = strain_rows(f1, f2, h, curvature)
        local = rows.transpose(0, 2, 1) @ (moduli @ rows)
        add_metric_geometry(local, on_metric)
        if not psd:
            add_normal_geometry(local, f1, f2, h, moment, curvature)
        local *= self.points.areas[:, None, None]
        if self._patches is None:
            self._patches = Patches(self._gather, self.points)
        matrix = self._patches.assemble(local)
        if self.to_control is not None:
            matrix = Congruence(matrix, self.to_control.matrix())
        return Hessian(self.vertex_count, blocks=[matrix])

    def stiffness(self) -> Sparse:
        """Membrane as a Laplacian in every direction, bending as that of a plate, at rest."""
        k, areas = self.count, self.points.areas
        a, d = self.membrane, self.bending
        twist = 0.25 * a[2, 2]
        weights = [0.5 * (a[0, 0] + twist), 0.5 * (a[1, 1] + twist), d[0, 0], d[1, 1], d[2, 2]]
        diagonal = diags(np.concatenate([areas * w for w in weights]))
        h11, h22 = self._gather[2 * k : 3 * k], self._gather[3 * k : 4 * k]
        mixed = h11.T @ diags(areas * d[0, 1]) @ h22
        total = csr_matrix(self._scatter @ diagonal @ self._gather + mixed + mixed.T)
        return total if self.to_control is None else self.to_control.mean_congruence(total)


class KelvinVoigt(KirchhoffLove):
    """Viscosity of a shell: `coefficient` [s] times its elastic matrices on strain rates."""

    def __init__(self, elastic: KirchhoffLove, coefficient: float) -> None:
        self.__dict__.update(elastic.__dict__)
        self._elastic = elastic
        self.coefficient = coefficient

    def begin_step(self, x: Floats, h: float) -> None:
        """Start of a step of h [s] at x."""
        self.reference = self._elastic.strains(x)
        rate = self.coefficient / h
        self.membrane, self.bending = rate * self._elastic.membrane, rate * self._elastic.bending
        self._rate = rate

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        """Exact, or (psd) the elastic one scaled: the same strains, with the tension of the elastic stress."""
        if not psd:
            return self._hessian(x, None, psd)
        return Hessian(self.vertex_count, blocks=[Scaled(self._rate, b) for b in self._elastic.hessian(x).blocks])


def _matrix(moduli: Moduli, points: Points) -> Floats:
    """(3, 3, k): derivative of stress (11, 22, twice 12) by strain (11, 22, 12)."""
    first, second, coupled, twist = (values[points.faces] for values in moduli)
    matrix = np.zeros((3, 3, len(points.areas)))
    matrix[0, 0], matrix[1, 1], matrix[2, 2] = first, second, 4.0 * twist
    matrix[0, 1] = matrix[1, 0] = coupled
    return matrix


def _times(matrix: Floats, strain: Floats) -> Floats:
    """Stress of orthotropic moduli: nothing couples 12 with the rest."""
    e11, e22, e12 = strain
    return np.stack(
        [matrix[0, 0] * e11 + matrix[0, 1] * e22, matrix[1, 0] * e11 + matrix[1, 1] * e22, matrix[2, 2] * e12]
    )
