"""Fracture: where and when the sheet breaks."""

from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Image

# Numbers of items stay with their names for ever: files hold them.
TOUGHNESS = [
    ("NONE", "Uniform", "Equally tough everywhere", 0),
    ("WEIGHT", "Vertex Group", "A vertex group or attribute scales it: 1 as set, 0 the factor below", 1),
    ("IMAGE", "Image", "The brightness of an image, read through the UV map, scales it: white as set", 2),
]


def _weld(settings: Any, _context: Any) -> None:
    from ..cache.cracks import weld

    weld(settings.id_data)


TABLE = {
    "use_fracture": BoolProperty(
        name="Fracture",
        description="Edges break where they bend or stretch too far. Baking gives the object a mesh with the cracks; "
        "Delete Bake gives the whole one back",
        default=False,
    ),
    "use_fracture_bend": BoolProperty(
        name="Break by Bending", description="Edges break where the sheet is bent too far", default=True
    ),
    "fracture_along": FloatProperty(
        name="Curvature Along",
        description="Bending at which cracks along the material axis open [1/m]: 1/radius of the tightest bend it "
        "bears. Lower than Across: it splits along its grain",
        default=50.0,
        min=1e-4,
        max=1e8,
        precision=3,
    ),
    "fracture_across": FloatProperty(
        name="Across",
        description="Bending at which cracks across the material axis open [1/m]",
        default=50.0,
        min=1e-4,
        max=1e8,
        precision=3,
    ),
    "use_fracture_stretch": BoolProperty(
        name="Tear by Stretch", description="Edges also break where the sheet is stretched too far", default=False
    ),
    "fracture_stretch": FloatProperty(
        name="Stretch",
        description="Stretch at which the sheet tears [%]; paper about 2, cotton 10 to 20",
        default=5.0,
        min=1e-4,
        max=1000.0,
        precision=3,
    ),
    "toughness_source": EnumProperty(
        name="Toughness", description="What varies the toughness over the surface", items=TOUGHNESS
    ),
    "toughness_weight": StringProperty(
        name="Weight", description="Vertex group or attribute that scales the thresholds; 1 leaves them"
    ),
    "toughness_image": PointerProperty(
        name="Image", description="Image whose brightness scales the thresholds (set it to Non-Color)", type=Image
    ),
    "toughness_uv": StringProperty(
        name="UV Map", description="UV map to read the image through; empty: the active one"
    ),
    "toughness_low": FloatProperty(
        name="Factor at 0",
        description="Factor on the thresholds where the weight is 0 or the image black",
        default=0.1,
        min=1e-6,
        max=1e6,
        precision=3,
    ),
    "use_seam_release": BoolProperty(
        name="Release Seams", description="Sewing edges (Shape > Sewing) let go at a frame", default=False
    ),
    "seam_release": IntProperty(name="Frame", description="Frame at which sewing edges let go", default=50),
    "weld_seams": BoolProperty(
        name="Smooth until Broken",
        description="A Weld modifier joins what has not broken yet, so that nothing shows before the break. Turn it "
        "off where motion blur needs the same number of vertices in every frame",
        default=True,
        update=_weld,
    ),
}
