"""A sheet that comes down on a ball by each solver, drawn: docs/pictures/drape_solvers.png (a minute)."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import common
import meshes
import shellcore as sc

WAYS: dict[str, dict[str, Any]] = {
    "default": {},
    'solver="newton"': {"solver": "newton"},
    "converged": {"solver": "newton_cg", "tolerance": 2e-6},
}
SHOWN = (6, 10, 24)
LIGHT = np.array([0.4, 0.3, 0.86])


def scene() -> sc.Scene:
    """The reference sheet, 2 m, just above a ball of 0.5 m, a little aside."""
    points, faces = meshes.grid(39, 39, 2.0, 2.0)
    shell = sc.Shell(points - [0.95, 1.04, 0.0], faces, sc.Material.preset("reference"))
    ball, sides = meshes.icosphere(3, 0.5)
    return sc.Scene([shell], colliders=[sc.Collider(ball - [0.0, 0.0, 0.52], sides)], self_contact=False)


def main() -> None:
    figure = plt.figure(figsize=(11, 8.4), layout="constrained")
    for column, (name, options) in enumerate(WAYS.items()):
        drape = scene()
        frames = list(sc.simulate(drape, max(SHOWN), strain_limit=1e-3, **options))
        spent = sum(frame.stats["seconds"] for frame in frames) / len(frames)
        print(f"{name}: {1e3 * spent:.0f} ms a frame")
        for row, number in enumerate(SHOWN):
            axes: Any = figure.add_subplot(len(SHOWN), len(WAYS), len(WAYS) * row + column + 1, projection="3d")
            _draw(axes, frames[number - 1].positions, drape.shells[0].faces)
            axes.set_title(f"{name}, frame {number}", fontsize=10)
    path = common.PICTURES / "drape_solvers.png"
    figure.savefig(path, dpi=75)
    print(f"wrote {path}")


def _draw(axes: Any, x: Any, faces: Any) -> None:
    # Smoothed over neighbours, as a renderer would.
    normals = meshes.vertex_normals(x, faces)[faces].mean(axis=1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    bright = 0.3 + 0.65 * np.abs(normals @ LIGHT)
    colours = bright[:, None] * np.array([0.95, 0.83, 0.6])
    sheet = Poly3DCollection(x[faces], facecolors=colours, edgecolors=colours, linewidths=0.3)
    axes.add_collection3d(sheet)
    sheet.set_clip_on(False)
    axes.set(xlim=(-1.0, 1.0), ylim=(-1.0, 1.0), zlim=(-1.0, 0.1))
    axes.set_box_aspect((2.0, 2.0, 1.1), zoom=1.4)
    axes.view_init(18, -60)
    axes.set_axis_off()


if __name__ == "__main__":
    main()
