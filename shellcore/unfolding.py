"""Every edge with its two triangles laid flat: the frame in which hinges are measured.

In the edge's own frame t runs along it from its lower vertex, n to the left, square to t. At the boundary the one
triangle is mirrored, as if the sheet went on: no hinge stands there, but those near it see a whole neighbourhood.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .mesh import Topology
from .types import Bools, Floats, Ints


@dataclass(frozen=True)
class Unfolding:
    """Edges laid flat, side 0 left and side 1 right; shapes (e,), (e, 2) per side."""

    vertices: Ints
    """Start, end, opposite left, opposite right; shape (e, 4). A mirrored side repeats the other's vertex."""
    faces: Ints
    """Left and right face; a mirrored side repeats the other's."""
    mirrored: Bools
    """Boundary edges, shape (e,)."""
    length: Floats
    """[m], shape (e,)."""
    foot: Floats
    """Distance along the edge from its start to the foot of each height [m], (e, 2)."""
    height: Floats
    """Of each triangle above the edge [m], (e, 2)."""
    tangent: Floats
    """Unit vector along the edge, (e, 3); in a pattern, as it lies in either face, (e, 2, 3)."""
    left: Floats
    """Unit vector in each side's plane, square to the edge, from right to left; (e, 2, 3)."""

    @property
    def area(self) -> Floats:
        """Of the two triangles [m²], shape (e,)."""
        result: Floats = self.length * self.height.sum(axis=1) / 2
        return result

    def components(self, directions: Floats) -> tuple[Floats, Floats]:
        """Components along t and n of a unit direction per face, (m, 3), on either side; each (e, 2)."""
        at = directions[self.faces]
        along = "esk,ek->es" if self.tangent.ndim == 2 else "esk,esk->es"
        return np.einsum(along, at, self.tangent), np.einsum("esk,esk->es", at, self.left)

    def stencil(self) -> Floats:
        """Weights K, (e, 4), of the heights of `vertices` above the flat hinge in its angle: θ = K·w, rad per m.

        θ is the jump of the slope along n, positive for a valley seen from the side that w grows to.
        """
        share = self.foot / self.length[:, None]
        inverse = 1 / self.height
        start, end = -((1 - share) * inverse).sum(axis=1), -(share * inverse).sum(axis=1)
        return np.column_stack([start, end, inverse])

    def curvature_functional(self) -> Floats:
        """Weights (e, 3) of the curvatures (κ_tt, κ_nn, 2κ_tn) in the angle of a hinge on a surface of constant
        curvature, w = ½(κ_tt t² + κ_nn n²) + κ_tn t n [m].
        """
        along = (self.foot * (self.foot - self.length[:, None]) / self.height).sum(axis=1) / 2
        across = self.height.sum(axis=1) / 2
        # A mirrored triangle has the same foot: a twist bends it no more than its image.
        twist = (self.foot[:, 0] - self.foot[:, 1]) / 2
        return np.column_stack([along, across, twist])


def unfold(topology: Topology, positions: Floats) -> Unfolding:
    """The edges of `topology` at rest `positions`, shape (n, 3)."""
    edges = topology.edges
    faces, missing = _sides(topology)
    start = positions[edges[:, 0]]
    edge = positions[edges[:, 1]] - start
    length = np.linalg.norm(edge, axis=1)
    tangent = edge / length[:, None]
    opposite = topology.faces[faces].sum(axis=2) - edges.sum(axis=1)[:, None]
    to_opposite = positions[opposite] - start[:, None, :]
    foot = np.einsum("esk,ek->es", to_opposite, tangent)
    rise = to_opposite - foot[:, :, None] * tangent[:, None, :]
    height = np.linalg.norm(rise, axis=2)
    left = rise / np.where(_on_right(missing), -height, height)[:, :, None]
    return Unfolding(
        vertices=np.column_stack([edges, opposite]),
        faces=faces,
        mirrored=np.asarray(missing.any(axis=1)),
        length=length,
        foot=foot,
        height=height,
        tangent=tangent,
        left=left,
    )


def unfold_faces(topology: Topology, of_faces: Floats) -> Unfolding:
    """The edges of an uncut `topology` whose faces have corners of their own, (m, 3, 3) [m]: edges as long as in the
    mean of their faces, triangles with the areas they have (`rest_shape`)."""
    edges = topology.edges
    faces, missing = _sides(topology)
    corners, slots = of_faces[faces], np.arange(3)
    apex = np.argmax(topology.face_edges[faces] == np.arange(len(edges))[:, None, None], axis=2)
    first = np.argmax(topology.faces[faces] == edges[:, 0, None, None], axis=2)
    last = (slots.sum() - apex - first)[..., None, None]
    start, end, opposite = (
        np.take_along_axis(corners, place, axis=2)[:, :, 0]
        for place in (first[..., None, None], last, apex[..., None, None])
    )
    edge = end - start
    own = np.linalg.norm(edge, axis=2)
    tangent = edge / own[:, :, None]
    along = ((opposite - start) * tangent).sum(axis=2)
    rise = opposite - start - along[:, :, None] * tangent
    height = np.linalg.norm(rise, axis=2)
    left = rise / np.where(_on_right(missing), -height, height)[:, :, None]
    length = own.mean(axis=1)
    stretch = length[:, None] / own
    return Unfolding(
        vertices=np.column_stack([edges, topology.faces[faces].sum(axis=2) - edges.sum(axis=1)[:, None]]),
        faces=faces,
        mirrored=np.asarray(missing.any(axis=1)),
        length=length,
        foot=along * stretch,
        height=height / stretch,
        tangent=tangent,
        left=left,
    )


def _sides(topology: Topology) -> tuple[Ints, Bools]:
    """Left and right face of each edge, (e, 2), the other one where there is none, and where that is."""
    given = topology.edge_faces
    missing = np.asarray(given < 0)
    return np.where(missing, given[:, ::-1], given), missing


def _on_right(missing: Bools) -> Bools:
    """Which triangles lie right of the edge, (e, 2): on the right, and on the left where that one is missing."""
    return np.column_stack([missing[:, 0], ~missing[:, 1]])
