"""Random sheets in random states: rest shape, deformed shape, the shape a step ago, all within bounds.

Folds stay under 175° and corners over 5°: beyond, angles jump by a turn and cotangents lose their digits.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies as st

from meshes import Floats, Mesh, bumpy, equilateral, grid, icosphere, smallest_angle, unstructured
from shellcore.energies.hinge import hinge_angles
from shellcore.mesh import Topology, topology

STEEPEST = np.radians(175.0)
SHARPEST = 5.0


@dataclass
class Sample:
    """A mesh with three shapes, each (n, 3) [m], and a generator for whatever else a test draws."""

    mesh: Topology
    rest: Floats
    x: Floats
    before: Floats
    rng: np.random.Generator
    turn: Floats = field(default_factory=lambda: np.eye(3))
    """Rotation of the rest shape since it was made: directions drawn on it turn along."""

    def with_rest_moved(self, turn: Floats, shift: Floats) -> Sample:
        """The same sheet with its rest shape turned and shifted; draws the same numbers."""
        return replace(self, rest=self.rest @ turn.T + shift, rng=deepcopy(self.rng), turn=turn)

    @property
    def faces(self):
        return self.mesh.faces

    @property
    def rest_angles(self) -> Floats:
        return hinge_angles(self.rest, self.mesh.hinges)

    def positive(self, count: int) -> Floats:
        """Random stiffnesses, a decade apart at most."""
        return 10.0 ** self.rng.uniform(-0.5, 0.5, count)


def rotation(rng: np.random.Generator) -> Floats:
    """A random rotation matrix, all directions alike."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q * np.linalg.det(q)


def sound(x: Floats, mesh: Topology) -> bool:
    """Whether a shape keeps the bounds on folds and corners."""
    folds = np.abs(hinge_angles(x, mesh.hinges))
    return bool((folds < STEEPEST).all()) and smallest_angle(x, mesh.faces) > SHARPEST


def shaken(x: Floats, mesh: Topology, rng: np.random.Generator, amount: float) -> Floats:
    """`x` with every vertex moved at random by about `amount` of an edge, less where that breaks the bounds."""
    edges = x[mesh.edges[:, 1]] - x[mesh.edges[:, 0]]
    size = amount * float(np.linalg.norm(edges, axis=1).mean())
    push = rng.normal(size=x.shape)
    while not sound(x + size * push, mesh):
        size *= 0.7
    return x + size * push


def single_hinge(rng: np.random.Generator, fold: float) -> Mesh:
    """Two triangles of random corners over 6°, folded by `fold` [rad]."""
    while True:
        apex = rng.uniform((-0.8, 0.05), (1.8, 1.5), (2, 2))
        left, right = (apex[0, 0], apex[0, 1], 0.0), (apex[1, 0], 0.0, 0.0)
        down = apex[1, 1]
        points = np.array([(0.0, 0, 0), (1, 0, 0), left, right])
        points[3, 1:] = -down * np.cos(fold), down * np.sin(fold)
        faces = np.array([[0, 1, 2], [1, 0, 3]])
        if smallest_angle(points, faces) > 6.0:
            return points, faces


def _rest(kind: str, rng: np.random.Generator) -> Mesh:
    seed = int(rng.integers(1000))
    if kind == "hinge":
        return single_hinge(rng, rng.uniform(-0.97, 0.97) * np.pi)
    if kind == "patch":
        return bumpy(unstructured(16, 1.0, 0.8, seed, least_angle=10.0), 0.15, seed)
    if kind == "grid":
        return bumpy(grid(3, 2, 1.0, 0.7), 0.1, seed)
    if kind == "closed":
        return bumpy(icosphere(0, 0.6), 0.1, seed)
    return equilateral(2, 2, 0.4)


KINDS = ("hinge", "patch", "grid", "closed", "equilateral")


@st.composite
def samples(draw, kinds: tuple[str, ...] = KINDS, amount: float = 0.3) -> Sample:
    """Random `Sample`s: rest shapes flat, bumpy or closed; deformed, turned and moved."""
    kind = draw(st.sampled_from(kinds))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    points, faces = _rest(kind, rng)
    mesh = topology(faces, len(points))
    deformed = points
    if kind == "hinge":
        while not sound(deformed, mesh) or deformed is points:
            deformed = single_hinge(rng, rng.uniform(-0.97, 0.97) * np.pi)[0]
            # Sides of the rest shape within a third: strains stay those of a sheet, folds are free.
            deformed = _refolded(points, float(hinge_angles(deformed, mesh.hinges)[0]))
    x = shaken(deformed, mesh, rng, amount * rng.uniform(0.2, 1.0))
    before = shaken(x, mesh, rng, 0.1)
    turn, shift = rotation(rng), rng.normal(size=3)
    return Sample(mesh, points, x @ turn.T + shift, before @ turn.T + shift, rng)


def _refolded(points: Floats, fold: float) -> Floats:
    result = points.copy()
    width = np.hypot(*points[3, 1:])
    result[3, 1:] = -width * np.cos(fold), width * np.sin(fold)
    return result
