"""Plates of subdivision shells under their weight: what tests of regular and of irregular meshes share."""

from __future__ import annotations

from typing import Any

import numpy as np

import meshes
import shellcore as sc

PLATE = sc.Material(stretch=1e4, poisson=0.3, bend=1.0, bend_poisson=0.3, areal_density=1.0, thickness=0.01)
SMALL = 1e-3  # m/s²: deflections stay linear


def rest(shell: sc.Shell, **options: Any) -> tuple[np.ndarray, dict[str, Any]]:
    """Limit positions at equilibrium, and what the solver said."""
    stats: dict[str, Any] = {}
    gravity = options.pop("gravity", (0.0, 0.0, 0.0))
    x = sc.equilibrium(sc.Scene([shell], gravity=gravity), stats=stats, **options)
    return shell.limit(np.concatenate([x, *stats["hidden"]])), stats


def plate(n: int, edge: str, material: sc.Material = PLATE, mesh: meshes.Mesh | None = None, **options: Any) -> float:
    """Deflection of the middle of a unit square under its weight per unit of load."""
    points, faces = meshes.grid(n, n, 1.0, 1.0, "one") if mesh is None else mesh
    axes = np.tile([1.0, 0.0, 0.0], (len(faces), 1))
    shell = sc.Shell(points, faces, material, bending="subdivision", axes=axes, **options)
    limit = shell.limit(points)
    middle, side = (int(np.argmin(((limit - at) ** 2).sum(axis=1))) for at in ([0.5, 0.5, 0], [1, 0.5, 0]))
    if edge == "clamped":
        shell.clamp(shell.mesh.boundary_vertices)
    else:
        shell.pin(shell.mesh.boundary_vertices, axes=(False, False, True))
        shell.pin([middle], axes=(True, True, False))
        shell.pin([side], axes=(False, True, False))
    return float(-rest(shell, gravity=(0, 0, -SMALL))[0][middle, 2] / SMALL)
