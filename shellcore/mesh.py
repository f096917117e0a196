"""Topology of a triangle mesh: edges, hinges, boundary, consistent orientation.

A *hinge* is an interior edge with its two triangles: the stencil of every bending model here.
All of it is array work (sorting and graph components); there is no loop over faces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from .checks import floats, triangles
from .errors import ShellError, listed
from .types import Bools, Floats, Ints

# A triangle is degenerate when its area is below this share of its longest edge squared:
# there the cotangents and normals that every model needs carry no correct digit.
DEGENERATE = 1e-10
# Positions further out than this [m] have a millimetre's worth of digits left.
FARTHEST = 1e12
# No shell is smaller than this [m].
SMALLEST = 1e-7


@dataclass(frozen=True)
class Topology:
    """Connectivity of a mesh, oriented consistently. Local edge j of a face lies opposite corner j."""

    vertex_count: int
    faces: Ints
    """Corners, shape (m, 3); rows in the caller's order, windings made consistent."""
    edges: Ints
    """Vertex pairs (low, high), shape (e, 2), sorted."""
    face_edges: Ints
    """Edge opposite each corner, shape (m, 3)."""
    edge_faces: Ints
    """Faces of an edge: the one that runs low to high, the other; shape (e, 2), -1 where there is none."""
    hinges: Ints
    """Edge start, edge end, opposite left, opposite right; shape (h, 4), sorted by (start, end), start < end."""
    hinge_edges: Ints
    """Edge of each hinge, shape (h,)."""
    face_hinges: Ints
    """Hinge opposite each corner, shape (m, 3); -1 at the boundary."""
    flipped: Bools
    """Faces whose winding was reversed, shape (m,)."""
    components: Ints
    """Connected piece (across edges) of each face, shape (m,)."""

    @property
    def hinge_faces(self) -> Ints:
        """Left and right face of each hinge, shape (h, 2)."""
        return self.edge_faces[self.hinge_edges]

    @property
    def boundary_edges(self) -> Ints:
        """Indices into `edges` of those with one face."""
        return np.flatnonzero((self.edge_faces < 0).any(axis=1))

    @property
    def boundary_vertices(self) -> Ints:
        """Vertices on the boundary, sorted."""
        vertices: Ints = np.unique(self.edges[self.boundary_edges])
        return vertices

    @property
    def closed(self) -> bool:
        """Whether the mesh has no boundary."""
        return len(self.hinges) == len(self.edges)


def topology(faces: Ints, vertex_count: int) -> Topology:
    """Connectivity of `faces`, shape (m, 3); raises `ShellError` naming what is not manifold."""
    faces = _checked_indices(faces, vertex_count)
    edges, face_edges, side_of = edges_of(faces, vertex_count)
    _reject_crowded_edges(edges, face_edges)
    flipped, components = _orientation(faces, edges, face_edges, side_of)
    faces[flipped] = faces[flipped][:, [0, 2, 1]]
    face_edges[flipped] = face_edges[flipped][:, [0, 2, 1]]

    edge_faces = np.full((len(edges), 2), -1, dtype=np.int64)
    opposite = np.full((len(edges), 2), -1, dtype=np.int64)
    corner = np.arange(3)
    start, end = faces[:, (corner + 1) % 3], faces[:, (corner + 2) % 3]
    side = (start > end).astype(np.int64)
    edge_faces[face_edges, side] = np.arange(len(faces))[:, None]
    opposite[face_edges, side] = faces

    hinge_edges = np.flatnonzero((edge_faces >= 0).all(axis=1))
    hinge_of_edge = np.full(len(edges), -1, dtype=np.int64)
    hinge_of_edge[hinge_edges] = np.arange(len(hinge_edges))
    return Topology(
        vertex_count=vertex_count,
        faces=faces,
        edges=edges,
        face_edges=face_edges,
        edge_faces=edge_faces,
        hinges=np.hstack([edges[hinge_edges], opposite[hinge_edges]]),
        hinge_edges=hinge_edges,
        face_hinges=hinge_of_edge[face_edges],
        flipped=flipped,
        components=components,
    )


def check_positions(positions: Floats, faces: Ints) -> Floats:
    """`positions` as (n, 3) floats; raises where one is not finite or a triangle is degenerate."""
    x = floats(positions, "positions", "numbers of shape (n, 3) [m]")
    if x.ndim != 2 or x.shape[1] != 3:
        raise ShellError(f"positions must have shape (n, 3), not {x.shape}")
    bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
    if len(bad):
        raise ShellError(
            f"vertices {listed(bad)} have a position that is not finite; remove or move them", vertices=bad
        )
    faces = triangles(faces, "faces")
    if len(faces) and (faces.min() < 0 or faces.max() >= len(x)):
        return x  # `topology` names the faces with indices out of range
    a, b, c = (x[faces[:, j]] for j in range(3))
    longest = np.maximum.reduce([((p - q) ** 2).sum(axis=1) for p, q in ((a, b), (b, c), (c, a))])
    twice_area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    bad = np.flatnonzero(twice_area <= 2 * DEGENERATE * longest)
    if len(bad):
        raise ShellError(
            f"faces {listed(bad)} are degenerate (no area); dissolve them or merge their vertices", faces=bad
        )
    return x


def check_reach(x: Floats, what: str) -> None:
    """Raise where positions (n, 3) are so far out that their squares, or the sizes of faces, are lost."""
    far = np.flatnonzero(np.abs(x).max(axis=1, initial=0.0) > FARTHEST)
    if len(far):
        raise ShellError(
            f"{what}: vertices {listed(far)} are more than {FARTHEST:.0e} m from the origin: move the shell nearer",
            vertices=far,
        )


def _checked_indices(faces: Ints, vertex_count: int) -> Ints:
    checked = triangles(faces, "faces")
    bad = np.flatnonzero(((checked < 0) | (checked >= vertex_count)).any(axis=1))
    if len(bad):
        raise ShellError(f"faces {listed(bad)} name vertices outside 0..{vertex_count - 1}", faces=bad)
    repeated = (checked == np.roll(checked, 1, axis=1)).any(axis=1)
    bad = np.flatnonzero(repeated)
    if len(bad):
        raise ShellError(f"faces {listed(bad)} use a vertex twice; dissolve them", faces=bad)
    used = np.zeros(vertex_count, dtype=bool)
    used[checked] = True
    loose = np.flatnonzero(~used)
    if len(loose):
        raise ShellError(
            f"vertices {listed(loose)} belong to no face and would have no mass; delete them", vertices=loose
        )
    return checked


def edges_of(faces: Ints, vertex_count: int) -> tuple[Ints, Ints, Bools]:
    """Sorted edges, the edge opposite each corner, and whether the face runs it low to high."""
    corner = np.arange(3)
    start, end = faces[:, (corner + 1) % 3], faces[:, (corner + 2) % 3]
    key = np.minimum(start, end) * vertex_count + np.maximum(start, end)
    keys, face_edges = np.unique(key, return_inverse=True)
    edges = np.column_stack([keys // vertex_count, keys % vertex_count])
    return edges, face_edges.reshape(faces.shape).astype(np.int64), start < end


def _reject_crowded_edges(edges: Ints, face_edges: Ints) -> None:
    count = np.bincount(face_edges.ravel(), minlength=len(edges))
    crowded = np.flatnonzero(count > 2)
    if len(crowded) == 0:
        return
    first = crowded[0]
    low, high = edges[first]
    at = np.flatnonzero((face_edges == first).any(axis=1))
    more = f" (and {len(crowded) - 1} more edges)" if len(crowded) > 1 else ""
    raise ShellError(
        f"edge ({low}, {high}) is not manifold: {count[first]} faces ({listed(at)}) share it{more}; "
        "a shell allows two, separate the others",
        edges=[(int(a), int(b)) for a, b in edges[crowded]],
        faces=np.flatnonzero(np.isin(face_edges, crowded).any(axis=1)),
    )


def _orientation(faces: Ints, edges: Ints, face_edges: Ints, low_to_high: Bools) -> tuple[Bools, Ints]:
    """Which faces to flip so that neighbours agree (keeping the majority of each piece), and the pieces.

    Works on the double cover: node f is face f as given, node m + f is face f reversed. Neighbours
    that run their edge in opposite directions agree and join like sheets, others join unlike sheets.
    A face connected to its own reverse lies on a one-sided surface.
    """
    m = len(faces)
    order = np.argsort(face_edges.ravel(), kind="stable")
    edge_sorted = face_edges.ravel()[order]
    pair = np.flatnonzero(edge_sorted[1:] == edge_sorted[:-1])
    first, second = order[pair], order[pair + 1]
    f, g = first // 3, second // 3
    agree = low_to_high.ravel()[first] != low_to_high.ravel()[second]
    shifted = np.where(agree, g, g + m)
    rows = np.concatenate([f, f + m])
    columns = np.concatenate([shifted, np.where(agree, g + m, g)])
    graph = coo_matrix((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(2 * m, 2 * m))
    _, sheet = connected_components(graph, directed=False)
    one_sided = np.flatnonzero(sheet[:m] == sheet[m:])
    if len(one_sided):
        raise ShellError(
            f"faces {listed(one_sided)} lie on a one-sided surface (a Möbius strip) that cannot be oriented; "
            "cut it along a line of edges",
            faces=one_sided,
        )
    piece = np.minimum(sheet[:m], sheet[m:])
    kept = np.bincount(sheet[:m], minlength=sheet.max() + 1)
    wanted = np.where(kept[sheet[:m]] >= kept[sheet[m:]], sheet[:m], sheet[m:])
    # On a tie both sheets hold as many given faces: take the one of the piece's lowest sheet label.
    tie = kept[sheet[:m]] == kept[sheet[m:]]
    wanted = np.where(tie, piece, wanted)
    _, components = np.unique(piece, return_inverse=True)
    return sheet[:m] != wanted, components.astype(np.int64)
