"""Draws contact scenes to docs/pictures/contact_*.png: `python benchmarks/contact_pictures.py [name ...]`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import contact_scenes  # noqa: E402

import shellcore as sc  # noqa: E402

VIEWS = {
    "drape": (lambda: contact_scenes.on_sphere(30, 20), 20, -60),
    "folded": (lambda: contact_scenes.folded(32, bend=2e-6), 12, -70),
    "poncho": (lambda: contact_scenes.poncho(20, 24), 20, -60),
}


def draw(path: Path, positions: np.ndarray, faces: np.ndarray, elevation: float, azimuth: float) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    light = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])
    corners = positions[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    colours = (0.25 + 0.75 * np.abs(normals @ light))[:, None] * np.array([0.95, 0.75, 0.45])
    figure = plt.figure(figsize=(5, 5))
    axes = figure.add_subplot(projection="3d")
    axes.add_collection3d(Poly3DCollection(corners, facecolors=colours, edgecolors=0.8 * colours, linewidths=0.3))
    centre, reach = (positions.min(axis=0) + positions.max(axis=0)) / 2, np.ptp(positions, axis=0).max() / 2
    for set_limits, middle in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), centre, strict=True):
        set_limits(middle - reach, middle + reach)
    axes.set_box_aspect((1, 1, 1))
    axes.view_init(elev=elevation, azim=azimuth)
    axes.set_axis_off()
    figure.savefig(path, dpi=110, bbox_inches="tight")
    plt.close(figure)


def draw_section(path: Path, positions: np.ndarray, faces: np.ndarray, x: float) -> None:
    """Where the plane at `x` cuts the mesh, seen along it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    corners = positions[faces]
    side = corners[:, :, 0] - x
    # Both ends of a cut lie on edges whose ends lie on different sides.
    following = np.roll(corners, -1, axis=1)
    cut = side * np.roll(side, -1, axis=1) < 0
    share = side / np.where(cut, side - np.roll(side, -1, axis=1), 1.0)
    ends = (corners + share[:, :, None] * (following - corners))[:, :, 1:]
    whole = cut.sum(axis=1) == 2
    figure, axes = plt.subplots(figsize=(5, 5))
    for line in ends[whole][cut[whole]].reshape(-1, 2, 2):
        axes.plot(*line.T, color="0.2", linewidth=0.9)
    axes.set_aspect("equal")
    axes.set_xlabel("across [m]")
    axes.set_ylabel("height [m]")
    figure.savefig(path, dpi=110, bbox_inches="tight")
    plt.close(figure)


def main() -> int:
    pictures = ROOT / "docs" / "pictures"
    for name in sys.argv[1:] or [*VIEWS, "ribbon"]:
        if name == "ribbon":
            scene, frames, options = contact_scenes.ribbon(220, 120, chute=0.08)
            *_, last = sc.simulate(scene, frames=frames, **options)
            draw_section(pictures / "contact_ribbon.png", last.positions, last.faces, 0.0101)
            continue
        build, elevation, azimuth = VIEWS[name]
        scene, frames, options = build()
        *_, last = sc.simulate(scene, frames=frames, **options)
        draw(pictures / f"contact_{name}.png", last.positions, last.faces, elevation, azimuth)
    return 0


if __name__ == "__main__":
    sys.exit(main())
