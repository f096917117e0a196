"""The reference sheet and paper: what a frame costs and how far it is from the fully converged run.

2 m, two pinned corners, one implicit step a frame, 24 frames. Cost is counted in gradient evaluations (and Hessian
products), which no other process disturbs; distance is the root mean square over the vertices in sheet sizes. Speed is
not bought with false damping: a solver that stops early looks overdamped, and this is where it would show.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np

import common
import meshes
import shellcore as sc

SIDE = 2.0
FRAMES = 24


def run(cells: int, preset: str, **options: Any) -> tuple[list[sc.Frame], float]:
    """Frames of the pinned sheet and the seconds they took."""
    points, faces = meshes.grid(cells - 1, cells - 1, SIDE, SIDE)
    shell = sc.Shell(points, faces, sc.Material.preset(preset), bending="quadratic")
    corners = [int(np.argmin(points[:, 0] + points[:, 1])), int(np.argmin(points[:, 0] - points[:, 1]))]
    shell.pin(corners)
    began = time.perf_counter()
    frames = list(sc.simulate(sc.Scene([shell], self_contact=False), options.pop("frames", FRAMES), **options))
    return frames, time.perf_counter() - began


def edge_strain(frame: sc.Frame, rest: np.ndarray) -> tuple[float, float]:
    """Mean and largest |length / rest length − 1| over the edges."""
    edges = np.unique(np.sort(frame.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
    length = [np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1) for x in (frame.positions, rest)]
    strain = np.abs(length[0] / length[1] - 1.0)
    return float(strain.mean()), float(strain.max())


def compared(cells: int, preset: str) -> dict[str, Any]:
    """Default and accurate settings against the converged run of the true material."""
    rest = meshes.grid(cells - 1, cells - 1, SIDE, SIDE)[0]
    # L-BFGS gets cloth there in a quarter of Newton's time, and paper never.
    road = {"reference": "quasi_newton", "paper": "newton"}[preset]
    converged, seconds = run(cells, preset, solver=road, tolerance=1e-8 * SIDE)
    rows: dict[str, Any] = {
        "vertices": cells**2,
        "preset": preset,
        "converged seconds a frame": seconds / FRAMES,
        # A step that was halved is another motion, not a more exact one: a reference has none.
        "converged halvings": sum(frame.stats["halvings"] for frame in converged),
    }
    for name, options in (("default", {}), ("accurate", {"tolerance": 1e-6 * SIDE, "solver": "newton"})):
        frames, seconds = run(cells, preset, **options)
        off = [float(np.sqrt(((a.positions - b.positions) ** 2).sum() / cells**2)) / SIDE
               for a, b in zip(frames, converged, strict=True)]  # fmt: skip
        mean, peak = edge_strain(frames[-1], rest)
        rows[name] = {
            "distance at frame 24": off[-1],
            "largest distance": max(off),
            "gradients a frame": float(np.mean([f.stats["gradients"] for f in frames])),
            "gradients in the worst frame": max(f.stats["gradients"] for f in frames),
            "products a frame": float(np.mean([f.stats["products"] for f in frames])),
            "milliseconds a frame": 1e3 * seconds / FRAMES,
            "mean edge strain": mean,
            "largest edge strain": peak,
            "stretch scale": frames[-1].stats["stretch_scales"][0],
            "solver": frames[-1].stats["solver"],
        }
        print(
            preset,
            cells**2,
            name,
            {k: v if isinstance(v, str) else round(v, 5) for k, v in rows[name].items()},
            flush=True,
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=80, help="vertices a side of the sheets compared")
    parser.add_argument("--large", type=int, default=317, help="vertices a side of the largest sheet")
    given = parser.parse_args()
    result: dict[str, Any] = {preset: compared(given.cells, preset) for preset in ("reference", "paper")}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    frames, seconds = run(given.large, "reference", frames=3)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result["large"] = {
        "vertices": given.large**2,
        "peak memory [GB]": after / 1e6,
        "peak memory before [GB]": before / 1e6,
        "seconds a frame, set-up included": seconds / len(frames),
        "gradients a frame": float(np.mean([f.stats["gradients"] for f in frames])),
    }
    print(result["large"])
    common.write("reference_sheet", result)


if __name__ == "__main__":
    main()
