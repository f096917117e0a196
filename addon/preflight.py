"""Looking a scene over before a bake: what is wrong, on which object, at which faces, and what to do."""

from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from .. import shellcore as sc
from .bake.location import folder_of
from .bridge.build import build, located
from .bridge.colliders import collider_objects, collider_shape
from .bridge.forces import unsupported_fields
from .bridge.mesh import MeshArrays, input_modifiers, inputs_visible, read
from .bridge.units import gravity, metres_per_unit, to_world
from .cache import playback
from .cache.files import CacheError
from .errors import UserError
from .realtime.handles import faults as handle_faults
from .realtime.properties import is_modal


@dataclass
class Issue:
    """`level`: ERROR stops a bake, WARNING does not."""

    level: str
    message: str
    object: str = ""
    polygons: list[int] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    vertices: list[int] = field(default_factory=list)


def look_over(scene: Any, objects: list[Any]) -> list[Issue]:
    """Everything found, errors first."""
    found: list[Issue] = []
    found += _scene(scene, objects)
    with inputs_visible(objects):
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for obj in objects:
            found += _object(obj, depsgraph, metres_per_unit(scene))
        if not any(issue.level == "ERROR" for issue in found):
            found += _trial(scene, objects)
    return sorted(found, key=lambda issue: issue.level != "ERROR")


def _scene(scene: Any, objects: list[Any]) -> list[Issue]:
    found = []
    for obj in objects:
        try:
            folder_of(obj)
        except CacheError as error:
            found.append(Issue("ERROR", f"{obj.name}: {error}", obj.name))
    for obj in collider_objects(scene, objects):
        try:
            collider_shape(obj)
        except UserError as error:
            found.append(Issue("ERROR", str(error), obj.name))
    for obj in unsupported_fields(scene):
        found.append(
            Issue(
                "WARNING", f"the force field '{obj.name}' ({obj.field.type.title()}) has no effect on shells", obj.name
            )
        )
    pull = float(np.linalg.norm(gravity(scene)))
    if scene.use_gravity and metres_per_unit(scene) != 1.0 and not 1.0 < pull < 30.0:
        found.append(
            Issue("WARNING", f"gravity is {pull:.3g} m/s² at this unit scale: type 9.81 in the Scene tab for Earth's")
        )
    return found


def _object(obj: Any, depsgraph: Any, scale: float) -> list[Issue]:
    name, settings = obj.name, obj.thin_shell
    found = []
    if obj.library is not None:
        found.append(
            Issue("ERROR", f"{name} is linked from {obj.library.name}: make a library override to bake it here", name)
        )
    if obj.matrix_world.determinant() < 0:
        found.append(
            Issue("WARNING", f"{name} has a negative scale, which turns its inside out: apply it (Ctrl A, Scale)", name)
        )
    if settings.pin_group and settings.pin_group not in obj.vertex_groups:
        found.append(
            Issue(
                "ERROR",
                f"{name}: there is no vertex group '{settings.pin_group}' to pin: choose one in Shape or "
                f"clear the field",
                name,
            )
        )
    for modifier in input_modifiers(obj):
        if modifier.type == "SUBSURF" and modifier.levels != modifier.render_levels:
            found.append(
                Issue(
                    "ERROR",
                    f"{name}: '{modifier.name}' above Thin Shell has other levels for the viewport and the "
                    f"render: make them equal",
                    name,
                )
            )
    if is_modal(obj):
        found += [Issue("ERROR", text, name) for text in handle_faults(obj)]
        if settings.use_collision and collider_objects(bpy.context.scene, [obj]):
            found.append(Issue("WARNING", f"{name} moves in real time, where colliders have no effect", name))
    if settings.cache_target == "SHAPE_KEYS":
        try:
            playback.check_shape_keys(obj)
        except UserError as error:
            found.append(Issue("ERROR", str(error), name))
        size = 12.0 * len(obj.data.vertices) * max(settings.frame_end - settings.frame_start + 1, 1)
        if size > playback.LARGE_KEYS:
            found.append(
                Issue(
                    "WARNING",
                    f"{name}: shape keys will add {size / 1e6:.0f} MB to the file: a point cache is lighter",
                    name,
                )
            )
    if not obj.visible_get() and name not in bpy.context.view_layer.objects:
        found.append(
            Issue("ERROR", f"{name} is in no visible collection of this view layer: include its collection", name)
        )
        return found
    return found + _mesh(obj, depsgraph, scale)


def _mesh(obj: Any, depsgraph: Any, scale: float) -> list[Issue]:
    name = obj.name
    evaluated = obj.evaluated_get(depsgraph)
    arrays = read(evaluated.data)
    if len(arrays.faces) == 0:
        return [Issue("ERROR", f"{name} has no faces: a shell needs a surface", name)]
    world = to_world(arrays.positions, np.array(evaluated.matrix_world, dtype=np.float64), scale)
    found = []
    try:
        sc.Shell(world, arrays.faces, sc.Material.preset("reference"), bending="hinge")
    except sc.ShellError as error:
        fault = located(error, name, arrays)
        found.append(Issue("ERROR", str(fault), name, fault.polygons, fault.edges, fault.vertices))
        return found
    crossing = intersections(world, arrays)
    if crossing:
        listed = ", ".join(map(str, crossing[:5])) + (" and more" if len(crossing) > 5 else "")
        found.append(
            Issue(
                "WARNING",
                f"{name}: faces {listed} pass through each other: part them before the first frame",
                name,
                crossing,
            )
        )
    return found


def intersections(world: Any, arrays: MeshArrays) -> list[int]:
    """Polygons that cut through others of the same mesh."""
    from mathutils.bvhtree import BVHTree

    tree: Any = BVHTree.FromPolygons(world.tolist(), arrays.faces.tolist(), all_triangles=True)
    pairs = np.array(tree.overlap(tree), dtype=np.int64).reshape(-1, 2)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    if len(pairs) == 0:
        return []
    first, second = arrays.faces[pairs[:, 0]], arrays.faces[pairs[:, 1]]
    # Neighbours touch at their common corners, which is no fault.
    touching = (first[:, :, None] == second[:, None, :]).any(axis=(1, 2))
    return sorted({int(p) for p in arrays.polygons[pairs[~touching].ravel()]})


def _trial(scene: Any, objects: list[Any]) -> list[Issue]:
    """What only building the simulation finds: weights, axes, rest shapes, model and material."""
    try:
        build(scene, objects)
    except UserError as error:
        return [Issue("ERROR", str(error), error.object, error.polygons, error.edges, error.vertices)]
    except sc.ShellError as error:
        return [Issue("ERROR", str(error))]
    return []
