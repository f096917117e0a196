"""The UV map as sewing pattern: where the corners of triangles lie in the cloth, in metres."""

from dataclasses import replace
from typing import Any

import numpy as np

from ... import shellcore as sc
from ...shellcore.errors import listed
from ..errors import UserError
from .axes import face_axes
from .mesh import MeshArrays, corner_uvs


def corner_pattern(obj: Any, mesh: Any, arrays: MeshArrays, world: Any) -> Any:
    """Corners of each triangle in the pattern [m], (m, 3, 2), or None where the rest shape is another.

    `world`: positions [m], (n, 3), whose area the pattern is fitted to.
    """
    settings = obj.thin_shell
    if settings.rest_shape != "UV":
        return None
    if settings.bending == "subdivision":
        raise UserError(
            f"{obj.name}: a rest shape From UV has no smooth surface for the Subdivision model: choose another Bending",
            object=obj.name,
        )
    uv = corner_uvs(mesh, settings.rest_uv, obj.name, "Rest Shape From UV needs")[arrays.corners]
    try:
        sc.axes_from_uv(world, arrays.faces, uv)
    except sc.ShellError as error:
        polygons = sorted({int(arrays.polygons[f]) for f in error.faces})
        said = str(error).replace(listed(error.faces), listed(polygons)) if error.faces else str(error)
        raise UserError(f"{obj.name}: {said}", object=obj.name, polygons=polygons) from None
    if settings.rest_uv_size == "SCALE":
        return settings.rest_uv_scale * uv
    a, b, c = (world[arrays.faces[:, j]] for j in range(3))
    area = 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
    first, second = (uv[:, 1] - uv[:, 0]).T, (uv[:, 2] - uv[:, 0]).T
    in_map = 0.5 * float(np.abs(first[0] * second[1] - first[1] * second[0]).sum())
    return np.sqrt(area / in_map) * uv


def pattern_axes(obj: Any, mesh: Any, arrays: MeshArrays, pattern: Any, world: Any, matrix: Any) -> tuple[Any, Any]:
    """As `face_axes`, of cloth that lies in a pattern: (m, 2) in it where a map says so, (m, 3) on the surface at
    `world` where a direction in space does, None along U."""
    if obj.thin_shell.axes_source not in ("UV", "IMAGE"):
        return face_axes(obj, mesh, arrays, world, matrix)
    loose = replace(arrays, faces=np.arange(3 * len(pattern)).reshape(-1, 3))
    flat = np.column_stack([pattern.reshape(-1, 2), np.zeros(3 * len(pattern))])
    axes, strength = face_axes(obj, mesh, loose, flat, matrix)
    return axes[:, :2], strength


def shown_axes(obj: Any, arrays: MeshArrays, positions: Any) -> Any:
    """Warp directions of a shell whose axes are automatic, (m, 3), to look at."""
    uv = None
    if obj.thin_shell.rest_shape == "UV":
        uv = corner_uvs(obj.data, obj.thin_shell.rest_uv, obj.name, "Rest Shape From UV needs")[arrays.corners]
    return sc.Shell(positions, arrays.faces, sc.Material.preset("reference"), bending="hinge", rest_uv=uv).axes
