"""Tangled sheets at the start: moved apart until no two faces intersect, before the first step.

Where meshes intersect, edges pierce faces. Cutting the pierced edges parts a mesh into pieces (the flood fill of
Baraff, Witkin and Kass 2003, "Untangling cloth"); of the two pieces at a cut the smaller one has gone through, or the
one inside a closed collider. So the end of a pierced edge that lies in it and the face that it pierced are moved
through each other along the face's normal. Moves are smoothed over the sheet, which goes back as a whole
rather than vertex by vertex, and repeated: as a piece is drawn back, further edges of it take their turn at piercing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, diags, identity
from scipy.sparse.csgraph import connected_components

from ..colliders import Collider
from ..linalg.factor import Lu
from ..scene import Scene
from ..types import Bools, Floats, Ints
from .bodies import Bodies
from .intersections import Intersections

# A move as a share of the mean edge; over how many edges it spreads: little changes little of the sheet's shape, and
# what does not come apart that way is tried again with more.
STRIDE, SPREADS = 0.15, (2.0, 6.0, 20.0)
# Moves that may pass without fewer intersections than ever before, and moves in all.
PATIENCE, MOST = 80, 800
# Shells are first shaken by this share of an edge.
JITTER = 1e-4


class Untangling:
    """Moves shells of a scene apart. `held` (n,): vertices that stay."""

    def __init__(self, scene: Scene, bodies: Bodies, held: Bools) -> None:
        self._count, self._held = bodies.count, held
        self._shell = bodies.shell_surface
        mesh = bodies.mesh_surface
        self._edges = self._shell.edges if mesh is None else np.concatenate([self._shell.edges, mesh.edges])
        self._mesh_faces = np.zeros((0, 3), dtype=np.int64) if mesh is None else mesh.faces
        self._owner, self._total = bodies.owner, bodies.total
        # Where each collider's faces start among those of all meshes, and which colliders are closed.
        self._starts, at = {}, 0
        self._closed = {}
        for index, collider in enumerate(scene.colliders):
            if isinstance(collider, Collider):
                self._starts[index] = at
                at += len(collider.faces)
                self._closed[index] = bool((np.bincount(collider.face_edges.ravel()) == 2).all())
        self._border = _border(np.concatenate([self._shell.faces, self._mesh_faces]), self._total)
        i, j = self._shell.edges.T
        joined = coo_matrix((np.ones(len(i)), (i, j)), shape=(self._count, self._count))
        joined = csr_matrix(joined + joined.T)
        laplacian = diags(np.asarray(joined.sum(axis=1)).ravel()) - joined
        self._laplacian = csr_matrix(laplacian)
        self._spread(SPREADS[0])

    def _spread(self, reach: float) -> None:
        """Smooth moves by (1 + s²L/6)⁻¹: it fades over s = `reach` edges where L is six times the mean difference."""
        held = diags(np.where(self._held, 1e9, 0.0))
        self._smooth = Lu(csr_matrix(identity(self._count) + reach**2 / 6.0 * self._laplacian + held))

    def run(self, stack: Floats, look: Callable[[Floats], Intersections]) -> tuple[Floats, Intersections]:
        """Shells of `stack` (total, 3) moved apart, (n, 3), and what is still found by `look` there."""
        # What lies exactly on what it meets is on neither side of it.
        jitter = np.random.default_rng(0).uniform(-1.0, 1.0, (self._count, 3))
        start = stack[: self._count]
        start = start + np.where(self._held[:, None], 0.0, JITTER * self._edge(start) * jitter)
        ends = []
        for reach in SPREADS:
            self._spread(reach)
            x, found = self._run(start, stack[self._count :], look)
            ends.append((x, found))
            if _count(found) == 0:
                break
        return min(ends, key=lambda end: _count(end[1]))

    def _run(
        self, x: Floats, colliders: Floats, look: Callable[[Floats], Intersections]
    ) -> tuple[Floats, Intersections]:
        found = look(x)
        best, since = _count(found), 0
        for _ in range(MOST):
            if best == 0 or since > PATIENCE:
                break
            x = self._moved(np.concatenate([x, colliders]), found)
            found = look(x)
            since = 0 if _count(found) < best else since + 1
            best = min(best, _count(found))
        return x, found

    def _moved(self, points: Floats, found: Intersections) -> Floats:
        """Shells moved by one stride towards where the intersections `found` are gone, (n, 3)."""
        n = self._count
        f, g = [self._shell.faces[found.shells[:, 0]]], [self._shell.faces[found.shells[:, 1]]]
        for index, start in self._starts.items():
            rows = found.meshes[found.meshes[:, 1] == index]
            f.append(self._shell.faces[rows[:, 0]])
            g.append(self._mesh_faces[rows[:, 2] + start])
        first, second = np.concatenate([*f, *g]), np.concatenate([*g, *f])
        edges, faces, normals, weights = pierced(points, first, second)
        label, size = self._pieces(edges)
        a, b = edges.T
        wrong = (size[label[a]] < size[label[b]]) | ((size[label[a]] == size[label[b]]) & (label[a] < label[b]))
        tells = label[a] != label[b]
        for index, closed in self._closed.items():
            theirs = np.flatnonzero(self._owner[faces[:, 0]] == -1 - index)
            if closed and len(theirs):
                start = self._starts[index]
                rows = self._mesh_faces[start:][self._owner[self._mesh_faces[start:, 0]] == -1 - index]
                wrong[theirs], tells[theirs] = _inside(points[a[theirs]], points[rows]), True
        a, b = np.where(wrong, a, b), np.where(wrong, b, a)
        back = np.sign(((points[b] - points[a]) * normals).sum(axis=1))[:, None] * normals
        # Where both meshes are cut in two, the smaller piece of the two knows the shorter way.
        back *= np.where(tells, 1.0 / size[label[a]].astype(np.float64) ** 2, 0.0)[:, None]
        # A cut that ends within a sheet parts nothing: there borders draw back along it.
        shorter = np.where(tells[:, None], 0.0, self._shortening(points, a, b, normals)) / self._total**2
        push = np.zeros((self._total, 3))
        np.add.at(push, a, back + shorter)
        np.add.at(push, b, shorter)
        for k in range(3):
            np.add.at(push, faces[:, k], -weights[:, k, None] * (back + shorter))
        push = push[:n] / np.maximum(np.sqrt((push[:n] ** 2).sum(axis=1)), 1e-300)[:, None]
        push[self._held] = 0.0
        move = np.column_stack([self._smooth.solve(np.ascontiguousarray(part)) for part in push.T])
        longest = float(np.sqrt((move**2).sum(axis=1)).max())
        moved: Floats = points[:n] + move * (STRIDE * self._edge(points) / max(longest, 1e-300))
        return moved

    def _edge(self, points: Floats) -> float:
        """Mean length of the shells' edges [m]."""
        ends = points[self._shell.edges]
        return float(np.sqrt(((ends[:, 1] - ends[:, 0]) ** 2).sum(axis=1)).mean())

    def _shortening(self, points: Floats, a: Ints, b: Ints, normals: Floats) -> Floats:
        """Directions (k, 3) in which edges from a to b (k,) of a border make the line shorter along which their face
        meets faces with `normals` (k, 3); zero for other edges.

        If R is the line's direction from the edge E into its own face, moving the edge by d moves the line's end by
        d − (d·N)/(E·N) E, so its length falls fastest along R − (E·R)/(E·N) N (the intersection contour
        minimisation of Volino and Magnenat-Thalmann 2006).
        """
        keys = np.minimum(a, b) * self._total + np.maximum(a, b)
        border, apex = self._border
        at = np.minimum(np.searchsorted(border, keys), len(border) - 1)
        ends = np.zeros(len(a), dtype=bool) if len(border) == 0 else border[at] == keys
        direction = np.zeros((len(a), 3))
        rows = np.flatnonzero(ends)
        edge, across = points[b[rows]] - points[a[rows]], points[apex[at[rows]]] - points[a[rows]]
        edge /= np.linalg.norm(edge, axis=1)[:, None]
        across -= (across * edge).sum(axis=1)[:, None] * edge
        line = np.cross(np.cross(edge, across), normals[rows])
        line *= (np.sign((line * across).sum(axis=1)) / np.maximum(np.linalg.norm(line, axis=1), 1e-300))[:, None]
        tilt = (edge * normals[rows]).sum(axis=1)
        share = (edge * line).sum(axis=1) / np.where(np.abs(tilt) > 0.05, tilt, np.inf)
        wish = line - share[:, None] * normals[rows]
        direction[rows] = wish / np.maximum(np.linalg.norm(wish, axis=1), 1e-300)[:, None]
        return direction

    def _pieces(self, cut: Ints) -> tuple[Ints, Ints]:
        """The piece that each vertex is in when the edges `cut` (k, 2) are, (total,), and the sizes of pieces."""
        low, high = self._edges.min(axis=1), self._edges.max(axis=1)
        whole = ~np.isin(low * self._total + high, cut.min(axis=1) * self._total + cut.max(axis=1))
        ends = low[whole], high[whole]
        graph = coo_matrix((np.ones(len(ends[0])), ends), shape=(self._total, self._total))
        label = connected_components(graph, directed=False)[1]
        return label, np.bincount(label)


def _count(found: Intersections) -> int:
    """How many pairs of faces intersect."""
    return len(found.shells) + len(found.meshes)


def _border(faces: Ints, total: int) -> tuple[Ints, Ints]:
    """Edges of one face only, as sorted numbers low · total + high, (k,), and the corner opposite each, (k,)."""
    a, b = faces[:, [1, 2, 0]].ravel(), faces[:, [2, 0, 1]].ravel()
    keys, first, count = np.unique(np.minimum(a, b) * total + np.maximum(a, b), return_index=True, return_counts=True)
    return keys[count == 1], faces.ravel()[first[count == 1]]


def pierced(points: Floats, first: Ints, second: Ints) -> tuple[Ints, Ints, Floats, Floats]:
    """Edges (k, 2) of the faces `first` (m, 3) that pierce the faces `second` beside them: edges, faces (k, 3), unit
    normals of these (k, 3), and weights (k, 3) of their corners where they are pierced."""
    edges = np.concatenate([first[:, [i, (i + 1) % 3]] for i in range(3)])
    faces = np.concatenate([second] * 3)
    _, once = np.unique(np.column_stack([np.sort(edges, axis=1), np.sort(faces, axis=1)]), axis=0, return_index=True)
    edges, faces = edges[once], faces[once]
    a, b = points[edges[:, 0]], points[edges[:, 1]]
    p, q, r = (points[faces[:, i]] for i in range(3))
    normals = np.cross(q - p, r - p)
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    high, low = ((a - p) * normals).sum(axis=1), ((b - p) * normals).sum(axis=1)
    at = a + (high / np.where(high == low, 1.0, high - low))[:, None] * (b - a)
    corners = [p - at, q - at, r - at]
    # Barycentric weights: the areas opposite the corners.
    areas = [(np.cross(corners[(i + 1) % 3], corners[(i + 2) % 3]) * normals).sum(axis=1) for i in range(3)]
    weights = np.stack(areas, axis=1) / np.maximum(np.sum(areas, axis=0), 1e-300)[:, None]
    shared = (edges[:, :, None] == faces[:, None, :]).any(axis=(1, 2))
    hit = (high * low <= 0) & ~shared & (weights > -1e-9).all(axis=1)
    return edges[hit], faces[hit], normals[hit], weights[hit]


def _inside(points: Floats, triangles: Floats) -> Bools:
    """Whether points (k, 3) lie inside a closed mesh of triangles (m, 3, 3): it fills the whole solid angle round them.

    Solid angle of a triangle: Van Oosterom and Strackee 1983.
    """
    a, b, c = (triangles[None, :, i] - points[:, None] for i in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    volume = (a * np.cross(b, c)).sum(axis=2)
    base = la * lb * lc + (a * b).sum(axis=2) * lc + (b * c).sum(axis=2) * la + (c * a).sum(axis=2) * lb
    inside: Bools = np.abs(2.0 * np.arctan2(volume, base).sum(axis=1)) > 2.0 * np.pi
    return inside
