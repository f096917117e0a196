"""What breaking costs: a step with one split on a large sheet, and a run with thousands of splits.

    python benchmarks/fracture.py [--cells 316] [--splits 2000]

Seams that open at set times break the same sheet that otherwise stays whole, so both runs carry the same loads.
Writes out/fracture.json.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

import common
import shellcore as sc
from meshes import grid


def one_split(cells: int) -> dict[str, Any]:
    """A hanging sheet that one edge at its border breaks of in the third of five frames."""
    runs = {}
    for name, release in (("whole", np.inf), ("split", 2.5 / 24)):
        points, faces = grid(cells, cells, 1.0, 1.0)
        shell = sc.Shell(points, faces, sc.Material.preset("reference"))
        shell.pin([0, cells])
        shell.seam([(cells // 2, cells // 2 + cells + 1)], release)
        runs[name] = [frame.stats for frame in sc.simulate(sc.Scene([shell]), 5)]
    seconds = {name: [stats["seconds"] for stats in run] for name, run in runs.items()}
    iterations = {name: [stats["iterations"] for stats in run] for name, run in runs.items()}
    worst = max(seconds["split"][k] / seconds["whole"][k] for k in (2, 3))
    both = sum(seconds["split"][2:4]) / sum(seconds["whole"][2:4])
    return {
        "vertices": (cells + 1) ** 2,
        "seconds": seconds,
        "iterations": iterations,
        "copies": runs["split"][-1]["copies"],
        "worst_step": worst,
        "step_with_the_split_and_the_next": both,
    }


def many_splits(splits: int, cells: int = 60, frames: int = 48) -> dict[str, Any]:
    """A sheet that falls and flutters while about `splits` vertices split, some every frame, against the same whole."""
    seconds, copies = {}, 0
    for name in ("whole", "split"):
        points, faces = grid(cells, cells, 1.0, 1.0)
        shell = sc.Shell(points, faces, sc.Material.preset("reference"))
        shell.pin(np.flatnonzero(points[:, 1] > 1 - 1e-9))
        rng = np.random.default_rng(0)
        order = rng.permutation(len(shell.hinges))
        # Broken edges split about 0.4 vertices each while few are broken, and more later.
        chosen = np.sort(order[: round(1.15 * splits)])
        when = np.inf if name == "whole" else rng.uniform(0.0, frames / 24, len(chosen))
        shell.seam(shell.hinges[chosen, :2], when)
        began = time.perf_counter()
        for frame in sc.simulate(sc.Scene([shell], wind=sc.Wind((3.0, 0.0, 0.0))), frames):
            last = frame
        seconds[name] = time.perf_counter() - began
        copies = last.stats["copies"]
    ratio = seconds["split"] / seconds["whole"]
    return {"vertices": (cells + 1) ** 2, "frames": frames, "copies": copies, "seconds": seconds, "ratio": ratio}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=316)
    parser.add_argument("--splits", type=int, default=2000)
    parser.add_argument("--only", choices=("one", "many"))
    options = parser.parse_args()
    results = {}
    if options.only != "many":
        results["one_split"] = one_split(options.cells)
    if options.only != "one":
        results["many_splits"] = many_splits(options.splits)
    print(json.dumps(results, indent=1))
    common.write("fracture", results)


if __name__ == "__main__":
    main()
