"""Looking a scene over before a bake: what is wrong, on which object, at which faces, and what to do.

`modifiers` compares viewport and render, `animation` finds what is keyed in vain, `gap` what starts too near; `results`
keeps what was found for the panels.
"""

from typing import Any

import bpy
import numpy as np

from ... import shellcore as sc
from .. import compat
from ..bake.location import folder_of
from ..bridge.build import build, located
from ..bridge.colliders import chosen_colliders, collider_shape
from ..bridge.forces import chosen_fields, unsupported_fields
from ..bridge.lookup import takes_part, taking_part
from ..bridge.mesh import MeshArrays, inputs_visible, read
from ..bridge.units import gravity, metres_per_unit, to_world
from ..cache import playback
from ..cache.files import CacheError
from ..errors import UserError
from ..realtime.handles import faults as handle_faults
from ..realtime.properties import is_modal
from . import animation, results
from .gap import starts_inside
from .issue import Issue, error, of_error, warning
from .modifiers import found_above
from .pattern import unlike

__all__ = ["Issue", "look_over", "of_error", "refuse", "results"]


def look_over(scene: Any, objects: list[Any]) -> list[Issue]:
    """Everything found about shells that are simulated together, errors first."""
    with inputs_visible(objects):
        found = quick_look(scene, objects, objects[0].thin_shell.cache_target)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for obj in objects:
            if takes_part(obj):
                found += _mesh(obj, depsgraph, metres_per_unit(scene))
        if not any(issue.level == "ERROR" for issue in found):
            found += _trial(scene, objects)
    found.sort(key=lambda issue: issue.level != "ERROR")
    results.remember(found, objects)
    return found


def refuse(scene: Any, objects: list[Any], target: str) -> list[Issue]:
    """What a bake must not begin with raises `UserError`; the warnings otherwise. Inputs are visible.

    Meshes and materials are not tried here: building the simulation, which comes next, says what is wrong with them.
    """
    found = quick_look(scene, objects, target)
    results.remember(found, objects)
    errors = [issue for issue in found if issue.level == "ERROR"]
    if errors:
        more = f" (and {len(errors) - 1} more: press Check)" if len(errors) > 1 else ""
        raise UserError(f"{errors[0].message}{more}", object=errors[0].object)
    return found


def quick_look(scene: Any, objects: list[Any], target: str) -> list[Issue]:
    """What can be found without reading meshes, of a bake to `target`; inputs are visible."""
    found = _scene(scene, objects)
    for obj in objects:
        found += _object(scene, obj, target)
    return found


def _scene(scene: Any, objects: list[Any]) -> list[Issue]:
    found = []
    for obj in objects:
        try:
            folder_of(obj)
        except CacheError as fault:
            found.append(error(f"{obj.name}: {fault}", obj))
    met, fields = chosen_colliders(scene, objects), chosen_fields(scene, objects)
    found += _idle(met, "collider") + _idle(fields, "force field")
    there = taking_part(bpy.context.view_layer)
    for obj in (each for each in met if compat.session_uid(each) in there):
        try:
            collider_shape(obj)
        except UserError as fault:
            found.append(of_error(fault))
        found += animation.of_collider(obj)
    for obj in (each for each in fields if compat.session_uid(each) in there):
        found += animation.of_field(obj)
    for obj in unsupported_fields(scene):
        found.append(warning(f"the force field '{obj.name}' ({obj.field.type.title()}) has no effect on shells", obj))
    pull = float(np.linalg.norm(gravity(scene)))
    if scene.use_gravity and metres_per_unit(scene) != 1.0 and not 1.0 < pull < 30.0:
        found.append(warning(f"gravity is {pull:.3g} m/s² at this unit scale: type 9.81 in the Scene tab for Earth's"))
    return found


def _idle(chosen: list[Any], what: str) -> list[Issue]:
    """What stands in collections that this view layer leaves out."""
    there = taking_part(bpy.context.view_layer)
    names = [obj.name for obj in chosen if compat.session_uid(obj) not in there]
    if not names:
        return []
    listed = ", ".join(f"'{name}'" for name in names[:5]) + (" and more" if len(names) > 5 else "")
    many = "s" if len(names) > 1 else ""
    return [warning(f"the {what}{many} {listed} ha{'ve' if many else 's'} no effect: excluded or disabled collection")]


def _object(scene: Any, obj: Any, target: str) -> list[Issue]:
    name, settings = obj.name, obj.thin_shell
    found = []
    if obj.library is not None:
        found.append(error(f"{name} is linked from {obj.library.name}: make a library override to bake it here", obj))
    if obj.matrix_world.determinant() < 0:
        found.append(warning(f"{name} has a negative scale, which turns its inside out: apply it (Ctrl A, Scale)", obj))
    if settings.pin_group and settings.pin_group not in obj.vertex_groups:
        found.append(
            error(
                f"{name}: there is no vertex group '{settings.pin_group}' to pin: choose one in Shape or clear the "
                "field",
                obj,
            )
        )
    found += found_above(scene, obj) + animation.of_shell(obj)
    if is_modal(obj):
        found += [error(text, obj) for text in handle_faults(obj)]
        if settings.use_collision and chosen_colliders(scene, [obj]):
            found.append(warning(f"{name} moves in real time, where colliders have no effect", obj))
    if target == "SHAPE_KEYS":
        found += _shape_keys(obj)
    if not takes_part(obj):
        found.append(
            error(f"{name} is in no collection that this view layer shows: include its collection, or enable it", obj)
        )
    return found


def _shape_keys(obj: Any) -> list[Issue]:
    settings = obj.thin_shell
    try:
        playback.check_shape_keys(obj)
    except UserError as fault:
        return [of_error(fault)]
    size = 12.0 * len(obj.data.vertices) * max(settings.frame_end - settings.frame_start + 1, 1)
    if size <= playback.LARGE_KEYS:
        return []
    return [warning(f"{obj.name}: shape keys will add {size / 1e6:.0f} MB to the file: a point cache is lighter", obj)]


def _mesh(obj: Any, depsgraph: Any, scale: float) -> list[Issue]:
    name = obj.name
    evaluated = obj.evaluated_get(depsgraph)
    arrays = read(evaluated.data)
    if len(arrays.faces) == 0:
        return [error(f"{name} has no faces: a shell needs a surface", obj)]
    world = to_world(arrays.positions, np.array(evaluated.matrix_world, dtype=np.float64), scale)
    try:
        sc.Shell(world, arrays.faces, sc.Material.preset("reference"), bending="hinge")
    except sc.ShellError as fault:
        return [of_error(located(fault, name, arrays))]
    crossing = intersections(world, arrays)
    if not crossing:
        return []
    listed = ", ".join(map(str, crossing[:5])) + (" and more" if len(crossing) > 5 else "")
    text = f"{name}: faces {listed} pass through each other: part them before the first frame"
    return [Issue("WARNING", text, name, crossing)]


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
    """What only building the simulation finds: weights, axes, rest shapes, model and material; what starts too near."""
    try:
        made = build(scene, objects)
        return starts_inside(made, objects) + unlike(made, objects)
    except UserError as fault:
        return [of_error(fault)]
    except sc.ShellError as fault:
        return [error(str(fault))]
