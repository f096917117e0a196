"""Modifiers above Thin Shell: a bake reads what the viewport shows, so the render must show the same mesh."""

from typing import Any

from ..bridge.mesh import input_modifiers
from .issue import Issue, error, warning

LEVELS = {"SUBSURF", "MULTIRES"}
# These move or mark vertices and leave their number alone: the cache plays over them, whichever are on.
SAME_VERTICES = {
    "ARMATURE", "CAST", "CLOTH", "COLLISION", "CORRECTIVE_SMOOTH", "CURVE", "DATA_TRANSFER", "DISPLACE", "HOOK",
    "LAPLACIANDEFORM", "LAPLACIANSMOOTH", "LATTICE", "MESH_CACHE", "MESH_DEFORM", "NORMAL_EDIT", "SHRINKWRAP",
    "SIMPLE_DEFORM", "SMOOTH", "SOFT_BODY", "SURFACE", "SURFACE_DEFORM", "UV_PROJECT", "UV_WARP", "VERTEX_WEIGHT_EDIT",
    "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY", "WARP", "WAVE", "WEIGHTED_NORMAL",
}  # fmt: skip


def found_above(scene: Any, obj: Any) -> list[Issue]:
    """What differs between viewport and render."""
    found = []
    for modifier in input_modifiers(obj):
        name, on = f"'{modifier.name}' above Thin Shell", ("off", "on")
        shown, rendered = bool(modifier.show_viewport), bool(modifier.show_render)
        if shown != rendered:
            text = f"{obj.name}: {name} is {on[shown]} in the viewport and {on[rendered]} in the render"
            if modifier.type in SAME_VERTICES:
                found.append(warning(f"{text}: the bake goes by the viewport", obj))
            else:
                found.append(error(f"{text}, so that each has another mesh: turn it on or off in both", obj))
        elif shown and modifier.type in LEVELS:
            found += _levels(scene, obj, modifier, name)
    return found


def _levels(scene: Any, obj: Any, modifier: Any, name: str) -> list[Issue]:
    """Levels of subdivision that the viewport and the render do not share."""
    levels = modifier.levels, modifier.render_levels
    render = scene.render
    most = (render.simplify_subdivision, render.simplify_subdivision_render) if render.use_simplify else levels
    viewport, final = (min(own, limit) for own, limit in zip(levels, most, strict=True))
    if viewport == final:
        return []
    if levels[0] == levels[1]:
        return [
            error(
                f"{obj.name}: Simplify leaves {name} {viewport} levels in the viewport and {final} in the render: make "
                "both of its Max Subdivision (Render > Simplify) equal, or turn Simplify off",
                obj,
            )
        ]
    return [
        error(f"{obj.name}: {name} has other levels for the viewport and the render: make them equal", obj),
    ]
