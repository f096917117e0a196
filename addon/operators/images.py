"""Axis images: paint simple ones, load the examples."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..bridge.axis_image import paint
from .setup import OnFreeSettings

IMAGES = Path(__file__).resolve().parent.parent / "images"
PATTERNS = [
    ("UNIFORM", "Uniform", "One direction everywhere"),
    ("RADIAL", "Radial", "Away from the middle of the UV square"),
    ("DIAGONAL", "Diagonal", "At 45° between U and V"),
    ("HERRINGBONE", "Herringbone", "Stripes of two diagonals"),
]
EXAMPLES = [
    ("RADIAL", "Radial", "Spokes, as in a leaf or an umbrella"),
    ("HERRINGBONE", "Herringbone", "A woven zigzag"),
]


class THIN_SHELL_OT_paint_axes(OnFreeSettings, bpy.types.Operator):
    bl_idname = "thin_shell.paint_axes"
    bl_label = "New Axis Map"
    bl_description = "Make an image that holds the warp direction and use it for this shell"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    pattern: EnumProperty(name="Pattern", items=PATTERNS)  # type: ignore[valid-type]
    angle: FloatProperty(name="Turn", description="Further turn from U towards V", subtype="ANGLE")  # type: ignore[valid-type]
    size: IntProperty(name="Size", description="Width and height in pixels", default=256, min=4, max=8192)  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: Any) -> bool:
        return super().poll(context) and context.object.thin_shell.enabled

    def execute(self, context: Any) -> set[str]:
        image: Any = bpy.data.images.new(
            f"{self.pattern.title()} Axes", self.size, self.size, alpha=False, float_buffer=False
        )
        image.colorspace_settings.name = "Non-Color"
        image.pixels.foreach_set(
            np.ascontiguousarray(paint(self.pattern, self.size, self.angle), dtype=np.float32).ravel()
        )
        image.update()
        image.pack()
        use(context.object, image)
        return {"FINISHED"}


class THIN_SHELL_OT_example_axes(OnFreeSettings, bpy.types.Operator):
    bl_idname = "thin_shell.example_axes"
    bl_label = "Load Example"
    bl_description = "Load an axis image that comes with Thin Shell"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    example: EnumProperty(name="Example", items=EXAMPLES)  # type: ignore[valid-type]
    pack: BoolProperty(name="Pack", description="Keep the image inside the .blend file", default=True)  # type: ignore[valid-type]

    @classmethod
    def poll(cls, context: Any) -> bool:
        return super().poll(context) and context.object.thin_shell.enabled

    def execute(self, context: Any) -> set[str]:
        image = bpy.data.images.load(str(IMAGES / f"axes_{self.example.lower()}.png"), check_existing=False)
        image.colorspace_settings.name = "Non-Color"
        if self.pack:
            image.pack()
        use(context.object, image)
        return {"FINISHED"}


def use(obj: Any, image: Any) -> None:
    """Read the shell's warp direction from the image."""
    settings = obj.thin_shell
    settings.axes_image, settings.axes_source, settings.axes_encoding = image, "IMAGE", "DOUBLE_ANGLE"


register, unregister = bpy.utils.register_classes_factory((THIN_SHELL_OT_paint_axes, THIN_SHELL_OT_example_axes))
