"""Plasticity and fracture as the panel sets them, for the core."""

from typing import Any

import numpy as np

from ... import shellcore as sc
from ..errors import UserError
from .axes import pixels
from .creases import edge_values
from .mesh import MeshArrays, corner_edges, corner_uvs, edge_vertices
from .units import Clock
from .weights import vertex_weights

TEAR, TEAR_FRAME = "thin_shell_tear", "thin_shell_tear_frame"
"""Edge attributes that Mark Tear writes: whether an edge opens, and at which frame."""
PERCENT = 0.01
NEVER = 1e30
"""A threshold that nothing reaches; infinity times the cosine of a right angle is no number."""


def plasticity(obj: Any) -> Any:
    """`sc.Plasticity`, or None where it is off."""
    settings = obj.thin_shell
    if not settings.use_plasticity:
        return None
    return sc.Plasticity(
        settings.yield_curvature,
        hardening=settings.plastic_hardening,
        rate=settings.plastic_rate if settings.use_plastic_rate else None,
        yield_stretch=settings.yield_stretch * PERCENT if settings.use_yield_stretch else None,
    )


def fracture(obj: Any, mesh: Any, arrays: MeshArrays) -> Any:
    """`sc.Fracture`, or None where it is off."""
    settings = obj.thin_shell
    if not settings.use_fracture:
        return None
    check_breakable(obj, mesh, arrays)
    bends = (settings.fracture_along, settings.fracture_across) if settings.use_fracture_bend else NEVER
    return sc.Fracture(
        curvature=bends,
        stretch=settings.fracture_stretch * PERCENT if settings.use_fracture_stretch else None,
        toughness=toughness(obj, mesh, arrays),
    )


def seams(obj: Any, mesh: Any, shell: sc.Shell, clock: Clock) -> None:
    """Tell the shell of its edges that open at a frame."""
    settings = obj.thin_shell
    if not settings.use_fracture or TEAR not in mesh.attributes:
        return
    inner = np.bincount(corner_edges(mesh), minlength=len(mesh.edges)) == 2
    opens = inner & (edge_values(obj, mesh, TEAR) != 0.0)
    frames = edge_values(obj, mesh, TEAR_FRAME)[opens]
    shell.seam(edge_vertices(mesh)[opens], clock.time(frames))


def toughness(obj: Any, mesh: Any, arrays: MeshArrays) -> Any:
    """Factor on the thresholds per vertex, (n,); None where they are the same everywhere."""
    settings = obj.thin_shell
    if settings.toughness_source == "NONE":
        return None
    if settings.toughness_source == "WEIGHT":
        if not settings.toughness_weight:
            raise UserError(
                f"{obj.name}: Toughness comes from a vertex group, but none is chosen in Fracture", object=obj.name
            )
        share = vertex_weights(obj, mesh, arrays, settings.toughness_weight, "Toughness", "Fracture")
    else:
        share = _image_weights(obj, mesh, arrays)
    return settings.toughness_low + (1.0 - settings.toughness_low) * share


def _image_weights(obj: Any, mesh: Any, arrays: MeshArrays) -> Any:
    """Brightness of the toughness image at every vertex, mean over its corners, (n,)."""
    settings = obj.thin_shell
    colours = np.clip(pixels(obj, settings.toughness_image, "the toughness image", "Toughness is"), 0.0, 1.0)
    brightness = colours[..., :3].astype(np.float64).mean(axis=-1)
    height, width = brightness.shape
    uv = corner_uvs(mesh, settings.toughness_uv, obj.name, "Toughness needs")
    corners = np.unique(arrays.corners.ravel())
    owner = np.zeros(len(uv), dtype=np.int64)
    owner[arrays.corners.ravel()] = arrays.faces.ravel()
    x, y = (np.floor(uv[corners, axis] * size).astype(np.int64) % size for axis, size in ((0, width), (1, height)))
    count = len(arrays.positions)
    total = np.bincount(owner[corners], weights=brightness[y, x], minlength=count)
    return total / np.maximum(np.bincount(owner[corners], minlength=count), 1)


def check_breakable(obj: Any, mesh: Any, arrays: MeshArrays) -> None:
    """Raise where the cracks could not be given to the object's own mesh."""
    own = obj.data
    same = (len(own.vertices), len(own.loops), len(own.polygons)) == (
        len(arrays.positions),
        len(mesh.loops),
        len(mesh.polygons),
    )
    if not same:
        raise UserError(
            f"{obj.name}: a modifier above Thin Shell makes another mesh, which cannot be cut: apply it, drag it "
            "below, or turn Fracture off",
            object=obj.name,
        )
    if obj.override_library is not None:
        raise UserError(
            f"{obj.name}: Fracture gives the object another mesh, which a library override cannot take: make it local "
            "(Object > Relations), or turn Fracture off",
            object=obj.name,
        )
