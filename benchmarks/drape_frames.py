"""What a frame of a drape depends on: `python benchmarks/drape_frames.py`, inside Blender as a module.

From six states of a converged run (Newton's method by conjugate gradients, to 1e-6 of the sheet's size) one frame is
solved again: the same way from starts with noise, by L-BFGS to the same tolerance, by what `simulate` does by default
and by `solver="newton"`. How far each ends from the converged frame, over what that moves away from free flight, and
the energies of whole runs, go into docs/drape_frames.json. So do energies of converged runs that differ by as little as
1e-12 m in their first frame: what they do not share no solver can be asked for.
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
SHAKEN = (1e-12, 1e-9)
"""In positions after the first frame of a whole run [m], each for two seeds."""
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
    shaken = {
        name: _shaken(scene, options) for name, options in (("L-BFGS", ways["L-BFGS"][1]), ("Newton by CG", exact))
    }
    return {"one frame off [its motion]": off, "over converged": energies, "shaken over not": shaken}


def _shaken(scene: Any, options: dict[str, Any]) -> list[dict[str, float]]:
    """Energies and sag of converged runs with noise in their first frame, over those of one without."""
    sc = scenes.add_on().shellcore
    (first,) = sc.simulate(scene, 1, **options, **SETTINGS)
    noises = [(0.0, 0)] + [(noise, seed) for noise in SHAKEN for seed in (1, 2)]
    runs = []
    for noise, seed in noises:
        shaken = first.positions + noise * np.random.default_rng(seed).standard_normal(first.positions.shape)
        state = first.state | {"positions": shaken}
        runs.append(list(sc.simulate(scene, scenes.FRAMES - 1, resume=state, **options, **SETTINGS)))
    measures = {"kinetic": _kinetic, "bending": _bending, "sag": _sag}
    return [
        {"noise [m]": noise, "frame": k}
        | {name: measure(scene, run[k - 2]) / measure(scene, runs[0][k - 2]) for name, measure in measures.items()}
        for (noise, _), run in zip(noises[1:], runs[1:], strict=True)
        for k in SHOWN[2:]
    ]


def _kinetic(scene: Any, frame: Any) -> float:
    return float(scene.shells[0].mass @ (frame.velocities**2).sum(axis=1))


def _bending(scene: Any, frame: Any) -> float:
    return float(scene.shells[0].areas @ frame.fields["bending"])


def _sag(scene: Any, frame: Any) -> float:
    shell = scene.shells[0]
    return float((shell.mass @ (shell.start - frame.positions))[2] / shell.mass.sum())


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
