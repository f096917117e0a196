"""The corotated Kirchhoff-Love energy on Loop basis functions: membrane and bending of one theory.

    E = ½ ∑ area [ (U − I) : A : (U − I) + (κ − κ̄) : D : (κ − κ̄) ]

over quadrature points. Control vertices enter by one constant linear map (`fields`), which takes them to the first and
second derivatives of the surface; its transpose takes stresses and moments to forces. Kelvin-Voigt viscosity, the same
energy about the strains at the start of a step, only shifts the strains without stress.
"""

from __future__ import annotations

from copy import copy

import numpy as np
from scipy.sparse import csr_matrix, diags, vstack

from ..dynamics.stage import Stage
from ..energies.base import Energy, round_off_of_squares
from ..energies.fem import Moduli, Stress, positive_part
from ..linalg.assembly import Hessian
from ..linalg.vectors import components, dot, inner
from ..types import Floats, Sparse
from .assembly import IrregularPatches, RegularPatches, assemblers
from .fields import SurfaceFields
from .points import Points, contracted
from .strains import Curvature, Stretch, energy_gradient, metric
from .supports import ToControl
from .tangent import add_normal_part, strain_part


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
        self._to_warp = points.to_warp
        self._from_warp = np.ascontiguousarray(points.to_warp.transpose(1, 0, 2))
        self._surface = SurfaceFields(points)
        # Filled when first asked for; shared by copies.
        self._assemblers: list[RegularPatches | IrregularPatches] = []
        self._last_value = 0.0
        total = self.membrane[0, 0] + self.membrane[1, 1]
        self._total_stiffness = float(points.areas @ total)

    def stiffen(self, factor: float) -> None:
        """Multiply the moduli of the membrane; bending stays."""
        self.membrane = factor * self.membrane
        self._total_stiffness *= factor

    def _vectors(self, x: Floats) -> Floats:
        """Derivatives a₁, a₂, h₁₁, h₂₂, h₁₂ along the faces' coordinates, (5, 3, k)."""
        control = x if self.to_control is None else self.to_control.apply(x)
        return self._surface.vectors(components(control))

    def _stretch(self, vectors: Floats) -> Stretch:
        return Stretch.of(contracted(self._to_warp, metric(vectors[0], vectors[1])))

    def strain(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Corotated membrane strain U − I, each (k,)."""
        e11, e22, e12 = self._stretch(self._vectors(x)).strain
        return e11, e22, e12

    def elastic_strain(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Membrane strain that has stress, each (k,)."""
        e11, e22, e12 = self._stretch(self._vectors(x)).strain - self.reference[0]
        return e11, e22, e12

    def strains(self, x: Floats) -> tuple[Floats, Floats]:
        """Membrane strain and curvature, each (3, k)."""
        vectors = self._vectors(x)
        bent = Curvature.of(vectors[0], vectors[1], vectors[2:]).value
        return self._stretch(vectors).strain, contracted(self._to_warp, bent)

    def stress(self, e11: Floats, e22: Floats, e12: Floats) -> Stress:
        """Stress that works on the strain [N/m], each (k,)."""
        s11, s22, twice = _times(self.membrane, np.stack([e11, e22, e12]))
        return s11, s22, 0.5 * twice

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        vectors = self._vectors(x)
        stretch, curvature = self._stretch(vectors), Curvature.of(vectors[0], vectors[1], vectors[2:])
        strain = stretch.strain - self.reference[0]
        bend = contracted(self._to_warp, curvature.value) - self.reference[1]
        areas = self.points.areas
        stress, moment = _times(self.membrane, strain), _times(self.bending, bend)
        stress *= areas
        moment *= areas
        self._last_value = 0.5 * (inner(stress, strain) + inner(moment, bend))
        on_metric = contracted(self._from_warp, stretch.metric_stress(stress))
        local = energy_gradient(vectors, on_metric, contracted(self._from_warp, moment), curvature)
        gradient = self._surface.forces(local)
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
        return self._hessian(x, None, psd)

    def hessian_under(self, x: Floats, stress: Stress, psd: bool = False) -> Hessian:
        """As `hessian`, but for the membrane stress of its geometric part, which is given."""
        return self._hessian(x, np.stack([stress[0], stress[1], 2.0 * stress[2]]), psd)

    def stress_ahead(self, x: Floats, step: Floats) -> Stress:
        """Membrane stress [N/m] at x + step by the strain linearised at x."""
        at, ahead = self._vectors(x), self._vectors(step)
        stretch = self._stretch(at)
        change = np.stack([2.0 * dot(at[0], ahead[0]), 2.0 * dot(at[1], ahead[1])])
        sheared = dot(at[0], ahead[1]) + dot(at[1], ahead[0])
        change = contracted(stretch.by_metric, contracted(self._to_warp, np.concatenate([change, sheared[None]])))
        e11, e22, e12 = stretch.strain + change - self.reference[0]
        return self.stress(e11, e22, e12)

    def _hessian(self, x: Floats, stress: Floats | None, psd: bool) -> Hessian:
        vectors = self._vectors(x)
        stretch, curvature = self._stretch(vectors), Curvature.of(vectors[0], vectors[1], vectors[2:])
        if stress is None:
            stress = _times(self.membrane, stretch.strain - self.reference[0])
        back = stretch.by_metric.transpose(1, 0, 2)
        moduli = np.stack([contracted(back, _times(self.membrane, column)) for column in back])
        on_metric = stretch.metric_stress(stress)
        if psd:
            s11, s22, half = positive_part(2.0 * on_metric[0], 2.0 * on_metric[1], on_metric[2])
            on_metric = np.stack([0.5 * s11, 0.5 * s22, half])
        else:
            moduli += stretch.second(stress)
        local = strain_part(
            vectors,
            self._by_coordinates(moduli),
            self._by_coordinates(self.bending),
            contracted(self._from_warp, on_metric),
            curvature,
        )
        if not psd:
            bend = contracted(self._to_warp, curvature.value) - self.reference[1]
            moment = contracted(self._from_warp, _times(self.bending, bend))
            add_normal_part(local, vectors, moment, curvature)
        local.scaled(self.points.areas)
        if not self._assemblers:
            self._assemblers += assemblers(self.points)
        blocks = [assembler.assemble(local) for assembler in self._assemblers]
        if self.to_control is not None:
            blocks = [self.to_control.congruent(block) for block in blocks]
        return Hessian(self.vertex_count, blocks=blocks)

    def _by_coordinates(self, moduli: Floats) -> Floats:
        """Tangent moduli (3, 3, k) by warp and weft as moduli by the faces' coordinates."""
        half = np.stack([contracted(self._from_warp, row) for row in moduli])
        return np.stack([contracted(self._from_warp, half[:, b]) for b in range(3)])

    def stiffness(self) -> Sparse:
        """Membrane as a Laplacian in every direction, bending as that of a plate, at rest."""
        k, areas = self.count, self.points.areas
        a, d = self.membrane, self.bending
        twist = 0.25 * a[2, 2]
        weights = [0.5 * (a[0, 0] + twist), 0.5 * (a[1, 1] + twist), d[0, 0], d[1, 1], d[2, 2]]
        diagonal = diags(np.concatenate([areas * w for w in weights]))
        rows = csr_matrix(vstack(self.points.derivatives))
        h11, h22 = rows[2 * k : 3 * k], rows[3 * k : 4 * k]
        mixed = h11.T @ diags(areas * d[0, 1]) @ h22
        total = csr_matrix(rows.T @ diagonal @ rows + mixed + mixed.T)
        return total if self.to_control is None else self.to_control.mean_congruence(total)


class KelvinVoigt:
    """Viscosity of a shell: `coefficient` [s] times its elastic matrices on strain rates."""

    def __init__(self, elastic: KirchhoffLove, coefficient: float) -> None:
        self._elastic = elastic
        self.coefficient = coefficient

    def begin_step(self, stage: Stage) -> KirchhoffLove:
        """Elastic and viscous energy together, of a step.

        ½A(ε − ε̄)² + ½rA(ε − ε₀)² with r = coefficient/h is ½(1 + r)A(ε − (ε̄ + rε₀)/(1 + r))² and a constant.
        """
        rate = self.coefficient / stage.h
        now = self._elastic.strains(stage.start)
        then = now if stage.first is None else self._elastic.strains(stage.first)
        whole = copy(self._elastic)
        whole.membrane, whole.bending = ((1.0 + rate) * part for part in (whole.membrane, whole.bending))
        counted = (stage.carried(a, b) for a, b in zip(then, now, strict=True))
        pairs = zip(self._elastic.reference, counted, strict=True)
        at_rest, started = ((rest + rate * since) / (1.0 + rate) for rest, since in pairs)
        whole.reference = (at_rest, started)
        return whole


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
