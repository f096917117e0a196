"""Vertex groups and attributes as arrays."""

from typing import Any

import numpy as np

from ..errors import UserError
from .mesh import MeshArrays


def group_weights(obj: Any, mesh: Any, name: str) -> Any:
    """Weight of each vertex in a vertex group, (n,), 0 outside it; None where there is no such group."""
    group = obj.vertex_groups.get(name)
    if group is None:
        return None
    index = group.index
    # Groups have no bulk access: one pass over the vertices.
    return np.array(
        [next((g.weight for g in v.groups if g.group == index), 0.0) for v in mesh.vertices], dtype=np.float64
    )


def vertex_weights(obj: Any, mesh: Any, arrays: MeshArrays, name: str, what: str, panel: str) -> Any:
    """A vertex group or attribute as one weight per vertex, (n,), clamped to 0..1."""
    weights = group_weights(obj, mesh, name)
    attribute = mesh.attributes.get(name)
    if weights is None and attribute is not None and attribute.domain == "POINT":
        weights = scalar(obj, attribute, what)
    if weights is None:
        per_face = np.repeat(face_weights(obj, mesh, arrays, name, what, panel), 3)
        vertices, count = arrays.faces.ravel(), len(arrays.positions)
        total = np.bincount(vertices, weights=per_face, minlength=count)
        weights = total / np.maximum(np.bincount(vertices, minlength=count), 1)
    if not np.isfinite(weights).all():
        raise UserError(
            f"{obj.name}: the attribute '{name}' holds values that are not finite: paint it again", object=obj.name
        )
    return np.clip(weights, 0.0, 1.0)


def face_weights(obj: Any, mesh: Any, arrays: MeshArrays, name: str, what: str, panel: str = "Property Weights") -> Any:
    """A vertex group or attribute as one weight per triangle, (m,), clamped to 0..1."""
    weights = group_weights(obj, mesh, name)
    if weights is not None:
        return weights[arrays.faces].mean(axis=1)
    attribute = mesh.attributes.get(name)
    if attribute is None:
        raise UserError(
            f"{obj.name}: {what} is weighted by '{name}', which is no vertex group or attribute of the mesh: "
            f"choose one in {panel} or clear the field",
            object=obj.name,
        )
    values = scalar(obj, attribute, what)
    if attribute.domain == "POINT":
        weights = values[arrays.faces].mean(axis=1)
    elif attribute.domain == "FACE":
        weights = values[arrays.polygons]
    elif attribute.domain == "CORNER":
        weights = values[arrays.corners].mean(axis=1)
    else:
        raise UserError(
            f"{obj.name}: {what} needs an attribute on points, faces or corners, '{name}' is on edges", object=obj.name
        )
    if not np.isfinite(weights).all():
        raise UserError(
            f"{obj.name}: the attribute '{name}' holds values that are not finite: paint it again", object=obj.name
        )
    return np.clip(weights, 0.0, 1.0)


def scalar(obj: Any, attribute: Any, what: str) -> Any:
    """An attribute's values as numbers; of a colour, its brightness."""
    count = len(attribute.data)
    if attribute.data_type in ("FLOAT", "INT", "BOOLEAN"):
        kind = {"FLOAT": np.float32, "INT": np.int32, "BOOLEAN": bool}[attribute.data_type]
        values = np.empty(count, dtype=kind)
        attribute.data.foreach_get("value", values)
        return values.astype(np.float64)
    if attribute.data_type in ("FLOAT_COLOR", "BYTE_COLOR"):
        values = np.empty(4 * count, dtype=np.float32)
        attribute.data.foreach_get("color", values)
        return values.reshape(-1, 4)[:, :3].mean(axis=1).astype(np.float64)
    raise UserError(
        f"{obj.name}: {what} cannot be weighted by '{attribute.name}', which is {attribute.data_type.lower()}: "
        "use a vertex group, a number or a colour",
        object=obj.name,
    )
