"""Nonlinear hinges: bending energy in the dihedral angles (Discrete Shells, Cubic Shells eq. 3).

θ is the exterior angle, zero when flat, positive when the hinge folds towards the normals.
With the rigidity D of a hinge and w = D|ē|²/Ā:

- "sine"  : w (1 − cos(θ − θ̄)), Cubic Shells eq. (3) and (4) with 3λ = D;
- "angle" : ½ w (θ − θ̄)², Discrete Shells eq. (2) with 6 k_B = D.

The derivative of θ splits into a part for each triangle, along that triangle's normal (a moment m on edge
j of a face pushes corner i by m ∂θ/∂xᵢ). Moments are therefore summed per face before anything is scattered.
Where all θ̄ are zero the "sine" energy is quadratic in the normals, and cheaper so (`gauss_map.py`).
"""

from __future__ import annotations

import numpy as np

from ..errors import ShellError
from ..linalg.assembly import BlockPattern, Hessian
from ..linalg.vectors import inner, skew
from ..mesh import Topology
from ..types import Floats, Ints, Sparse
from .base import Energy, round_off_of_squares
from .gauss_map import GaussMap
from .hinge_geometry import HingeGeometry


def hinge_angles(x: Floats, hinges: Ints) -> Floats:
    """Exterior angles θ [rad], (h,), of hinges (h, 4) at positions x (n, 3)."""
    start, end, left, right = (x[hinges[:, j]] for j in range(4))
    edge = end - start
    normal_left = np.cross(edge, left - start)
    normal_right = np.cross(right - start, edge)
    length = np.linalg.norm(edge, axis=1)
    sine = np.einsum("ij,ij->i", np.cross(normal_right, normal_left), edge) / length
    cosine = np.einsum("ij,ij->i", normal_left, normal_right)
    angles: Floats = np.arctan2(sine, cosine)
    return angles


def hinge_weights(
    positions: Floats, mesh: Topology, rigidity: Floats, area: str = "barycentric", simplified: bool = False
) -> Floats:
    """w = D|ē|²/Ā [J], (h,), from rigidities D [N·m] and the rest shape.

    area="circumcentric" takes the span of the tile between circumcentres (Discrete Shells appendix,
    "Accuracy"), and barycentres again where a triangle's angle at or beyond the edge is too obtuse for that.
    simplified=True is the appendix's triangulation-independent ‖ē‖(θ − θ̄)², scaled by the mean span so that
    it agrees with the full energy on a uniform mesh; it does not converge under uneven refinement.
    """
    start, end, left, right = (positions[mesh.hinges[:, j]] for j in range(4))
    edge = end - start
    length_2 = np.einsum("ij,ij->i", edge, edge)
    twice = [np.linalg.norm(np.cross(edge, apex - start), axis=1) for apex in (left, right)]
    area_two = 0.5 * (twice[0] + twice[1])
    if area == "circumcentric":
        cotangents = [
            np.einsum("ij,ij->i", start - apex, end - apex) / double
            for apex, double in zip((left, right), twice, strict=True)
        ]
        # The tile's span is d*/2, half the distance of the circumcentres; barycentric span is A/(3|e|).
        between = 0.5 * np.sqrt(length_2) * (cotangents[0] + cotangents[1])
        proper = np.minimum(*cotangents) > 0.05
        area_two = np.where(proper, 1.5 * np.sqrt(length_2) * between, area_two)
    elif area != "barycentric":
        raise ShellError(f"hinge area {area!r} is not known: choose 'barycentric' or 'circumcentric'")
    if simplified:
        length = np.sqrt(length_2)
        mean_span = float(area_two.sum() / length.sum()) if len(length) else 1.0
        stiffness: Floats = rigidity * length / mean_span
    else:
        stiffness = rigidity * length_2 / area_two
    return stiffness


class Hinge(Energy):
    """Bending energy of all hinges of a mesh.

    `weights` w [J] and `rest_angles` θ̄ [rad], each (h,). `form`: "sine" or "angle".
    """

    def __init__(
        self,
        mesh: Topology,
        weights: Floats,
        rest_angles: Floats,
        form: str = "sine",
        offset: int = 0,
        vertex_count: int = 0,
    ) -> None:
        if form not in ("sine", "angle"):
            raise ShellError(f"hinge energy {form!r} is not known: choose 'sine', 'angle' or 'simplified'")
        self.form = form
        self.weights = weights
        self._last_value = 0.0
        self._place(mesh, offset, vertex_count or mesh.vertex_count)
        self.set_rest_angles(rest_angles)

    def recut(self, mesh: Topology, kept: Ints, offset: int, vertex_count: int) -> Hinge:
        """The energy of the hinges `kept`, (k,), after the mesh was cut: `mesh.hinges` are theirs, in that order."""
        return Hinge(mesh, self.weights[kept], self.rest_angles[kept], self.form, offset, vertex_count)

    def _place(self, mesh: Topology, offset: int, n: int) -> None:
        self.vertex_count = n
        self.hinges = mesh.hinges + offset
        self.faces = mesh.faces + offset
        self._hinge_faces = mesh.hinge_faces
        self._face_hinges = mesh.face_hinges
        self._geometry: HingeGeometry | None = None
        self._gauss_map: GaussMap | None = None
        self._pattern: BlockPattern | None = None
        self._total_weight = float(self.weights.sum())

    @property
    def geometry(self) -> HingeGeometry:
        """Angles, and forces of moments. Made when first asked for: many a hinge energy only keeps rest angles."""
        if self._geometry is None:
            self._geometry = HingeGeometry(
                self.hinges, self._hinge_faces, self.faces, self._face_hinges, self.vertex_count
            )
        return self._geometry

    @property
    def _flat(self) -> GaussMap | None:
        """The energy by normals, where it can be had so."""
        if self.form != "sine" or self._curved:
            return None
        if self._gauss_map is None:
            self._gauss_map = GaussMap(self.faces, self._hinge_faces, self.weights, self.vertex_count)
        return self._gauss_map

    def set_rest_angles(self, rest_angles: Floats) -> None:
        """New rest angles θ̄ [rad], (h,)."""
        self.rest_angles = np.asarray(rest_angles, dtype=np.float64)
        self._rest_cosine, self._rest_sine = np.cos(self.rest_angles), np.sin(self.rest_angles)
        self._curved = bool(self.rest_angles.any())

    def angles(self, x: Floats) -> Floats:
        """Current angles θ [rad], (h,)."""
        return self.geometry.angles(x)

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        if self._flat is not None:
            self._last_value, gradient = self._flat.value_and_gradient(x)
            return self._last_value, gradient
        cosine, sine = self.geometry.measure(x)
        self._last_value, moment = self._energy_and_moment(cosine, sine)
        return self._last_value, self.geometry.forces_of(moment)

    def gradient(self, x: Floats) -> Floats:
        if self._flat is not None:
            return self._flat.gradient(x)
        cosine, sine = self.geometry.measure(x)
        if self.form == "sine":
            moment = sine * self._rest_cosine
            cosine *= self._rest_sine
            moment -= cosine
        else:
            moment = np.arctan2(sine, cosine)
            moment -= self.rest_angles
        moment *= self.weights
        return self.geometry.forces_of(moment)

    def _energy_and_moment(self, cosine: Floats, sine: Floats) -> tuple[float, Floats]:
        """Energy [J] and ∂E/∂θ [N·m], (h,)."""
        w = self.weights
        if self.form == "sine":
            cos_change = cosine * self._rest_cosine + sine * self._rest_sine
            sin_change = sine * self._rest_cosine - cosine * self._rest_sine
            # 1 − cos without cancellation at small angles.
            gap = np.where(cos_change > 0.0, sin_change**2 / (1.0 + np.abs(cos_change)), 1.0 - cos_change)
            return inner(w, gap), w * sin_change
        change = np.arctan2(sine, cosine) - self.rest_angles
        moment = w * change
        return 0.5 * inner(moment, change), moment

    def angle_gradients(self, x: Floats) -> Floats:
        """∂θ/∂x [rad/m] at each hinge's four vertices, shape (h, 4, 3)."""
        result = np.zeros((len(self.hinges), 4, 3))
        for apex, order in ((2, (0, 1)), (3, (1, 0))):
            a, b, c = (x[self.hinges[:, j]] for j in (*order, apex))
            q, share = _apex_gradient(a, b, c)
            result[:, apex] += q
            result[:, order[0]] -= (1.0 - share)[:, None] * q
            result[:, order[1]] -= share[:, None] * q
        return result

    def energies(self, change: Floats, at: Ints) -> Floats:
        """Energies [J], (k,), of the hinges `at` whose angle is off by `change` θ − θ̄ [rad]."""
        w = self.weights[at]
        result: Floats = w * (1.0 - np.cos(change)) if self.form == "sine" else 0.5 * w * change**2
        return result

    def hessian(self, x: Floats, psd: bool = True) -> Hessian:
        """Exact, or (psd) the Gauss-Newton part w ∇θ∇θᵀ with a non-negative factor."""
        angles = self.angles(x)
        if self.form == "sine":
            second = self.weights * np.cos(angles - self.rest_angles)
            moment = self.weights * np.sin(angles - self.rest_angles)
        else:
            second = self.weights
            moment = self.weights * (angles - self.rest_angles)
        return self.hessian_of(x, np.maximum(second, 0.0) if psd else second, None if psd else moment)

    def hessian_of(self, x: Floats, second: Floats, moment: Floats | None) -> Hessian:
        """∑ second ∇θ∇θᵀ + moment ∇²θ over the hinges."""
        gradients = self.angle_gradients(x)
        flat = gradients.reshape(-1, 12)
        outer = (second[:, None] * flat)[:, :, None] * flat[:, None, :]
        blocks = outer.reshape(-1, 4, 3, 4, 3).transpose(0, 1, 3, 2, 4)
        if moment is not None:
            blocks = blocks + moment[:, None, None, None, None] * angle_hessians(x, self.hinges)
        if self._pattern is None:
            self._pattern = BlockPattern.of_elements(self.hinges, self.vertex_count)
        return Hessian(self.vertex_count, blocks=[self._pattern.assemble(np.ascontiguousarray(blocks))])

    def round_off(self, x: Floats) -> float:
        return round_off_of_squares(self._last_value, self._total_weight)

    def stiffness(self) -> Sparse | None:
        """None: its constant stand-in is the cubic model's, which the shell adds (see `shell.py`)."""
        return None


def _apex_gradient(a: Floats, b: Floats, c: Floats) -> tuple[Floats, Floats]:
    """∂θ/∂c = |e| N/|N|² of a triangle's apex c over its edge e = b − a, and the foot's place on e (0..1)."""
    edge = b - a
    normal = np.cross(edge, c - a)
    length_2 = np.einsum("ij,ij->i", edge, edge)
    squared = np.einsum("ij,ij->i", normal, normal)
    foot = np.einsum("ij,ij->i", c - a, edge) / length_2
    return (np.sqrt(length_2) / squared)[:, None] * normal, foot


def angle_hessians(x: Floats, hinges: Ints) -> Floats:
    """∂²θ/∂x² [1/m²], shape (h, 4, 4, 3, 3).

    ∇θ is a sum of one part a triangle, each a function of that triangle alone. Their Jacobians are
    not symmetric one by one (parallel transport along the edge has no potential), only their sum is;
    so the symmetric part of each is taken.
    """
    result = np.zeros((len(hinges), 4, 4, 3, 3))
    for apex, order in ((2, (0, 1)), (3, (1, 0))):
        local = (*order, apex)
        a, b, c = (x[hinges[:, j]] for j in local)
        jacobian = _face_jacobian(a, b, c)
        symmetric = 0.5 * (jacobian + jacobian.transpose(0, 2, 1, 4, 3))
        for i in range(3):
            for j in range(3):
                result[:, local[i], local[j]] += symmetric[:, i, j]
    return result


def _face_jacobian(a: Floats, b: Floats, c: Floats) -> Floats:
    """Jacobian (h, 3, 3, 3, 3) of one triangle's part of ∇θ by its corners (a, b: edge; c: apex)."""
    edge = b - a
    q, foot = _apex_gradient(a, b, c)
    length = np.linalg.norm(edge, axis=1)
    normal = np.cross(edge, c - a)
    squared = np.einsum("ij,ij->i", normal, normal)
    unit = normal / np.sqrt(squared)[:, None]
    reflect = np.eye(3) - 2.0 * unit[:, :, None] * unit[:, None, :]
    scaled = (length / squared)[:, None, None] * reflect
    direction = edge / length[:, None]
    per_length = normal / squared[:, None]
    q_by = [
        scaled @ skew(c - b) - per_length[:, :, None] * direction[:, None, :],
        scaled @ skew(a - c) + per_length[:, :, None] * direction[:, None, :],
        scaled @ skew(edge),
    ]
    length_2 = (length**2)[:, None]
    foot_by = [
        (-edge - (c - a) + 2.0 * foot[:, None] * edge) / length_2,
        ((c - a) - 2.0 * foot[:, None] * edge) / length_2,
        edge / length_2,
    ]
    jacobian = np.empty((len(a), 3, 3, 3, 3))
    share = foot[:, None, None]
    for j in range(3):
        turn = q[:, :, None] * foot_by[j][:, None, :]
        jacobian[:, 0, j] = -(1.0 - share) * q_by[j] + turn
        jacobian[:, 1, j] = -share * q_by[j] - turn
        jacobian[:, 2, j] = q_by[j]
    return jacobian
