"""Picture of a Willmore flow: each shape before and after, flat shaded, with its energy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PolyCollection
from numpy.typing import NDArray
from PIL import Image

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Directions the eye looks from, and up, for each shape.
VIEWS = {
    "hand": ((0.25, -0.35, 1.0), (0.0, 1.0, 0.0)),
    "dino": ((0.5, -1.0, 0.3), (0.0, 0.0, 1.0)),
    "sphere": ((0.4, -1.0, 0.5), (0.0, 0.0, 1.0)),
}
LIGHT = (-0.45, 0.55, 0.75)  # in the eye's frame: right, up, towards the eye
COLOUR = np.array([0.93, 0.74, 0.52])


def draw(flows: dict[str, tuple[tuple[Floats, Ints], Any]], path: Path) -> None:
    """`flows`: for each shape its mesh at the start and the `WillmoreFlow` that has run."""
    figure, axes = plt.subplots(2, len(flows), figsize=(10.5, 6.2), dpi=100, width_ratios=[1, 1.3, 1])
    for column, (name, ((start, faces), flow)) in enumerate(flows.items()):
        for row, (points, energy) in enumerate(((start, flow.energies[0]), (flow.positions, flow.energy))):
            axis = axes[row, column]
            _shade(axis, points, faces, *VIEWS[name])
            steps = f" after {len(flow.energies) - 1} steps" if row else f", {len(faces)} triangles"
            axis.set_title(f"{name}{steps}: {energy / (8 * np.pi):.4g} × 8π", fontsize=10)
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)
    # Few colours are enough for one material in one light, and a third of the bytes.
    Image.open(path).convert("RGB").quantize(96).save(path, optimize=True)


def _shade(axis: Any, points: Floats, faces: Ints, eye: tuple[float, ...], up: tuple[float, ...]) -> None:
    towards = np.array(eye) / np.linalg.norm(eye)
    right = np.cross(up, towards)
    right /= np.linalg.norm(right)
    frame = np.stack([right, np.cross(towards, right), towards])
    seen = points @ frame.T
    corners = seen[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    order = np.argsort(corners[:, :, 2].mean(axis=1))
    order = order[normals[order, 2] > 0]
    lit = np.clip(normals[order] @ (np.array(LIGHT) / np.linalg.norm(LIGHT)), 0, 1)
    colours = COLOUR * (0.18 + 0.82 * lit)[:, None]
    polygons = PolyCollection(corners[order][:, :, :2], facecolors=colours, edgecolors=colours, linewidths=0.25)
    axis.add_collection(polygons)
    axis.autoscale_view()
    axis.set_aspect("equal")
    axis.axis("off")
