"""A bowl that falls and breaks, as an artist would set it up."""

import bmesh
import bpy
import numpy as np
from blender_scenes import by_implicit_euler

RADIUS = 0.1


def make_bowl(subdivisions):
    """Half a ball of unstructured triangles, tilted, with UVs, two materials and smooth shading, over a floor."""
    edited = bmesh.new()
    bmesh.ops.create_icosphere(edited, subdivisions=subdivisions, radius=RADIUS)
    edited.faces.ensure_lookup_table()
    bmesh.ops.delete(edited, geom=[f for f in edited.faces if f.calc_center_median().z > 0.0], context="FACES")
    random = np.random.default_rng(4)
    for vert in edited.verts:
        if not vert.is_boundary:
            vert.co.x += random.normal() * 0.2 * RADIUS / 2**subdivisions
            vert.co *= RADIUS / vert.co.length
        vert.co.y, vert.co.z = 0.94 * vert.co.y - 0.34 * vert.co.z, 0.34 * vert.co.y + 0.94 * vert.co.z
    mesh = bpy.data.meshes.new("Bowl")
    edited.to_mesh(mesh)
    edited.free()
    mesh.polygons.foreach_set("use_smooth", np.ones(len(mesh.polygons), dtype=bool))
    corners = np.array([loop.vertex_index for loop in mesh.loops])
    x = np.array([v.co for v in mesh.vertices])[corners]
    mesh.uv_layers.new(name="Planar").uv.foreach_set("vector", (x[:, :2] / RADIUS).astype(np.float32).ravel())
    for name, colour in (("Blue", (0.1, 0.3, 0.6, 1)), ("White", (0.9, 0.9, 0.85, 1))):
        material = bpy.data.materials.new(name)
        material.diffuse_color = colour
        mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", (np.arange(len(mesh.polygons)) % 3 == 0).astype(np.int32))
    obj = bpy.data.objects.new("Bowl", mesh)
    obj.location = (0, 0, RADIUS + 0.04)
    bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.thin_shell.toggle() == {"FINISHED"}
    by_implicit_euler(obj)
    floor_mesh = bpy.data.meshes.new("Floor")
    floor_mesh.from_pydata([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [], [(0, 1, 2, 3)])
    floor = bpy.data.objects.new("Floor", floor_mesh)
    bpy.context.collection.objects.link(floor)
    floor.modifiers.new("Collision", "COLLISION")
    floor.thin_shell.collider_shape = "PLANE"
    return obj


def drop(obj, last, threshold):
    """A hard fall in slow motion: thin stoneware that breaks at a bend of `threshold` [1/m]."""
    scene, settings = bpy.context.scene, obj.thin_shell
    scene.render.fps, scene.gravity = 240, (0, 0, -100)
    settings.material_source, settings.young, settings.solid_poisson = "SOLID", 7000.0, 0.2
    settings.thickness, settings.density = 0.5, 2400.0
    settings.use_fracture, settings.fracture_along, settings.fracture_across = True, threshold, threshold
    settings.frame_end, settings.substeps, settings.tolerance = last, 2, 5e-4
