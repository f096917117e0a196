"""Everything that can touch, in one stack of vertices: shells first, then what colliders are made of.

A sphere is one vertex with a radius and a plane one vertex with a normal, so that a contact is always between a
vertex and a face or between two edges of the stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..colliders import Collider, Plane, Sphere
from ..mesh import Topology
from ..scene import Scene
from ..shell import Shell
from ..types import Bools, Floats, Ints
from .fans import inner_vertices

if TYPE_CHECKING:
    from .lips import Lips

# Part of half a sheet's thickness that no collider can press into; the rest is where its force grows.
CORE = 0.55
# Least contact distance as a share of the mean edge: a solver cannot see layers far below its tolerance.
THINNEST = 0.01


class Surface:
    """A triangle mesh of the stack with an owner face for every vertex and edge.

    A vertex or edge is only tested by its owner, so that a pair of faces yields each pair of features once.
    """

    def __init__(self, faces: Ints, edges: Ints, face_edges: Ints) -> None:
        self.faces, self.edges = faces, edges
        # Columns of their own: comparing them is several times as fast as comparing rows.
        self.corners = np.ascontiguousarray(faces.T)
        self.ends = np.ascontiguousarray(edges.T)
        self.own_vertices = _owned(faces)
        self.own_edges = _owned(face_edges)
        self.face_edges = face_edges
        """Edge opposite each corner, (m, 3)."""

    @cached_property
    def inner(self) -> Bools:
        """Vertices with one closed fan of faces, up to the last one named."""
        return inner_vertices(self.faces, self.face_edges, int(self.faces.max()) + 1)


def _owned(features: Ints) -> Ints:
    """`features` (m, 3) with every later mention of the same one replaced by −1."""
    flat = features.ravel()
    first = np.unique(flat, return_index=True)[1]
    owned = np.full(len(flat), -1, dtype=np.int64)
    owned[first] = flat[first]
    return owned.reshape(-1, 3)


class Bodies:
    """The stack. `count` shell vertices come first; `half` [m]: each vertex's half of a contact distance."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        offsets = scene.offsets()
        self.count = int(offsets[-1])
        self.meshes = [c for c in scene.colliders if isinstance(c, Collider)]
        self.spheres = [c for c in scene.colliders if isinstance(c, Sphere)]
        self.planes = [c for c in scene.colliders if isinstance(c, Plane)]
        shells = scene.shells
        half, core = [], []
        for shell in shells:
            half.append(half_distance(shell, scene.contact_distance))
            core.append(CORE * np.minimum(0.5 * _at_vertices(shell.material.thickness, shell.mesh), half[-1]))
        sizes = [len(shell.rest_positions) for shell in shells]
        self.owner = np.repeat(np.arange(len(shells)), sizes)
        self.rest = np.concatenate([shell.rest_positions for shell in shells])
        self.shell_surface = _stacked([shell.mesh for shell in shells], offsets)
        self.circumradius = _circumradius(self.rest, self.shell_surface.faces)
        self.spheres_at = self.count + np.arange(len(self.spheres))
        self.planes_at = self.count + len(self.spheres) + np.arange(len(self.planes))
        first = self.count + len(self.spheres) + len(self.planes)
        starts = first + np.concatenate([[0], np.cumsum([len(c.positions) for c in self.meshes])]).astype(np.int64)
        self.mesh_surface = _stacked(self.meshes, starts) if self.meshes else None
        self.total = int(starts[-1])
        simple: list[Sphere | Plane] = [*self.spheres, *self.planes]
        names = {id(collider): k for k, collider in enumerate(scene.colliders)}
        which = [names[id(c)] for c in simple] + [names[id(c)] for c in self.meshes for _ in range(len(c.positions))]
        # Colliders get the owners −1, −2, …
        self.owner = np.concatenate([self.owner, -1 - np.array(which, dtype=np.int64)]).astype(np.int64)
        own = [np.zeros(len(simple))] + [np.full(len(c.positions), 0.5 * c.thickness) for c in self.meshes]
        self.half = np.concatenate([*half, *own])
        self.core = np.concatenate([*core, np.zeros(self.total - self.count)])
        rubbing: list[Any] = [*shells, *simple, *self.meshes]
        self._rubbing = rubbing
        self._each = [*sizes, *(1 for _ in simple), *(len(c.positions) for c in self.meshes)]
        self._rub_changes = any(callable(body.friction) for body in rubbing)
        self.friction = self._friction(0.0)
        """Coulomb's coefficient of every vertex in this step, (total,)."""
        self.normals = np.array([c.normal for c in self.planes], dtype=np.float64).reshape(-1, 3)
        self.normals /= np.linalg.norm(self.normals, axis=1)[:, None]
        self.radii = np.array([c.radius for c in self.spheres], dtype=np.float64)
        self.touches_itself = scene.touch_themselves
        self.lips: Lips | None = None
        """Lips of cracks, once there are any."""
        self.together = scene.together

    def rub(self, t: float) -> None:
        """Have friction as at time t [s]."""
        if self._rub_changes:
            self.friction = self._friction(t)

    def _friction(self, t: float) -> Floats:
        return np.repeat([body.friction_at(t) for body in self._rubbing], self._each)

    def place(self, t: float) -> Floats:
        """Collider vertices of the stack [m], (total − count, 3), at time t [s]."""
        solids: list[Sphere | Plane] = [*self.spheres, *self.planes]
        simple = [c.place(t) for c in solids]
        return np.concatenate([np.array(simple).reshape(-1, 3), *(c.place(t) for c in self.meshes)])

    def allowed(self, first: Ints, second: Ints) -> Bools:
        """Whether vertices of shells may touch at all: not within a shell whose self-contact is off, (p,)."""
        a, b = self.owner[first], self.owner[second]
        may: Bools = (a != b) | self.touches_itself[a]
        return may


def half_distance(shell: Shell, given: float | None) -> Floats:
    """A shell's half of the distance [m] that it keeps, (n,): of the one `given`, or of its thickness."""
    thickness = _at_vertices(shell.material.thickness, shell.mesh)
    least = np.maximum(thickness, THINNEST * _mean_edge(shell))
    half: Floats = 0.5 * (least if given is None else np.full_like(thickness, given))
    return half


def _mean_edge(shell: Shell) -> float:
    """Mean rest length of a shell's edges [m]."""
    x, edges = shell.rest_positions, shell.mesh.edges
    return float(np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1).mean())


def _at_vertices(value: float | Floats, mesh: Topology) -> Floats:
    """A number or per-face array as the mean over the faces round each vertex, (n,)."""
    corner = np.repeat(np.broadcast_to(np.asarray(value, dtype=np.float64), (len(mesh.faces),)), 3)
    flat = mesh.faces.ravel()
    total = np.bincount(flat, weights=corner, minlength=mesh.vertex_count)
    mean: Floats = total / np.maximum(np.bincount(flat, minlength=mesh.vertex_count), 1)
    return mean


def _circumradius(x: Floats, faces: Ints) -> Floats:
    """Largest circumradius of the faces round each vertex [m], (n,)."""
    a, b, c = (x[faces[:, k]] for k in range(3))
    sides = [np.linalg.norm(p - q, axis=1) for p, q in ((a, b), (b, c), (c, a))]
    radius = sides[0] * sides[1] * sides[2] / (2.0 * np.linalg.norm(np.cross(b - a, c - a), axis=1))
    largest = np.zeros(len(x))
    np.maximum.at(largest, faces.ravel(), np.repeat(radius, 3))
    return largest


def _stacked(meshes: Sequence[Topology | Collider], starts: Ints) -> Surface:
    edge_starts = np.concatenate([[0], np.cumsum([len(mesh.edges) for mesh in meshes])])
    return Surface(
        np.concatenate([mesh.faces + at for mesh, at in zip(meshes, starts, strict=False)]),
        np.concatenate([mesh.edges + at for mesh, at in zip(meshes, starts, strict=False)]),
        np.concatenate([mesh.face_edges + at for mesh, at in zip(meshes, edge_starts, strict=False)]),
    )
