"""Creases and curl of an object: edges marked on its mesh, an edge attribute, and a roll of the whole sheet."""

from typing import Any

import numpy as np

from ... import shellcore as sc
from ..errors import UserError
from .mesh import corner_edges, edge_vertices
from .units import Clock
from .weights import scalar

MARK = "thin_shell_crease"
ANGLE, START, END = "thin_shell_crease_angle", "thin_shell_crease_start", "thin_shell_crease_end"
"""Edge attributes that Mark Crease writes: whether an edge folds, to which angle [rad], in which frames."""


def apply(obj: Any, mesh: Any, shell: sc.Shell, matrix: Any, clock: Clock) -> None:
    """Tell the shell about the object's creases and its curl; frames become times from the first frame on."""
    settings, moment = obj.thin_shell, clock.time
    if settings.use_creases:
        edges, angles, starts, ends = creases(obj, mesh)
        times, group = np.unique(np.stack([starts, ends], axis=1), axis=0, return_inverse=True)
        for number, (start, end) in enumerate(times):
            if end < start:
                raise UserError(
                    f"{obj.name}: a crease ends at frame {end:g}, before its start at {start:g}: mark it again",
                    object=obj.name,
                )
            chosen = group.reshape(-1) == number
            shell.crease(edges[chosen], angles[chosen], moment(start), moment(end))
    if settings.use_curl:
        axis = matrix[:3, :3] @ np.array(settings.curl_axis, dtype=np.float64)
        if not np.linalg.norm(axis) > 0:
            raise UserError(f"{obj.name}: the axis of the curl is zero: set one in Creases and Curl", object=obj.name)
        if settings.curl_end < settings.curl_start:
            raise UserError(f"{obj.name}: the curl ends before it starts: change its frames", object=obj.name)
        shell.curl(
            axis / np.linalg.norm(axis), settings.curl_radius, moment(settings.curl_start), moment(settings.curl_end)
        )


def creases(obj: Any, mesh: Any) -> tuple[Any, Any, Any, Any]:
    """Edges (k, 2) with a face on either side that fold, their angles [rad], first and last frames, (k,) each."""
    settings = obj.thin_shell
    count = len(mesh.edges)
    angle, start, end = np.zeros(count), np.zeros(count), np.zeros(count)
    folds = np.zeros(count, dtype=bool)
    if settings.crease_attribute:
        value = edge_values(obj, mesh, settings.crease_attribute)
        folds = value != 0.0
        angle, start[:], end[:] = value * settings.crease_angle, settings.crease_start, settings.crease_end
    if MARK in mesh.attributes:
        marked = edge_values(obj, mesh, MARK) != 0.0
        for name, known in ((ANGLE, angle), (START, start), (END, end)):
            known[marked] = edge_values(obj, mesh, name)[marked]
        folds |= marked
    folds &= np.bincount(corner_edges(mesh), minlength=count) == 2
    # Marks are kept in single precision, in which π is a little too large.
    return edge_vertices(mesh)[folds], np.clip(angle[folds], -np.pi, np.pi), start[folds], end[folds]


def edge_values(obj: Any, mesh: Any, name: str) -> Any:
    """Values of an edge attribute as numbers, (e,)."""
    attribute = mesh.attributes.get(name)
    if attribute is None or attribute.domain != "EDGE":
        kind = "not on the mesh" if attribute is None else f"on {attribute.domain.lower()}s, not edges"
        raise UserError(
            f"{obj.name}: the edge attribute '{name}' is {kind}: choose another, or mark edges again",
            object=obj.name,
        )
    values = scalar(obj, attribute, "an edge")
    if not np.isfinite(values).all():
        raise UserError(f"{obj.name}: '{name}' holds values that are not finite: mark the edges again", object=obj.name)
    return values
