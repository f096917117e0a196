"""docs/pictures/dent.png: a can's wall pressed by 250 N at a point, let go, and the same without plasticity.

    python benchmarks/dent_picture.py          with a Python that has Blender as a module

The scene is that of tests/physics/test_plasticity.py on a finer mesh.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import shellcore as sc  # noqa: E402
from meshes import cylinder  # noqa: E402

RADIUS, HEIGHT, LOAD, FRAMES = 0.033, 0.06, 250.0, 12
WIDE, HIGH = 340, 300


def pressed(law: sc.Plasticity | None) -> tuple[np.ndarray, list[np.ndarray]]:
    """Faces, and positions [m] of every frame: the load grows for 0.4 of the run and is gone at 0.6."""
    points, faces = cylinder(48, 16, RADIUS, HEIGHT)
    can = sc.Shell(
        points, faces, sc.Material.preset("can_wall"), "hinge", plasticity=law, damping=sc.Damping(mass=60.0)
    )
    can.pin(can.mesh.boundary_vertices)
    pad = np.flatnonzero(np.linalg.norm(points - np.array([RADIUS, 0.0, 0.5 * HEIGHT]), axis=1) < 0.0055)
    times = np.array([0.0, 0.4, 0.6]) * FRAMES / 24

    def push(t: float) -> np.ndarray:
        return np.tile([-LOAD / len(pad) * np.interp(t, times, [0.0, 1.0, 0.0]), 0.0, 0.0], (len(pad), 1))

    can.load(pad, push)
    frames = list(sc.simulate(sc.Scene([can], gravity=(0, 0, 0)), FRAMES, tolerance=1e-6))
    travel = [1e3 * float((points[pad, 0] - frame.positions[pad, 0]).mean()) for frame in frames]
    print(f"{'can wall' if law else 'elastic'}: {max(travel):.2f} mm at the worst, {travel[-1]:.2f} mm in the end")
    return faces, [frame.positions for frame in frames]


def set_up() -> Any:
    """An empty scene with a wall that reflects light from the side, so that a dent shows."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 48, False
    scene.render.resolution_x, scene.render.resolution_y = WIDE, HIGH
    scene.view_settings.view_transform = "Standard"
    world = scene.world = bpy.data.worlds.new("World")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs[0].default_value = (0.9, 0.92, 1.0, 1.0)
    world.node_tree.nodes["Background"].inputs[1].default_value = 0.25
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (0.19, -0.11, 0.11), (1.21, 0.0, 1.046)
    camera.data.lens = 70
    for place, energy, size in (((0.06, 0.2, 0.12), 0.9, 0.04), ((0.1, -0.25, 0.05), 0.12, 0.2)):
        light = bpy.data.objects.new("Light", bpy.data.lights.new("Light", "AREA"))
        light.data.energy, light.data.size, light.location = energy, size, place
        direction = -np.array(place) + [0.0, 0.0, 0.5 * HEIGHT]
        light.rotation_euler = (
            float(np.arccos(-direction[2] / np.linalg.norm(direction))),
            0.0,
            float(np.arctan2(direction[1], direction[0]) - 0.5 * np.pi),
        )
        scene.collection.objects.link(light)
    scene.collection.objects.link(camera)
    scene.camera = camera
    return scene


def rendered(scene: Any, positions: np.ndarray, faces: np.ndarray, name: str) -> np.ndarray:
    """Picture of one can, (HIGH, WIDE, 3)."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(positions.tolist(), [], faces.tolist())
    mesh.polygons.foreach_set("use_smooth", np.ones(len(faces), dtype=bool))
    metal = bpy.data.materials.new("Aluminium")
    metal.use_nodes = True
    shader = metal.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (0.55, 0.6, 0.68, 1.0)
    shader.inputs["Metallic"].default_value, shader.inputs["Roughness"].default_value = 0.2, 0.4
    mesh.materials.append(metal)
    obj = bpy.data.objects.new(name, mesh)
    scene.collection.objects.link(obj)
    with tempfile.TemporaryDirectory() as folder:
        scene.render.filepath = os.path.join(folder, "can.png")
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(scene.render.filepath)
        pixels = np.array(image.pixels[:], dtype=np.float32).reshape(HIGH, WIDE, 4)
        bpy.data.images.remove(image)
    bpy.data.objects.remove(obj)
    return pixels


def main() -> None:
    scene = set_up()
    faces, metal = pressed(sc.Plasticity.preset("can_wall"))
    _, elastic = pressed(None)
    worst = int(0.4 * FRAMES)
    shown = [(metal[worst], "pressed"), (metal[-1], "kept"), (elastic[-1], "elastic")]
    strip = np.concatenate([rendered(scene, x, faces, name) for x, name in shown], axis=1)
    image = bpy.data.images.new("dent", 3 * WIDE, HIGH)
    image.pixels.foreach_set(strip.ravel())
    image.filepath_raw, image.file_format = str(ROOT / "docs" / "pictures" / "dent.png"), "PNG"
    image.save()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    # Some versions of Blender crash while Python shuts down.
    os._exit(0)
