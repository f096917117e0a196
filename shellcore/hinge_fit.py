"""Hinge weights fitted to the material, on any triangulation.

Bend a flat sheet to a cylinder of curvature κ along a direction α: it should cost ½ D(α) κ² per area, but the hinges
cost what their edges happen to add up to, and where vertices can move out of the cylinder to save energy the sheet
does so. The fit corrects both. It alternates two steps:

1. relax: for the present weights, let vertices move freely on the scale of the mesh, and see what angle each hinge
   takes per unit of curvature (linear in the three curvatures);
2. reweight: over patches of a few rings about every vertex, compare what the hinges cost in each direction with what
   the material should cost there, and multiply every hinge by the ratio, averaged over the patches and directions
   that it takes part in.

Step 2 is expectation maximisation for positive weights (known from image restoration as Richardson-Lucy): it keeps
weights positive, lowers the Kullback-Leibler distance between cost and target, and moves no further from the plain
weights than it must. Because the relaxed energy is a minimum, its derivative by a weight is the energy of that hinge at
the relaxed angle, so step 2 needs no derivative of step 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix, diags, identity

from .material import Moduli, directional_rigidity
from .types import Bools, Floats, Sparse
from .unfolding import Unfolding

# Cost by direction is a trigonometric polynomial of degree 4 with five coefficients: six directions see all of it.
DIRECTIONS = np.arange(6) * np.pi / 6
# Rings of vertices that a patch reaches beyond its own hinges: fewer and the weights scatter, more and a change of
# material is blurred.
RINGS = 3
# Rounds of relaxing, and reweightings in each; then the same on the two axes of the material alone. Stopping early is
# what keeps weights smooth: the patches settle in a few rounds, more would only chase details within them.
ROUNDS, REWEIGHTINGS, AXIS_ROUNDS = 4, 6, 1
# Exponent of each reweighting. Plain expectation maximisation (1) converges slowly; below 2 it stays stable.
OVERRELAXATION = 1.5
# Share of each vertex's own stiffness that holds it when relaxing: it keeps the relaxation to a few edges about a
# vertex, so that it cannot undo the curvature itself.
SCREEN = 0.05
RELAX_ITERATIONS = 12
# Bounds of a fitted weight, relative to the plain one.
LEAST, MOST = 0.1, 5.0


def fitted_rigidities(
    unfolding: Unfolding, vertex_count: int, frame: Floats, warp: Floats, moduli: Moduli, plain: Floats
) -> Floats:
    """Rigidity of each edge [N·m], shape (e,), starting from `plain`.

    `frame`: unit direction per face, (m, 3), smooth over the sheet, that curvatures are referred to; `warp`: that of
    the material. Moduli D11, D22, D12, D66 per face [N·m].
    """
    sheet = _Sheet.of(unfolding, vertex_count, frame, warp)
    targets = sheet.targets(moduli)
    # All relative to the material's mean rigidity at the edge. Where soft joins stiff a sheet rightly bends more on the
    # soft side; the fit must correct the mesh, not that.
    mean = 3 * targets.mean(axis=1) / (sheet.share * unfolding.area)
    mean = np.where(mean > 0, mean, 1.0)
    targets, plain = targets / mean[:, None], plain / mean
    directional = np.ptp(targets, axis=1) > 1e-9 * targets.max(axis=1)
    stages = [(targets, sheet.cylinders(), np.ones(len(plain), dtype=bool))] * ROUNDS
    if directional.any():
        # Where a mesh cannot have the stiffness of every direction, warp and weft come first: they are what is known.
        stages += [(sheet.axis_targets(moduli) / mean[:, None], sheet.axis_cylinders(), directional)] * AXIS_ROUNDS
    rigidity = plain
    for target, cylinders, fitted in stages:
        angles = np.einsum("ek,ekd->ed", sheet.relaxed(rigidity), cylinders)
        rigidity = _reweighted(sheet, rigidity, sheet.per_rigidity[:, None] * angles**2, target, fitted, plain)
    return mean * rigidity


def _reweighted(sheet: _Sheet, rigidity: Floats, cost: Floats, target: Floats, fitted: Bools, plain: Floats) -> Floats:
    """`rigidity` after some reweightings. `cost`: energy per rigidity, `target`: energy wanted; (e, directions)."""
    wanted = sheet.gather(target)
    total = cost.sum(axis=1)
    moved = fitted & (total > 0)
    safe_total = np.where(moved, total, 1.0)
    for _ in range(REWEIGHTINGS):
        spent = sheet.gather(rigidity[:, None] * cost)
        ratio = np.divide(wanted, spent, out=np.ones_like(wanted), where=spent > 0)
        factor = (cost * sheet.scatter(ratio)).sum(axis=1) / safe_total
        rigidity = np.clip(np.where(moved, rigidity * factor**OVERRELAXATION, rigidity), LEAST * plain, MOST * plain)
    return rigidity


@dataclass(frozen=True)
class _Sheet:
    """What the fit needs of a mesh; (e,) per edge, mirrored boundary edges included."""

    unfolding: Unfolding
    share: Floats
    """Part of an edge that lies in the sheet: half of a mirrored one."""
    functional: Floats
    """Hinge angle per (κ11, κ22, 2κ12) in the frame, before relaxing; (e, 3) [m]."""
    warp_cosine: Floats
    warp_sine: Floats
    """Direction of the warp in the frame on either side, (e, 2)."""
    stencils: Sparse
    """(e, n): vertex heights to hinge angles."""
    hinge_to_vertex: Sparse
    vertex_to_hinge: Sparse
    spread: Sparse
    spread_back: Sparse

    @staticmethod
    def of(unfolding: Unfolding, vertex_count: int, frame: Floats, warp: Floats) -> _Sheet:
        frame_t, frame_n = unfolding.components(frame)
        warp_t, warp_n = unfolding.components(warp)
        count = len(unfolding.length)
        shape = (count, vertex_count)
        entries = np.repeat(np.arange(count), 4), unfolding.vertices.ravel()
        membership = coo_matrix((np.full(4 * count, 0.25), entries), shape=shape).tocsr()
        spread = _spread(unfolding, vertex_count)
        return _Sheet(
            unfolding=unfolding,
            share=np.where(unfolding.mirrored, 0.5, 1.0),
            functional=_functional_in_frame(unfolding, *_mean_direction(frame_t, frame_n)),
            warp_cosine=frame_t * warp_t + frame_n * warp_n,
            warp_sine=frame_t * warp_n - frame_n * warp_t,
            stencils=coo_matrix((unfolding.stencil().ravel(), entries), shape=shape).tocsr(),
            hinge_to_vertex=membership.T.tocsr(),
            vertex_to_hinge=membership,
            spread=spread,
            spread_back=spread.T.tocsr(),
        )

    @property
    def per_rigidity(self) -> Floats:
        """Twice the energy of a hinge per rigidity and angle squared, |e|²/A, shape (e,)."""
        result: Floats = self.share * self.unfolding.length**2 / self.unfolding.area
        return result

    def gather(self, values: Floats) -> Floats:
        """Sum of (e, d) values over each vertex's patch, (n, d); every edge is shared out once in all."""
        at = self.hinge_to_vertex @ values
        for _ in range(RINGS):
            at = self.spread @ at
        return np.asarray(at)

    def scatter(self, values: Floats) -> Floats:
        """Mean of (n, d) values over the patches of each edge, (e, d): the transpose of `gather`."""
        for _ in range(RINGS):
            values = self.spread_back @ values
        return np.asarray(self.vertex_to_hinge @ values)

    def relaxed(self, rigidity: Floats) -> Floats:
        """Hinge angle per unit of curvature, (e, 3), when vertices move to lower the energy."""
        weight = self.per_rigidity * rigidity
        backward = self.stencils.T.tocsr()
        matrix = backward @ diags(weight) @ self.stencils
        diagonal = matrix.diagonal()
        load = backward @ (weight[:, None] * self.functional)
        matrix = (matrix + diags(SCREEN * diagonal)).tocsr()
        heights = _conjugate_gradients(matrix, load, (1 + SCREEN) * diagonal)
        return np.asarray(self.functional - self.stencils @ heights)

    def cylinders(self) -> Floats:
        """(κ11, κ22, 2κ12) of unit cylinders along `DIRECTIONS` in the frame, (e, 3, d)."""
        unit = _cylinder(np.cos(DIRECTIONS), np.sin(DIRECTIONS))
        return np.broadcast_to(unit, (len(self.share), *unit.shape))

    def axis_cylinders(self) -> Floats:
        """(κ11, κ22, 2κ12) of unit cylinders along warp and weft, (e, 3, 2)."""
        cosine, sine = _mean_direction(self.warp_cosine, self.warp_sine)
        return _cylinder(np.column_stack([cosine, -sine]), np.column_stack([sine, cosine]))

    def targets(self, moduli: Moduli) -> Floats:
        """What each edge's share of its triangles should cost in a unit cylinder, twice the energy, (e, d) [J·m²]."""
        c, s = np.cos(DIRECTIONS), np.sin(DIRECTIONS)
        cosine = self.warp_cosine[..., None] * c + self.warp_sine[..., None] * s
        sine = self.warp_cosine[..., None] * s - self.warp_sine[..., None] * c
        return self._summed(moduli, cosine, sine)

    def axis_targets(self, moduli: Moduli) -> Floats:
        """The same for cylinders along warp and weft, (e, 2)."""
        return self._summed(moduli, np.array([1.0, 0.0]), np.array([0.0, 1.0]))

    def _summed(self, moduli: Moduli, cosine: Floats, sine: Floats) -> Floats:
        # A third of either triangle belongs to this edge.
        area = self.share[:, None] * self.unfolding.length[:, None] * self.unfolding.height / 6
        first, second, cross, twist = (modulus[self.unfolding.faces][..., None] for modulus in moduli)
        rigidity = directional_rigidity((first, second, cross, twist), cosine, sine)
        result: Floats = np.einsum("es,esd->ed", area, rigidity)
        return result


def _cylinder(cosine: Floats, sine: Floats) -> Floats:
    """(κ11, κ22, 2κ12) of unit curvature along a direction, stacked before the last axis."""
    return np.stack([cosine**2, sine**2, 2 * cosine * sine], axis=-2)


def _mean_direction(cosine: Floats, sine: Floats) -> tuple[Floats, Floats]:
    """Mean of the directions on the two sides, (e, 2) to (e,); of lines, not arrows: in the double angle."""
    angle = 0.5 * np.arctan2((2 * cosine * sine).sum(axis=1), (cosine**2 - sine**2).sum(axis=1))
    return np.cos(angle), np.sin(angle)


def _functional_in_frame(unfolding: Unfolding, cosine: Floats, sine: Floats) -> Floats:
    """Weights of (κ11, κ22, 2κ12) in the hinge angle, the frame's first axis being cosine·t + sine·n; (e, 3)."""
    along, across, twist = unfolding.curvature_functional().T
    c, s, cs = cosine**2, sine**2, cosine * sine
    # κ_tt = c κ11 + s κ22 - cs 2κ12, κ_nn = s κ11 + c κ22 + cs 2κ12, 2κ_tn = 2cs (κ11 - κ22) + (c - s) 2κ12.
    return np.column_stack(
        [
            along * c + across * s + 2 * twist * cs,
            along * s + across * c - 2 * twist * cs,
            (across - along) * cs + twist * (c - s),
        ]
    )


def _spread(unfolding: Unfolding, vertex_count: int) -> Sparse:
    """Each vertex shared out evenly to itself and its neighbours, (n, n); columns sum to one."""
    start, end = unfolding.vertices[:, 0], unfolding.vertices[:, 1]
    ends = np.concatenate([start, end]), np.concatenate([end, start])
    near = coo_matrix((np.ones(2 * len(start)), ends), shape=(vertex_count, vertex_count)).tocsr()
    near = near + identity(vertex_count, format="csr")
    return (near @ diags(1 / np.asarray(near.sum(axis=0)).ravel())).tocsr()


def _conjugate_gradients(matrix: Sparse, right: Floats, diagonal: Floats) -> Floats:
    """A few iterations for each column of `right`, preconditioned by the diagonal: the screen makes that enough."""
    inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)[:, None]
    solution = np.zeros_like(right)
    residual = right
    direction = inverse * residual
    rho = (residual * direction).sum(axis=0)
    for _ in range(RELAX_ITERATIONS):
        image = matrix @ direction
        curvature = (direction * image).sum(axis=0)
        step = np.divide(rho, curvature, out=np.zeros_like(rho), where=curvature > 0)
        solution = solution + step * direction
        residual = residual - step * image
        preconditioned = inverse * residual
        rho, previous = (residual * preconditioned).sum(axis=0), rho
        direction = preconditioned + np.divide(rho, previous, out=np.zeros_like(rho), where=previous > 0) * direction
    return solution
