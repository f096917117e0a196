"""Warp directions of an object's faces, from the UV map, an image or a vector."""

from typing import Any

import numpy as np

from ... import shellcore as sc
from ...shellcore.errors import listed
from ..errors import UserError
from .axis_image import face_samples
from .mesh import MeshArrays, corner_uvs

# 16384² pixels of RGBA floats: past this an image does not fit in memory twice.
MOST_PIXELS = 1 << 28


def face_axes(obj: Any, mesh: Any, arrays: MeshArrays, world: Any, matrix: Any) -> tuple[Any, Any]:
    """World direction per triangle (m, 3), or None for automatic; and strength per triangle (m,), or None for 1.

    `world`: rest positions [m], (n, 3), on which the directions are laid.
    """
    settings = obj.thin_shell
    if settings.axes_source == "NONE":
        return None, None
    if settings.axes_source == "VECTOR":
        direction = np.array(settings.axes_vector, dtype=np.float64)
        if not np.linalg.norm(direction) > 0:
            raise UserError(f"{obj.name}: the direction in Material Axes is zero: set one", object=obj.name)
        return _laid(obj, arrays, world, matrix[:3, :3] @ direction), None
    uv = corner_uvs(mesh, settings.axes_uv, obj.name)[arrays.corners]
    angles, strength = settings.axes_angle, None
    if settings.axes_source == "IMAGE":
        found, strength = face_samples(pixels(obj, settings.axes_image), uv, settings.axes_encoding)
        angles = found + settings.axes_angle
    try:
        return sc.axes_from_uv(world, arrays.faces, uv, angles), strength
    except sc.ShellError as error:
        polygons = sorted({int(arrays.polygons[f]) for f in error.faces})
        said = str(error).replace(listed(error.faces), listed(polygons)) if error.faces else str(error)
        raise UserError(f"{obj.name}: {said}", object=obj.name, polygons=polygons) from None


def pixels(obj: Any, image: Any, what: str = "the axis image", reader: str = "Material Axes are") -> Any:
    """An image's pixels, (height, width, channels), row 0 lowest; `what` it is and who reads it, in words."""
    if image is None:
        raise UserError(f"{obj.name}: {reader} set to Image, but none is chosen", object=obj.name)
    width, height = image.size
    if width * height > MOST_PIXELS:
        raise UserError(
            f"{obj.name}: {what} '{image.name}' is {width}×{height}: scale it down to 16384×16384 or less",
            object=obj.name,
        )
    if width * height == 0 or (not image.has_data and len(image.pixels) == 0):
        raise UserError(
            f"{obj.name}: {what} '{image.name}' cannot be read: reload it or choose another", object=obj.name
        )
    channels = image.channels
    if channels < 3:
        raise UserError(f"{obj.name}: {what} '{image.name}' has no colours: save it as RGB", object=obj.name)
    flat = np.empty(width * height * channels, dtype=np.float32)
    image.pixels.foreach_get(flat)
    if not np.isfinite(flat).all():
        raise UserError(
            f"{obj.name}: {what} '{image.name}' holds values that are not finite: paint it again",
            object=obj.name,
        )
    return flat.reshape(height, width, channels)


def _laid(obj: Any, arrays: MeshArrays, world: Any, direction: Any) -> Any:
    """One direction for all faces; those it stands normal to get the next world axis, as the core does by default."""
    a, b, c = (world[arrays.faces[:, j]] for j in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    unit = direction / np.linalg.norm(direction)
    flat = unit - (normals @ unit)[:, None] * normals
    spare = np.roll(unit, 1)
    flat_spare = spare - (normals @ spare)[:, None] * normals
    return np.where(np.linalg.norm(flat, axis=1, keepdims=True) < 0.05, flat_spare, flat)
