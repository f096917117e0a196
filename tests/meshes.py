"""Meshes every test is built from: small, exact, repeatable.

Each generator returns `(positions, faces)`: (n, 3) float64 [m] and (m, 3) int64. Flat meshes lie in z = 0 with
normals +z and one corner at the origin; closed and curved ones have normals outward.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mesh = tuple[Floats, Ints]


def grid(nx: int, ny: int, width: float, height: float, diagonal: str = "alternating") -> Mesh:
    """A rectangle of nx × ny cells, each cut by `diagonal`:

    - "one": all cells from lower left to upper right;
    - "alternating": as the colours of a chessboard, lower left to upper right in the first cell;
    - "crossed": both diagonals, four triangles about a vertex in the middle;
    - "union_jack": eight triangles about a vertex in the middle (the alternating grid of twice the cells, so that
      every cell is whole).
    """
    if diagonal == "union_jack":
        return grid(2 * nx, 2 * ny, width, height, "alternating")
    x, y = np.meshgrid(np.linspace(0.0, width, nx + 1), np.linspace(0.0, height, ny + 1))
    points = np.column_stack([x.ravel(), y.ravel()])
    i, j = (index.ravel() for index in np.meshgrid(np.arange(nx), np.arange(ny)))
    a = i + j * (nx + 1)
    b, c, d = a + 1, a + nx + 2, a + nx + 1
    if diagonal == "crossed":
        middle = len(points) + np.arange(nx * ny)
        points = np.vstack([points, (points[a] + points[c]) / 2])
        corners = [a, b, middle, b, c, middle, c, d, middle, d, a, middle]
    else:
        rising = {"one": np.ones(nx * ny, dtype=bool), "alternating": (i + j) % 2 == 0}[diagonal]
        corners = [a, b, np.where(rising, c, d), np.where(rising, a, b), c, d]
    return _flat(points), np.stack(corners, axis=1).reshape(-1, 3).astype(np.int64)


def equilateral(nx: int, ny: int, side: float) -> Mesh:
    """`ny` rows of equilateral triangles, closed with half triangles to a rectangle nx·side wide, ny·side·√3/2 high."""
    even = np.arange(nx + 1.0)
    odd = np.concatenate([[0.0], np.arange(nx) + 0.5, [nx]])
    rows = [even if row % 2 == 0 else odd for row in range(ny + 1)]
    first = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    height = np.repeat(np.arange(ny + 1.0), [len(row) for row in rows])
    points = side * np.column_stack([np.concatenate(rows), height * np.sqrt(3.0) / 2])
    k, all_k = np.arange(nx), np.arange(nx + 1)
    faces = []
    for row in range(ny):
        low, high = first[row], first[row + 1]
        if row % 2 == 0:
            faces += [(low + k, low + k + 1, high + k + 1), (high + all_k, low + all_k, high + all_k + 1)]
        else:
            faces += [(low + all_k, low + all_k + 1, high + all_k), (high + k, low + k + 1, high + k + 1)]
    return _flat(points), np.concatenate([np.column_stack(part) for part in faces]).astype(np.int64)


def unstructured(count: int, width: float, height: float, seed: int = 0, least_angle: float = 20.0) -> Mesh:
    """`count` scattered vertices in a rectangle, no preferred direction, every angle at least `least_angle` degrees.

    Boundary vertices are evenly spaced and the outline is exact. Scattered points are smoothed only until the angle is
    reached, so that the mesh stays irregular.
    """
    spacing = np.sqrt(width * height / count * 2 / np.sqrt(3.0))
    border = _outline(max(1, round(width / spacing)), max(1, round(height / spacing)), width, height)
    inside = count - len(border)
    if inside < 1:
        raise ValueError(f"{count} vertices leave none inside; the outline alone has {len(border)}")
    rng = np.random.default_rng(seed)
    # Kronecker sequence of the plastic number: even cover without the directions of a lattice.
    plastic = 1.32471795724474602596
    unit = (rng.random(2) + np.arange(1, inside + 1)[:, None] / np.array([plastic, plastic**2])) % 1.0
    size, margin = np.array([width, height]), 0.55 * min(spacing, width / 2, height / 2)
    moving = margin + unit * (size - 2 * margin) + rng.uniform(-0.25, 0.25, (inside, 2)) * spacing
    points = np.vstack([border, np.clip(moving, margin, size - margin)])
    for _ in range(200):
        faces = _triangulated(points)
        if smallest_angle(_flat(points), faces) >= least_angle:
            return _flat(points), faces
        points[len(border) :] = _smoothed(points, faces)[len(border) :]
    raise ValueError(f"no mesh of {count} vertices with angles over {least_angle} degrees: take another seed")


def disc(count: int, radius: float, seed: int = 0, least_angle: float = 20.0) -> Mesh:
    """About `count` scattered vertices in a disc about the origin, no preferred direction, evenly spaced at its rim."""
    spacing = radius * np.sqrt(np.pi / count * 2 / np.sqrt(3.0))
    rng = np.random.default_rng(seed)
    rim = round(2 * np.pi * radius / spacing)
    angle = 2 * np.pi * (np.arange(rim) + rng.random()) / rim
    border = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    # A sunflower covers a disc evenly; its spirals are lost to the noise.
    inside = max(1, count - rim)
    spiral = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(inside) + 2 * np.pi * rng.random()
    out = (radius - 0.55 * spacing) * np.sqrt((np.arange(inside) + 0.5) / inside)
    moving = np.column_stack([np.cos(spiral), np.sin(spiral)]) * out[:, None]
    moving += rng.uniform(-0.25, 0.25, moving.shape) * spacing
    far = np.maximum(np.linalg.norm(moving, axis=1) / (radius - 0.55 * spacing), 1.0)
    points = np.vstack([border, moving / far[:, None]])
    for _ in range(200):
        faces = _triangulated(points)
        if smallest_angle(_flat(points), faces) >= least_angle:
            return _flat(points), faces
        points[rim:] = _smoothed(points, faces)[rim:]
    raise ValueError(f"no disc of {count} vertices with angles over {least_angle} degrees: take another seed")


def icosphere(level: int, radius: float = 1.0) -> Mesh:
    """A sphere of 20·4^level triangles."""
    g = (1 + np.sqrt(5.0)) / 2
    points = np.array([(0, b, c * g) for b in (-1, 1) for c in (-1, 1)])
    points = np.vstack([np.roll(points, shift, axis=1) for shift in range(3)])
    i, j, k = (index.ravel() for index in np.meshgrid(*[np.arange(12)] * 3, indexing="ij"))
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    near = (distance > 1.9) & (distance < 2.1)
    chosen = (i < j) & (j < k) & near[i, j] & near[j, k] & near[k, i]
    faces = np.column_stack([i, j, k])[chosen]
    inward = np.linalg.det(points[faces]) < 0
    faces[inward] = faces[inward][:, [0, 2, 1]]
    for _ in range(level):
        points, faces = _quartered(points, faces)
        points /= np.linalg.norm(points, axis=1)[:, None]
    return radius * points / np.linalg.norm(points, axis=1)[:, None], faces.astype(np.int64)


def hemisphere(rings: int, radius: float = 1.0) -> Mesh:
    """The upper half of a sphere, open at the equator: a pole with `rings` hexagonal rings about it."""
    ring = np.repeat(np.arange(rings + 1), np.maximum(6 * np.arange(rings + 1), 1))
    first = np.concatenate([[0], 1 + 3 * np.arange(rings + 1) * np.arange(1, rings + 2)])
    around = 2 * np.pi * (np.arange(len(ring)) - first[ring]) / np.maximum(6 * ring, 1)
    down = np.pi / 2 * ring / rings
    points = np.column_stack([np.sin(down) * np.cos(around), np.sin(down) * np.sin(around), np.cos(down)])
    points[ring == rings, 2] = 0.0

    def at(r: int, sector: Ints, step: Ints) -> Ints:
        return first[r] + (sector * r + step) % max(6 * r, 1)

    faces = []
    for r in range(rings):
        sector, step = (index.ravel() for index in np.meshgrid(np.arange(6), np.arange(r + 1)))
        inner, outer, following = at(r, sector, step), at(r + 1, sector, step), at(r + 1, sector, step + 1)
        faces.append(np.column_stack([inner, outer, following]))
        between = step < r
        faces.append(np.column_stack([inner, following, at(r, sector, step + 1)])[between])
    return radius * points, np.concatenate(faces).astype(np.int64)


def fan(valence: int, rings: int) -> Mesh:
    """`valence` sectors of a triangular lattice about vertex 0, which alone is irregular inside; radius `rings`."""
    first = np.concatenate([[0], 1 + valence * np.arange(rings + 1) * np.arange(1, rings + 2) // 2])
    ring = np.repeat(np.arange(rings + 1), np.maximum(valence * np.arange(rings + 1), 1))
    place = np.arange(len(ring)) - first[ring]
    sector, step = place // np.maximum(ring, 1), place % np.maximum(ring, 1)
    angle = 2 * np.pi * np.arange(valence + 1) / valence
    corner = np.column_stack([np.cos(angle), np.sin(angle)])
    points = corner[sector] * (ring - step)[:, None] + corner[sector + 1] * step[:, None]
    faces = []
    for r in range(rings):
        s, k = (index.ravel() for index in np.meshgrid(np.arange(valence), np.arange(r + 1), indexing="ij"))
        inner = first[r] + (s * r + k) % max(valence * r, 1)
        following = first[r] + (s * r + k + 1) % max(valence * r, 1)
        outer, ahead = (first[r + 1] + (s * (r + 1) + k + i) % (valence * (r + 1)) for i in range(2))
        faces.append(np.column_stack([inner, outer, ahead]))
        faces.append(np.column_stack([inner, ahead, following])[k < r])
    return _flat(points), np.concatenate(faces).astype(np.int64)


def cylinder(n_around: int, n_along: int, radius: float, length: float) -> Mesh:
    """An open tube about the z axis from z = 0 to `length`; every ring is turned by half a step against the last."""
    i, j = (index.ravel() for index in np.meshgrid(np.arange(n_around), np.arange(n_along + 1)))
    angle = 2 * np.pi * (i + 0.5 * (j % 2)) / n_around
    points = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), length * j / n_along])
    below, above = j[j < n_along] * n_around, (j[j < n_along] + 1) * n_around
    i, odd = i[j < n_along], j[j < n_along] % 2
    following = (i + 1) % n_around
    # A ring turned ahead has vertex i of the next one above its middle, a ring turned back has vertex i + 1.
    low = [below + i, below + following, above + np.where(odd, following, i)]
    high = [above + i, below + np.where(odd, i, following), above + following]
    return points, np.vstack([np.column_stack(low), np.column_stack(high)]).astype(np.int64)


def v_beam(n_along: int, n_across: int, length: float, width: float, fold: float) -> Mesh:
    """Two plates `width` wide joined along the x axis, `n_across` cells each, folded up by `fold` radians (0: flat)."""
    points, faces = grid(n_along, 2 * n_across, length, 2 * width)
    across = points[:, 1] - width
    across[np.abs(across) < 1e-12 * width] = 0.0
    points[:, 1] = across * np.cos(fold / 2)
    points[:, 2] = np.abs(across) * np.sin(fold / 2)
    return points, faces


def bumpy(mesh: Mesh, amplitude: float, seed: int = 0) -> Mesh:
    """`mesh` with a smooth random displacement along its normals, at most `amplitude` [m]."""
    points, faces = mesh
    rng = np.random.default_rng(seed)
    size = np.ptp(points, axis=0).max()
    waves = rng.normal(size=(6, 3)) * 5.0 / size
    height = np.cos(points @ waves.T + rng.uniform(0, 2 * np.pi, 6)).mean(axis=1)
    return points + amplitude * height[:, None] * vertex_normals(points, faces), faces


def vertex_normals(points: Floats, faces: Ints) -> Floats:
    """Unit normals weighted by area, shape (n, 3)."""
    a, b, c = (points[faces[:, corner]] for corner in range(3))
    normals = _summed(np.cross(b - a, c - a), faces, len(points))
    return normals / np.linalg.norm(normals, axis=1)[:, None]


def smallest_angle(points: Floats, faces: Ints) -> float:
    """The smallest corner of any triangle [degrees]."""
    corners = points[faces]
    u, v = np.roll(corners, -1, axis=1) - corners, np.roll(corners, 1, axis=1) - corners
    sine, cosine = np.linalg.norm(np.cross(u, v), axis=2), (u * v).sum(axis=2)
    return float(np.degrees(np.arctan2(sine, cosine)).min())


def _flat(points: Floats) -> Floats:
    return np.column_stack([points, np.zeros(len(points))])


def _outline(nx: int, ny: int, width: float, height: float) -> Floats:
    x, y = np.linspace(0.0, width, nx + 1), np.linspace(0.0, height, ny + 1)
    sides = [(x[:-1], 0.0), (width, y[:-1]), (x[:0:-1], height), (0.0, y[:0:-1])]
    return np.vstack([np.column_stack(np.broadcast_arrays(*side)) for side in sides])


def _triangulated(points: Floats) -> Ints:
    faces = Delaunay(points).simplices.astype(np.int64)
    u, v = points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]]
    twice_area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    faces[twice_area < 0] = faces[twice_area < 0][:, [0, 2, 1]]
    # Round-off on a straight side lets qhull close it with triangles of no area.
    return faces[np.abs(twice_area) > 1e-10 * np.ptp(points, axis=0).prod()]


def _smoothed(points: Floats, faces: Ints) -> Floats:
    """Each vertex half way to the area-weighted mean of the centres of its triangles."""
    u, v = points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]]
    area = np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
    total = _summed(area[:, None] * points[faces].mean(axis=1), faces, len(points))
    return 0.5 * (points + total / _summed(area[:, None], faces, len(points)))


def _summed(of_faces: Floats, faces: Ints, count: int) -> Floats:
    """At each vertex the sum over its faces of the rows of `of_faces`, (m, k) to (count, k)."""
    corners, values = faces.ravel(), np.repeat(of_faces, 3, axis=0)
    return np.column_stack([np.bincount(corners, weights=column, minlength=count) for column in values.T])


def _quartered(points: Floats, faces: Ints) -> Mesh:
    ends = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    edges, index = np.unique(ends, axis=0, return_inverse=True)
    ab, bc, ca = (len(points) + index.reshape(-1, 3)).T
    a, b, c = faces.T
    corners = [a, ab, ca, b, bc, ab, c, ca, bc, ab, bc, ca]
    return np.vstack([points, points[edges].mean(axis=1)]), np.stack(corners, axis=1).reshape(-1, 3)
