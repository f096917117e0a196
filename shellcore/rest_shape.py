"""The shape a shell has without strain: its mesh as modelled, flat pieces sewn together (a sewing pattern), or either
with faces that have shrunk.

Everything that is measured at rest asks for corners of faces and of hinges. On a mesh these are its vertices. In a
pattern each face lies flat with corners of its own, so a vertex on a seam has several places and a seam edge has one
length a face; so it is between faces that shrink unlike. Where one number is needed the edge takes the mean of them,
and a hinge is its two triangles laid beside an edge of that length, each stretched along it and narrowed across it so
that it keeps its area.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .axes import DEGENERATE_UV
from .checks import floats
from .errors import ShellError, listed
from .mesh import SMALLEST, Topology, check_reach
from .types import Floats, Ints


@dataclass(frozen=True)
class RestShape:
    """Points [m], (k, 3), and the mesh of a shell as places among them."""

    points: Floats
    mesh: Topology
    """The shell's own, but that `faces`, `edges` and `hinges` are places among `points`."""
    axes: Floats
    """Unit warp direction in the plane of each face as it lies at rest, (m, 3)."""
    hinge_directions: Floats
    """Unit vector along the edge of each hinge from start to end, in either face as it lies at rest, (h, 2, 3)."""
    corners: Floats | None = None
    """Of each face [m], (m, 3, 3), where it has its own; in a pattern in the plane z = 0."""
    pattern: Floats | None = None
    """Corners of each face [m], (m, 3, 2), where they are those of a pattern."""

    @property
    def edges(self) -> Floats:
        """From start to end of each edge [m], (e, 3): of a pattern, of its length alone."""
        result: Floats = self.points[self.mesh.edges[:, 1]] - self.points[self.mesh.edges[:, 0]]
        return result

    @property
    def hinge_edges(self) -> Floats:
        """From start to end of each hinge's edge [m], (h, 3): of a pattern, of its length alone."""
        result: Floats = self.points[self.mesh.hinges[:, 1]] - self.points[self.mesh.hinges[:, 0]]
        return result

    @property
    def areas(self) -> Floats:
        """Of each face [m²], (m,)."""
        a, b, c = (self.points[self.mesh.faces[:, j]] for j in range(3))
        area: Floats = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
        return area

    def off(self, x: Floats, faces: Ints) -> float:
        """Largest share by which a side of a face at positions x [m], (n, 3), is longer or shorter than at rest."""
        now, rest = (np.roll(at, 1, axis=1) - at for at in (x[faces], self.points[self.mesh.faces]))
        return float(np.abs(np.linalg.norm(now, axis=2) / np.linalg.norm(rest, axis=2) - 1.0).max(initial=0.0))

    def recut(self, mesh: Topology, positions: Floats, kept: Ints) -> RestShape:
        """That of the same faces after cuts: of the hinges `kept`, (k,), and with edges of their own along cracks.

        `positions` [m], (n, 3), of the vertices of the cut `mesh`: the rest shape where it is no pattern.
        """
        if self.corners is None:
            return RestShape(positions, mesh, self.axes, self.hinge_directions[kept])
        return of_faces(self.corners, mesh, self.axes, self.pattern)

    def scaled(self, mesh: Topology, scale: Floats) -> RestShape:
        """With faces of the shell's `mesh` `scale`, (m,), times as large."""
        corners = scale[:, None, None] * self.points[self.mesh.faces]
        return of_faces(corners, mesh, self.axes, None if self.pattern is None else corners[:, :, :2])


def of_mesh(positions: Floats, mesh: Topology, axes: Floats) -> RestShape:
    """The mesh itself: `positions` [m], (n, 3), and unit warp direction of each face, (m, 3)."""
    edge = positions[mesh.hinges[:, 1]] - positions[mesh.hinges[:, 0]]
    direction = edge / np.linalg.norm(edge, axis=1)[:, None]
    return RestShape(positions, mesh, axes, np.broadcast_to(direction[:, None, :], (len(edge), 2, 3)))


def of_pattern(pattern: Floats, mesh: Topology, axes: Floats) -> RestShape:
    """Faces as they lie in a `pattern` [m], (m, 3, 2); unit warp directions there, (m, 3), in its plane."""
    return of_faces(in_plane(pattern), mesh, axes, pattern)


def of_faces(corners: Floats, mesh: Topology, axes: Floats, pattern: Floats | None = None) -> RestShape:
    """Faces of `mesh` that have `corners` [m], (m, 3, 3), of their own; unit warp directions in them, (m, 3)."""
    stencils, directions = _stencils(corners, mesh)
    sides = np.linalg.norm(np.roll(corners, 1, axis=1) - np.roll(corners, -1, axis=1), axis=2)
    beside, count = mesh.face_edges.ravel(), len(mesh.edges)
    length = np.bincount(beside, sides.ravel(), count) / np.bincount(beside, minlength=count)
    ends = np.zeros((count, 2, 3))
    ends[:, 1, 0] = length
    parts = [corners.reshape(-1, 3), ends.reshape(-1, 3), stencils.reshape(-1, 3)]
    first = np.cumsum([0, *(len(part) for part in parts)])
    places = [np.arange(len(part)) + at for part, at in zip(parts, first, strict=False)]
    loose = replace(
        mesh,
        vertex_count=int(first[-1]),
        faces=places[0].reshape(-1, 3),
        edges=places[1].reshape(-1, 2),
        hinges=places[2].reshape(-1, 4),
    )
    return RestShape(np.concatenate(parts), loose, axes, directions, corners, pattern)


def in_plane(pattern: Floats) -> Floats:
    """Places in a pattern, (…, 2), as points of the plane z = 0, (…, 3)."""
    return np.concatenate([pattern, np.zeros((*pattern.shape[:-1], 1))], axis=-1)


def _stencils(corners: Floats, mesh: Topology) -> tuple[Floats, Floats]:
    """Hinges laid flat [m], (h, 4, 3), edge along x, left apex at y > 0; and unit edges in either face, (h, 2, 3)."""
    count = len(mesh.hinges)
    length, along, twice_area = np.empty((count, 2)), np.empty((count, 2)), np.empty((count, 2))
    directions = np.empty((count, 2, 3))
    for side in (0, 1):
        face = mesh.hinge_faces[:, side]
        start, end, apex = (
            corners[face, np.argmax(mesh.faces[face] == mesh.hinges[:, column, None], axis=1)]
            for column in (0, 1, 2 + side)
        )
        edge = end - start
        length[:, side] = np.linalg.norm(edge, axis=1)
        directions[:, side] = edge / length[:, side, None]
        along[:, side] = ((apex - start) * directions[:, side]).sum(axis=1)
        twice_area[:, side] = np.linalg.norm(np.cross(edge, apex - start), axis=1)
    mean = length.mean(axis=1)
    stencils = np.zeros((count, 4, 3))
    stencils[:, 1, 0] = mean
    stencils[:, 2:, 0] = along * (mean[:, None] / length)
    stencils[:, 2:, 1] = twice_area / mean[:, None] * [1.0, -1.0]
    return stencils, directions


def checked_pattern(given: Floats, mesh: Topology) -> Floats:
    """`given` [m], (m, 3, 2), in the corner order of `mesh.faces`; raises where a face has no area in it."""
    count = len(mesh.faces)
    pattern = floats(given, "rest_uv", f"places in the pattern of shape ({count}, 3, 2) [m]")
    if pattern.shape != (count, 3, 2):
        raise ShellError(
            f"rest_uv must have shape ({count}, 3, 2), one place per corner of a face, not {pattern.shape}"
        )
    bad = np.flatnonzero(~np.isfinite(pattern).all(axis=(1, 2)))
    if len(bad):
        raise ShellError(f"rest_uv: faces {listed(bad)} have a corner that is not finite; unwrap them", faces=bad)
    # A face whose winding was reversed takes its corners along.
    pattern = np.where(mesh.flipped[:, None, None], pattern[:, [0, 2, 1]], pattern)
    check_reach(pattern.reshape(-1, 2), "rest_uv")
    size = float(np.ptp(pattern.reshape(-1, 2), axis=0).max())
    if size < SMALLEST:
        raise ShellError(f"rest_uv: the pattern is only {size:.3g} m large; it is in metres")
    longest = ((pattern - np.roll(pattern, 1, axis=1)) ** 2).sum(axis=2).max(axis=1)
    first, second = pattern[:, 1] - pattern[:, 0], pattern[:, 2] - pattern[:, 0]
    twice_area = np.abs(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0])
    bad = np.flatnonzero(twice_area <= DEGENERATE_UV * longest)
    if len(bad):
        raise ShellError(f"rest_uv: faces {listed(bad)} have no area in the pattern; unwrap them", faces=bad)
    return pattern


def pattern_axes(axes: Floats | None, positions: Floats, faces: Ints, pattern: Floats) -> Floats:
    """Unit warp directions in a pattern, (m, 3), of those `given`: None (along U), (m, 2) in the pattern, or (m, 3) on
    the surface at `positions`, which the map from there to the pattern takes along."""
    count = len(faces)
    if axes is None:
        return np.broadcast_to([1.0, 0.0, 0.0], (count, 3))
    given = floats(axes, "axes", f"directions of shape ({count}, 3), or ({count}, 2) in the pattern")
    if given.shape == (count, 3):
        given = carried(given, positions[faces], in_plane(pattern))[:, :2]
    if given.shape != (count, 2):
        raise ShellError(f"axes must have shape ({count}, 3), or ({count}, 2) in the pattern, not {given.shape}")
    length = np.linalg.norm(given, axis=1)
    bad = np.flatnonzero(~(np.isfinite(length) & (length > 0.0)))
    if len(bad):
        raise ShellError(
            f"faces {listed(bad)} have a warp direction that is not finite, or zero in the plane of the face", faces=bad
        )
    return in_plane(given / length[:, None])


def carried(directions: Floats, from_corners: Floats, to_corners: Floats) -> Floats:
    """Directions in the planes of faces, (m, 3), taken along by the affine map of their corners, each (m, 3, 3).

    What stands out of a plane is left behind.
    """
    e1, e2 = (from_corners[:, j] - from_corners[:, 0] for j in (1, 2))
    a, b, c = ((p * q).sum(axis=1) for p, q in ((e1, e1), (e1, e2), (e2, e2)))
    p, q = (directions * e1).sum(axis=1), (directions * e2).sum(axis=1)
    share = np.stack([c * p - b * q, a * q - b * p]) / (a * c - b * b)
    f1, f2 = (to_corners[:, j] - to_corners[:, 0] for j in (1, 2))
    result: Floats = share[0][:, None] * f1 + share[1][:, None] * f2
    return result
