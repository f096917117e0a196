"""Materials, and things that stand about and touch nothing."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from .meshes import Shape, tube
from .objects import mesh_object

PALETTE = {
    "red": (0.62, 0.075, 0.05),
    "blue": (0.035, 0.14, 0.42),
    "green": (0.07, 0.28, 0.10),
    "yellow": (0.75, 0.42, 0.04),
    "teal": (0.02, 0.30, 0.31),
    "violet": (0.22, 0.08, 0.36),
    "cream": (0.72, 0.63, 0.47),
    "paper": (0.80, 0.78, 0.72),
    "grey": (0.30, 0.31, 0.33),
    "dark": (0.045, 0.047, 0.055),
    "metal": (0.72, 0.73, 0.75),
    "skin": (0.52, 0.50, 0.48),
}


def colour(name: str) -> tuple[float, float, float, float]:
    return (*PALETTE[name], 1.0)


def paint(
    obj: Any,
    front: str,
    back: str = "",
    stripes: float | None = None,
    count: int = 14,
    metallic: float = 0.0,
    rough: float = 0.6,
    sheen: float = 0.0,
    flat: bool = False,
    smooth: bool = True,
) -> None:
    """A material: front and back colour, or stripes along the warp at an angle [rad] from U; metal; flat shading."""
    material = bpy.data.materials.new(f"{obj.name} {front}")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shader = nodes["Principled BSDF"]
    shader.inputs["Roughness"].default_value = rough
    shader.inputs["Metallic"].default_value = metallic
    shader.inputs["Sheen Weight"].default_value = 0.0 if metallic else sheen
    shader.inputs["Specular IOR Level"].default_value = 0.5 if metallic else 0.25
    shader.inputs["Base Color"].default_value = colour(front)
    base = None
    if stripes is not None:
        base = _stripes(nodes, links, front, back or "cream", stripes, count)
    elif back:
        base = _mix(nodes, links, front, back)
        links.new(nodes.new("ShaderNodeNewGeometry").outputs["Backfacing"], base.inputs[0])
    if base is not None:
        links.new(base.outputs[2], shader.inputs["Base Color"])
    obj.data.materials.clear()
    obj.data.materials.append(material)
    if flat:
        obj.data.shade_flat()
    elif smooth and obj.modifiers.get("Smooth") is None:
        modifier = obj.modifiers.new("Smooth", "SUBSURF")
        modifier.render_levels, modifier.show_viewport = 1, False


def _mix(nodes: Any, links: Any, first: str, second: str) -> Any:
    mix = nodes.new("ShaderNodeMix")
    mix.data_type = "RGBA"
    mix.inputs[6].default_value, mix.inputs[7].default_value = colour(first), colour(second)
    return mix


def _stripes(nodes: Any, links: Any, front: str, back: str, angle: float, count: int) -> Any:
    """Threads: bands that run along the warp direction."""
    place = nodes.new("ShaderNodeUVMap")
    turn = nodes.new("ShaderNodeVectorRotate")
    turn.rotation_type = "Z_AXIS"
    turn.inputs["Angle"].default_value = -angle
    split = nodes.new("ShaderNodeSeparateXYZ")
    scale = nodes.new("ShaderNodeMath")
    scale.operation, scale.inputs[1].default_value = "MULTIPLY", float(count)
    fraction = nodes.new("ShaderNodeMath")
    fraction.operation = "FRACT"
    step = nodes.new("ShaderNodeMath")
    step.operation, step.inputs[1].default_value = "GREATER_THAN", 0.8
    links.new(place.outputs[0], turn.inputs["Vector"])
    links.new(turn.outputs[0], split.inputs[0])
    links.new(split.outputs["Y"], scale.inputs[0])
    links.new(scale.outputs[0], fraction.inputs[0])
    links.new(fraction.outputs[0], step.inputs[0])
    mix = _mix(nodes, links, front, back)
    links.new(step.outputs[0], mix.inputs[0])
    return mix


def paint_result(obj: Any, result: str, top: float) -> None:
    """A material that shows the size of a kept result, pull or push, from blue (none) to red (`top` and above)."""
    material = bpy.data.materials.new(f"{obj.name} {result}")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    value = nodes.new("ShaderNodeAttribute")
    value.attribute_name = f"thin_shell_{result}"
    size, scale = nodes.new("ShaderNodeMath"), nodes.new("ShaderNodeMath")
    size.operation = "ABSOLUTE"
    scale.operation, scale.inputs[1].default_value = "DIVIDE", top
    ramp = nodes.new("ShaderNodeValToRGB")
    stops = [(0.0, (0.02, 0.07, 0.35)), (0.3, (0.02, 0.40, 0.45)), (0.6, (0.75, 0.55, 0.05)), (1.0, (0.65, 0.04, 0.02))]
    ramp.color_ramp.elements[0].color, ramp.color_ramp.elements[1].color = (*stops[0][1], 1), (*stops[3][1], 1)
    for place, shade in stops[1:3]:
        ramp.color_ramp.elements.new(place).color = (*shade, 1)
    links.new(value.outputs["Fac"], size.inputs[0])
    links.new(size.outputs[0], scale.inputs[0])
    links.new(scale.outputs[0], ramp.inputs[0])
    links.new(ramp.outputs["Color"], nodes["Principled BSDF"].inputs["Base Color"])
    nodes["Principled BSDF"].inputs["Roughness"].default_value = 0.45
    obj.data.materials.clear()
    obj.data.materials.append(material)


def paint_image(obj: Any, pixels: np.ndarray) -> None:
    """A printed sheet: an image (height, width, 3), row 0 at the bottom, over its UVs; kept inside the file."""
    height, width = pixels.shape[:2]
    image = bpy.data.images.new(f"{obj.name} print", width, height)
    filled = np.concatenate([pixels, np.ones((height, width, 1))], axis=2)
    image.pixels.foreach_set(np.ascontiguousarray(filled, dtype=np.float32).ravel())
    image.update()
    image.pack()
    paint(obj, "paper", smooth=False, rough=0.7)
    tree = obj.data.materials[0].node_tree
    texture, mix = tree.nodes.new("ShaderNodeTexImage"), _mix(tree.nodes, tree.links, "paper", "paper")
    texture.image = image
    tree.links.new(tree.nodes.new("ShaderNodeNewGeometry").outputs["Backfacing"], mix.inputs[0])
    tree.links.new(texture.outputs[0], mix.inputs[6])
    tree.links.new(mix.outputs[2], tree.nodes["Principled BSDF"].inputs["Base Color"])


def mast(at: tuple[float, float, float], height: float, radius: float = 0.012) -> None:
    """A pole to hold a flag; it touches nothing."""
    paint(mesh_object("Mast", tube(radius, height, 16, 1), at), "metal", metallic=1.0, rough=0.3, smooth=False)


def stand(at: tuple[float, float], height: float, radius: float = 0.03) -> None:
    """A column on the floor for a ball to rest on."""
    paint(mesh_object("Stand", tube(radius, height, 24, 1), (*at, 0.0)), "dark", rough=0.4, smooth=False)


def block(centre: tuple[float, float, float], size: tuple[float, float, float], tint: str) -> None:
    """A box: a wall, a table."""
    corners = np.array([(x, y, z) for z in (-0.5, 0.5) for y in (-0.5, 0.5) for x in (-0.5, 0.5)]) * size
    faces = np.array([(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)])
    obj = mesh_object("Block", Shape(corners, faces, np.zeros((8, 2))), centre)
    paint(obj, tint, flat=True)
