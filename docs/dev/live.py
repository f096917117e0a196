"""What Live may ask of the scheme of second order: times and errors of quick settings, beside a bake's.

python docs/dev/live.py [N] [MATERIAL …]: sheets of N × N vertices, by default 25 and cotton, paper; one thread.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import shellcore as sc  # noqa: E402
from meshes import grid  # noqa: E402

FRAMES = 24
SECOND: dict[str, Any] = {"integrator": "sdirk2", "strain_limit": 0.0}
BAKED = "default"
SETTINGS: dict[str, dict[str, Any]] = {
    BAKED: SECOND,
    "Implicit Euler, 12 iterations": {
        "integrator": "implicit_euler", "substeps": 1, "iterations": 12, "strain_limit": 1e-3,
    },
    "draft": {**SECOND, "accuracy": "draft"},
    "draft, 4 iterations": {**SECOND, "accuracy": "draft", "iterations": 4},
    "draft, 12 iterations": {**SECOND, "accuracy": "draft", "iterations": 12},
    "draft, capped": {**SECOND, "accuracy": "draft", "strain_limit": 1e-3},
    "5%, capped": {**SECOND, "accuracy": 0.05, "strain_limit": 1e-3},
    "1 step, capped": {**SECOND, "accuracy": "draft", "substeps": 1, "strain_limit": 1e-3},
}  # fmt: skip


def scene(kind: str, count: int, material: str) -> sc.Scene:
    """A square metre that hangs by two corners, flies as a flag, or falls on a ball."""
    points, faces = grid(count - 1, count - 1, 1.0, 1.0, "one")
    points += np.array((-0.5, -0.5, 1.0))
    shell = sc.Shell(points, faces, sc.Material.preset(material), self_contact=False)
    if kind == "hang":
        shell.pin(np.flatnonzero((points[:, 1] < -0.499) & (abs(points[:, 0]) > 0.499)))
    if kind == "flag":
        shell.pin(np.flatnonzero(points[:, 0] < -0.499))
    ball = [sc.Sphere((0, 0, 0.6), 0.3, friction=0.3)] if kind == "drape" else []
    wind = sc.Wind((6, 1, 0)) if kind == "flag" else None
    return sc.Scene([shell], colliders=ball, wind=wind, self_contact=False)


def main(count: int, materials: list[str]) -> None:
    print(
        "| scene | settings | ms a frame | slowest [ms] | steps in the last | mean distance from the bake [% of size] |"
    )
    print("|---|---|---|---|---|---|")
    for kind in ("hang", "flag", "drape"):
        for material in materials:
            baked = None
            for name, options in SETTINGS.items():
                told = f"| {kind}, {material} | {name} |"
                spent, before = [], time.perf_counter()
                try:
                    for frame in sc.simulate(scene(kind, count, material), FRAMES, fps=24.0, threads=1, **options):
                        now = time.perf_counter()
                        spent.append(1e3 * (now - before))
                        before, last = now, frame
                # What a setting breaks is a finding.
                except Exception as error:
                    print(f"{told} {type(error).__name__}: {str(error)[:60]} | | | |", flush=True)
                    continue
                baked = last.positions if baked is None else baked
                off = 100 * np.linalg.norm(last.positions - baked, axis=1).mean()
                steps = last.stats["steps"]
                print(f"{told} {np.mean(spent):.0f} | {max(spent):.0f} | {steps} | {off:.1f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 25, sys.argv[2:] or ["cotton", "paper"])
