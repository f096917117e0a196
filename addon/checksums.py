"""Checksums of what the overlay is drawn from, so that it is drawn anew when an artist sculpts, unwraps or paints."""

import time
import zlib
from typing import Any

import bpy
import numpy as np

from . import compat

LOOK_SECONDS = 0.5
"""An image is read again after this long [s], or after `LOOK_COSTS` times what the last reading took."""
LOOK_COSTS = 20.0
_images: dict[int, tuple[float, int]] = {}
"""By number of an image: when it is to be read again, and its checksum."""


def of_mesh(mesh: Any, uv: str) -> int:
    """Where the vertices are, how faces join them, and their UVs; `uv` names a map, empty for the active one."""
    layer = mesh.uv_layers.get(uv) if uv else mesh.uv_layers.active
    parts: list[Any] = [(mesh.attributes["position"].data, "vector", 3 * len(mesh.vertices), np.float32)]
    corners = mesh.attributes.get(".corner_vert")
    if corners is not None:
        parts.append((corners.data, "value", len(corners.data), np.int32))
    if layer is not None:
        parts.append((layer.uv, "vector", 2 * len(layer.uv), np.float32))
    made = len(mesh.polygons)
    for owner, name, count, kind in parts:
        flat: Any = np.empty(count, dtype=kind)
        owner.foreach_get(name, flat)
        made = zlib.crc32(flat, made)
    return made


def of_image(image: Any) -> int:
    """The pixels, as they were a moment ago; when they may have changed since, the views are drawn once more."""
    uid, now = compat.session_uid(image), time.monotonic()
    if uid not in _images or now >= _images[uid][0]:
        flat: Any = np.empty(len(image.pixels), dtype=np.float32)
        image.pixels.foreach_get(flat)
        made = zlib.crc32(flat)
        cost = time.monotonic() - now
        _images[uid] = now + max(LOOK_SECONDS, LOOK_COSTS * cost), made
    if not bpy.app.background and not bpy.app.timers.is_registered(_look_again):
        bpy.app.timers.register(_look_again, first_interval=_images[uid][0] - now + 0.01)
    return _images[uid][1]


def _look_again() -> None:
    """Draw the 3D views again where an image is not what they show."""
    known = {compat.session_uid(image): image for image in bpy.data.images}
    for uid, (_, shown) in list(_images.items()):
        if uid not in known:
            del _images[uid]
        elif time.monotonic() >= _images[uid][0] and of_image(known[uid]) != shown:
            tag_views()


def tag_views() -> None:
    """Ask every 3D view to draw again."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def doubt() -> None:
    """Read every image again when it is next asked for."""
    _images.clear()


def forget() -> None:
    """Stop looking."""
    if bpy.app.timers.is_registered(_look_again):
        bpy.app.timers.unregister(_look_again)
    _images.clear()
