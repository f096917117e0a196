"""Constant-strain triangles: the orthotropic membrane for large rotations.

Green strain E = ½(FᵀF − I) with F = ∂x/∂(warp, weft), energy density ½ E : C : E per unit rest area
(St Venant-Kirchhoff), the element of Bergou et al. 2006, section 3. F is linear in the positions, so one
constant sparse matrix G takes x to all deformation gradients and its transpose takes stresses to forces. Energy and
gradient alone are cheaper from the edges' lengths (`metric.py`).
"""

from __future__ import annotations

from copy import copy

import numpy as np
from scipy.sparse import csr_matrix

from ..linalg.assembly import BlockPattern, Hessian, scalar_matrix
from ..linalg.vectors import applied, components, dot, inner, products
from ..types import Floats, Ints, Sparse
from .base import Energy, round_off_of_squares
from .metric import EdgeMetric

# Area ratio below which a face is taken for collapsed.
COLLAPSED = 1e-6

Moduli = tuple[Floats, Floats, Floats, Floats]
Stress = tuple[Floats, Floats, Floats]


def warp_gradients(positions: Floats, faces: Ints, axes: Floats) -> tuple[Floats, Floats]:
    """Gradients of the corner hat functions along (warp, weft) [1/m], (m, 3, 2), and areas [m²], (m,).

    `axes` (m, 3): unit warp direction in each face; weft lies 90° to its left seen against the normal.
    """
    corners = positions[faces]
    edge_1, edge_2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(edge_1, edge_2)
    twice_area = np.linalg.norm(normal, axis=1)
    weft = np.cross(normal / twice_area[:, None], axes)
    u1, v1 = (edge_1 * axes).sum(axis=1), (edge_1 * weft).sum(axis=1)
    u2, v2 = (edge_2 * axes).sum(axis=1), (edge_2 * weft).sum(axis=1)
    g1 = np.column_stack([v2, -u2]) / twice_area[:, None]
    g2 = np.column_stack([-v1, u1]) / twice_area[:, None]
    return np.stack([-g1 - g2, g1, g2], axis=1), 0.5 * twice_area


class Fem(Energy):
    """Membrane energy of constant-strain triangles.

    `moduli`: A11, A22, A12, A66 [N/m], each (m,). `offset`, `vertex_count`: where the shell sits in the stack.
    `corners` (m, 3): its vertices, where `faces` are other places among `positions` (`rest_shape`).
    """

    def __init__(
        self,
        positions: Floats,
        faces: Ints,
        axes: Floats,
        moduli: Moduli,
        offset: int = 0,
        vertex_count: int = 0,
        corners: Ints | None = None,
    ) -> None:
        self.moduli = moduli
        self.hat_gradients, self.areas = warp_gradients(positions, faces, axes)
        self._plastic: Stress | None = None
        at_rest = positions[faces]
        ends = np.roll(at_rest, -1, axis=1) - np.roll(at_rest, 1, axis=1)
        self.rest_squares = (ends * ends).sum(axis=2)
        self._last_value = 0.0
        self._total_stiffness = float(self.areas @ (moduli[0] + moduli[1]))
        self._place((faces if corners is None else corners) + offset, vertex_count or len(positions))

    @property
    def plastic(self) -> Stress | None:
        """Green strain E11, E22, E12 that the sheet rests at, each (m,): a rest metric of its own (None: its shape)."""
        return self._plastic

    @plastic.setter
    def plastic(self, strain: Stress | None) -> None:
        # None where it is zero: a run and the one that resumes it must add up alike.
        self._plastic = strain if strain is not None and any(part.any() for part in strain) else None

    def recut(self, faces: Ints, vertex_count: int) -> Fem:
        """The same faces on other vertices of the stack, (m, 3), after the mesh was cut."""
        part = copy(self)
        part._place(faces, vertex_count)
        return part

    def _place(self, faces: Ints, n: int) -> None:
        self.faces, self.vertex_count = faces, n
        m, gradients = len(faces), self.hat_gradients
        columns = np.tile(faces.ravel(), 2)
        values = np.concatenate([gradients[:, :, 0].ravel(), gradients[:, :, 1].ravel()])
        self._to_gradients = csr_matrix((values, columns, np.arange(0, 6 * m + 1, 3)), shape=(2 * m, n))
        areas = np.concatenate([self.areas, self.areas])
        self._to_forces = csr_matrix(self._to_gradients.T.multiply(areas[None, :]))
        self._pattern: BlockPattern | None = None
        self._metric: EdgeMetric | None = None

    def stiffen(self, factor: float) -> None:
        """Multiply the moduli."""
        a11, a22, a12, a66 = self.moduli
        self.moduli = (factor * a11, factor * a22, factor * a12, factor * a66)
        self._total_stiffness *= factor
        self._metric = None

    def deformation(self, x: Floats) -> tuple[Floats, Floats]:
        """Images of the unit warp and weft vectors, components first, each (3, m)."""
        m = len(self.faces)
        both = products(self._to_gradients, components(x))
        return both[:, :m], both[:, m:]

    def strain(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Green strain E11, E22, E12 (tensor shear), each (m,)."""
        return green_strain(*self.deformation(x))

    def elastic_strain(self, x: Floats) -> Stress:
        """Green strain beyond what is plastic, E11, E22, E12, each (m,)."""
        return self._elastic(*self.strain(x))

    def _elastic(self, e11: Floats, e22: Floats, e12: Floats) -> Stress:
        if self.plastic is None:
            return e11, e22, e12
        p11, p22, p12 = self.plastic
        return e11 - p11, e22 - p22, e12 - p12

    def stress(self, e11: Floats, e22: Floats, e12: Floats) -> tuple[Floats, Floats, Floats]:
        """Second Piola stress resultants S11, S22, S12 [N/m] of elastic strains, each (m,)."""
        a11, a22, a12, a66 = self.moduli
        return a11 * e11 + a12 * e22, a12 * e11 + a22 * e22, 2.0 * a66 * e12

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        if self.plastic is None:
            if self._metric is None:
                self._metric = EdgeMetric(
                    self.faces, self.rest_squares, self.hat_gradients, self.areas, self.moduli, self.vertex_count
                )
            self._last_value, gradient = self._metric.value_and_gradient(x)
            return self._last_value, gradient
        warp, weft = self.deformation(x)
        e11, e22, e12 = self._elastic(*green_strain(warp, weft))
        s11, s22, s12 = self.stress(e11, e22, e12)
        self._last_value = self._energy((e11, e22, e12), (s11, s22, s12))
        return self._last_value, self.forces_of(warp, weft, s11, s22, s12)

    def _energy(self, strain: Stress, stress: Stress) -> float:
        (e11, e22, e12), (s11, s22, s12) = strain, stress
        return inner(self.areas, 0.5 * (s11 * e11 + s22 * e22) + s12 * e12)

    def round_off(self, x: Floats) -> float:
        return round_off_of_squares(self._last_value, self._total_stiffness)

    def value_and_gentle_gradient(self, x: Floats) -> tuple[float, Floats]:
        """Energy, and ∑ area ∇hat · (R T): F = R U with Biot's stress T, linear in the stretch U − I."""
        warp, weft = self.deformation(x)
        c11, c22, c12 = dot(warp, warp), dot(weft, weft), dot(warp, weft)
        strain = self._elastic(0.5 * c11 - 0.5, 0.5 * c22 - 0.5, 0.5 * c12)
        value = self._energy(strain, self.stress(*strain))
        # The root of a 2 × 2 tensor (Cayley and Hamilton): U = (C + √det C) / tr U, with (tr U)² = tr C + 2 √det C.
        area = np.sqrt(np.maximum(c11 * c22 - c12 * c12, 0.0))
        trace = np.sqrt(np.maximum(c11 + c22 + 2.0 * area, COLLAPSED))
        u11, u22, u12 = (c11 + area) / trace, (c22 + area) / trace, c12 / trace
        stress = self.stress(*self._elastic(u11 - 1.0, u22 - 1.0, u12))
        # R = F U⁻¹, and det U is the ratio of areas; a face without area has no rotation.
        inverse = np.divide(1.0, area, out=np.zeros_like(area), where=area > COLLAPSED)
        turned_warp, turned_weft = inverse * (u22 * warp - u12 * weft), inverse * (u11 * weft - u12 * warp)
        return value, self.forces_of(turned_warp, turned_weft, *stress)

    def forces_of(self, warp: Floats, weft: Floats, s11: Floats, s22: Floats, s12: Floats) -> Floats:
        """Gradient [N], (n, 3), of a stress state: ∑ area ∇hat · (F S)."""
        m = len(self.faces)
        first_piola = np.empty((3, 2 * m))
        first_piola[:, :m] = s11 * warp + s12 * weft
        first_piola[:, m:] = s12 * warp + s22 * weft
        return applied(self._to_forces, first_piola.T)

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        """Exact, or with compressive stress left out of the geometric part (then positive semidefinite)."""
        warp, weft = self.deformation(x)
        s11, s22, s12 = self.stress(*self._elastic(*green_strain(warp, weft)))
        if psd:
            s11, s22, s12 = positive_part(s11, s22, s12)
        return Hessian(self.vertex_count, blocks=[self.tangent(warp, weft, self.moduli, (s11, s22, s12))])

    def hessian_under(self, x: Floats, stress: Stress, psd: bool = False) -> Hessian:
        """Exact Hessian but for the stress S11, S22, S12 [N/m], each (m,), of its geometric part, which is given (psd:
        and of which the tensile part counts)."""
        carried = positive_part(*stress) if psd else stress
        return Hessian(self.vertex_count, blocks=[self.tangent(*self.deformation(x), self.moduli, carried)])

    def stress_ahead(self, x: Floats, step: Floats) -> Stress:
        """Stress [N/m] at x + step, (n, 3), by the strain linearised at x: free of what a rotation stretches."""
        warp, weft = self.deformation(x)
        by_warp, by_weft = self.deformation(step)
        e11, e22, e12 = self._elastic(*green_strain(warp, weft))
        return self.stress(
            e11 + (warp * by_warp).sum(axis=0),
            e22 + (weft * by_weft).sum(axis=0),
            e12 + 0.5 * (warp * by_weft + weft * by_warp).sum(axis=0),
        )

    def tangent(self, warp: Floats, weft: Floats, moduli: Moduli, stress: tuple[Floats, Floats, Floats]) -> Sparse:
        """Block matrix ∑ area ∇hatᵢ·K·∇hatⱼ with K = ∂(F S)/∂F for tangent moduli and stress."""
        a11, a22, a12, a66 = (a[:, None, None] for a in moduli)
        s11, s22, s12 = (s[:, None, None] * np.eye(3) for s in stress)
        warp, weft = np.ascontiguousarray(warp.T), np.ascontiguousarray(weft.T)
        outer_11 = warp[:, :, None] * warp[:, None, :]
        outer_22 = weft[:, :, None] * weft[:, None, :]
        outer_12 = warp[:, :, None] * weft[:, None, :]
        outer_21 = outer_12.transpose(0, 2, 1)
        k11 = s11 + a11 * outer_11 + a66 * outer_22
        k22 = s22 + a22 * outer_22 + a66 * outer_11
        k12 = s12 + a12 * outer_12 + a66 * outer_21
        blocks = np.concatenate([k11, k22, k12, k12.transpose(0, 2, 1)])
        return self._block_pattern().assemble(blocks)

    def _block_pattern(self) -> BlockPattern:
        if self._pattern is None:
            m = len(self.faces)
            i, j, pair = (index.ravel() for index in np.meshgrid(range(3), range(3), range(4), indexing="ij"))
            along_i, along_j = np.array([0, 1, 0, 1])[pair], np.array([0, 1, 1, 0])[pair]
            g = self.hat_gradients
            weights = self.areas[:, None] * g[:, i, along_i] * g[:, j, along_j]
            sources = np.arange(m)[:, None] + m * pair[None, :]
            self._pattern = BlockPattern(self.faces[:, i], self.faces[:, j], self.vertex_count, sources, weights)
        return self._pattern

    def stiffness(self) -> Sparse:
        """Laplacian with the tangential moduli in every direction: the membrane of a constant Jacobian."""
        a11, a22, _, a66 = self.moduli
        g = self.hat_gradients
        warp_part = (self.areas * (a11 + a66))[:, None, None] * g[:, :, None, 0] * g[:, None, :, 0]
        weft_part = (self.areas * (a22 + a66))[:, None, None] * g[:, :, None, 1] * g[:, None, :, 1]
        rows, columns = np.repeat(self.faces, 3, axis=1), np.tile(self.faces, (1, 3))
        # Half of the sum: a displacement in a given direction meets either the tensile or the shear modulus.
        return scalar_matrix(rows, columns, 0.5 * (warp_part + weft_part), self.vertex_count)


def green_strain(warp: Floats, weft: Floats) -> tuple[Floats, Floats, Floats]:
    """E11, E22, E12, each (m,), from the images of the unit warp and weft vectors, each (3, m)."""
    return 0.5 * dot(warp, warp) - 0.5, 0.5 * dot(weft, weft) - 0.5, 0.5 * dot(warp, weft)


def positive_part(s11: Floats, s22: Floats, s12: Floats) -> tuple[Floats, Floats, Floats]:
    """Symmetric 2 × 2 tensors with their negative eigenvalues set to zero."""
    mean, half = 0.5 * (s11 + s22), 0.5 * (s11 - s22)
    radius = np.hypot(half, s12)
    high, low = np.maximum(mean + radius, 0.0), np.maximum(mean - radius, 0.0)
    centre, spread = 0.5 * (high + low), 0.5 * (high - low)
    unit = np.divide(spread, radius, out=np.zeros_like(spread), where=radius > 0)
    return centre + unit * half, centre - unit * half, unit * s12
