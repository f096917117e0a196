"""Objects with Collision physics as colliders of the core."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np

from ... import shellcore as sc
from .. import compat
from ..errors import UserError
from . import mesh as meshes
from .lookup import Known, known, order, taking_part
from .motion import Sampler
from .units import to_world

# Blender's own default of a collider's cloth friction: there our shell's friction holds as it is.
USUAL_FRICTION = 5.0
# Cosine of the angle up to which a plane counts as not turning.
STEADY = 0.9999


def collider_objects(scene: Any, shells: list[Any]) -> list[Any]:
    """What the shells collide with, in the order of names."""
    there = taking_part(bpy.context.view_layer)
    return [obj for obj in chosen_colliders(scene, shells) if compat.session_uid(obj) in there]


def chosen_colliders(scene: Any, shells: list[Any]) -> list[Any]:
    """What the shells are set to collide with, also where it is in no collection that takes part."""
    if not shells[0].thin_shell.use_collision:
        return []
    collection = shells[0].thin_shell.collision_collection
    found = []
    for obj in scene.objects if collection is None else collection.all_objects:
        active = any(m.type == "COLLISION" for m in obj.modifiers) and obj.collision is not None and obj.collision.use
        if active and not obj.hide_viewport and obj not in shells:
            found.append(obj)
    return sorted(found, key=order)


def colliders(scene: Any, shells: list[Any], added: float, sampler: Sampler, depsgraph: Any, scale: float) -> list[Any]:
    """The core's colliders; their motion is sampled with everything else. `added` [m]: what they keep of the gap."""
    owners = [known(obj) for obj in shells]

    def friction() -> float:
        return max(float(owner.get().thin_shell.friction) for owner in owners)

    # As before there was a gap: meshes keep their Outer Thickness, planes and balls nothing.
    outer = any(obj.thin_shell.use_outer_thickness for obj in shells)
    return [
        _collider(obj, friction, None if outer else added, sampler, depsgraph, scale)
        for obj in collider_objects(scene, shells)
    ]


def _collider(
    obj: Any, friction: Callable[[], float], added: float | None, sampler: Sampler, depsgraph: Any, scale: float
) -> Any:
    name, itself = obj.name, known(obj)
    shape = collider_shape(obj)

    def rubs(graph: Any) -> Any:
        return np.array(friction() * itself.evaluated(graph).collision.cloth_friction / USUAL_FRICTION)

    rubbing = sampler.track(rubs, depsgraph)

    def mu(t: float) -> float:
        return float(rubbing.at(t))

    if shape == "MESH":
        track = sampler.track(lambda graph: _world(itself, graph, scale), depsgraph)
        faces = meshes.read(itself.evaluated(depsgraph).data).faces
        thickness = obj.collision.thickness_outer * scale if added is None else 2.0 * added
        return sc.Collider(track.now, faces, friction=mu, thickness=thickness, motion=track.at, name=name)
    matrix = sampler.track(lambda graph: np.array(itself.evaluated(graph).matrix_world, dtype=np.float64), depsgraph)
    if shape == "PLANE":
        normal = matrix.now[:3, 2] / np.linalg.norm(matrix.now[:3, 2])

        def point(t: float) -> Any:
            now = matrix.at(t)
            if now[:3, 2] @ normal < STEADY * np.linalg.norm(now[:3, 2]):
                raise UserError(
                    f"the collider '{name}' turns, which an endless plane cannot: keep its rotation, or use its mesh",
                    object=name,
                )
            return now[:3, 3] * scale + (added or 0.0) * normal

        return sc.Plane(point=point, normal=normal, friction=mu, name=name)
    corners = meshes.vertex_positions(obj.data)
    radius = float(np.linalg.norm(corners, axis=1).mean() * np.abs(obj.matrix_world.determinant()) ** (1 / 3)) * scale
    radius += added or 0.0
    return sc.Sphere(centre=lambda t: matrix.at(t)[:3, 3] * scale, radius=radius, friction=mu, name=name)


def collider_shape(obj: Any) -> str:
    """MESH, PLANE or SPHERE; raises where the object has no surface to meet."""
    wanted = str(obj.thin_shell.collider_shape)
    if wanted in ("PLANE", "SPHERE"):
        return wanted
    if obj.type != "MESH":
        raise UserError(f"the collider '{obj.name}' is no mesh: convert it or turn its Collision off", object=obj.name)
    return "MESH"


def _world(itself: Known, depsgraph: Any, scale: float) -> Any:
    found = itself.evaluated(depsgraph)
    return to_world(meshes.vertex_positions(found.data), np.array(found.matrix_world, dtype=np.float64), scale)
