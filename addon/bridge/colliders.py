"""Objects with Collision physics as colliders of the core."""

from typing import Any

import numpy as np

from ... import shellcore as sc
from ..errors import UserError
from . import mesh as meshes
from .motion import Sampler, evaluated
from .units import to_world

# Blender's own default of a collider's cloth friction: there our shell's friction holds as it is.
USUAL_FRICTION = 5.0
# Cosine of the angle up to which a plane counts as not turning.
STEADY = 0.9999
# A shape counts as flat or round within this share of its size.
SHAPE_ERROR = 0.01


def meshes_supported() -> bool:
    """Whether this core collides with meshes; else planes and balls stand in."""
    return hasattr(sc, "Collider")


def collider_objects(scene: Any, shells: list[Any]) -> list[Any]:
    """What the shells collide with, in the order of names."""
    if not shells[0].thin_shell.use_collision:
        return []
    collection = shells[0].thin_shell.collision_collection
    found = []
    for obj in scene.objects if collection is None else collection.all_objects:
        active = any(m.type == "COLLISION" for m in obj.modifiers) and obj.collision is not None and obj.collision.use
        if active and not obj.hide_viewport and all(obj is not shell for shell in shells):
            found.append(obj)
    return sorted(found, key=lambda obj: obj.name)


def colliders(scene: Any, shells: list[Any], sampler: Sampler, depsgraph: Any, scale: float) -> list[Any]:
    """The core's colliders; their motion is sampled with everything else."""
    friction = max(obj.thin_shell.friction for obj in shells)
    return [_collider(obj, friction, sampler, depsgraph, scale) for obj in collider_objects(scene, shells)]


def _collider(obj: Any, friction: float, sampler: Sampler, depsgraph: Any, scale: float) -> Any:
    name = obj.name
    shape = collider_shape(obj)
    mu = friction * obj.collision.cloth_friction / USUAL_FRICTION
    if shape == "MESH":
        track = sampler.track(lambda graph: _world(name, graph, scale), depsgraph)
        faces = meshes.read(evaluated(name, depsgraph).data).faces
        thickness = obj.collision.thickness_outer * scale
        return sc.Collider(track.now, faces, friction=mu, thickness=thickness, motion=track.at, name=name)
    matrix = sampler.track(lambda graph: np.array(evaluated(name, graph).matrix_world, dtype=np.float64), depsgraph)
    if shape == "PLANE":
        normal = matrix.now[:3, 2] / np.linalg.norm(matrix.now[:3, 2])

        def point(t: float) -> Any:
            now = matrix.at(t)
            if now[:3, 2] @ normal < STEADY * np.linalg.norm(now[:3, 2]):
                raise UserError(
                    f"the collider '{name}' turns, which an endless plane cannot: keep its rotation, or use its mesh",
                    object=name,
                )
            return now[:3, 3] * scale

        return sc.Plane(point=point, normal=normal, friction=mu, name=name)
    corners = meshes.vertex_positions(obj.data)
    radius = float(np.linalg.norm(corners, axis=1).mean() * np.abs(obj.matrix_world.determinant()) ** (1 / 3)) * scale
    return sc.Sphere(centre=lambda t: matrix.at(t)[:3, 3] * scale, radius=radius, friction=mu, name=name)


def collider_shape(obj: Any) -> str:
    """MESH, PLANE or SPHERE; raises where the object is none of what this version supports."""
    wanted = str(obj.thin_shell.collider_shape)
    if wanted in ("PLANE", "SPHERE"):
        return wanted
    if obj.type != "MESH":
        raise UserError(f"the collider '{obj.name}' is no mesh: convert it or turn its Collision off", object=obj.name)
    if meshes_supported():
        return "MESH"
    guess = _guess(meshes.vertex_positions(obj.data))
    if wanted == "MESH" or guess is None:
        raise UserError(
            f"the collider '{obj.name}' is a general mesh, which this version does not support yet: under "
            f"its Collision "
            "physics set 'Shape for Thin Shell' to Endless Plane or Sphere, or turn its Collision off",
            object=obj.name,
        )
    return guess


def _guess(corners: Any) -> str | None:
    size = float(np.ptp(corners, axis=0).max()) if len(corners) else 0.0
    if size == 0.0:
        return None
    if np.abs(corners[:, 2]).max() <= SHAPE_ERROR * size:
        return "PLANE"
    distance = np.linalg.norm(corners, axis=1)
    return "SPHERE" if len(corners) > 11 and np.ptp(distance) <= SHAPE_ERROR * size else None


def _world(name: str, depsgraph: Any, scale: float) -> Any:
    found = evaluated(name, depsgraph)
    return to_world(meshes.vertex_positions(found.data), np.array(found.matrix_world, dtype=np.float64), scale)
