"""Blender objects: shells made by the add-on's own buttons, pins, colliders, baking and reading results back."""

from __future__ import annotations

import importlib
from typing import Any

import bpy
import numpy as np

from . import addon
from .meshes import Shape, revolved


class BakeFailed(Exception):
    """A bake did not reach its last frame."""


def empty_scene(path: str, last: int, fps: int = 24) -> None:
    """A new file with frames 1 to `last`."""
    addon.load()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, last, fps
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=True)


def frames(last: int, fps: int = 24) -> None:
    """Frame range and rate of the scene, before shells are made: they take theirs from it."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, last, fps


def mesh_object(name: str, shape: Shape, location: Any = (0, 0, 0), rotation: Any = (0, 0, 0)) -> Any:
    """A mesh with UVs, shaded smooth."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(shape.points.tolist(), [], [list(dict.fromkeys(face)) for face in shape.faces.tolist()])
    corners = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    layer = mesh.uv_layers.new(name="UVMap")
    uv = unrolled(shape.uv[corners], mesh)
    layer.data.foreach_set("uv", uv.astype(np.float32).ravel())
    mesh.shade_smooth()
    obj = bpy.data.objects.new(name, mesh)
    obj.location, obj.rotation_euler = location, rotation
    bpy.context.collection.objects.link(obj)
    return obj


def unrolled(uv: np.ndarray, mesh: Any) -> np.ndarray:
    """Corner UVs with U carried past 1 in the polygons that close a tube, so that no texture runs backwards there."""
    for polygon in mesh.polygons:
        corner = slice(polygon.loop_start, polygon.loop_start + polygon.loop_total)
        u = uv[corner, 0]
        if np.ptp(u) > 0.5:
            uv[corner, 0] = np.where(u < 0.5, u + 1.0, u)
    return uv


def active(obj: Any) -> None:
    """Select this object alone."""
    bpy.context.view_layer.update()
    for other in bpy.context.view_layer.objects:
        other.select_set(False)
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj


def shell(
    name: str, shape: Shape, location: Any = (0, 0, 0), rotation: Any = (0, 0, 0), preset: str = "", **settings: Any
):
    """A mesh made a thin shell by the button of the Physics tab, with settings as the panel names them."""
    obj = mesh_object(name, shape, location, rotation)
    return as_shell(obj, preset, **settings)


def as_shell(obj: Any, preset: str = "", **settings: Any) -> Any:
    """Press Thin Shell for this object."""
    active(obj)
    assert bpy.ops.thin_shell.toggle() == {"FINISHED"}
    if preset:
        assert bpy.ops.thin_shell.preset(name=preset) == {"FINISHED"}
    # The kept files and the facts are of shells as 0.1.0 made them; creases need marks or an attribute besides.
    for name in ("use_creases", "use_outer_thickness", "integrator", "strain_limit"):
        obj.thin_shell.property_unset(name)
    obj.thin_shell.settings_version = 0
    for key, value in settings.items():
        setattr(obj.thin_shell, key, value)
    return obj


def material(
    stretch: float, bend: Any, density: float, poisson: float = 0.25, thickness: float = 0.3, twist: float | None = None
) -> dict[str, Any]:
    """Panel settings of a sheet: stretch E·t [N/m], bend D [mN·m] (one, or warp and weft), weight [kg/m²]."""
    warp, weft = bend if isinstance(bend, tuple) else (bend, bend)
    made = {
        "stretch_warp": stretch / (1 - poisson**2),
        "stretch_weft": stretch / (1 - poisson**2),
        "poisson": poisson,
        "bend_warp": warp,
        "bend_weft": weft,
        "bend_poisson": poisson,
        "areal_density": density,
        "thickness": thickness,
    }
    return made if twist is None else {**made, "twist_auto": False, "twist": twist}


def pin(obj: Any, vertices: Any, weight: float = 1.0) -> None:
    """Add vertices to the group that the shell pins."""
    group = obj.vertex_groups.get("Pin") or obj.vertex_groups.new(name="Pin")
    group.add([int(v) for v in vertices], weight, "REPLACE")
    obj.thin_shell.pin_group = group.name


def hook(obj: Any, vertices: Any, name: str, at: Any) -> Any:
    """An empty that carries these vertices of the object along; for pins that turn or travel."""
    handle = bpy.data.objects.new(name, None)
    handle.location = at
    handle.empty_display_size = 0.05
    bpy.context.collection.objects.link(handle)
    bpy.context.view_layer.update()
    group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
    group.add([int(v) for v in vertices], 1.0, "REPLACE")
    modifier = obj.modifiers.new(name, "HOOK")
    modifier.object, modifier.vertex_group = handle, group.name
    modifier.matrix_inverse = handle.matrix_world.inverted() @ obj.matrix_world
    # What comes before Thin Shell in the stack moves its pins.
    obj.modifiers.move(len(obj.modifiers) - 1, 0)
    return handle


def key(obj: Any, path: str, *pairs: tuple[int, Any]) -> None:
    """Keyframes (frame, value) of a property, with straight lines between."""
    for frame, value in pairs:
        setattr(obj, path, value)
        obj.keyframe_insert(path, frame=frame)
    for curve in curves_of(obj):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def curves_of(obj: Any) -> list[Any]:
    """Animation curves of an object, in the old and the new place of them."""
    action = obj.animation_data.action
    if hasattr(action, "fcurves"):
        return list(action.fcurves)
    return [
        curve for layer in action.layers for strip in layer.strips for bag in strip.channelbags for curve in bag.fcurves
    ]


def collider(obj: Any, shape: str, friction: float = 1.0) -> Any:
    """Collision physics; `shape` as in "Shape for Thin Shell", friction as a factor on the shells' own."""
    obj.modifiers.new("Collision", "COLLISION")
    obj.thin_shell.collider_shape = shape
    obj.collision.cloth_friction = 5.0 * friction
    return obj


def ground(height: float = 0.0, friction: float = 1.0) -> Any:
    """An endless floor to land on; the studio draws its own."""
    square = Shape(
        np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], float), np.array([[0, 1, 2, 3]]), np.zeros((4, 2))
    )
    obj = mesh_object("Floor", square, (0, 0, height))
    obj.hide_render = True
    return collider(obj, "PLANE", friction)


def ball(
    name: str,
    centre: Any,
    radius: float,
    friction: float = 1.0,
    segments: int = 48,
    collides: bool = True,
    drawn: float = 0.985,
) -> Any:
    """A sphere, to drape over; it is drawn at a share of what collides, as a smoothed sheet cuts its corners."""
    latitude = np.linspace(np.pi, 0, segments // 2 + 1)
    profile = np.column_stack([np.sin(latitude), np.cos(latitude)])
    profile[[0, -1], 0] = 1e-6
    if collides:
        solid = mesh_object(f"{name} (collider)", revolved(radius * profile, segments), centre)
        collider(solid, "SPHERE", friction).hide_render = True
        radius *= drawn
    return mesh_object(name, revolved(radius * profile, segments), centre)


def shells() -> list[Any]:
    """Every thin shell of the scene, by name."""
    return sorted(
        (o for o in bpy.context.scene.objects if o.type == "MESH" and o.thin_shell.enabled), key=lambda o: o.name
    )


def bake() -> None:
    """Press Bake All; raises unless every shell reached its last frame."""
    try:
        assert bpy.ops.thin_shell.bake(everything=True) == {"FINISHED"}
    except RuntimeError as error:
        raise BakeFailed(str(error)) from None
    for obj in shells():
        settings = obj.thin_shell
        if not settings.baked_complete:
            raise BakeFailed(f"{obj.name} stopped at frame {settings.baked_start + settings.baked_samples - 1}")


def positions(obj: Any, frame: int) -> np.ndarray:
    """World positions of the baked object at a frame, (n, 3) [m]."""
    bpy.context.scene.frame_set(frame)
    found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(found.data.vertices), dtype=np.float32)
    found.data.vertices.foreach_get("co", flat)
    matrix = np.array(found.matrix_world)
    return flat.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]


def motion(obj: Any, first: int = 1, last: int | None = None) -> np.ndarray:
    """Positions of all frames, (frames, n, 3)."""
    last = obj.thin_shell.frame_end if last is None else last
    return np.array([positions(obj, frame) for frame in range(first, last + 1)])


def triangles(obj: Any) -> np.ndarray:
    """Faces as the add-on cuts them into triangles, (m, 3)."""
    mesh = importlib.import_module(f"{addon.load().__name__}.addon.bridge.mesh")
    return mesh.read(obj.data).faces


def crossings(obj: Any, path: np.ndarray) -> int:
    """Pairs of triangles of the shell that intersect, by the core's exact check, in the worst frame of a `path`."""
    name = f"{addon.core().__name__}.contact.intersections"
    exact, faces = importlib.import_module(name).intersections, triangles(obj)
    return max(len(exact(x, faces)) for x in path)


def local(obj: Any) -> np.ndarray:
    """Vertex positions of the mesh itself, (n, 3)."""
    flat = np.empty(3 * len(obj.data.vertices), dtype=np.float32)
    obj.data.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(float)


def play(obj: Any, samples: Any, start: int = 1) -> None:
    """Play positions (frames, n, 3), in the object's space, as a bake is played: the add-on's own point cache."""
    name = addon.load().__name__
    pc2, playback = (importlib.import_module(f"{name}.addon.cache.{part}") for part in ("pc2", "playback"))
    paths = importlib.import_module(f"{name}.addon.bake.location").write_paths(obj)
    paths.folder.mkdir(parents=True, exist_ok=True)
    writer = pc2.Writer(paths.pc2, len(samples[0]), float(start))
    for x in samples:
        writer.append(x)
    writer.publish()
    writer.close()
    playback.play_points(obj, paths.pc2, start)
