"""Curled and creased sheets (Discrete Shells, figure 3) and plates and bowls broken along their grain (Cubic Shells,
figures 6 and 7), as docs/pictures/damage_core.png.

    python benchmarks/damage_pictures.py
"""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np

import common
import meshes
import shellcore as sc
from fracture_cases import bowl, plate, thrown

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PAPER = sc.Material(stretch=2e3, bend=2e-4, poisson=0.3, bend_poisson=0.3, areal_density=0.1, thickness=2e-4)


def creased(curl: bool = False, crease: float = 0.0, hung: bool = False) -> sc.Frame:
    """A sheet of 20 cm with a curl across its diagonal and a crease over a share of its middle line."""
    points, faces = meshes.grid(16, 16, 0.2, 0.2)
    shell = sc.Shell(points, faces, PAPER, damping=sc.Damping(mass=4.0))
    if curl:
        shell.curl((1.0, 1.0, 0.0), 0.08, 0.0, 0.5)
    if crease:
        ends = points[shell.hinges[:, :2]]
        on = (np.abs(ends[:, :, 0] - 0.1) < 1e-9).all(axis=1) & (ends[:, :, 1] < 0.2 * crease + 1e-9).all(axis=1)
        shell.crease(shell.hinges[on, :2], 1.6, 0.0, 0.5)
    shell.pin([0, 16] if hung else [0, 1, 17])
    scene = sc.Scene([shell], gravity=(0.0, 0.0, -2.0 if hung else 0.0))
    return list(sc.simulate(scene, 30))[-1]


def show(axes: Any, title: str, x: np.ndarray, faces: np.ndarray, view: tuple[float, float] = (30.0, -60.0)) -> None:
    """Draw a surface."""
    axes.plot_trisurf(*x.T, triangles=faces, color="#d9d2c5", edgecolor="0.35", linewidth=0.25)
    axes.set_title(title, fontsize=9)
    axes.set_box_aspect(np.ptp(x, axis=0) + 0.02 * np.ptp(x))
    axes.view_init(*view)
    axes.set_axis_off()


def main() -> None:
    figure = plt.figure(figsize=(12, 9))
    papers = {
        "curled": {"curl": True},
        "creased": {"crease": 1.0},
        "half a crease": {"crease": 0.5},
        "curled, half creased, pinned": {"curl": True, "crease": 0.5, "hung": True},
    }
    for k, (title, options) in enumerate(papers.items()):
        frame = creased(**options)
        show(figure.add_subplot(3, 4, k + 1, projection="3d"), title, frame.positions, frame.faces)
    grains = {"isotropic": None, "vertical": 90.0, "horizontal": 0.0, "diagonal": 45.0}
    for k, (title, degrees) in enumerate(grains.items()):
        turn, ratio = np.radians(degrees or 0.0), 1.0 if degrees is None else 10.0
        limits = (2.0, 1.5) if degrees is None else (4.0, 4.0)
        for row, (mesh, limit, speed) in enumerate(((plate(0, 900), limits[0], 5.0), (bowl(0, 900), limits[1], 6.0))):
            result = thrown(mesh, turn, ratio, curvature=limit, speed=speed, frames=22)
            name = f"{title} {'plate' if row == 0 else 'bowl'}"
            place = figure.add_subplot(3, 4, 5 + 4 * row + k, projection="3d")
            show(place, name, result.frame.positions, result.frame.faces, (65.0, -90.0))
    figure.tight_layout()
    figure.savefig(common.PICTURES / "damage_core.png", dpi=80)


if __name__ == "__main__":
    main()
