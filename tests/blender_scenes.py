"""Small scenes for the tests inside Blender, and reading results back."""

from pathlib import Path

import bpy
import numpy as np


def make_mesh(name="Sheet", cells=6, size=2.0, location=(0.0, 0.0, 1.0)):
    """A square sheet of quads, selected, no shell."""
    n = cells + 1
    step = size / cells
    vertices = [(i * step - size / 2, j * step - size / 2, 0.0) for j in range(n) for i in range(n)]
    faces = [
        (j * n + i, j * n + i + 1, (j + 1) * n + i + 1, (j + 1) * n + i) for j in range(cells) for i in range(cells)
    ]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    obj.location = location
    bpy.context.collection.objects.link(obj)
    for other in bpy.context.view_layer.objects:
        other.select_set(False)
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    return obj


def make_grid(name="Sheet", cells=6, size=2.0, location=(0.0, 0.0, 1.0)):
    """A square sheet of quads, a shell that steps by implicit Euler."""
    obj = make_mesh(name, cells, size, location)
    assert bpy.ops.thin_shell.toggle() == {"FINISHED"}
    return by_implicit_euler(obj)


def by_implicit_euler(obj):
    """Name the quickest scheme, for whoever tests something else than how shells move."""
    obj.thin_shell.integrator, obj.thin_shell.strain_limit = "implicit_euler", 0.1
    return obj


def pin(obj, vertices, weight=1.0):
    group = obj.vertex_groups.get("Pin") or obj.vertex_groups.new(name="Pin")
    group.add(list(vertices), weight, "REPLACE")
    obj.thin_shell.pin_group = "Pin"


def evaluated(obj, frame, modifiers=True):
    """World positions of the evaluated object at a frame, (n, 3)."""
    bpy.context.scene.frame_set(frame)
    found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(found.data.vertices), dtype=np.float32)
    found.data.vertices.foreach_get("co", flat)
    matrix = np.array(found.matrix_world)
    return flat.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]


def bake(**options):
    assert bpy.ops.thin_shell.bake(**options) == {"FINISHED"}


def cache_folder():
    return Path(bpy.data.filepath).parent / "thin_shell_cache"


def left():
    """Names of the files in the cache folder, its trash left out."""
    return sorted(path.name for path in cache_folder().iterdir() if path.name != "trash")


def failure(operator, **options):
    """The message of an operator that must fail."""
    try:
        result = operator(**options)
    except RuntimeError as error:
        return str(error)
    raise AssertionError(f"it did not fail: {result}")
