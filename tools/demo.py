"""What `make demo` shows until the add-on exists: a sheet hung by two corners, falling, as a picture."""

from __future__ import annotations

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

CELLS, SIZE, FRAMES, FPS = 40, 2.0, 48, 24
NEEDED = ("Material", "Shell", "Scene", "simulate")


def main() -> int:
    import shellcore as sc

    missing = [name for name in NEEDED if not hasattr(sc, name)]
    if missing:
        print(f"Nothing to show yet: shellcore has no {', '.join(missing)}.", file=sys.stderr)
        return 1

    from meshes import grid

    positions, faces = grid(CELLS, CELLS, SIZE, SIZE)
    # E·t = 2e3 N/m, ν = 0.25, D = 5e-5 N·m, 0.15 kg/m²: the reference sheet of our measurements.
    stretch = 2e3 / (1 - 0.25**2)
    material = sc.Material(
        stretch=(stretch, stretch),
        shear=2e3 / (2 * (1 + 0.25)),
        poisson=0.25,
        bend=(5e-5, 5e-5),
        bend_shear=5e-5 * (1 - 0.25) / 2,
        bend_poisson=0.25,
        areal_density=0.15,
        thickness=3e-4,
    )
    shell = sc.Shell(positions, faces, material, bending="quadratic", self_contact=False)
    shell.pin([CELLS * (CELLS + 1), (CELLS + 1) ** 2 - 1])
    scene = sc.Scene([shell], self_contact=False)

    shown = {round(share * FRAMES): None for share in (0.125, 0.375, 0.625, 1.0)}
    spent, last = 0.0, time.perf_counter()
    for number, frame in enumerate(sc.simulate(scene, frames=FRAMES, fps=FPS), start=1):
        now = time.perf_counter()
        print(f"frame {number:3d} of {FRAMES}: {1000 * (now - last):7.1f} ms")
        spent += now - last
        if number in shown:
            shown[number] = frame.positions.copy()
        last = time.perf_counter()
    print(f"{len(positions)} vertices, {1000 * spent / FRAMES:.1f} ms a frame on average")

    picture = ROOT / "out" / "demo.png"
    draw(picture, shown, faces)
    print(f"wrote {picture.relative_to(ROOT)}")
    return 0


def draw(path: Path, shown: dict, faces) -> None:
    """A strip of frames in one view, shaded by the angle between normal and light."""
    import matplotlib
    import numpy as np

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    light = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])
    every = np.concatenate(list(shown.values()))
    centre, reach = (every.min(axis=0) + every.max(axis=0)) / 2, np.ptp(every, axis=0).max() / 2
    figure = plt.figure(figsize=(4 * len(shown), 4))
    for place, (number, positions) in enumerate(shown.items(), start=1):
        axes = figure.add_subplot(1, len(shown), place, projection="3d")
        corners = positions[faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        brightness = 0.25 + 0.75 * np.abs(normals @ light)
        colours = brightness[:, None] * np.array([0.95, 0.75, 0.45])
        axes.add_collection3d(Poly3DCollection(corners, facecolors=colours, edgecolors=colours, linewidths=0.3))
        for set_limits, middle in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), centre, strict=True):
            set_limits(middle - reach, middle + reach)
        axes.set_box_aspect((1, 1, 1))
        axes.view_init(elev=15, azim=-60)
        axes.set_axis_off()
        axes.set_title(f"frame {number}")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)


if __name__ == "__main__":
    sys.exit(main())
