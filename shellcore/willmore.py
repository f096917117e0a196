"""Willmore flow: a closed or open triangle mesh made fair by lowering its bending energy.

1. The first step is explicit: fourth-order sweeps take off noise as short as the edges, if there is any.
2. One constant matrix, M/τ + Q of the surface so obtained, is factored.
3. Every further step is inexact Newton with that factor, on the exact gradient at the current surface.

Quadratic bending (Bergou et al. 2006), sections 2 and 3 and figure 4; see docs/theory/willmore.md.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from scipy.sparse import diags

from .checks import number, positive, whole
from .energies.willmore import WillmoreEnergy
from .errors import ShellError, listed
from .linalg.factor import Lu
from .linalg.threads import limited
from .linalg.vectors import inner
from .mesh import Topology, check_positions, topology
from .pieces import Pieces
from .types import Floats, Ints, Sparse

# The smallest angle of the mesh may fall to this share of the start's.
ANGLE_SHARE = 0.5
# A step must lower the energy by this share of what its slope promises, after at most so many shortenings.
SUFFICIENT_DECREASE, SHORTENINGS = 1e-4, 10
# Energy of a sheet that counts as flat: below it the tolerance is absolute.
FLAT = 1e-6
# Noise sweeps: so many at a time, so many times, as long as each time takes off this share of the energy.
SWEEPS, ROUNDS, WORTHWHILE = 6, 3, 0.1
# No graph Laplacian has an eigenvalue above 2; what lies above the root of NOISE, as a share of that, counts as noise.
GRAPH_TOP, NOISE = 2.0, 0.02
# Work is counted in numbers per vertex: a solve reads those of the factor. As measured, a pass over the surface (an
# energy, or the vectors of a direction) takes the time of 100, a sweep that of 20, and a factorisation that of 20 to 28
# solves, of which a flow spends 12 unless told otherwise.
PASS_WORK, SWEEP_WORK, SOLVES_PER_FACTOR = 100, 20, 12
# This much, in numbers, may always be spent: a blink of time, and what a small mesh needs to come to rest.
FREE_WORK = 2e7


def willmore_flow(
    positions: Floats,
    faces: Ints,
    *,
    step: float | None = None,
    steps: int | None = None,
    hold_volume: bool = False,
    hold_boundary: bool = True,
    hold_tangent: bool = False,
    tolerance: float = 1e-5,
) -> Floats:
    """Positions (n, 3) [m] of a mesh made fair; options as in `WillmoreFlow` and its `run`."""
    return WillmoreFlow(
        positions,
        faces,
        step=step,
        hold_volume=hold_volume,
        hold_boundary=hold_boundary,
        hold_tangent=hold_tangent,
        tolerance=tolerance,
    ).run(steps)


class WillmoreFlow:
    """Descent of the Willmore energy with one factorisation; every step lowers the energy.

    positions: (n, 3) [m]; faces: (m, 3).
    step: time of one step [m⁴]: details shorter than its fourth root go at once, longer ones over several
        steps. By default r⁴/12, r the radius of a sphere that is curved as the piece of mesh is on average.
    hold_volume: each piece of a closed mesh keeps the volume it encloses.
    hold_boundary: boundary vertices stay; hold_tangent: so do all vertices of the triangles at them.
    tolerance: the flow is at rest when a step of default size promises to lower the energy by less than this share.
    memory: how many past steps correct the constant matrix (L-BFGS); 0 follows the flow in time.
    denoise: whether the first step may be the explicit one against noise.
    """

    energies: list[float]
    """Energy at the start and after every step; 8π is a round sphere."""
    factor_seconds: float
    """Time of the one factorisation [s]."""
    flow_seconds: float
    """Time of the steps, the preparation of the explicit one included [s]."""

    def __init__(
        self,
        positions: Floats,
        faces: Ints,
        *,
        step: float | None = None,
        hold_volume: bool = False,
        hold_boundary: bool = True,
        hold_tangent: bool = False,
        tolerance: float = 1e-5,
        memory: int = 3,
        denoise: bool = True,
    ) -> None:
        if step is not None:
            step = positive(step, "step", " time [m⁴]")
        tolerance = number(tolerance, "tolerance", "zero or more", lambda given: given >= 0.0)
        mesh = topology(faces, len(check_positions(positions, faces)))
        self._given = check_positions(positions, mesh.faces)
        if hold_volume and not mesh.closed:
            raise ShellError("hold_volume needs a closed mesh; this one has a boundary, which can be held instead")
        self.function = WillmoreEnergy(mesh)
        thin = self.function.slivers(self._given)
        if len(thin):
            raise ShellError(f"faces {listed(thin)} are too thin to have a curvature; dissolve them", faces=thin)
        self._faces = mesh.faces
        self._free = _free_vertices(mesh, hold_boundary, hold_tangent)
        self._held = np.setdiff1d(np.arange(len(self._given)), self._free)
        # A slice, where nothing is held, spares a copy in every solve.
        self._rows: Ints | slice = self._free if len(self._held) else slice(None)
        self._tolerance, self._memory = tolerance, memory
        self._pairs: list[tuple[Floats, Floats, float]] = []
        self._work = 0.0

        # In units of its own size the mesh is safe from overflow, and far from the origin it loses no digits.
        self._centre = self._given.mean(axis=0)
        self._scale = float(np.sqrt(self.function.laplacian(self._given)[1].sum() / (4 * np.pi)))
        self._x = (self._given - self._centre) / self._scale

        started = perf_counter()
        energy, self._gradient, cotangent = self.function.evaluate(self._x)
        self._gradient[self._held] = 0.0
        self.energies = [energy]
        # The margin keeps the promise about angles in the caller's arithmetic too.
        self._cotangent_limit = 1.0 / np.tan(ANGLE_SHARE * (1 + 1e-6) * np.arctan2(1.0, cotangent))
        self._denoised = self._without_noise() if denoise else None
        self.flow_seconds = perf_counter() - started

        surface = self._x if self._denoised is None else self._denoised
        laplacian, mass = self.function.laplacian(surface)
        self._pieces = Pieces(mesh, mass)
        self._volumes = self._checked_volumes() if hold_volume else None
        rate = self._default_rate(laplacian, mass, surface)
        if step is not None:
            # Short steps promise little each: that is no sign of rest.
            self._tolerance *= min(1.0, float(rate.max()) * step / self._scale**4)
            rate = np.full(len(rate), self._scale**4 / step)
        # A boundary that moves is in the matrix as if it were curved: what only its mass held back would move far.
        bent = self.function.inside if len(self._held) else 1.0
        bending = laplacian.T @ diags(bent / mass) @ laplacian
        matrix = (bending + diags(rate * mass)).tocsr()[self._free][:, self._free]
        started = perf_counter()
        self._factor = Lu(matrix) if len(self._free) else None
        self.factor_seconds = perf_counter() - started
        self._fill = self._factor.fill / len(self._free) if self._factor else 0.0

    @property
    def positions(self) -> Floats:
        """Positions now, (n, 3) [m]; held vertices exactly as given, and all of them before the first step."""
        if len(self.energies) == 1:
            return self._given.copy()
        x: Floats = self._centre + self._scale * self._x
        x[self._held] = self._given[self._held]
        return x

    @property
    def energy(self) -> float:
        """Energy now, dimensionless."""
        return self.energies[-1]

    @limited(None)
    def run(self, steps: int | None = None) -> Floats:
        """Positions (n, 3) [m] after so many steps, or fewer if the flow comes to rest.

        By default they are as many as cost somewhat less than the factorisation did (figure 4 of the paper),
        more on small meshes. Work is counted, not timed, so that the result is the same on every machine.
        """
        if steps is not None:
            steps = whole(steps, "steps", 0)
        limit = max(SOLVES_PER_FACTOR * self._fill, FREE_WORK / len(self._x))
        done, step_work = 0, self._fill + 2 * PASS_WORK
        while (self._work + step_work <= limit if steps is None else done < steps) and self.advance():
            done += 1
        return self.positions

    @limited(None)
    def advance(self) -> bool:
        """One step; False when the flow is at rest and nothing has moved."""
        started = perf_counter()
        target, self._denoised = self._denoised, None
        moved = target is not None and self._accept(target, self.energy)
        # The explicit step is no Newton step and teaches nothing about the matrix.
        self._pairs = [] if moved else self._pairs
        moved = moved or self._newton_step()
        self.flow_seconds += perf_counter() - started
        return moved

    def _newton_step(self) -> bool:
        while self._factor is not None:
            direction, slope = self._direction()
            if -slope <= self._tolerance * max(self.energy, FLAT):
                return False
            length = 1.0
            for _ in range(SHORTENINGS):
                bound = self.energy + SUFFICIENT_DECREASE * length * slope
                if self._accept(self._x + length * direction, bound):
                    return True
                length *= 0.4
            if not self._pairs:
                return False
            self._pairs = []  # what was learnt does not hold here: once more with the constant matrix alone
        return False

    def _accept(self, x: Floats, bound: float) -> bool:
        """Move to x (n, 3) if the energy there is below `bound` and no angle too small."""
        self._work += PASS_WORK
        energy, gradient, cotangent = self.function.evaluate(x)
        if not energy < bound or cotangent > self._cotangent_limit:
            return False
        if self._volumes is not None:
            # The energy does not depend on size: to hold the volume is to resize, and costs no energy.
            ratio = self._volumes / self._pieces.volumes(x, self._faces)
            if not (ratio > 0).all():
                return False
            size = np.cbrt(ratio)[self._pieces.of_vertex][:, None]
            centre = self._pieces.means(x)
            x, gradient = centre + size * (x - centre), gradient / size
        gradient[self._held] = 0.0
        moved, change = x - self._x, gradient - self._gradient
        curvature = inner(moved, change)
        if self._memory and curvature > 0.0:
            self._pairs = [*self._pairs, (moved, change, curvature)][-self._memory :]
        self._x, self._gradient = x, gradient
        self.energies.append(energy)
        return True

    def _direction(self) -> tuple[Floats, float]:
        """Descent direction (n, 3) and slope: the constant matrix, corrected by past steps (L-BFGS)."""
        self._work += self._fill + PASS_WORK
        right = self._gradient
        shares = []
        for moved, change, curvature in reversed(self._pairs):
            shares.append(inner(moved, right) / curvature)
            right = right - shares[-1] * change
        direction = np.zeros_like(right)
        assert self._factor is not None
        direction[self._rows] = self._factor.solve(-right[self._rows])
        for (moved, change, curvature), share in zip(self._pairs, reversed(shares), strict=True):
            direction -= (share + inner(change, direction) / curvature) * moved
        slope = inner(self._gradient, direction)
        # On a rough mesh the energy is not quite flat along the drift; then descent comes first.
        steady = direction - self._pieces.drift(self._x, direction)
        steady_slope = inner(self._gradient, steady)
        return (steady, steady_slope) if steady_slope < 0.5 * slope else (direction, slope)

    def _without_noise(self) -> Floats | None:
        """Positions (n, 3) after explicit sweeps with U², U the graph Laplacian; None if they gain little.

        On a noisy surface the metric is noise too: neither Q nor the gradient then tells long from short.
        The sweeps are Chebyshev's: the polynomial in U² that is 1 at 0 and least above NOISE.
        """
        moving = self.function.inside.copy()
        moving[self._held] = 0.0
        umbrella = diags(moving / GRAPH_TOP) @ self.function.graph_laplacian()
        centre, slope = (1 + NOISE) / (1 - NOISE), 2 / (1 - NOISE)
        best, energy = None, self.energy
        x, before, ratio = self._x - slope / centre * (umbrella @ (umbrella @ self._x)), self._x, 1 / centre
        for _ in range(ROUNDS):
            for _ in range(SWEEPS):
                following = 2 * (centre * x - slope * (umbrella @ (umbrella @ x))) - ratio * before
                ratio = 1 / (2 * centre - ratio)
                x, before = ratio * following, x
            self._work += SWEEPS * SWEEP_WORK + PASS_WORK
            lower, _, cotangent = self.function.evaluate(x, gradient=False)
            if not lower < (1 - WORTHWHILE) * energy or cotangent > self._cotangent_limit:
                break
            best, energy = x, lower
        return best

    def _default_rate(self, laplacian: Sparse, mass: Floats, x: Floats) -> Floats:
        """1/τ = 12/r⁴ of each vertex's piece, (n,): r is the radius of a sphere curved as the piece is on average."""
        vertex_energy = self.function.inside * ((laplacian @ x) ** 2).sum(axis=1) / (2 * mass)
        area, energy = self._pieces.sums(mass), self._pieces.sums(vertex_energy)
        # A flat sheet has no such radius; its area then bounds the step.
        rate: Floats = np.maximum(12 * (energy / (2 * area)) ** 2, 1 / area**2)
        return rate[self._pieces.of_vertex]

    def _checked_volumes(self) -> Floats:
        volumes = self._pieces.volumes(self._x, self._faces)
        extent = self._pieces.sums(self.function.laplacian(self._x)[1]) ** 1.5
        flat = np.isin(self._pieces.of_vertex, np.flatnonzero(np.abs(volumes) < 1e-9 * extent))
        if flat.any():
            at = np.flatnonzero(flat)
            raise ShellError(f"the piece of vertices {listed(at)} encloses no volume that could be held", vertices=at)
        return volumes


def _free_vertices(mesh: Topology, hold_boundary: bool, hold_tangent: bool) -> Ints:
    free = np.ones(mesh.vertex_count, dtype=bool)
    if hold_boundary or hold_tangent:
        free[mesh.boundary_vertices] = False
    if hold_tangent:
        free[mesh.faces[~free[mesh.faces].all(axis=1)]] = False
    return np.flatnonzero(free)
