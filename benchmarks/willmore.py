"""Willmore flow against its one factorisation, on shapes as in figure 4 of the quadratic bending paper.

    python -m benchmarks.willmore            # out/willmore.json
    python -m benchmarks.willmore --picture  # and out/willmore.png

The paper: a dino, a hand and an icosahedron of 44928, 24192 and 5120 triangles; the flow took 0.85, 0.83 and 0.6 of the
time of the factorisation. Ours are made here: blocks that are quartered, rounded and roughened.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from scipy.spatial import ConvexHull

from shellcore.willmore import WillmoreFlow

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mesh = tuple[Floats, Ints]
OUT = Path("out")


def hand(seed: int = 0) -> Mesh:
    """A rough hand of 24 832 triangles."""
    palm = _box(0, 7, 0, 5, 0, 1)
    lengths = {0: 3, 2: 5, 4: 5, 6: 4}
    fingers = [cell for x, length in lengths.items() for cell in _box(x, x + 1, 5, 5 + length, 0, 1)]
    thumb = _box(7, 9, 1, 2, 0, 1) + _box(8, 9, 2, 4, 0, 1)
    wrist = _box(2, 5, -2, 0, 0, 1)
    return _roughened(*_rounded(*_skin(palm + fingers + thumb + wrist), levels=3), 0.2, seed)


def dino(seed: int = 0) -> Mesh:
    """A rough long-necked animal of 45 056 triangles."""
    body = _box(0, 8, 0, 4, 0, 3) + _box(1, 7, 0, 4, 3, 4)
    tail = _box(-4, 0, 1, 3, 1, 3) + _box(-7, -4, 1, 2, 1, 2)
    neck = _box(8, 10, 1, 3, 1, 6)
    head = _box(8, 13, 1, 3, 6, 8)
    legs = [cell for x in (0, 6) for y in (0, 3) for cell in _box(x, x + 2, y, y + 1, -3, 0)]
    return _roughened(*_rounded(*_skin(body + tail + neck + head + legs), levels=3), 0.2, seed)


def bumpy_sphere(seed: int = 0) -> Mesh:
    """A sphere of 5120 triangles with random radii, 5% off."""
    corners = np.array([(0, b, c * (1 + 5**0.5) / 2) for b in (-1, 1) for c in (-1, 1)])
    points = np.vstack([np.roll(corners, shift, axis=1) for shift in range(3)])
    faces = ConvexHull(points).simplices.astype(np.int64)
    inward = np.linalg.det(points[faces]) < 0
    faces[inward] = faces[inward][:, [0, 2, 1]]
    for _ in range(4):
        points, faces = _quartered(points, faces)
        points /= np.linalg.norm(points, axis=1)[:, None]
    noise = np.random.default_rng(seed).standard_normal(len(points))
    return points * (1 + 0.05 * noise)[:, None], faces


def measure(name: str, mesh: Mesh, repeats: int = 5) -> tuple[dict[str, Any], WillmoreFlow]:
    """Times of flow and factorisation in one run (the least of `repeats` each), and what the flow did."""
    factor, flow_time = np.inf, np.inf
    for _ in range(repeats):
        flow = WillmoreFlow(*mesh)
        flow.run()
        factor, flow_time = min(factor, flow.factor_seconds), min(flow_time, flow.flow_seconds)
    return {
        "shape": name,
        "triangles": len(mesh[1]),
        "steps": len(flow.energies) - 1,
        "flow_over_factor": round(flow_time / factor, 3),
        "factor_seconds": round(factor, 4),
        "flow_seconds": round(flow_time, 4),
        "energies_over_8pi": [round(energy / (8 * np.pi), 4) for energy in flow.energies],
    }, flow


def _box(x0: int, x1: int, y0: int, y1: int, z0: int, z1: int) -> list[tuple[int, int, int]]:
    return [(x, y, z) for x in range(x0, x1) for y in range(y0, y1) for z in range(z0, z1)]


def _skin(cells: list[tuple[int, int, int]]) -> Mesh:
    """Surface of a union of unit cubes, every square cut in two, diagonals alternating."""
    cubes = np.unique(np.array(cells), axis=0)
    squares = []
    for axis in range(3):
        for side in (0, 1):
            outward = np.eye(3, dtype=np.int64)[axis] * (2 * side - 1)
            taken = {tuple(cube) for cube in cubes}
            bare = cubes[[tuple(cube) not in taken for cube in cubes + outward]]
            u, v = np.eye(3, dtype=np.int64)[[(axis + 1) % 3, (axis + 2) % 3]]
            first = bare + np.eye(3, dtype=np.int64)[axis] * side
            ring = [first, first + u, first + u + v, first + v]
            squares.append(np.stack(ring if side else ring[::-1], axis=1))
    corners = np.concatenate(squares)
    points, index = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    square = index.reshape(-1, 4)
    even = corners[:, 0].sum(axis=1) % 2 == 0
    split = np.where(even[:, None], square[:, [0, 1, 2, 0, 2, 3]], square[:, [0, 1, 3, 1, 2, 3]])
    return points.astype(np.float64), split.reshape(-1, 3).astype(np.int64)


def _quartered(points: Floats, faces: Ints) -> Mesh:
    ends = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    edges, index = np.unique(ends, axis=0, return_inverse=True)
    ab, bc, ca = (len(points) + index.reshape(-1, 3)).T
    a, b, c = faces.T
    corners = [a, ab, ca, b, bc, ab, c, ca, bc, ab, bc, ca]
    return np.vstack([points, points[edges].mean(axis=1)]), np.stack(corners, axis=1).reshape(-1, 3)


def _rounded(points: Floats, faces: Ints, levels: int) -> Mesh:
    """Quartered so many times, each time with vertices moved towards the mean of their neighbours."""
    for _ in range(levels):
        points, faces = _quartered(points, faces)
        pairs = np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)
        start, end = pairs.T
        graph = csr_matrix((np.ones(len(start)), (start, end)), shape=(len(points), len(points)))
        graph = graph + graph.T
        mean = diags(1 / np.asarray(graph.sum(axis=1)).ravel()) @ graph
        for _ in range(3):
            points = 0.5 * (points + mean @ points)
    return points, faces


def _roughened(points: Floats, faces: Ints, share: float, seed: int) -> Mesh:
    """Vertices moved at random along the normals, by about so great a share of an edge."""
    a, b, c = (points[faces[:, corner]] for corner in range(3))
    normals = np.zeros_like(points)
    for axis, component in enumerate(np.cross(b - a, c - a).T):
        normals[:, axis] = np.bincount(faces.ravel(), np.repeat(component, 3), minlength=len(points))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    height = share * np.linalg.norm(b - a, axis=1).mean() * np.random.default_rng(seed).standard_normal(len(points))
    return points + height[:, None] * normals, faces


SHAPES = {"hand": hand, "dino": dino, "sphere": bumpy_sphere}


def main() -> None:
    """Measure all shapes and write what was found."""
    results, flows = [], {}
    for name, shape in SHAPES.items():
        mesh = shape()
        result, flow = measure(name, mesh)
        results.append(result)
        flows[name] = (mesh, flow)
        print(
            f"{name:8s} {result['triangles']:6d} triangles  {result['steps']:2d} steps  "
            f"flow / factorisation {result['flow_over_factor']:.2f}  "
            f"energy {result['energies_over_8pi'][0]:.2f} to {result['energies_over_8pi'][-1]:.3f} × 8π"
        )
    OUT.mkdir(exist_ok=True)
    (OUT / "willmore.json").write_text(json.dumps(results, indent=1) + "\n")
    if "--picture" in sys.argv:
        from benchmarks.willmore_picture import draw

        draw(flows, OUT / "willmore.png")


if __name__ == "__main__":
    main()
