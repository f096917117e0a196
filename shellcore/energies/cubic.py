"""Cubic hinges: bending of curved shells, cubic in x, with a constant Hessian part (Garg et al. 2007).

Per hinge, with rest angle θ̄, e₀ the edge, e₁ and e₂ from its start to the two apices (eq. 7, errata 1 to 3):

    E = (D/A) (|ē₀|²(1 − cos θ̄) + ½ cos θ̄ |Kx|²) + k [e₀, e₁, e₂] − ∑ⱼ cⱼ (|eⱼ|² − |ēⱼ|²)
    k = −D β̄ sin θ̄ / A,   β̄ = |ē₀| / (h̄₁ h̄₂)

which equals the nonlinear hinge D(|ē₀|²/A)(1 − cos(θ − θ̄)) under isometry. The last sum is ours: as printed, the
rest state feels forces that grow as θ̄² (the "expanding mode" of section 8). They lie in the span of the five
edge-length gradients, so five numbers cⱼ a hinge cancel them exactly; the correction is rigid-motion
invariant, zero under isometry and quadratic in x, so the energy stays cubic with a constant part
that was positive semidefinite in every hinge tried (thousands, to 175°; not proved).
"""

from __future__ import annotations

from copy import copy

import numpy as np

from ..linalg.assembly import Hessian, element_matrix, with_rows
from ..mesh import Topology
from ..types import Floats, Ints, Sparse
from .base import Energy, QuadraticEnergy
from .quadratic import hinge_rows
from .triples import TripleProducts

# The hinge's five edges as (from, to) among start, end, left, right.
HINGE_EDGES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3]])
# Below this |sin θ̄| the cubic term is under round-off of the quadratic one.
FLAT = 1e-14


class HingeForms:
    """Each hinge's numbers in the energy, whatever vertices of a stack it sits on; arrays over h hinges.

    Rest angles that change cost only their own hinges, and a cut mesh takes the numbers of the hinges it keeps.
    """

    def __init__(self, positions: Floats, mesh: Topology, rigidity: Floats, rest_angles: Floats) -> None:
        self.rigidity = rigidity
        self.rows, self.area = hinge_rows(positions, mesh)
        self.flat = unfolded(positions, mesh.hinges)
        count = len(mesh.hinges)
        self.rest_angles = np.full(count, np.nan)
        self.matrices = np.empty((count, 4, 4))
        """Quadratic part, over the four vertices."""
        self.triple = np.empty(count)
        """Factor k of [e₀, e₁, e₂]."""
        self.constant = np.empty(count)
        """Part that no position changes [J]."""
        self.set_rest_angles(rest_angles)

    def set_rest_angles(self, rest_angles: Floats) -> None:
        """New rest angles θ̄ [rad], (h,)."""
        angles = np.array(rest_angles, dtype=np.float64)
        changed = np.flatnonzero(angles != self.rest_angles)
        self.rest_angles = angles
        if len(changed) == 0:
            return
        # A slice copies nothing where all of them change.
        at = slice(None) if len(changed) == len(angles) else changed
        self.matrices[at], self.triple[at], self.constant[at] = self.forms(at, angles[at])

    def forms(self, at: slice | Ints, angles: Floats) -> tuple[Floats, Floats, Floats]:
        """Matrices, triple factors and constants of the hinges `at` if they rested at `angles` [rad], (k,)."""
        cosine, sine = np.cos(angles), np.sin(angles)
        flat, rows = self.flat[at], self.rows[at]
        length = flat[:, 1, 0]
        height_left, height_right = flat[:, 2, 1], -flat[:, 3, 1]
        ratio = self.rigidity[at] / self.area[at]
        triple = -ratio * sine * length / (height_left * height_right)
        matrices = (ratio * cosine)[:, None, None] * rows[:, :, None] * rows[:, None, :]
        if not angles.any():
            # Flat hinges rest as they are: the rows annihilate positions in a plane.
            return matrices, triple, np.zeros(len(angles))
        correction, held = _correction(fold(flat, angles), matrices, triple)
        return matrices + correction, triple, ratio * length**2 * (1.0 - cosine) + held

    def energies(self, corners: Floats, at: Ints, angles: Floats) -> Floats:
        """Energies [J], (k,), of the hinges `at` with corners (k, 4, 3) if they rested at `angles`."""
        matrices, triple, constant = self.forms(at, angles)
        local = corners - corners[:, :1]
        quadratic = 0.5 * np.einsum("hvd,hvw,hwd->h", local, matrices, local)
        volume = np.einsum("hd,hd->h", np.cross(local[:, 1], local[:, 2]), local[:, 3])
        result: Floats = quadratic + triple * volume + constant
        return result

    def taken(self, kept: Ints) -> HingeForms:
        """The same of the hinges `kept` alone."""
        part = copy(self)
        for name in ("rigidity", "rows", "area", "flat", "rest_angles", "matrices", "triple", "constant"):
            setattr(part, name, getattr(self, name)[kept])
        return part


class Cubic(Energy):
    """Bending energy, cubic in positions. `rigidity` D [N·m] and `rest_angles` θ̄ [rad], each (h,).

    `rest`: the mesh as places among `positions`, where these are not its vertices (`rest_shape`).
    """

    def __init__(
        self,
        positions: Floats,
        mesh: Topology,
        rigidity: Floats,
        rest_angles: Floats,
        offset: int = 0,
        vertex_count: int = 0,
        rest: Topology | None = None,
    ) -> None:
        self.forms = HingeForms(positions, mesh if rest is None else rest, rigidity, rest_angles)
        self._place(mesh, offset, vertex_count or mesh.vertex_count)

    def recut(self, mesh: Topology, kept: Ints, offset: int, vertex_count: int) -> Cubic:
        """The energy of the hinges `kept`, (k,), after the mesh was cut: `mesh.hinges` are theirs, in that order."""
        part = copy(self)
        part.forms = self.forms.taken(kept)
        shift = offset - self._anchor
        matrix = self._recut_matrix(part.forms, mesh.hinges + offset, kept, shift, vertex_count)
        part._place(mesh, offset, vertex_count, matrix)
        return part

    def _recut_matrix(self, forms: HingeForms, hinges: Ints, kept: Ints, shift: int, n: int) -> Sparse:
        """The constant matrix after a cut: rows anew only where a hinge went or sits on other vertices."""
        before = self.hinges + shift
        gone = np.ones(len(before), dtype=bool)
        gone[kept] = False
        moved = (before[kept] != hinges).any(axis=1)
        touched = np.zeros(n, dtype=bool)
        for part in (before[gone], before[kept][moved], hinges[moved]):
            touched[part.ravel()] = True
        near = np.flatnonzero(touched[hinges].any(axis=1))
        fresh = element_matrix(hinges[near], forms.matrices[near], n)
        return with_rows(self.matrix, shift, np.flatnonzero(touched), fresh)

    def _place(self, mesh: Topology, offset: int, vertex_count: int, matrix: Sparse | None = None) -> None:
        self.vertex_count = vertex_count
        self.hinges = mesh.hinges + offset
        self._mesh = mesh
        self._anchor = offset
        self._assemble(matrix)

    @property
    def rest_angles(self) -> Floats:
        """θ̄ [rad], (h,)."""
        return self.forms.rest_angles

    def set_rest_angles(self, rest_angles: Floats) -> None:
        """New rest angles θ̄ [rad], (h,); the constant matrix changes with them."""
        self.forms.set_rest_angles(rest_angles)
        self._assemble()

    def _assemble(self, matrix: Sparse | None = None) -> None:
        forms = self.forms
        self.matrix = element_matrix(self.hinges, forms.matrices, self.vertex_count) if matrix is None else matrix
        self._quadratic = QuadraticEnergy(self.matrix, self._anchor)
        self.constant = float(forms.constant.sum())
        self._curved = np.flatnonzero(np.abs(np.sin(forms.rest_angles)) > FLAT)
        self._triples: TripleProducts | None = None

    @property
    def triples(self) -> TripleProducts:
        """The cubic part, made when first asked for: a companion of another model may never need it."""
        if self._triples is None:
            at = self._curved
            left, faces = self._mesh.hinge_faces[at, 0], self._mesh.faces + self._anchor
            factors = self.forms.triple[at]
            self._triples = TripleProducts(self.hinges[at], left, factors, faces, self.vertex_count, self._anchor)
        return self._triples

    def parts(self) -> list[Energy]:
        return [self] if self.flat else [self._quadratic, self.triples]

    @property
    def flat(self) -> bool:
        """Whether no hinge has a cubic term."""
        return len(self._curved) == 0

    def quadratic(self) -> Sparse | None:
        return self.matrix if self.flat else None

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        value, gradient = self._quadratic.value_and_gradient(x)
        value += self.constant
        if not self.flat:
            cubic, by_x = self.triples.value_and_gradient(x)
            value += cubic
            gradient += by_x
        return value, gradient

    def gradient(self, x: Floats) -> Floats:
        gradient = self._quadratic.gradient(x)
        if not self.flat:
            gradient += self.triples.gradient(x)
        return gradient

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        """Exact: constant and linear part (CS, Appendix A); psd: the constant part alone (CC)."""
        constant = Hessian(len(x), scalar=self.matrix)
        return constant if psd or self.flat else constant + self.triples.hessian(x, psd=False)

    def round_off(self, x: Floats) -> float:
        return self._quadratic.round_off(x)

    def stiffness(self) -> Sparse:
        return self.matrix


def _correction(folded: Floats, forms: Floats, triple: Floats) -> tuple[Floats, Floats]:
    """Edge terms −2cⱼ(eⱼ Laplacian), (h, 4, 4), that make the folded hinge an equilibrium, and ∑ cⱼ|ēⱼ|²."""
    force = forms @ folded + triple[:, None, None] * _triple_gradient(folded)
    first, second = HINGE_EDGES.T
    incidence = np.zeros((5, 4))
    incidence[np.arange(5), first], incidence[np.arange(5), second] = -1.0, 1.0
    edges = folded[:, second] - folded[:, first]
    # Gradient of |eⱼ|² at the four vertices, (h, 12, 5); c solves the normal equations.
    lengths_by = 2.0 * np.einsum("jv,hjd->hvdj", incidence, edges).reshape(len(folded), 12, 5)
    gram = np.einsum("hij,hik->hjk", lengths_by, lengths_by)
    right = np.einsum("hij,hi->hj", lengths_by, force.reshape(-1, 12))
    c = np.linalg.solve(gram, right[:, :, None])[:, :, 0]
    laplacians = np.einsum("ja,jb->jab", incidence, incidence)
    return -2.0 * np.einsum("hj,jab->hab", c, laplacians), np.einsum("hj,hjd,hjd->h", c, edges, edges)


def _triple_gradient(hinge: Floats) -> Floats:
    """Gradient of [e₀, e₁, e₂] at the four vertices, (h, 4, 3)."""
    e0, e1, e2 = (hinge[:, j] - hinge[:, 0] for j in (1, 2, 3))
    by_end, by_left, by_right = np.cross(e1, e2), np.cross(e2, e0), np.cross(e0, e1)
    return np.stack([-by_end - by_left - by_right, by_end, by_left, by_right], axis=1)


def unfolded(positions: Floats, hinges: Ints) -> Floats:
    """Each hinge laid flat, (h, 4, 3): edge along x from the origin, left apex at y > 0, right apex at y < 0."""
    start, end, left, right = (positions[hinges[:, j]] for j in range(4))
    edge = end - start
    length = np.linalg.norm(edge, axis=1)
    direction = edge / length[:, None]
    flat = np.zeros((len(hinges), 4, 3))
    flat[:, 1, 0] = length
    for place, apex, side in ((2, left, 1.0), (3, right, -1.0)):
        along = np.einsum("ij,ij->i", apex - start, direction)
        flat[:, place, 0] = along
        flat[:, place, 1] = side * np.linalg.norm(apex - start - along[:, None] * direction, axis=1)
    return flat


def fold(flat: Floats, angles: Floats) -> Floats:
    """Flat hinges (h, 4, 3) folded to θ = `angles` by lifting the right apex about the edge."""
    folded = flat.copy()
    width = flat[:, 3, 1]
    folded[:, 3, 1] = width * np.cos(angles)
    folded[:, 3, 2] = -width * np.sin(angles)
    return folded
