"""Backdrop, lights, camera and renderer: how a baked scene is photographed. Nothing here changes what is baked."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from .card import Picture
from .meshes import Shape
from .objects import mesh_object, positions, shells

MINE = "studio"


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
    shader.inputs["Emission Strength"].default_value = 0.36
    shader.inputs["Roughness"].default_value = 1.0
    shader.inputs["Specular IOR Level"].default_value = 0.0
    made.data.materials.append(material)


def _lights(centre: Vector, reach: float, view: Vector, strength: float) -> None:
    """A warm key from the upper left, a weak cool fill from the right, a rim from behind, and a bright sky."""
    side = view.cross(Vector((0, 0, 1))).normalized()
    up = Vector((0, 0, 1))
    for name, place, size, power, tint in (
        ("Key", view * 0.7 - side * 2.8 + up * 2.2, 0.9, 135.0, (1.0, 0.94, 0.86)),
        ("Fill", view * 2.6 + side * 2.2 + up * 0.8, 3.0, 14.0, (0.84, 0.92, 1.0)),
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
    world.node_tree.nodes["Background"].inputs[1].default_value = 0.22 * strength
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
