"""What a frame of a drape depends on: `python benchmarks/drape_frames.py`, inside Blender as a module.

From six states of a converged run (Newton's method by conjugate gradients, to 1e-6 of the sheet's size) one frame is
solved again: the same way from starts with noise, by L-BFGS to the same tolerance, by what `simulate` does by default
and by `solver="newton"`. How far each ends from the converged frame, over what that moves away from free flight, and
the energies of whole runs, go into docs/drape_frames.json.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import numpy as np

import common
from cloth import checks, scenes

RESULTS = common.ROOT / "docs" / "drape_frames.json"
SETTINGS = {"fps": 24.0, "strain_limit": 1e-3}
NOISE = (1e-6, 1e-5, 1e-4)
"""In positions at the start of a frame [m]."""
SHOWN = (4, 6, 8, 12, 24)


def compared(kind: str, count: int) -> dict[str, Any]:
    """Of a drape on this kind of mesh."""
    sc = scenes.add_on().shellcore
    scene = scenes.simulation(scenes.build("drape", kind, count), "drape")
    exact = {"solver": "newton_cg", "tolerance": 1e-6 * scenes.SIDE}
    ways = {f"noise {noise:g} m": (noise, exact) for noise in NOISE}
    ways |= {
        "L-BFGS": (0.0, {"tolerance": exact["tolerance"]}),
        "default": (0.0, {}),
        "newton": (0.0, {"solver": "newton"}),
    }
    run = list(sc.simulate(scene, scenes.FRAMES, **exact, **SETTINGS))
    off: dict[str, list[float]] = {name: [] for name in ways}
    for index in checks.STATES:
        before, after = run[index], run[index + 1]
        flight = before.positions + before.velocities / 24.0 + np.asarray(scene.gravity) / 24.0**2
        for name, (noise, options) in ways.items():
            shaken = before.positions + noise * np.random.default_rng(1).standard_normal(before.positions.shape)
            (frame,) = sc.simulate(scene, 1, resume=before.state | {"positions": shaken}, **options, **SETTINGS)
            off[name].append(_rms(frame.positions - after.positions) / _rms(after.positions - flight))
    energies = {}
    for name in ("L-BFGS", "default", "newton"):
        other = list(sc.simulate(scene, scenes.FRAMES, **ways[name][1], **SETTINGS))
        energies[name] = [
            {"frame": k, "kinetic": _kinetic(scene, other[k - 1]) / _kinetic(scene, run[k - 1]),
             "bending": _bending(scene, other[k - 1]) / _bending(scene, run[k - 1])} for k in SHOWN
        ]  # fmt: skip
    return {"one frame off [its motion]": off, "over converged": energies}


def _kinetic(scene: Any, frame: Any) -> float:
    return float(scene.shells[0].mass @ (frame.velocities**2).sum(axis=1))


def _bending(scene: Any, frame: Any) -> float:
    return float(scene.shells[0].areas @ frame.fields["bending"])


def _rms(field: Any) -> float:
    return float(np.sqrt((np.asarray(field) ** 2).sum() / len(field)))


def main() -> int:
    found = {f"{kind} 1600": compared(kind, 1600) for kind in scenes.KINDS}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # some versions of Blender as a module crash at exit
