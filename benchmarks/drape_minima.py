"""How well the frame of a drape is determined: `python benchmarks/drape_minima.py`, inside Blender as a module.

A sheet that comes down on a ball buckles, and buckles choose sides: a step has many minima. From the same six states
one frame is solved by different roads and from starts that differ by noise, all to 1e-8 of the sheet's size, with no
step halved: any two of them are equally right. How far they are apart, over what the frame moves away from free flight,
bounds what can be asked of any solver. Rows go into docs/drape_minima.json.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import combinations
from typing import Any

import numpy as np

import common
from cloth import checks, scenes

RESULTS = common.ROOT / "docs" / "drape_minima.json"
SETTINGS = {"fps": 24.0, "strain_limit": 1e-3}
# Of the run that the states are of, and of the frames, as shares of the sheet's size.
ROUGH, SHARP = 1e-6, 1e-8
NOISE = 1e-7
"""In positions at the start of a frame [m]: a two-hundred-thousandth of what gravity moves the sheet in one."""
ROADS: tuple[tuple[str, float], ...] = (("newton_cg", 0.0), ("newton", 0.0), ("newton_cg", NOISE), ("newton", NOISE))


def minima(kind: str, count: int) -> dict[str, Any]:
    """Distances of converged frames from each other, and of the default setting's from them, by state."""
    sc = scenes.add_on().shellcore
    scene = scenes.simulation(scenes.build("drape", kind, count), "drape")
    run = list(sc.simulate(scene, max(checks.STATES) + 1, solver="newton", tolerance=ROUGH * scenes.SIDE, **SETTINGS))
    pull = np.asarray(scene.gravity) / 24.0**2
    rows = []
    for index in checks.STATES:
        before = run[index]
        flight = before.positions + before.velocities / 24.0 + pull
        found = [
            _frame(sc, scene, before.state, noise, solver=road, tolerance=SHARP * scenes.SIDE) for road, noise in ROADS
        ]
        quick = _frame(sc, scene, before.state, 0.0)
        moved = _rms(found[0].positions - flight)
        rows.append(
            {
                "apart": [_rms(a.positions - b.positions) / moved for a, b in combinations(found, 2)],
                "default off": [_rms(quick.positions - frame.positions) / moved for frame in found],
                "last steps [m]": [frame.stats["change"] for frame in found],
                "halvings": sum(frame.stats["halvings"] for frame in found),
            }
        )
        print(kind, count, "after frame", index + 1, json.dumps(rows[-1]), flush=True)
    return {"roads": [f"{road}, noise {noise:g} m" for road, noise in ROADS], "states": rows}


def _frame(sc: Any, scene: Any, state: dict[str, Any], noise: float, **options: Any) -> Any:
    shaken = np.random.default_rng(0).standard_normal(state["positions"].shape)
    (frame,) = sc.simulate(
        scene, 1, resume=state | {"positions": state["positions"] + noise * shaken}, **options, **SETTINGS
    )
    return frame


def _rms(field: Any) -> float:
    return float(np.sqrt((np.asarray(field) ** 2).sum() / len(field)))


def main() -> int:
    found = {f"{kind} 1600": minima(kind, 1600) for kind in scenes.KINDS}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # some versions of Blender as a module crash at exit
