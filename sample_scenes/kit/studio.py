"""The studio: backdrop, lights, camera and materials, sized to what stands in it."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from .card import Picture
from .meshes import Shape, tube
from .objects import mesh_object, positions, shells

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
MINE = "studio"


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


def set_up(picture: Picture) -> None:
    """Backdrop, lights and a camera that holds everything the strip shows."""
    for old in [obj for obj in bpy.data.objects if obj.get(MINE)]:
        bpy.data.objects.remove(old)
    cloud = _subject(picture)
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    centre, reach = (low + high) / 2, float(np.linalg.norm(high - low)) / 2
    _backdrop(centre, reach, picture)
    view = Vector(picture.view).normalized()
    _lights(Vector(centre), reach, view, picture.light)
    _camera(cloud, centre, view, picture)


def _subject(picture: Picture) -> np.ndarray:
    """All points that any frame of the strip shows, (n, 3)."""
    seen = [bpy.data.objects[name] for name in picture.follow] or shells()
    return np.concatenate([positions(obj, frame) for frame in picture.framing or picture.frames for obj in seen])


def _link(obj: Any) -> Any:
    obj[MINE] = True
    bpy.context.collection.objects.link(obj)
    return obj


def _backdrop(centre: np.ndarray, reach: float, picture: Picture) -> None:
    """A floor that curves up into a wall behind the subject, as seen from the camera: wide enough to show no edge."""
    size, far, round_by = 40 * reach, 5.0 * reach, 9.0 * reach
    floor = picture.floor if picture.floor is not None else centre[2] - 3.2 * reach
    bend = np.linspace(0, np.pi / 2, 33)
    profile = np.concatenate(
        [
            [(-size, 0.0)],
            np.column_stack([far + round_by * np.sin(bend), round_by * (1 - np.cos(bend))]),
            [(far + round_by, size)],
        ]
    )
    side = np.array([-size, size])
    points = np.array([(x, y, z) for y, z in profile for x in side])
    j = np.arange(len(profile) - 1)
    faces = np.column_stack([2 * j, 2 * j + 1, 2 * j + 3, 2 * j + 2])
    turn = np.arctan2(picture.view[0], -picture.view[1])
    made = mesh_object("Backdrop", Shape(points, faces, np.zeros((len(points), 2))))
    made.location, made.rotation_euler = (centre[0], centre[1], floor), (0, 0, turn)
    made[MINE] = True
    material = bpy.data.materials.new("Backdrop")
    material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (0.62, 0.615, 0.60, 1)
    # It shines a little by itself, so that the wall behind does not darken with its distance from the lamps.
    shader.inputs["Emission Color"].default_value = (0.86, 0.88, 0.90, 1)
    shader.inputs["Emission Strength"].default_value = 0.22
    shader.inputs["Roughness"].default_value = 1.0
    shader.inputs["Specular IOR Level"].default_value = 0.0
    made.data.materials.append(material)


def _lights(centre: Vector, reach: float, view: Vector, strength: float) -> None:
    """A warm key from the upper left, a weak cool fill from the right, a rim from behind, and a bright sky."""
    side = view.cross(Vector((0, 0, 1))).normalized()
    up = Vector((0, 0, 1))
    for name, place, size, power, tint in (
        ("Key", view * 1.2 - side * 2.6 + up * 2.8, 1.3, 105.0, (1.0, 0.94, 0.86)),
        ("Fill", view * 2.2 + side * 3.0 + up * 0.6, 3.0, 10.0, (0.84, 0.92, 1.0)),
        ("Rim", -view * 2.0 + side * 1.8 + up * 2.4, 1.2, 45.0, (1.0, 1.0, 1.0)),
    ):
        lamp = bpy.data.lights.new(name, "AREA")
        lamp.shape, lamp.size, lamp.color = "DISK", size * reach, tint
        lamp.energy = strength * power * reach**2
        obj = _link(bpy.data.objects.new(name, lamp))
        obj.location = centre + place * reach
        obj.rotation_euler = (centre - obj.location).to_track_quat("-Z", "Y").to_euler()
    world = bpy.data.worlds.new("Studio")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs[0].default_value = (0.86, 0.91, 1.0, 1)
    world.node_tree.nodes["Background"].inputs[1].default_value = 0.5 * strength
    bpy.context.scene.world = world


def _camera(cloud: np.ndarray, centre: np.ndarray, view: Vector, picture: Picture) -> None:
    scene = bpy.context.scene
    scene.render.resolution_x, scene.render.resolution_y = picture.panel
    camera = bpy.data.cameras.new("Camera")
    camera.lens, camera.clip_start, camera.clip_end = picture.lens, 0.001, 1000
    obj = _link(bpy.data.objects.new("Camera", camera))
    obj.rotation_euler = (-view).to_track_quat("-Z", "Y").to_euler()
    obj.location = Vector(centre) + view
    scene.camera = obj
    bpy.context.view_layer.update()
    # Somewhat larger than the subject, about its middle, so that nothing touches the edge of the picture.
    larger = (centre + picture.margin * (cloud - centre)).ravel()
    place, _ = obj.camera_fit_coords(bpy.context.evaluated_depsgraph_get(), larger.tolist())
    obj.location = place


def engine(samples: int) -> None:
    """Cycles on the processor, denoised where this Blender can, always from the same seed."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    cycles = scene.cycles
    cycles.device, cycles.samples, cycles.seed = "CPU", samples, 7
    cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 4, 2, 3
    try:
        cycles.denoiser, cycles.use_denoising = "OPENIMAGEDENOISE", True
    except TypeError:
        cycles.use_denoising = False
    scene.render.use_persistent_data = False
    # Made for pictures of products: colours stay as painted.
    scene.view_settings.view_transform = "Khronos PBR Neutral"
    scene.view_settings.look = "None"
    scene.view_settings.exposure = 0.0
