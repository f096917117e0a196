"""Warp directions: one unit vector per face, in the plane of the face.

A direction and its opposite mean the same material, and so do the two windings of a face: orthotropy has no sign.
"""

from __future__ import annotations

import numpy as np

from .checks import floats, triangles
from .errors import ShellError, listed
from .mesh import check_positions
from .types import Bools, Floats, Ints

# Below this share of its length left in the face's plane a given direction carries no usable angle.
NORMAL_TO_FACE = 1e-6
# The default direction leaves its global axis where less than this share of it lies in the face: closer to the normal
# the projection turns with every small tilt of a face.
DEFAULT_NORMAL_TO_FACE = 0.1
# A UV triangle is degenerate when twice its area is below this share of its longest edge squared.
DEGENERATE_UV = 1e-10


def face_axes(positions: Floats, faces: Ints, axes: Floats | None) -> Floats:
    """Unit warp direction in the plane of each face, shape (m, 3).

    `axes`, shape (m, 3), is projected into the faces and normalised; `ShellError` names faces where it is not finite
    or stands normal to the face. None: the global x axis projected, or y on faces that x is nearly normal to, so
    that on a flat sheet warp is x.
    """
    faces = np.asarray(faces)
    if axes is None:
        return projected_axes(positions, faces, 0)
    normals = unit_normals(positions, faces)
    given = floats(axes, "axes", f"directions of shape ({len(faces)}, 3)")
    if given.shape != normals.shape:
        raise ShellError(f"axes must have shape ({len(faces)}, 3), one direction per face, not {given.shape}")
    _reject(
        np.asarray(~np.isfinite(given).all(axis=1)),
        "have a warp direction that is not finite; paint or compute it again",
    )
    length = np.linalg.norm(given, axis=1)
    _reject(length == 0, "have a warp direction of zero length; give one in the plane of the face")
    in_plane = _project(given / length[:, None], normals)
    normal_to_face = np.linalg.norm(in_plane, axis=1) < NORMAL_TO_FACE
    _reject(normal_to_face, "have a warp direction normal to the face; give one in the plane of the face")
    return _unit(in_plane)


def projected_axes(positions: Floats, faces: Ints, coordinate: int) -> Floats:
    """A global axis (0: x, 1: y, 2: z) projected into each face, unit, (m, 3); where nearly normal, the next one."""
    normals = unit_normals(positions, faces)
    first, second = (np.broadcast_to(np.eye(3)[(coordinate + k) % 3], normals.shape) for k in range(2))
    in_plane = _project(first, normals)
    short = np.linalg.norm(in_plane, axis=1) < DEFAULT_NORMAL_TO_FACE
    return _unit(np.where(short[:, None], _project(second, normals), in_plane))


def axes_from_uv(positions: Floats, faces: Ints, corner_uv: Floats, angles: Floats | float = 0.0) -> Floats:
    """Unit direction of growing U on each face, turned by `angles` towards growing V; shape (m, 3).

    `corner_uv`: texture coordinates of each face's corners, shape (m, 3, 2), in the corner order of `faces`.
    `angles` [rad]: one number or shape (m,). "Towards V" is V's own direction on the surface, so that a mirrored
    UV island turns the way its texture shows. `ShellError` names faces whose UV triangle has no area.
    """
    x, faces = check_positions(positions, faces), triangles(faces, "faces")
    uv = floats(corner_uv, "corner_uv", f"texture coordinates of shape ({len(faces)}, 3, 2)")
    if uv.shape != (len(faces), 3, 2):
        raise ShellError(f"corner_uv must have shape ({len(faces)}, 3, 2), not {uv.shape}")
    turn = floats(angles, "angles", f"one number or of shape ({len(faces)},) [rad]")
    if turn.shape not in ((), (len(faces),)):
        raise ShellError(f"angles must be one number or of shape ({len(faces)},), not {turn.shape}")
    turn = np.broadcast_to(turn, (len(faces),))
    _reject(np.asarray(~np.isfinite(uv).all(axis=(1, 2))), "have texture coordinates that are not finite")
    _reject(~np.isfinite(turn), "have an angle that is not finite")

    sides = uv - np.roll(uv, 1, axis=1)
    longest = (sides**2).sum(axis=2).max(axis=1)
    (du1, dv1), (du2, dv2) = (uv[:, 1] - uv[:, 0]).T, (uv[:, 2] - uv[:, 0]).T
    determinant = du1 * dv2 - du2 * dv1
    _reject(np.abs(determinant) <= DEGENERATE_UV * longest, "have no area in the UV map; unwrap them")

    # The map (u, v) -> surface is affine on a face: its two columns are where U and V grow.
    edge1, edge2 = x[faces[:, 1]] - x[faces[:, 0]], x[faces[:, 2]] - x[faces[:, 0]]
    sign = np.sign(determinant)[:, None]
    along_u = _unit(sign * (dv2[:, None] * edge1 - dv1[:, None] * edge2))
    along_v = _unit(sign * (du1[:, None] * edge2 - du2[:, None] * edge1))
    across = _unit(_project(along_v, along_u))
    return np.cos(turn)[:, None] * along_u + np.sin(turn)[:, None] * across


def unit_normals(positions: Floats, faces: Ints) -> Floats:
    """Unit normal of each face, (m, 3)."""
    x = np.asarray(positions, dtype=np.float64)
    normal: Floats = np.asarray(np.cross(x[faces[:, 1]] - x[faces[:, 0]], x[faces[:, 2]] - x[faces[:, 0]]), np.float64)
    return _unit(normal)


def _project(vectors: Floats, normals: Floats) -> Floats:
    """Part of each vector square to the unit `normals`."""
    result: Floats = vectors - (vectors * normals).sum(axis=1, keepdims=True) * normals
    return result


def _unit(vectors: Floats) -> Floats:
    result: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return result


def _reject(bad: Bools, what: str) -> None:
    at = np.flatnonzero(bad)
    if len(at):
        raise ShellError(f"faces {listed(at)} {what}", faces=at)
