"""Contact scenes at full size, every frame checked by the exact test: `python benchmarks/contact_trials.py [name ...]`.

Appends one line of JSON a scene to out/contact_trials.jsonl and keeps the last positions in out/trial_<name>.npz.
"""

from __future__ import annotations

import json
import sys
import time

import contact_scenes as scenes
import numpy as np

import shellcore as sc
from common import OUT
from shellcore.contact.intersections import scene_intersections

TRIALS = {
    "sphere": lambda: scenes.on_sphere(40, 24),
    "corner": lambda: scenes.on_corner(40, 24),
    "needle": lambda: scenes.on_needle(40, 20),
    "folded": lambda: scenes.folded(32),
    "crossing": lambda: scenes.crossing(20, 10),
    "ribbon": lambda: scenes.ribbon(220, 120, chute=0.08),
    "sleeve": lambda: scenes.sleeve(48, 32, 72),
    "sleeve_small": lambda: scenes.sleeve(24, 16, 48),
    "poncho": lambda: scenes.poncho(40, 48),
    "pinch": lambda: scenes.pinch(2.0, 20),
    "pinch_half": lambda: scenes.pinch(0.5, 20),
}


def trial(name: str) -> dict[str, object]:
    """Run one scene; what came of it."""
    scene, count, options = TRIALS[name]()
    began, found, totals, frames = time.process_time(), 0, {}, 0
    nearest, result, frame = np.inf, {}, None
    try:
        for frame in sc.simulate(scene, frames=count, **options):
            frames += 1
            found += scene_intersections(scene, frame.positions, frame.time).count
            nearest = min(nearest, frame.stats["nearest"])
            for key in ("iterations", "halvings", "contact_rounds", "unsettled"):
                totals[key] = totals.get(key, 0) + frame.stats[key]
            if frames % 8 == 0:
                print(
                    f"  {name} frame {frames}/{count}, {time.process_time() - began:.0f} s, {found} found, {totals}",
                    flush=True,
                )
    except sc.StepFailed as failed:
        result["failed"] = str(failed)
    if frame is not None:
        np.savez(OUT / f"trial_{name}.npz", positions=frame.positions, faces=frame.faces)
        if name == "ribbon":
            result["layers"] = scenes.layers(frame)
    vertices = sum(len(shell.rest_positions) for shell in scene.shells)
    return (
        {
            "scene": name,
            "vertices": vertices,
            "frames": f"{frames}/{count}",
            "intersections": found,
            "nearest": nearest,
            "seconds": round(time.process_time() - began, 1),
        }
        | totals
        | result
    )


def main() -> int:
    OUT.mkdir(exist_ok=True)
    for name in sys.argv[1:] or TRIALS:
        line = json.dumps(trial(name))
        print(line, flush=True)
        with (OUT / "contact_trials.jsonl").open("a") as file:
            file.write(line + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
