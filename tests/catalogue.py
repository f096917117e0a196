"""Every energy of the package, built on a random `Sample`: one name a model, for tests that hold of all of them."""

from __future__ import annotations

import numpy as np
from states import Sample, rotation

from shellcore.axes import face_axes
from shellcore.colliders import Plane, Sphere
from shellcore.dynamics.stage import Stage
from shellcore.energies.base import Energy
from shellcore.energies.cubic import Cubic
from shellcore.energies.drag import NormalDrag
from shellcore.energies.fem import Fem
from shellcore.energies.hinge import Hinge, hinge_weights
from shellcore.energies.penalty import Penalty
from shellcore.energies.pins import Attachments, Bands, SoftPins
from shellcore.energies.pressure import Pressure
from shellcore.energies.quadratic import crouzeix_raviart, vertex_form
from shellcore.energies.springs import AreaSprings, EdgeSprings
from shellcore.energies.viscosity import AngleViscosity, StrainViscosity

STEP = 0.01


def fem(s: Sample) -> Fem:
    m = len(s.faces)
    a11, a22, a66 = (s.positive(m) for _ in range(3))
    a12 = s.rng.uniform(-0.6, 0.6, m) * np.sqrt(a11 * a22)
    axes = face_axes(s.rest, s.faces, s.rng.normal(size=(m, 3)) @ s.turn.T)
    return Fem(s.rest, s.faces, axes, (a11, a22, a12, a66))


def edge_springs(s: Sample) -> EdgeSprings:
    return EdgeSprings(s.rest, s.mesh, s.positive(len(s.mesh.edges)))


def area_springs(s: Sample) -> AreaSprings:
    return AreaSprings(s.rest, s.mesh, s.positive(len(s.faces)))


def hinge(s: Sample, form: str = "sine", area: str = "barycentric", simplified: bool = False) -> Hinge:
    weights = hinge_weights(s.rest, s.mesh, s.positive(len(s.mesh.hinges)), area, simplified)
    return Hinge(s.mesh, weights, s.rest_angles, form)


def flat_hinge(s: Sample) -> Hinge:
    """With no rest angle anywhere, which has a way of its own."""
    energy = hinge(s)
    energy.set_rest_angles(np.zeros(len(s.mesh.hinges)))
    return energy


def cubic(s: Sample) -> Cubic:
    return Cubic(s.rest, s.mesh, s.positive(len(s.mesh.hinges)), s.rest_angles)


def soft_pins(s: Sample) -> SoftPins:
    weights = s.positive(s.x.size).reshape(s.x.shape) * s.rng.integers(0, 2, s.x.shape)
    weights[0] = 1.0
    return SoftPins(weights, s.rest)


def attachments(s: Sample) -> Attachments:
    n = len(s.x)
    first = np.arange(n - 1)
    return Attachments(first, first + 1, s.positive(n - 1), n)


def bands(s: Sample) -> Bands:
    """Some tight, some slack, none on the brink."""
    n = len(s.x)
    first = np.arange(n - 1)
    length = np.linalg.norm(np.diff(s.x, axis=0), axis=1)
    share = np.where(s.rng.random(n - 1) < 0.3, 1.5, s.rng.uniform(0.3, 0.9, n - 1))
    return Bands(first, first + 1, s.positive(n - 1), share * length, n)


def pressure(s: Sample, closed: bool) -> Pressure:
    energy = Pressure(s.faces, closed, len(s.x))
    energy.pressure = 1.7
    energy.begin_step(s.before)
    return energy


def strain_viscosity(s: Sample) -> StrainViscosity:
    energy = StrainViscosity(fem(s), 0.02)
    energy.begin_step(Stage.euler(0.0, STEP, s.before, 0 * s.before))
    return energy


def angle_viscosity(s: Sample) -> AngleViscosity:
    count = len(s.mesh.hinges)
    energy = AngleViscosity(hinge(s), s.positive(count), crouzeix_raviart(s.rest, s.mesh, np.ones(count)).matrix)
    energy.begin_step(Stage.euler(0.0, STEP, s.before, 0 * s.before))
    return energy


def penalty(s: Sample, shape: str) -> Penalty:
    """Some vertices touch, some do not, and none lies near where contact begins (the Hessian jumps there)."""
    middle, away = s.x.mean(axis=0), rotation(s.rng)[0]
    if shape == "plane":
        surface = Plane(middle, away, friction=0.4)
    else:
        # The centre lies outside the sheet: the distance has a kink there too.
        centre = middle + 2.0 * np.linalg.norm(s.x - middle, axis=1).max() * away
        surface = Sphere(centre, float(np.median(np.linalg.norm(s.x - centre, axis=1))), friction=0.4)
    distance = np.sort(surface.distance(s.x, surface.place(0.0))[0])
    at = int(np.argmax(np.diff(distance)))
    offset = np.full(len(s.x), 0.5 * (distance[at] + distance[at + 1]))
    energy = Penalty(surface, s.positive(len(s.x)), offset)
    energy.begin_step(Stage.euler(0.0, STEP, s.before, (s.x - s.before) / STEP))
    return energy


def normal_drag(s: Sample) -> NormalDrag:
    normals = np.array([rotation(s.rng)[0] for _ in s.x])
    return NormalDrag(s.positive(len(s.x)), normals, s.before, s.rng.normal(size=s.x.shape), STEP)


INTERNAL = {
    "fem": fem,
    "edge springs": edge_springs,
    "area springs": area_springs,
    "hinge, sine": hinge,
    "hinge, flat": flat_hinge,
    "hinge, angle": lambda s: hinge(s, "angle"),
    "hinge, simplified": lambda s: hinge(s, "angle", simplified=True),
    "hinge, circumcentric": lambda s: hinge(s, area="circumcentric"),
    "quadratic, hinges": lambda s: crouzeix_raviart(s.rest, s.mesh, s.positive(len(s.mesh.hinges))),
    "quadratic, vertices": lambda s: vertex_form(s.rest, s.mesh, s.positive(len(s.mesh.hinges))),
    "cubic": cubic,
    "attachments": attachments,
    "bands": bands,
    "strain viscosity": strain_viscosity,
    "angle viscosity": angle_viscosity,
}
EXTERNAL = {
    "soft pins": soft_pins,
    "pressure, closed": lambda s: pressure(s, True),
    "pressure, open": lambda s: pressure(s, False),
    "penalty, plane": lambda s: penalty(s, "plane"),
    "penalty, sphere": lambda s: penalty(s, "sphere"),
    "normal drag": normal_drag,
}
ENERGIES = INTERNAL | EXTERNAL
# Shapes on which a model says something: the vertex form lives on interior vertices, a closed surface on a closed mesh.
KINDS_OF = {
    "quadratic, vertices": ("patch", "grid", "closed"),
    "pressure, closed": ("closed",),
    "pressure, open": ("patch", "grid", "equilateral"),
}


def build(name: str, sample: Sample) -> Energy:
    """The energy of that name with random parameters."""
    return ENERGIES[name](sample)
