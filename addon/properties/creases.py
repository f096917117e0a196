"""Creases and curl: folds that the sheet wants to take, over time."""

from math import pi
from typing import Any

from bpy.props import BoolProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty


def _fold(settings: Any, _context: Any) -> None:
    """Naming an attribute asks for its folds."""
    if settings.crease_attribute:
        settings.use_creases = True


def _curl_length(settings: Any) -> float:
    return 1e3 * float(settings.curl_radius)


def _set_curl_length(settings: Any, value: float) -> None:
    settings.curl_radius = 1e-3 * value


TABLE = {
    "use_creases": BoolProperty(
        name="Creases", description="Marked edges fold by themselves to their angle, in their frames", default=True
    ),
    "crease_attribute": StringProperty(
        name="Attribute",
        description="An edge attribute to fold as well: its value times the angle below (yes counts as 1). Blender's "
        "own 'crease_edge', 'sharp_edge' or 'uv_seam' will do",
        update=_fold,
    ),
    "crease_angle": FloatProperty(
        name="Angle",
        description="Fold where the attribute is 1: positive folds towards the side the normals point to",
        subtype="ANGLE",
        default=pi / 2,
        min=-pi,
        max=pi,
    ),
    "crease_start": IntProperty(name="Fold Start", description="Frame at which the fold begins", default=1),
    "crease_end": IntProperty(name="End", description="Frame at which the fold is complete", default=24),
    "use_curl": BoolProperty(name="Curl", description="The whole sheet rolls up to a radius", default=False),
    "curl_axis": FloatVectorProperty(
        name="Axis",
        description="Axis of the roll, in the object's own space: the sheet bends round it",
        size=3,
        default=(0.0, 1.0, 0.0),
        subtype="XYZ",
    ),
    "curl_radius": FloatProperty(
        name="Radius",
        description="Radius of the roll [m]; negative rolls the other way, away from the side the normals point to",
        default=0.2,
        soft_min=-10.0,
        soft_max=10.0,
        precision=4,
    ),
    # The same radius, where a length can be typed: Blender's own lengths depend on the scene's unit scale, and those of
    # a camera, in millimetres, do not.
    "curl_length": FloatProperty(
        name="Radius",
        description="Radius of the roll; negative rolls the other way, away from the side the normals point to",
        get=_curl_length,
        set=_set_curl_length,
        soft_min=-1e4,
        soft_max=1e4,
        precision=4,
        subtype="DISTANCE_CAMERA",
    ),
    "curl_start": IntProperty(name="Roll Start", description="Frame at which rolling begins", default=1),
    "curl_end": IntProperty(name="End", description="Frame at which the radius is reached", default=24),
}
