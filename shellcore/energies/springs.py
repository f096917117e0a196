"""Edge and area springs: the membrane of Discrete Shells (below its eq. 3).

    W = ∑ k_L (1 − |e|/|ē|)² |ē|  +  ∑ k_A (1 − a/ā)² ā

On an equilateral mesh of side s this is isotropic elasticity with μ = (√3/2) k_L/s and λ = μ + 2 k_A
(`physics.md`). So k_L = (4/3) μ A/|ē| with A the area of the edge's triangles keeps the stiffness when
a mesh is refined, and k_A = (λ − μ)/2. A negative k_A would leave the energy unbounded below, so for
Poisson ratios under 1/3 k_A is zero and k_L keeps Young's modulus (the sheet then has ν = 1/3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from ..linalg.assembly import BlockPattern, Hessian, scalar_matrix, scatter
from ..linalg.vectors import inner, skew
from ..mesh import Topology
from ..types import Floats, Sparse
from .base import Energy
from .fem import Moduli


class EdgeSprings(Energy):
    """∑ k_L (1 − |e|/|ē|)² |ē|; `stiffness_length` k_L [N], (e,).

    `seams`: rest lengths and energy of edges that are not as long in all their faces.
    """

    def __init__(
        self,
        positions: Floats,
        mesh: Topology,
        stiffness_length: Floats,
        offset: int = 0,
        vertex_count: int = 0,
        seams: SeamLengths | None = None,
    ) -> None:
        self.vertex_count = vertex_count or mesh.vertex_count
        self.edges = mesh.edges + offset
        if seams is None:
            self._rest = np.linalg.norm(positions[mesh.edges[:, 1]] - positions[mesh.edges[:, 0]], axis=1)
        else:
            self._rest = seams.lengths
        self._constant = 0.0 if seams is None else seams.energy
        self._factor = 2.0 * stiffness_length / self._rest  # energy ½ factor (|e| − |ē|)²
        count = len(self.edges)
        rows = np.repeat(np.arange(count), 2)
        signs = np.tile([-1.0, 1.0], count)
        self._to_edges = csr_matrix((signs, (rows, self.edges.ravel())), shape=(count, self.vertex_count))
        self._to_forces = csr_matrix(self._to_edges.T)
        self._pattern: BlockPattern | None = None

    def stiffen(self, factor: float) -> None:
        """Multiply the stiffness of every spring."""
        self._factor = factor * self._factor
        self._constant *= factor

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        edge = self._to_edges @ x
        length = np.sqrt(np.einsum("ij,ij->i", edge, edge))
        change = length - self._rest
        tension = self._factor * change
        value = 0.5 * inner(tension, change) + self._constant
        return value, self._to_forces @ (edge * (tension / length)[:, None])

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        """Exact, or without the geometric part of compressed springs."""
        edge = self._to_edges @ x
        length = np.sqrt(np.einsum("ij,ij->i", edge, edge))
        unit = edge / length[:, None]
        tension = self._factor * (length - self._rest) / length
        if psd:
            tension = np.maximum(tension, 0.0)
        along = unit[:, :, None] * unit[:, None, :]
        k = self._factor[:, None, None] * along + tension[:, None, None] * (np.eye(3) - along)
        blocks = np.stack([np.stack([k, -k], axis=1), np.stack([-k, k], axis=1)], axis=1)
        if self._pattern is None:
            self._pattern = BlockPattern.of_elements(self.edges, self.vertex_count)
        return Hessian(self.vertex_count, blocks=[self._pattern.assemble(blocks)])

    def stiffness(self) -> Sparse:
        first, second = self.edges.T
        k = self._factor
        rows = np.concatenate([first, second, first, second])
        columns = np.concatenate([first, second, second, first])
        return scalar_matrix(rows, columns, np.concatenate([k, k, -k, -k]), self.vertex_count)


class AreaSprings(Energy):
    """∑ k_A (1 − a/ā)² ā; `stiffness_area` k_A [N/m], (m,).

    `rest`: the mesh as places among `positions`, where these are not its vertices (`rest_shape`).
    """

    def __init__(
        self,
        positions: Floats,
        mesh: Topology,
        stiffness_area: Floats,
        offset: int = 0,
        vertex_count: int = 0,
        rest: Topology | None = None,
    ) -> None:
        self.vertex_count = vertex_count or mesh.vertex_count
        self.faces = mesh.faces + offset
        self._rest = self._areas(positions[(mesh if rest is None else rest).faces])[0]
        self._factor = 2.0 * stiffness_area / self._rest  # energy ½ factor (a − ā)²
        self._scatter = scatter(self.faces.T, self.vertex_count)
        self._pattern: BlockPattern | None = None

    def stiffen(self, factor: float) -> None:
        """Multiply the stiffness of every spring."""
        self._factor = factor * self._factor

    @staticmethod
    def _areas(corners: Floats) -> tuple[Floats, Floats, Floats]:
        """Areas (m,), unit normals (m, 3), and edges opposite the corners (m, 3, 3)."""
        edges = np.roll(corners, -2, axis=1) - np.roll(corners, -1, axis=1)
        normal = np.cross(edges[:, 0], edges[:, 1])
        twice = np.sqrt(np.einsum("ij,ij->i", normal, normal))
        return 0.5 * twice, normal / twice[:, None], edges

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        area, normal, edges = self._areas(x[self.faces])
        change = area - self._rest
        pressure = self._factor * change
        by_corner = 0.5 * pressure[:, None, None] * np.cross(normal[:, None, :], edges)
        push = by_corner.transpose(1, 0, 2).reshape(-1, 3)
        return 0.5 * inner(pressure, change), self._scatter @ push

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        """Exact, or the Gauss-Newton part alone."""
        area, normal, edges = self._areas(x[self.faces])
        gradients = 0.5 * np.cross(normal[:, None, :], edges)
        blocks = self._factor[:, None, None, None, None] * np.einsum("fia,fjb->fijab", gradients, gradients)
        if not psd:
            pressure = self._factor * (area - self._rest)
            blocks = blocks + pressure[:, None, None, None, None] * self._area_hessians(area, normal, edges)
        if self._pattern is None:
            self._pattern = BlockPattern.of_elements(self.faces, self.vertex_count)
        return Hessian(self.vertex_count, blocks=[self._pattern.assemble(np.ascontiguousarray(blocks))])

    @staticmethod
    def _area_hessians(area: Floats, normal: Floats, edges: Floats) -> Floats:
        """∂²a/∂x², (m, 3, 3, 3, 3): a = ½|N|, so ½[∂²|N|] = (1/8a) Nᵢᵀ(I − nn)Nⱼ + ½ n·∂²N."""
        skews = [skew(edges[:, j]) for j in range(3)]  # ∂N/∂xⱼ = skew(edge opposite j)
        across = np.eye(3) - normal[:, :, None] * normal[:, None, :]
        result = np.empty((len(area), 3, 3, 3, 3))
        turn = skew(normal)
        for i in range(3):
            for j in range(3):
                curved = skews[i].transpose(0, 2, 1) @ across @ skews[j] / (4.0 * area)[:, None, None]
                sign = 0.0 if i == j else (1.0 if (j - i) % 3 == 1 else -1.0)
                result[:, i, j] = curved - 0.5 * sign * turn
        return result


def spring_constants(positions: Floats, mesh: Topology, axes: Floats, moduli: Moduli) -> tuple[Floats, Floats]:
    """k_L [N], (e,), and k_A [N/m], (m,), that give the moduli A11, A22, A12, A66 [N/m] on an equilateral mesh.

    Orthotropy enters through Young's modulus along each edge, 1/S₁₁(φ) of the rotated compliance.
    """
    share, _, k_area = _springs_of_faces(positions, mesh, axes, moduli)
    k_length = np.bincount(mesh.face_edges.ravel(), weights=share.ravel(), minlength=len(mesh.edges))
    return k_length.astype(np.float64), k_area


@dataclass(frozen=True)
class SeamLengths:
    """What two springs of an edge, one a face and each with its own rest length ℓᵢ, are as one:

    ∑ (kᵢ/ℓᵢ) (ℓ − ℓᵢ)² = (k/ℓ̄) (ℓ − ℓ̄)² + constant,  k = ∑ kᵢ,  k/ℓ̄ = ∑ kᵢ/ℓᵢ
    """

    lengths: Floats
    """ℓ̄ [m], (e,)."""
    energy: float
    """The constants [J]: what no position of a seam of unequal sides can relieve."""

    @staticmethod
    def of(positions: Floats, mesh: Topology, axes: Floats, moduli: Moduli) -> SeamLengths:
        """Of the constants that `spring_constants` makes of the same."""
        share, length, _ = _springs_of_faces(positions, mesh, axes, moduli)
        edge, count = mesh.face_edges.ravel(), len(mesh.edges)
        total, slope = (np.bincount(edge, part.ravel(), count) for part in (share, share / length))
        lengths = total / slope
        return SeamLengths(lengths, float((share * length).sum() - (total * lengths).sum()))


def _springs_of_faces(positions: Floats, mesh: Topology, axes: Floats, moduli: Moduli) -> tuple[Floats, Floats, Floats]:
    """k_L [N] of each face's sides and their lengths [m], (m, 3), and k_A [N/m], (m,)."""
    a11, a22, a12, a66 = moduli
    determinant = a11 * a22 - a12 * a12
    poisson = a12 / np.sqrt(a11 * a22)
    young_mean = determinant / np.sqrt(a11 * a22)
    k_area = np.maximum(0.5 * (a12 - young_mean / (2.0 * (1.0 + poisson))), 0.0)

    corners = positions[mesh.faces]
    edges = np.roll(corners, -2, axis=1) - np.roll(corners, -1, axis=1)
    length = np.linalg.norm(edges, axis=2)
    cos_2 = (np.einsum("fjd,fd->fj", edges, axes) / length) ** 2
    sin_2 = 1.0 - cos_2
    s11, s22, s12 = (a[:, None] / determinant[:, None] for a in (a22, a11, -a12))
    compliance = s11 * cos_2**2 + s22 * sin_2**2 + (2.0 * s12 + 1.0 / a66[:, None]) * cos_2 * sin_2
    young = 1.0 / compliance
    shear = young / (2.0 * (1.0 + np.maximum(poisson, 1.0 / 3.0)))[:, None]
    area = 0.5 * np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    share: Floats = (4.0 / 3.0) * shear * area[:, None] / length
    return share, length, k_area
