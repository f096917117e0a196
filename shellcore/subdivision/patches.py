"""Basis functions at points of a Loop surface, as sparse rows over the control vertices.

A point in a face with three regular corners lies in a box-spline patch of twelve vertices. Around an irregular vertex
the surface is refined, near the points that need it, until each lies in a regular patch of a finer mesh
(Stam 1998); the refinement is a matrix, so the rows end up over the control vertices. A face may have any number of
irregular corners. Barycentres need one step at an irregular corner, the points of the three-point rule at
most two.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, vstack

from ..errors import ShellError, listed
from ..types import Floats, Ints, Sparse
from .boxspline import basis
from .loop import LoopMesh

DEEPEST = 40

# Points (barycentric) and weights of quadrature on a triangle, exact for degree 1 and 2.
RULES: dict[int, Floats] = {
    1: np.full((1, 3), 1.0 / 3.0),
    3: np.full((3, 3), 1.0 / 6.0) + 0.5 * np.eye(3),
}

# Derivative of a child's coordinates (θ¹, θ²) by its parent's: children at the corners 0, 1, 2, and the middle one.
_INTO_CHILD = np.array(
    [[[2.0, 0.0], [0.0, 2.0]], [[0.0, 2.0], [-2.0, -2.0]], [[-2.0, -2.0], [2.0, 0.0]], [[2.0, 2.0], [-2.0, 0.0]]]
)


def rows_at(mesh: LoopMesh, faces: Ints, coordinates: Floats) -> list[Sparse]:
    """N, N₁, N₂, N₁₁, N₂₂, N₁₂ at points: six sparse (k, n) matrices.

    `faces` (k,): the face of each point, all corners whole; `coordinates` (k, 3): barycentric. Derivatives are along
    the second and third of them.
    """
    count = len(faces)
    to_control: Sparse | None = None
    point = np.arange(count)
    along = np.broadcast_to(np.eye(2), (count, 2, 2)).copy()
    found: list[tuple[Ints, list[Sparse]]] = []
    for _ in range(DEEPEST):
        regular = (mesh.valence[mesh.faces[faces]] == 6).all(axis=1)
        here = np.flatnonzero(regular)
        if len(here):
            rows = _regular(mesh, faces[here], coordinates[here], along[here])
            found.append((point[here], rows if to_control is None else [row @ to_control for row in rows]))
        left = np.flatnonzero(~regular)
        if len(left) == 0:
            return _joined(found, count)
        faces, coordinates, point, along = faces[left], coordinates[left], point[left], along[left]
        needed, local = np.unique(faces, return_inverse=True)
        near = mesh.around(needed)
        finer, matrix = mesh.refined(near)
        to_control = matrix if to_control is None else matrix @ to_control
        child = np.where(coordinates.max(axis=1) >= 0.5, coordinates.argmax(axis=1), 3)
        faces = 4 * np.searchsorted(near, needed)[local.ravel()] + child
        coordinates = _in_child(coordinates, child)
        along = _INTO_CHILD[child] @ along
        mesh = finer
    raise ShellError(f"points {listed(point)} lie at irregular vertices: their limits have masks, their patches do not")


def _in_child(coordinates: Floats, child: Ints) -> Floats:
    turned = np.take_along_axis(coordinates, (child[:, None] + np.arange(3)) % 3, axis=1)
    at_corner = 2.0 * turned
    at_corner[:, 0] -= 1.0
    b0, b1, b2 = coordinates.T
    middle = np.column_stack([1.0 - 2.0 * b2, 1.0 - 2.0 * b0, 1.0 - 2.0 * b1])
    return np.where((child < 3)[:, None], at_corner, middle)


def _regular(mesh: LoopMesh, faces: Ints, coordinates: Floats, along: Floats) -> list[Sparse]:
    """Rows of points in regular patches; `along` (k, 2, 2) takes derivatives to the caller's coordinates."""
    value, by_1, by_2, by_11, by_22, by_12 = basis(coordinates)
    j11, j12, j21, j22 = (along[:, a, b, None] for a in range(2) for b in range(2))
    tables = [
        value,
        j11 * by_1 + j21 * by_2,
        j12 * by_1 + j22 * by_2,
        j11 * j11 * by_11 + 2.0 * j11 * j21 * by_12 + j21 * j21 * by_22,
        j12 * j12 * by_11 + 2.0 * j12 * j22 * by_12 + j22 * j22 * by_22,
        j11 * j12 * by_11 + (j11 * j22 + j12 * j21) * by_12 + j21 * j22 * by_22,
    ]
    columns = patch_vertices(mesh, faces)
    rows = np.repeat(np.arange(len(faces)), 12)
    shape = (len(faces), mesh.vertex_count)
    return [csr_matrix((table.ravel(), (rows, columns.ravel())), shape=shape) for table in tables]


def patch_vertices(mesh: LoopMesh, faces: Ints) -> Ints:
    """The twelve control vertices of regular faces, (k, 12), in the order of `boxspline.basis`."""
    columns = []
    for corner in range(3):
        spoke = 3 * faces + corner
        ring = []
        for _ in range(6):
            ring.append(mesh.end(spoke))
            spoke = mesh.turned(spoke)
        # From the spoke to the next corner: itself, the third corner, across it, outer, outer, across the first.
        columns += [mesh.faces[faces, corner], ring[5], ring[3], ring[4]]
    return np.column_stack(columns)


def _joined(found: list[tuple[Ints, list[Sparse]]], count: int) -> list[Sparse]:
    order = np.concatenate([points for points, _ in found])
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    return [csr_matrix(vstack([rows[k] for _, rows in found]))[place] for k in range(6)]
