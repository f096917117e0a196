"""Pairs looked at closely: nearest points, the direction between them, the contact distance of each."""

from __future__ import annotations

import numpy as np

from ..types import Floats, Ints
from .bodies import Bodies
from .candidates import Candidates
from .distances import dot, edge_edge, vertex_face

# Contact distance of pairs that are near at rest (neighbours in a fine mesh), as a share of their rest distance.
REST = 0.5
# Share of the contact distance of two sheets that they cannot be pressed through.
THINNEST = 0.02


class Pairs:
    """Vertex-face pairs first (`faces` of them, those with planes at their head), then edge-edge pairs: p in all.

    `vertices` (p, 4) in the stack, `weights` (p, 4) of the nearest points, `normals` (p, 3) from the second side to
    the first, `distance` (p,) [m]; `reach` (p,) [m]: distance at which force begins; `core` (p,) [m]: distance that
    cannot be passed (both beyond the `radius` (p,) of a sphere).
    """

    def __init__(self, bodies: Bodies, candidates: Candidates, x: Floats) -> None:
        self.bodies = bodies
        self.faces = len(candidates.vertex_face)
        self.vertices: Ints = np.concatenate([candidates.vertex_face, candidates.edge_edge])
        self.radius = np.concatenate([candidates.radius, np.zeros(len(candidates.edge_edge))])
        self._planes = candidates.normals
        self.weights, self.normals, self.distance = self.nearest(x)
        self._limits()

    def __len__(self) -> int:
        return len(self.vertices)

    def nearest(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Weights (p, 4), unit normals (p, 3) and distances (p,) [m] at positions x (total, 3)."""
        return self.nearest_of([x[self.vertices[:, k]] for k in range(4)])

    def nearest_of(self, corners: list[Floats]) -> tuple[Floats, Floats, Floats]:
        """The same for the four vertices of each pair given by their positions, (p, 3) each."""
        m, flat = self.faces, len(self._planes)
        weights = np.concatenate([vertex_face(*(c[:m] for c in corners)), edge_edge(*(c[m:] for c in corners))])
        weights[:flat] = (1.0, -1.0, 0.0, 0.0)
        vector = weights[:, 0, None] * corners[0]
        for k in range(1, 4):
            vector += weights[:, k, None] * corners[k]
        distance = np.sqrt(dot(vector, vector))
        distance[:flat] = dot(vector[:flat], self._planes)
        normals = vector / np.maximum(distance, 1e-300)[:, None]
        normals[:flat] = self._planes
        return weights, normals, distance

    def _limits(self) -> None:
        bodies, v = self.bodies, self.vertices
        first, second = v[:, 0], v[:, 3]
        self.reach = bodies.half[first] + bodies.half[second]
        self.core = bodies.core[first] + bodies.core[second]
        same = np.flatnonzero((bodies.owner[first] == bodies.owner[second]) & (self.distance < self.reach))
        if len(same):
            self.reach[same] = np.minimum(self.reach[same], REST * self.rest_distance(same))
        # Between sheets force keeps the distance; a thin core keeps directions between nearest points well defined.
        shells = np.minimum(bodies.owner[first], bodies.owner[second]) >= 0
        self.core[shells] = THINNEST * self.reach[shells]
        if bodies.lips is not None:
            bodies.lips.limit(self)

    def rest_distance(self, rows: Ints) -> Floats:
        """Distance of each of these pairs at rest [m], (k,); `rows` sorted."""
        rest, v = self.bodies.rest, self.vertices[rows]
        corners = [rest[v[:, k]] for k in range(4)]
        faces = int(np.searchsorted(rows, self.faces))
        w = np.concatenate([vertex_face(*(c[:faces] for c in corners)), edge_edge(*(c[faces:] for c in corners))])
        vector = sum(w[:, k, None] * corners[k] for k in range(4))
        return np.sqrt(dot(vector, vector))

    def sides(self, parts: list[Floats]) -> tuple[Floats, Floats]:
        """Least of the first side's and largest of the second side's values; `parts`: four of (p,), one a vertex."""
        m = self.faces
        low = np.minimum(parts[0], parts[1])
        low[:m] = parts[0][:m]
        high = np.maximum(parts[2], parts[3])
        high[:m] = np.maximum(high[:m], parts[1][:m])
        return low, high

    def along(self, field: Floats) -> tuple[Floats, Floats]:
        """Least component along n of a vector field (total, 3) on the first side, largest on the second, each (p,)."""
        return self.sides([dot(field[self.vertices[:, k]], self.normals) for k in range(4)])

    def room(self) -> Floats:
        """How far the two sides may approach before the core [m], (p,)."""
        room: Floats = self.distance - self.radius - self.core
        return room

    def picked(self, rows: Ints) -> Pairs:
        """Only some rows, sorted."""
        part = object.__new__(Pairs)
        part.bodies = self.bodies
        part.faces = int(np.searchsorted(rows, self.faces))
        part._planes = self._planes[rows[: int(np.searchsorted(rows, len(self._planes)))]]
        for name in ("vertices", "radius", "weights", "normals", "distance", "reach", "core"):
            setattr(part, name, getattr(self, name)[rows])
        return part
