"""Which triangles intersect: an exact check that shares nothing with the rest of contact.

Boxes are sorted into a grid; triangles whose corners lie on both sides of each other's plane are tested edge against
triangle with the sign of 3 × 3 determinants. A sign that rounding could have turned is computed again in
fractions. Triangles in one plane (within rounding) intersect where they overlap by more than `OVERLAP` of their size.
Triangles that share corners are tested by the edges they do not share.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..linalg.vectors import cross, dot
from ..scene import Scene
from ..types import Bools, Floats, Ints

# Rounding of the determinant below, in units of the sum of its terms' sizes (Shewchuk 1997, orient3d's first filter).
FILTER = 8e-16
OVERLAP = 1e-9


@dataclass
class Intersections:
    """`shells` (k, 2): faces of shells that intersect; `meshes` (k, 3): face, collider, its face; `solids` (k, 2):
    face and the plane or sphere it enters. Faces are counted through all shells, as in `Frame.faces`."""

    shells: Ints
    meshes: Ints
    solids: Ints

    @property
    def count(self) -> int:
        """How many in all."""
        return len(self.shells) + len(self.meshes) + len(self.solids)

    @property
    def faces(self) -> Ints:
        """Shell faces at fault, sorted."""
        found: Ints = np.unique(np.concatenate([self.shells.ravel(), self.meshes[:, 0], self.solids[:, 0]]))
        return found


def scene_intersections(
    scene: Scene, x: Floats, t: float, *, shells: bool = True, depth: float = 0.0, unfolded: Bools | None = None
) -> Intersections:
    """All intersections at positions x (n, 3) of the stacked shells and colliders at time t [s].

    `depth` [m]: how far into planes and spheres does not count; `unfolded` as in `intersections`.
    """
    from ..colliders import Collider, Sphere

    offsets = scene.offsets()
    faces = np.concatenate([shell.faces + at for shell, at in zip(scene.shells, offsets, strict=False)])
    own = intersections(x, faces, unfolded=unfolded) if shells else np.zeros((0, 2), dtype=np.int64)
    meshes, solids = [np.zeros((0, 3), dtype=np.int64)], [np.zeros((0, 2), dtype=np.int64)]
    for index, collider in enumerate(scene.colliders):
        if isinstance(collider, Collider):
            found = intersections(x, faces, collider.place(t), collider.faces)
            meshes.append(np.column_stack([found[:, 0], np.full(len(found), index), found[:, 1]]))
            continue
        place = np.asarray(collider.place(t))
        if isinstance(collider, Sphere):
            inside = _distance_to_point(x[faces], place) < collider.radius - depth
        else:
            normal = np.asarray(collider.normal, dtype=np.float64)
            inside = ((x - place) @ normal < -depth)[faces].any(axis=1)
        hit = np.flatnonzero(inside)
        solids.append(np.column_stack([hit, np.full(len(hit), index)]))
    return Intersections(own, np.concatenate(meshes), np.concatenate(solids))


def intersections(
    x: Floats, faces: Ints, y: Floats | None = None, others: Ints | None = None, unfolded: Bools | None = None
) -> Ints:
    """Pairs of faces that intersect, (k, 2): within one mesh x, `faces`, or between it and y, `others`.

    `unfolded` (n,): vertices whose faces are known to meet nowhere else; pairs that share one are not looked at.
    """
    alone = y is None or others is None
    points, opposite = x, faces
    if y is not None and others is not None:
        points, opposite = np.concatenate([x, y]), others + len(x)
    triangles = faces if alone else np.concatenate([faces, opposite])
    if alone:
        f, g = _box_pairs(points[triangles], None)
    else:
        # Most of a sheet is nowhere near a collider.
        near = _reaching(points[faces], points[opposite]), _reaching(points[opposite], points[faces])
        which = np.concatenate([near[0], len(faces) + near[1]])
        f, g = (which[at] for at in _box_pairs(points[triangles[which]], len(near[0])))
    if alone and unfolded is not None:
        apart = np.ones(len(f), dtype=bool)
        first, second, third = (np.ascontiguousarray(corner) for corner in triangles.T)
        for corner in (first, second, third):
            mine = corner[f]
            shared = np.flatnonzero((mine == first[g]) | (mine == second[g]) | (mine == third[g]))
            apart[shared[unfolded[mine[shared]]]] = False
        f, g = f[apart], g[apart]
    if len(f) == 0:
        return np.zeros((0, 2), dtype=np.int64)
    a, b = triangles[f], triangles[g]
    side_b, known_b = _sides(points, a, b)
    side_a, known_a = _sides(points, b, a)
    flat = ~known_b.any(axis=1) | ~known_a.any(axis=1)
    # A sliver has no plane to lie in: its edges are tested, with exact signs.
    sliver = _slivers(points[triangles])
    flat &= ~(sliver[f] | sliver[g])
    cross = ~flat & (np.abs(side_b.sum(axis=1)) < 3) & (np.abs(side_a.sum(axis=1)) < 3)
    hit = np.zeros(len(f), dtype=bool)
    at = np.flatnonzero(cross)
    hit[at] = _edges_hit(points, a[at], b[at]) | _edges_hit(points, b[at], a[at])
    at = np.flatnonzero(flat)
    hit[at] = _overlap(points[a[at]], points[b[at]])
    return np.column_stack([f[hit], g[hit] - (0 if alone else len(faces))])


def _slivers(corners: Floats) -> Bools:
    """Triangles (m, 3, 3) with no area to speak of."""
    edges = np.roll(corners, -1, axis=1) - corners
    twice_area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    thin: Bools = twice_area <= 1e-7 * (edges**2).sum(axis=2).max(axis=1)
    return thin


def _reaching(corners: Floats, others: Floats) -> Ints:
    """Triangles (m, 3, 3) whose boxes meet the box of all `others`."""
    low, high = others.reshape(-1, 3).min(axis=0, initial=np.inf), others.reshape(-1, 3).max(axis=0, initial=-np.inf)
    near = np.ones(len(corners), dtype=bool)
    for axis, (least, largest) in enumerate(zip(*_boxes(corners), strict=True)):
        near &= (least <= high[axis]) & (largest >= low[axis])
    return np.flatnonzero(near)


def _boxes(corners: Floats) -> tuple[Floats, Floats]:
    """Least and largest coordinates of triangles (m, 3, 3), (3, m) each."""
    a, b, c = (np.ascontiguousarray(corners[:, k].T) for k in range(3))
    return np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)


def _box_pairs(corners: Floats, split: int | None) -> tuple[Ints, Ints]:
    """Triangles (m, 3, 3) whose boxes overlap, each pair once; with `split`, only pairs across that index."""
    if len(corners) == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    low, high = _boxes(corners)
    origin = low.min(axis=1)[:, None]
    size = np.maximum.reduce(high - low)
    # Cells as large as a common triangle, but not so small that a large one fills thousands of them.
    cell = max(1.5 * float(np.median(size)), float(size.max()) / 24.0, 1e-12)
    first = np.floor((low - origin) / cell).astype(np.int64)
    span = np.floor((high - origin) / cell).astype(np.int64) - first + 1
    count = span[0] * span[1] * span[2]
    which = np.repeat(np.arange(len(corners)), count)
    inside = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
    sy, sz = span[1, which], span[2, which]
    at_x, at_y, at_z = first[:, which] + (inside // (sy * sz), (inside // sz) % sy, inside % sz)
    key = (at_x * (at_y.max() + 1) + at_y) * (at_z.max() + 1) + at_z
    order = np.argsort(key, kind="stable")
    key, which = key[order], which[order]
    ends = np.searchsorted(key, key, side="right")
    found: list[Ints] = []
    ahead = np.arange(len(key))
    # Partners k places further on in the same cell, for all entries at once.
    while True:
        ahead = ahead + 1
        live = np.flatnonzero(ahead < ends)
        if len(live) == 0:
            break
        i, j = which[live], which[ahead[live]]
        if split is not None:
            across = np.flatnonzero((i < split) != (j < split))
            i, j = i[across], j[across]
        for least, largest in zip(low, high, strict=True):
            met = np.flatnonzero((least[i] <= largest[j]) & (least[j] <= largest[i]))
            i, j = i[met], j[met]
        found.append(np.minimum(i, j) * len(corners) + np.maximum(i, j))
    pairs = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))
    i, j = pairs // len(corners), pairs % len(corners)
    return i[i != j], j[i != j]


def _orientation(a: Floats, b: Floats, c: Floats, d: Floats) -> tuple[Floats, Floats]:
    """det(a − d, b − d, c − d) and the size of its rounding error, each (n,)."""
    u, v, w = a - d, b - d, c - d
    terms = [
        (v[:, 1] * w[:, 2], v[:, 2] * w[:, 1], u[:, 0]),
        (v[:, 2] * w[:, 0], v[:, 0] * w[:, 2], u[:, 1]),
        (v[:, 0] * w[:, 1], v[:, 1] * w[:, 0], u[:, 2]),
    ]
    value = sum((p - q) * r for p, q, r in terms)
    error = FILTER * sum((np.abs(p) + np.abs(q)) * np.abs(r) for p, q, r in terms)
    return np.asarray(value), np.asarray(error)


def _signs(points: Floats, corners: Ints) -> Floats:
    """Exact sign of the determinant of each row of four vertices, (n,)."""
    value, error = _orientation(*(points[corners[:, k]] for k in range(4)))
    sign: Floats = np.sign(value)
    for row in np.flatnonzero((np.abs(value) <= error) & (error > 0)):
        a, b, c, d = ([Fraction(float(t)) for t in points[k]] for k in corners[row])
        u, v, w = ([s - t for s, t in zip(p, d, strict=True)] for p in (a, b, c))
        exact = (
            u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0])
        )
        sign[row] = (exact > 0) - (exact < 0)
    return sign


def _sides(points: Floats, triangle: Ints, other: Ints) -> tuple[Floats, Bools]:
    """On which side of `triangle` each corner of `other` lies, and whether rounding leaves no doubt; each (n, 3)."""
    sides, known = np.zeros(other.shape), np.zeros(other.shape, dtype=bool)
    for k in range(3):
        a, b, c = (points[triangle[:, j]] for j in range(3))
        value, error = _orientation(a, b, c, points[other[:, k]])
        sure = np.abs(value) > error
        sides[:, k] = np.where(sure, np.sign(value), 0.0)
        known[:, k] = sure
    return sides, known


def _edges_hit(points: Floats, edges_of: Ints, triangle: Ints) -> Bools:
    """Whether an edge of one triangle meets the other, rows of (n, 3); edges that share a corner do not count."""
    hit = np.zeros(len(triangle), dtype=bool)
    for k in range(3):
        p, q = edges_of[:, k], edges_of[:, (k + 1) % 3]
        apart = (triangle != p[:, None]).all(axis=1) & (triangle != q[:, None]).all(axis=1)
        at = np.flatnonzero(apart & ~hit)
        t, p, q = triangle[at], p[at], q[at]
        above, below = (_signs(points, np.column_stack([t, end])) for end in (p, q))
        # An edge within the plane meets the triangle only where its ends or the triangle's edges do: tested there.
        at_plane = (above * below <= 0) & ((above != 0) | (below != 0))
        at, t, p, q = at[at_plane], t[at_plane], p[at_plane], q[at_plane]
        around = [_signs(points, np.column_stack([t[:, i], t[:, (i + 1) % 3], p, q])) for i in range(3)]
        low, high = np.minimum.reduce(around), np.maximum.reduce(around)
        hit[at[(low >= 0) | (high <= 0)]] = True
    return hit


def _overlap(a: Floats, b: Floats) -> Bools:
    """Whether triangles (n, 3, 3) in one plane overlap: no edge normal separates them."""
    first, second = ([np.ascontiguousarray(t[:, k].T) for k in range(3)] for t in (a, b))
    normal = cross(first[1] - first[0], first[2] - first[0])
    size = np.sqrt(np.maximum.reduce(np.abs(normal))) + 1e-300
    apart = np.zeros(len(a), dtype=bool)
    for corners in (first, second):
        for k in range(3):
            axis = cross(normal, corners[(k + 1) % 3] - corners[k])
            axis /= np.sqrt(dot(axis, axis)) + 1e-300
            mine, theirs = ([dot(corner, axis) for corner in triangle] for triangle in (first, second))
            top = np.minimum(np.maximum.reduce(mine), np.maximum.reduce(theirs))
            apart |= top - np.maximum(np.minimum.reduce(mine), np.minimum.reduce(theirs)) <= OVERLAP * size
    return ~apart


def _distance_to_point(corners: Floats, point: Floats) -> Floats:
    """Distance of triangles (m, 3, 3) from a point: the plane's where the foot lies inside, else the edges'."""
    p = corners - point
    edges = np.roll(p, -1, axis=1) - p
    along = np.clip(-np.einsum("mkj,mkj->mk", p, edges) / np.einsum("mkj,mkj->mk", edges, edges), 0.0, 1.0)
    nearest = np.linalg.norm(p + along[:, :, None] * edges, axis=2).min(axis=1)
    normal = np.cross(edges[:, 0], edges[:, 1])
    height = np.einsum("mj,mj->m", p[:, 0], normal) / np.linalg.norm(normal, axis=1)
    inside = (np.einsum("mkj,mkj->mk", np.cross(edges, -p), normal[:, None, :]) >= 0).all(axis=1)
    distance: Floats = np.where(inside, np.minimum(np.abs(height), nearest), nearest)
    return distance
