"""Rest angles that are edited over time: creases and curls (Discrete Shells, section 4).

The rest angles of a shell are what it was given, plus its curls, with creases put in last. They need not fit any shape:
a sheet whose rest angles cannot all be had at once is stressed at rest, as half a crease or a curl in two
directions is in paper.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from .checks import floats, number
from .energies.cubic import unfolded
from .energies.hinge import hinge_angles
from .errors import ShellError
from .mesh import Topology
from .rest_shape import RestShape, carried
from .types import Floats, Ints

# A face counts as square to an axis when less than this share of the axis lies in it.
SQUARE = 1e-6


@dataclass(frozen=True)
class Edit:
    """Hinges (k,) and angles (k,) [rad] that come in evenly from `start` to `end` [s]: added, or put in place."""

    hinges: Ints
    angles: Floats
    start: float
    end: float
    added: bool

    def share(self, t: float) -> float:
        """How much of it is done at time t [s], 0 to 1."""
        if t >= self.end:
            return 1.0
        return 0.0 if t <= self.start else (t - self.start) / (self.end - self.start)

    def apply(self, angles: Floats, t: float) -> None:
        """Edit rest angles (h,) in place."""
        share = self.share(t)
        if self.added:
            angles[self.hinges] += share * self.angles
        else:
            angles[self.hinges] += share * (self.angles - angles[self.hinges])


class RestAngles:
    """Rest angles θ̄ [rad], (h,), of a shell over time: `given`, an array or a function of time, and edits of it."""

    def __init__(self, mesh: Topology, given: Any) -> None:
        self._mesh = mesh
        self.edits: list[Edit] = []
        self._kept: Ints | None = None
        self._given: Floats | Callable[[float], Any] = given if callable(given) else self._checked(given)

    @property
    def move(self) -> bool:
        """Whether they depend on time."""
        return callable(self._given) or any(edit.end > 0.0 for edit in self.edits)

    def at(self, t: float) -> Floats:
        """θ̄ [rad], (h,), at time t [s]."""
        angles = self._checked(self._given(t)) if callable(self._given) else self._given
        if self.edits:
            angles = angles.copy()
            for edit in self.edits:
                edit.apply(angles, t)
        return angles if self._kept is None else angles[self._kept]

    def taken(self, kept: Ints) -> RestAngles:
        """Those of the hinges `kept`, (k,), alone: what is left of a cut shell."""
        part = copy(self)
        part._kept = kept
        return part

    def add(self, edit: Edit) -> None:
        """One more edit; what is added comes before what is put in place."""
        self.edits.append(edit)
        self.edits.sort(key=lambda known: not known.added)

    def _checked(self, angles: Any) -> Floats:
        hinges = self._mesh.hinges
        array = floats(angles, "rest_angles", f"'shape', 'flat' or {len(hinges)} angles [rad]")
        if array.shape != (len(hinges),):
            raise ShellError(f"rest_angles must be 'shape', 'flat' or {len(hinges)} angles, not {array.shape}")
        if not np.isfinite(array).all():
            a, b = hinges[int(np.flatnonzero(~np.isfinite(array))[0]), :2]
            raise ShellError(f"the rest angle at edge ({a}, {b}) is not finite", edges=[(int(a), int(b))])
        return array


def checked_times(start: float, end: float | None, what: str) -> tuple[float, float]:
    """Start and end [s] of an edit; without an end it is all there from its start."""
    begun = number(start, f"{what}: start", "a time [s]")
    until = begun if end is None else number(end, f"{what}: end", "a time [s] or None")
    if until < begun:
        raise ShellError(f"{what}: start and end must be times [s] with start <= end, not {start} and {end}")
    return begun, until


def hinges_at(mesh: Topology, edges: Any) -> Ints:
    """Hinges (k,) of edges given as vertex pairs (k, 2); raises for pairs that are no edge, or lie on the border."""
    try:
        pairs = np.asarray(edges)
    except ValueError:
        raise ShellError("edges must be vertex pairs of shape (k, 2), and these are not all pairs") from None
    if pairs.size == 0:
        return np.zeros(0, dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ShellError(f"edges must be vertex pairs of shape (k, 2), not {pairs.dtype} of {pairs.shape}")
    ends = np.sort(pairs.astype(np.int64), axis=1)
    n = mesh.vertex_count
    keys = mesh.hinges[:, 0] * n + mesh.hinges[:, 1]
    wanted = ends[:, 0] * n + ends[:, 1]
    place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    known = keys[place] == wanted if len(keys) else np.zeros(len(wanted), dtype=bool)
    if not known.all():
        a, b = (int(v) for v in ends[int(np.argmin(known))])
        border = bool(((mesh.edges[:, 0] == a) & (mesh.edges[:, 1] == b)).any())
        reason = "lies on the border and has no angle" if border else "is not an edge of the mesh"
        raise ShellError(f"edge ({a}, {b}) {reason}: name edges between two faces", edges=[(a, b)])
    return place


def curl_angles(rest: RestShape, positions: Floats, faces: Ints, axis: Any, radius: float) -> Floats:
    """Angles [rad], (h,), that roll a flat sheet onto a cylinder of `radius` [m] about `axis`, (3,) or (m, 3).

    Each hinge is laid flat, rolled up with its corners on the cylinder, and measured. On a flat sheet the angles fit
    together; elsewhere, and with an axis for each face, they need not. The axis is one of the surface at `positions`
    [m], (n, 3), whose `faces` (m, 3) take it along into a pattern.
    """
    mesh = rest.mesh
    axes = floats(axis, "curl: axis", f"a finite vector, or one a face ({len(mesh.faces)}, 3)")
    if axes.shape not in ((3,), (len(mesh.faces), 3)) or not np.isfinite(axes).all():
        raise ShellError(f"curl: axis must be a finite vector, or one a face ({len(mesh.faces)}, 3), not {axis!r}")
    if not np.isfinite(radius) or radius == 0.0:
        raise ShellError(f"curl: radius must be finite and not zero [m], not {radius}")
    axes = np.broadcast_to(axes, (len(mesh.faces), 3))
    corners = rest.points[mesh.faces]
    if rest.pattern is not None:
        axes = carried(axes, positions[faces], corners)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    along, across = np.zeros(len(mesh.hinges)), np.zeros(len(mesh.hinges))
    for side in (0, 1):
        face, edge = mesh.hinge_faces[:, side], rest.hinge_directions[:, side]
        along += (axes[face] * edge).sum(axis=1)
        # From the right face to the left one.
        across += (axes[face] * np.cross(normal[face], edge)).sum(axis=1)
    size = np.hypot(along, across)
    lies = size > SQUARE * np.maximum(np.linalg.norm(axes, axis=1).max(), 1e-300)
    c = np.divide(along, size, out=np.ones_like(size), where=lies)
    s = np.divide(across, size, out=np.zeros_like(size), where=lies)
    flat = unfolded(rest.points, mesh.hinges)
    flat -= flat.mean(axis=1, keepdims=True)
    u = flat[:, :, 0] * c[:, None] + flat[:, :, 1] * s[:, None]
    v = flat[:, :, 1] * c[:, None] - flat[:, :, 0] * s[:, None]
    rolled = np.stack([u, radius * np.sin(v / radius), radius * (1.0 - np.cos(v / radius))], axis=2)
    stencils = np.arange(4 * len(flat)).reshape(-1, 4)
    return np.where(lies, hinge_angles(rolled.reshape(-1, 3), stencils), 0.0)
