"""What a pattern from the UV map asks of cloth that no tailor would: seams of very unequal sides, a wrong size."""

from typing import Any

import numpy as np

from ..bridge.build import Link, Simulation
from .issue import Issue

# Share by which the longer side of a seam may exceed the shorter: what is eased in by hand, as at a sleeve's head.
EASE = 0.1
# Share by which the middle one of all sides may be off at the start: beyond it the scale is wrong, not the fit.
OFF_SIZE = 0.25


def unlike(simulation: Simulation, objects: list[Any]) -> list[Issue]:
    """Warnings for the shells that rest as their UV map has them."""
    found = []
    for obj, link in zip(objects, simulation.links, strict=True):
        if link.shell.rest.pattern is not None:
            found += _seams(obj, link) + _size(obj, link)
    return found


def _seams(obj: Any, link: Link) -> list[Issue]:
    shell = link.shell
    sides = _lengths(shell.rest.points[shell.rest.mesh.faces])
    # Of every edge the sides that its faces have.
    edge = shell.mesh.face_edges.ravel()
    longest, shortest = np.zeros(len(shell.mesh.edges)), np.full(len(shell.mesh.edges), np.inf)
    np.maximum.at(longest, edge, sides.ravel())
    np.minimum.at(shortest, edge, sides.ravel())
    bad = np.flatnonzero(longest > (1.0 + EASE) * shortest)
    if len(bad) == 0:
        return []
    worst = bad[np.argmax(longest[bad] / shortest[bad])]
    a, b = (int(vertex) for vertex in shell.mesh.edges[worst])
    text = (
        f"{obj.name}: {len(bad)} seam edges are not as long on both sides in the UV map, worst ({a}, {b}) with "
        f"{1e3 * shortest[worst]:.3g} and {1e3 * longest[worst]:.3g} mm: the cloth will gather there; even out the "
        "islands, or leave it so"
    )
    edges = [(int(a), int(b)) for a, b in shell.mesh.edges[bad]]
    return [Issue("WARNING", text, obj.name, edges=edges)]


def _size(obj: Any, link: Link) -> list[Issue]:
    shell = link.shell
    rest, now = _lengths(shell.rest.points[shell.rest.mesh.faces]), _lengths(shell.start[shell.faces])
    ratio = float(np.median(now / rest))
    if 1.0 / (1.0 + OFF_SIZE) <= ratio <= 1.0 + OFF_SIZE:
        return []
    how = f"{ratio:.3g} times as large as" if ratio > 1.0 else f"only {ratio:.3g} times as large as"
    return [
        Issue(
            "WARNING",
            f"{obj.name}: at the start it is {how} its UV pattern and will spring: set Size to Fit to Mesh, or the "
            "length of the UV square",
            obj.name,
        )
    ]


def _lengths(corners: Any) -> Any:
    """Of the sides opposite the corners [m], (m, 3), of triangles (m, 3, 3)."""
    return np.linalg.norm(np.roll(corners, 1, axis=1) - np.roll(corners, -1, axis=1), axis=2)
