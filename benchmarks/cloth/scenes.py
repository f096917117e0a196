"""The scenes both sides bake: one mesh, once with Blender's Cloth, once as a thin shell through the add-on.

A sheet of 2 m, 24 frames at 24 fps. Cloth has its default settings (quality 5; it gives every vertex 0.3 kg), the shell
the reference material (E·t = 2e3 N/m, ν = 0.25, 0.15 kg/m², D = 5e-5 N·m), Implicit Euler and else the panel's
defaults.
"""

from __future__ import annotations

import importlib.util
import math
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import bpy
import numpy as np

import meshes

ROOT = Path(__file__).resolve().parents[2]
SIDE, FRAMES = 2.0, 24
CASES = ("pinned", "flag", "drape", "self-contact")
KINDS = ("regular", "irregular")
# Presses 3 Pa on a wall: our air then blows at 2.2 m/s. More stretches this material by over 0.1%, whoever solves it.
WIND_STRENGTH = 150.0
BALL = 0.5


def add_on() -> Any:
    """The add-on as Blender loads it: a package that holds the core; registered."""
    name = "thin_shell"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            name, ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
        )
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        module.register()
    return sys.modules[name]


def sheet(kind: str, count: int) -> tuple[Any, list[Any]]:
    """Vertices (n, 2) and polygons of a square sheet: quads in rows and columns, or scattered triangles."""
    if kind == "irregular":
        points, faces = meshes.unstructured(count, SIDE, SIDE)
        return points[:, :2] - SIDE / 2, faces.tolist()
    n = math.isqrt(count)
    x, y = np.meshgrid(np.linspace(-SIDE / 2, SIDE / 2, n), np.linspace(-SIDE / 2, SIDE / 2, n))
    i, j = (index.ravel() for index in np.meshgrid(np.arange(n - 1), np.arange(n - 1)))
    a = i + j * n
    return np.column_stack([x.ravel(), y.ravel()]), np.column_stack([a, a + 1, a + n + 1, a + n]).tolist()


def build(case: str, kind: str, count: int) -> Any:
    """An empty, saved file with the scene of a case; the object that shall move, with nothing on it yet."""
    add_on()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    folder = tempfile.mkdtemp(prefix="against_cloth_")
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder) / "scene.blend"))
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES + 1, 24
    scene.frame_set(1)
    flat, polygons = sheet(kind, count)
    points = np.zeros((len(flat), 3))
    points[:, :2] = flat
    mesh = bpy.data.meshes.new("Sheet")
    mesh.from_pydata(points.tolist(), [], polygons)
    obj = bpy.data.objects.new("Sheet", mesh)
    scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    edge = -SIDE / 2 + 1e-6
    held = {
        "pinned": (flat[:, 1] > -edge) & (np.abs(flat[:, 0]) > -edge),
        "flag": flat[:, 0] < edge,
    }.get(case, np.zeros(len(flat), dtype=bool))
    if held.any():
        obj.vertex_groups.new(name="Pin").add(np.flatnonzero(held).tolist(), 1.0, "REPLACE")
    if case == "flag":
        # Along the sheet and a little across it.
        wind = bpy.data.objects.new("Wind", None)
        wind.rotation_euler = (0.0, math.pi / 2, math.atan(0.2))
        scene.collection.objects.link(wind)
        bpy.context.view_layer.update()
        with bpy.context.temp_override(object=wind, active_object=wind):
            bpy.ops.object.forcefield_toggle()
        wind.field.type, wind.field.strength = "WIND", WIND_STRENGTH
    if case in ("drape", "self-contact"):
        bpy.ops.mesh.primitive_uv_sphere_add(
            segments=48, ring_count=24, radius=BALL, location=(0.13, 0.07, -BALL - 0.06)
        )
        ball = bpy.context.object
        ball.name = "Ball"
        bpy.ops.object.modifier_add(type="COLLISION")
        ball.select_set(False)
        obj.select_set(True)
        bpy.context.view_layer.objects.active = obj
    return obj


def bake_cloth(obj: Any, case: str) -> tuple[float, Any]:
    """Seconds of Cloth's own bake, and the last frame's vertices in the world, (n, 3)."""
    modifier = obj.modifiers.new("Cloth", "CLOTH")
    modifier.settings.quality = 5
    if "Pin" in obj.vertex_groups:
        modifier.settings.vertex_group_mass = "Pin"
    modifier.collision_settings.use_self_collision = case == "self-contact"
    modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, FRAMES + 1
    began = time.perf_counter()
    with bpy.context.temp_override(point_cache=modifier.point_cache):
        bpy.ops.ptcache.bake(bake=True)
    seconds = time.perf_counter() - began
    return seconds, last_frame(obj)


def enable_shell(obj: Any, case: str) -> None:
    """The object as a thin shell that steps once a frame, else at the panel's defaults, with pins, self contact asked.

    Implicit Euler damps as Cloth does, and the recorded ratios are its.
    """
    bpy.ops.thin_shell.toggle()
    settings = obj.thin_shell
    settings.frame_start, settings.frame_end = 1, FRAMES + 1
    settings.integrator, settings.strain_limit = "implicit_euler", 0.1
    settings.self_contact = case == "self-contact"
    if "Pin" in obj.vertex_groups:
        settings.pin_group = "Pin"


def bake_shell(obj: Any, case: str) -> tuple[float, Any]:
    """Seconds of a whole bake by the add-on, cache written and attached, and the last frame's vertices, (n, 3)."""
    enable_shell(obj, case)
    began = time.perf_counter()
    done = bpy.ops.thin_shell.bake()
    seconds = time.perf_counter() - began
    if done != {"FINISHED"}:
        raise RuntimeError(f"the bake of {case} ended with {done}")
    return seconds, last_frame(obj)


def last_frame(obj: Any) -> Any:
    bpy.context.scene.frame_set(FRAMES + 1)
    found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(found.data.vertices), dtype=np.float32)
    found.data.vertices.foreach_get("co", flat)
    matrix = np.array(found.matrix_world)
    return flat.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]


def simulation(obj: Any, case: str) -> Any:
    """The core's scene as the add-on would bake it."""
    package = add_on()
    enable_shell(obj, case)
    from thin_shell.addon.bridge.build import build as built
    from thin_shell.addon.bridge.mesh import inputs_visible

    assert package is not None
    with inputs_visible([obj]):
        return built(bpy.context.scene, [obj]).scene


def edge_strain(obj: Any, x: Any) -> dict[str, float]:
    """Mean and peak of |length / rest length − 1| over the edges of the mesh."""
    ends = np.empty(2 * len(obj.data.edges), dtype=np.int32)
    obj.data.edges.foreach_get("vertices", ends)
    ends = ends.reshape(-1, 2)
    rest = np.empty(3 * len(obj.data.vertices), dtype=np.float32)
    obj.data.vertices.foreach_get("co", rest)
    lengths = [np.linalg.norm(p[ends[:, 1]] - p[ends[:, 0]], axis=1) for p in (x, rest.reshape(-1, 3).astype(float))]
    strain = np.abs(lengths[0] / lengths[1] - 1.0)
    return {"mean strain": float(strain.mean()), "peak strain": float(strain.max())}


def triangles(obj: Any) -> Any:
    """Triangles of an object's mesh as the add-on cuts it, (m, 3): quads by alternating diagonals."""
    from thin_shell.addon.bridge.mesh import read

    return read(obj.data).faces


def crossings(obj: Any, case: str, x: Any) -> dict[str, int]:
    """Pairs of triangles of the sheet that cross each other (where self contact is on) and the ball."""
    add_on()
    from thin_shell.shellcore.contact import intersections

    ball = bpy.data.objects["Ball"]
    points = np.array([ball.matrix_world @ v.co for v in ball.data.vertices])
    faces = triangles(obj)
    found = {"crossings with the ball": len(intersections(x, faces, points, triangles(ball)))}
    if case == "self-contact":
        found["crossings with itself"] = len(intersections(x, faces))
    return found
