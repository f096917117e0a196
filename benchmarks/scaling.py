"""What a frame costs as the mesh grows, 400 to 100,000 vertices, a model at a time: `python benchmarks/scaling.py`.

The reference sheet hung by two corners (and, with contact, dropped on a ball), one step a frame. Each size runs in a
process of its own, whose peak memory is then its own; seconds are the process's time on the processor, which other
processes disturb little. The exponent is the slope of log cost over log vertices.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

import common
import meshes
import shellcore as sc

MODELS = ("quadratic", "cubic", "hinge", "subdivision", "contact")
SIZES = (400, 1600, 6400, 25600, 102400)
# Subdivision shells take Newton's method with a factor of the whole Hessian; contact is followed for longer.
LARGEST = {"subdivision": 6400, "contact": 25600}
SIDE = 2.0


def scene(model: str, vertices: int) -> sc.Scene:
    n = round(np.sqrt(vertices)) - 1
    points, faces = meshes.grid(n, n, SIDE, SIDE)
    bending = "quadratic" if model == "contact" else model
    shell = sc.Shell(points, faces, sc.Material.preset("reference"), bending=bending, self_contact=False)
    if model == "contact":
        ball = sc.Sphere((0.53 * SIDE, 0.52 * SIDE, -0.3 * SIDE), 0.25 * SIDE)
        return sc.Scene([shell], colliders=[ball], contact="exact", self_contact=False)
    shell.pin([0, n])
    return sc.Scene([shell])


def one(model: str, vertices: int, frames: int) -> dict[str, Any]:
    """Stages of one size, in this process."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    built = scene(model, vertices)
    stages = {"build the shell": time.process_time() - began}
    began = time.process_time()
    made = []
    for step in sc.progress(built, frames):
        if step.stage != "factor":
            # Up to the end of the first solver iteration.
            stages.setdefault("prepare and factor", time.process_time() - began)
        if step.frame is not None:
            made.append((step.frame.stats["gradients"], time.process_time()))
    # The first frame holds the preparation; the rest are what a longer bake is made of.
    spent = (made[-1][1] - made[0][1]) / (len(made) - 1)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "vertices": len(built.shells[0].rest_positions),
        "seconds a frame": spent,
        "gradients a frame": float(np.mean([count for count, _ in made[1:]])),
        "stages [s]": stages,
        "peak memory [MB]": after / 1e3,
        "of it before the scene [MB]": before / 1e3,
    }


def exponent(rows: list[dict[str, Any]]) -> float:
    """Slope over the sizes from 1.6k on: below, the cost is that of calling numpy."""
    kept = [row for row in rows if row["vertices"] >= 1500]
    sizes, cost = (np.log([row[name] for row in kept]) for name in ("vertices", "seconds a frame"))
    return float(np.polyfit(sizes, cost, 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", nargs="*", default=MODELS, choices=MODELS)
    parser.add_argument("--vertices", nargs="*", type=int, default=SIZES)
    parser.add_argument("--frames", type=int, default=12)
    parser.add_argument("--alone", action="store_true", help="one model and size in this process, as JSON")
    given = parser.parse_args()
    if given.alone:
        print(json.dumps(one(given.model[0], given.vertices[0], given.frames)))
        return
    path = common.ROOT / "docs" / "scaling.json"
    result = json.loads(path.read_text()) if path.exists() else {}
    for model in given.model:
        rows = []
        for vertices in given.vertices:
            if vertices > LARGEST.get(model, max(SIZES)):
                continue
            command = [sys.executable, __file__, "--alone", "--model", model, "--vertices", str(vertices)]
            command += ["--frames", str(given.frames)]
            rows.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
            print(model, json.dumps(rows[-1]), flush=True)
        result[model] = {"rows": rows, "exponent": exponent(rows) if len(rows) > 2 else None}
        print(model, "exponent", result[model]["exponent"], flush=True)
        path.write_text(json.dumps(result, indent=1) + "\n")
    picture(result)


def picture(result: dict[str, Any]) -> None:
    """Cost and memory over vertices."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (cost, memory) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for model, found in result.items():
        vertices = [row["vertices"] for row in found["rows"]]
        label = model if found["exponent"] is None else f"{model}, exponent {found['exponent']:.2f}"
        cost.loglog(vertices, [1e3 * row["seconds a frame"] for row in found["rows"]], "o-", label=label)
        grown = [row["peak memory [MB]"] - row["of it before the scene [MB]"] for row in found["rows"]]
        memory.loglog(vertices, grown, "o-", label=model)
    cost.set(xlabel="vertices", ylabel="milliseconds a frame", title="One step a frame, one processor")
    memory.set(xlabel="vertices", ylabel="MB", title="Peak memory of the scene")
    cost.legend()
    for axes in (cost, memory):
        axes.grid(True, which="both", alpha=0.3)
    common.PICTURES.mkdir(parents=True, exist_ok=True)
    figure.savefig(common.PICTURES / "scaling.png", dpi=110)


if __name__ == "__main__":
    main()
