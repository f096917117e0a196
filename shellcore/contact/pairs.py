"""Pairs looked at closely: nearest points, the direction between them, the contact distance of each.

Kept components first, (3, p) and (4, p): inner loops run along pairs.
"""

from __future__ import annotations

import numpy as np

from ..linalg.vectors import components, dot, picked
from ..types import Floats, Ints
from .bodies import Bodies
from .candidates import Candidates
from .distances import edge_edge, vertex_face

# Contact distance of pairs that are near at rest (neighbours in a fine mesh), as a share of their rest distance.
REST = 0.5
# Share of the contact distance of two sheets that they cannot be pressed through.
THINNEST = 0.02


class Pairs:
    """Vertex-face pairs first (`faces` of them, those with planes at their head), then edge-edge pairs: p in all.

    `corners` (4, p): vertices of the stack, `weights` (4, p) of the nearest points, `normals` (3, p) from the second
    side to the first, `distance` (p,) [m]; `reach` (p,) [m]: distance at which force begins; `core` (p,) [m]: distance
    that cannot be passed (both beyond the `radius` (p,) of a sphere).
    """

    def __init__(self, bodies: Bodies, candidates: Candidates, x: Floats) -> None:
        self.bodies = bodies
        self.faces = len(candidates.vertex_face)
        both = np.concatenate([candidates.vertex_face, candidates.edge_edge])
        self.corners: Ints = np.ascontiguousarray(both.T)
        self.radius = np.concatenate([candidates.radius, np.zeros(len(candidates.edge_edge))])
        self._planes = components(candidates.normals)
        known = candidates.nearest
        weights = None
        if known is not None and known.x is x:
            # Half of the time of a look: 1.9 of 3.2 ms with 28k pairs.
            weights = np.concatenate([known.vertex_face, known.edge_edge], axis=1)
        self.weights, self.normals, self.distance = self.nearest_of(self.of(x), weights)
        self._limits()

    def __len__(self) -> int:
        return int(self.corners.shape[1])

    def of(self, field: Floats) -> list[Floats]:
        """A vector field on the stack, (total, 3), at the four vertices of each pair, (3, p) each."""
        parts = components(field)
        return [picked(parts, corner) for corner in self.corners]

    def nearest(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Weights (4, p), unit normals (3, p) and distances (p,) [m] at positions x (total, 3)."""
        return self.nearest_of(self.of(x))

    def nearest_of(self, points: list[Floats], weights: Floats | None = None) -> tuple[Floats, Floats, Floats]:
        """The same for the four vertices of each pair given by their positions, (3, p) each; `weights` where known."""
        m, flat = self.faces, self._planes.shape[1]
        weights = _weights(points, m) if weights is None else weights
        weights[:, :flat] = np.array([1.0, -1.0, 0.0, 0.0])[:, None]
        vector = _combined(weights, points)
        distance = np.sqrt(dot(vector, vector))
        distance[:flat] = dot(vector[:, :flat], self._planes)
        vector /= np.maximum(distance, 1e-300)
        vector[:, :flat] = self._planes
        return weights, vector, distance

    def _limits(self) -> None:
        bodies = self.bodies
        first, second = self.corners[0], self.corners[3]
        self.reach = bodies.half[first] + bodies.half[second]
        self.core = bodies.core[first] + bodies.core[second]
        mine, theirs = bodies.owner[first], bodies.owner[second]
        same = np.flatnonzero((mine == theirs) & (self.distance < self.reach))
        if len(same):
            self.reach[same] = np.minimum(self.reach[same], REST * self.rest_distance(same))
        # Between sheets force keeps the distance; a thin core keeps directions between nearest points well defined.
        shells = np.minimum(mine, theirs) >= 0
        self.core[shells] = THINNEST * self.reach[shells]
        if bodies.lips is not None:
            bodies.lips.limit(self)

    def rest_distance(self, rows: Ints) -> Floats:
        """Distance of each of these pairs at rest [m], (k,); `rows` sorted."""
        rest = components(self.bodies.rest)
        points = [picked(rest, corner[rows]) for corner in self.corners]
        vector = _combined(_weights(points, int(np.searchsorted(rows, self.faces))), points)
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
        return self.sides([dot(part, self.normals) for part in self.of(field)])

    def room(self) -> Floats:
        """How far the two sides may approach before the core [m], (p,)."""
        room: Floats = self.distance - self.radius - self.core
        return room

    def joined(self, other: Pairs) -> Pairs:
        """These and pairs of meshes after them: faces of both, then edges of both."""
        both = object.__new__(Pairs)
        m, k = self.faces, other.faces
        both.bodies, both.faces, both._planes = self.bodies, m + k, self._planes
        for name in ("corners", "weights", "normals", "radius", "distance", "reach", "core"):
            a, b = getattr(self, name), getattr(other, name)
            setattr(both, name, np.concatenate([a[..., :m], b[..., :k], a[..., m:], b[..., k:]], axis=-1))
        return both

    def rows_of(self, other: Pairs, rows: Ints) -> Ints:
        """Where some of these `rows` and all pairs of `other` are in `joined`, sorted."""
        m, k = self.faces, other.faces
        mine = np.where(rows < m, rows, rows + k)
        faces, edges = m + np.arange(k), len(self) + k + np.arange(len(other) - k)
        return np.sort(np.concatenate([mine, faces, edges]))

    def picked(self, rows: Ints) -> Pairs:
        """Only some rows, sorted."""
        part = object.__new__(Pairs)
        part.bodies = self.bodies
        part.faces = int(np.searchsorted(rows, self.faces))
        part._planes = self._planes[:, rows[: int(np.searchsorted(rows, self._planes.shape[1]))]]
        for name in ("corners", "weights", "normals"):
            setattr(part, name, picked(getattr(self, name), rows))
        for name in ("radius", "distance", "reach", "core"):
            setattr(part, name, getattr(self, name).take(rows, mode="clip"))
        return part


def _weights(points: list[Floats], faces: int) -> Floats:
    """Weights (4, p) of nearest points: vertex-face for the first `faces` pairs, edge-edge for the rest."""
    first, rest = ([p[:, :faces] for p in points], [p[:, faces:] for p in points])
    return np.concatenate([vertex_face(*first), edge_edge(*rest)], axis=1)


def _combined(weights: Floats, points: list[Floats]) -> Floats:
    """∑ wₖ xₖ, (3, p)."""
    vector: Floats = weights[0] * points[0]
    for k in range(1, 4):
        vector += weights[k] * points[k]
    return vector
