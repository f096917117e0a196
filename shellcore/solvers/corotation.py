"""How shells have turned since a factor was made: turned along with them it stays near the Hessian.

Elastic energies are blind to rotation, so that H(Rx) = R H(x) Rᵀ where R turns all vertices alike, and nearly so where
neighbours turn nearly alike: what is stiff (stretch) then stays apart from what is soft (bending) as a sheet swings,
folds and slides. Stiffness is warped so in real-time elasticity (Müller et al. 2002) and in modal warping (Choi et al.
2007, section 4); here it only preconditions.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ..linalg.assembly import incidence
from ..linalg.vectors import Product, by_columns, components, cross, dot, picked
from ..types import Bools, Floats, Ints

TINY = float(np.finfo(np.float64).tiny)


class Corotation:
    """Of vertices with triangles `faces` (m, 3) among n unknowns that lie at `rest` (n, 3) when nothing acts.

    Unknowns of no face (ghosts of subdivision shells) turn with the vertex that is nearest at rest; those that are held
    in a component do not turn. `free` (n, 3).
    """

    def __init__(self, faces: Ints, rest: Floats, free: Bools) -> None:
        count = len(rest)
        self._corners = faces.T
        self._gather = Product(incidence(faces, count))
        at = components(rest)
        first, second = self._edges(at)
        # A direction in each face, by its edges, that agrees with those of its neighbours as well as one in space does.
        normal = _unit(cross(first, second))
        axis = np.zeros_like(normal)
        axis[np.abs(normal).argmin(axis=0), np.arange(len(faces))] = 1.0
        common = np.eye(3)[:, [int(np.abs(normal).sum(axis=1).argmin())]]
        steep = 4.0 * dot(common, normal) ** 2 > 3.0
        axis = np.where(steep, axis, common)
        axis = axis - dot(axis, normal) * normal
        a, b, c = dot(first, first), dot(first, second), dot(second, second)
        u, v = dot(first, axis), dot(second, axis)
        area = np.maximum(a * c - b * b, TINY)
        self._along = np.stack([(c * u - b * v) / area, (a * v - b * u) / area])
        seen = np.zeros(count, dtype=bool)
        seen[faces] = True
        self._like = np.arange(count)
        if not seen.all():
            known = np.flatnonzero(seen)
            self._like[~seen] = known[cKDTree(rest[known]).query(rest[~seen])[1]]
        self._still = ~free.all(axis=1)

    def _edges(self, at: Floats) -> tuple[Floats, Floats]:
        """Two edges of each face, (3, m) each, of vertices (3, n)."""
        tail = picked(at, self._corners[0])
        return picked(at, self._corners[1]) - tail, picked(at, self._corners[2]) - tail

    def frames(self, x: Floats) -> Floats:
        """An orthonormal frame at each unknown for shells at x (n, 3): (3, 3, n), vectors first."""
        first, second = self._edges(components(x))
        normal = cross(first, second)
        along = self._along[0] * first + self._along[1] * second
        along *= np.sqrt(dot(normal, normal))
        sums = self._gather(np.concatenate([normal, along]))
        up = _unit(sums[:3])
        tangent = _unit(sums[3:] - dot(sums[3:], up) * up)
        every = np.stack([tangent, cross(up, tangent), up]).reshape(9, -1)
        frames: Floats = picked(every, self._like).reshape(3, 3, -1)
        return frames

    def between(self, before: Floats, now: Floats) -> Floats:
        """Rotations R (3, 3, n) from frames to frames."""
        turned = np.zeros_like(now)
        for k in range(3):
            turned += now[k][:, None] * before[k][None, :]
        turned[:, :, self._still] = np.eye(3)[:, :, None]
        return turned

    def turned(self, rotations: Floats, right: Floats, back: bool) -> Floats:
        """R times vectors (n, 3), or (`back`) Rᵀ times them, by columns."""
        parts = components(right)
        if back:
            rotations = rotations.transpose(1, 0, 2)
        result = rotations[:, 0] * parts[0]
        result += rotations[:, 1] * parts[1]
        result += rotations[:, 2] * parts[2]
        return by_columns(result.T)


def _unit(vectors: Floats) -> Floats:
    unit: Floats = vectors / np.maximum(np.sqrt(dot(vectors, vectors)), TINY)
    return unit
