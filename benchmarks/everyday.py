"""What a frame and vertex of everyday scenes costs, in units of this machine (`common.unit`).

    make bench-everyday                                     # all, each for at most five minutes
    make bench-everyday ARGS="--only paper,leaf --frames 6"

Cost is the mean over all frames of CPU time, set-up included. Scenes are in `everyday_scenes.py`.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import common
import shellcore as sc
from everyday_scenes import SCENES


def measured(name: str, frames: int, limit: float, options: dict[str, Any]) -> dict[str, Any]:
    """A scene baked: times [s], counts, and why it ended early, if it did; `limit`: CPU seconds it may take."""
    began = last = time.process_time()
    scene, given = SCENES[name].build()
    vertices = int(sum(len(shell.rest_positions) for shell in scene.shells))
    times, factors, steps, iterations, why = [], 0, 0, 0, ""
    # Progress comes after every solver iteration: a frame that never ends can be left.
    try:
        for step in sc.progress(scene, frames, fps=24, **(given | options)):
            if step.frame is not None:
                now = time.process_time()
                times.append(now - last)
                last = now
                stats = step.frame.stats
                factors += stats["factorisations"]
                steps += stats["steps"]
                iterations += stats["iterations"]
                if not np.isfinite(step.frame.positions).all():
                    why = "positions are not finite"
                    break
            elif time.process_time() - began > limit:
                why = f"more than {limit:g} s"
                break
    except sc.StepFailed as failed:
        why = str(failed)
    done = max(1, len(times))
    spent = time.process_time() - began
    return {
        "vertices": vertices,
        "frames": len(times),
        "seconds": spent,
        "cost [us]": 1e6 * spent / (done * vertices),
        "worst over mean": max(times, default=0.0) / (sum(times) / done) if times else float("nan"),
        "factors": factors / done,
        "steps": steps / done,
        "iterations": iterations / done,
        "why": why,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help=f"some of: {', '.join(SCENES)} (commas between)")
    parser.add_argument("--frames", type=int, default=0, help="at most so many of each")
    parser.add_argument("--limit", type=float, default=300.0, help="CPU seconds a scene may take")
    parser.add_argument("--accuracy", help="draft, default, final or a number")
    parser.add_argument("--options", default="", help="further options of simulate: name=value,… or JSON")
    parser.add_argument("--json", type=Path, help="where to write the table")
    given = parser.parse_args()
    names = [name.strip() for name in given.only.split(",")] if given.only else list(SCENES)
    if unknown := set(names) - set(SCENES):
        parser.error(f"no scene {sorted(unknown)}; there are {', '.join(SCENES)}")
    options = common.options(given.options, given.accuracy)
    # What a scene says while it runs is no concern of its cost.
    warnings.simplefilter("ignore", sc.ShellWarning)
    unit = common.unit()
    rows = {}
    print(f"unit: {1e6 * unit:.2f} us a frame and vertex")
    print(f"{'scene':14}{'vertices':>9}{'frames':>7}{'units':>8}{'bar':>5}{'worst':>7}{'factors':>9}{'steps':>7}"
          f"{'iter.':>8}")  # fmt: skip
    for name in names:
        frames = min(given.frames or SCENES[name].frames, SCENES[name].frames)
        one = rows[name] = measured(name, frames, given.limit, options)
        one["units"], one["bar"] = 1e-6 * one["cost [us]"] / unit, SCENES[name].bar
        print(
            f"{name:14}{one['vertices']:9}{one['frames']:7}{one['units']:8.1f}{one['bar']:5g}"
            f"{one['worst over mean']:7.1f}{one['factors']:9.1f}{one['steps']:7.1f}{one['iterations']:8.1f}"
            f"{'  ' + one['why'] if one['why'] else ''}",
            flush=True,
        )
    if given.json is not None:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps({"unit": unit, "options": options, "scenes": rows}, indent=1))


if __name__ == "__main__":
    main()
