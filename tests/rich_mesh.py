"""A mesh with one of everything that it can carry, and reading all of it back."""

import bmesh
import bpy
import numpy as np
from blender_scenes import make_grid
from thin_shell.addon.cache import cracks

FLOATS = {"FLOAT": 1, "FLOAT2": 2, "FLOAT_VECTOR": 3, "FLOAT_COLOR": 4, "BYTE_COLOR": 4}


def rich_dome():
    """Quads, triangles and n-gons with one of everything a mesh can carry."""
    obj = make_grid("Dome", cells=12)
    mesh = obj.data
    edited = bmesh.new()
    edited.from_mesh(mesh)
    edited.verts.ensure_lookup_table()
    for vert in edited.verts:
        vert.co.z = 0.6 * np.cos(vert.co.x) * np.cos(vert.co.y)
    bmesh.ops.dissolve_verts(edited, verts=[edited.verts[45], edited.verts[109]])
    bmesh.ops.triangulate(edited, faces=[f for f in edited.faces if f.calc_center_median().x < -0.5])
    edited.to_mesh(mesh)
    edited.free()
    mesh.uv_layers.new(name="UVMap")
    random = np.random.default_rng(3)
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Tall")
    for point in key.data:
        point.co.z *= 1.5
    for name, share in (("Left", 0.5), ("Right", 0.3)):
        group = obj.vertex_groups.new(name=name)
        for v in np.flatnonzero(random.random(len(mesh.vertices)) < share):
            group.add([int(v)], float(random.random()), "REPLACE")
    for index in range(2):
        mesh.materials.append(bpy.data.materials.new(f"Material {index}"))
    mesh.polygons.foreach_set("material_index", random.integers(0, 2, len(mesh.polygons)).astype(np.int32))
    mesh.polygons.foreach_set("use_smooth", random.random(len(mesh.polygons)) < 0.8)
    for kind, width in FLOATS.items():
        for domain, items in (("POINT", mesh.vertices), ("CORNER", mesh.loops), ("FACE", mesh.polygons)):
            values = random.random(width * len(items)).astype(np.float32)
            layer = mesh.attributes.new(f"{domain} {kind}", kind, domain)
            layer.data.foreach_set({1: "value", 4: "color"}.get(width, "vector"), values)
    for name, kind in (("sharp_edge", "BOOLEAN"), ("crease_edge", "FLOAT"), ("own", "INT")):
        layer = mesh.attributes.get(name) or mesh.attributes.new(name, kind, "EDGE")
        dtype = {"BOOLEAN": bool, "FLOAT": np.float32, "INT": np.int32}[kind]
        layer.data.foreach_set("value", (random.random(len(mesh.edges)) * 4).astype(dtype))
    for edge in list(mesh.edges)[::7]:
        edge.use_seam = True
    mesh["note"] = "kept"
    return obj


def values_of(attribute):
    name, kind, width = cracks.ATTRIBUTE_VALUES[attribute.data_type]
    values = np.empty(width * len(attribute.data), dtype=kind)
    attribute.data.foreach_get(name, values)
    return values.reshape(len(attribute.data), width)


def weights_of(mesh):
    return [sorted((g.group, round(g.weight, 6)) for g in v.groups) for v in mesh.vertices]


def everything(mesh):
    """All of a mesh that can be compared, by name."""
    found = {a.name: values_of(a).tolist() for a in mesh.attributes if not a.name.startswith(".select")}
    found["faces"] = [list(p.vertices) for p in mesh.polygons]
    found["weights"], found["materials"] = weights_of(mesh), [m.name for m in mesh.materials]
    found["seams"] = [e.use_seam for e in mesh.edges]
    if mesh.shape_keys is not None:
        found["keys"] = {k.name: [tuple(p.co) for p in k.data] for k in mesh.shape_keys.key_blocks}
    return found
