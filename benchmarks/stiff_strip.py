"""A thin strip let go in time: when its tip first crosses zero, over the exact quarter period, and what a step costs.

A solver that stops early looks overdamped; on a thin strip it would hardly move. Run from the project's root; writes
out/stiff_strip.json.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "benchmarks")]

import cases  # noqa: E402
import numpy as np  # noqa: E402

import common  # noqa: E402
import shellcore as sc  # noqa: E402

STEPS = 120  # a period
PERIOD = 2.0 * np.pi / cases.CLAMPED_FREE[0] ** 2


def released(thickness: float) -> tuple[cases.Strip, sc.Scene]:
    """A strip in its shape under a tip load that is gone; D = 1, length 1."""
    beam = cases.strip(cases.strip_mesh(24, 1.0, 0.25), cases.thin_material(1.0, thickness), "quadratic")
    scene = sc.Scene([beam.shell], gravity=(0, 0, 0))
    force = 0.3 * beam.width * beam.share
    beam.shell.load(beam.tip, np.column_stack([0 * force, 0 * force, -force]))
    beam.shell.start = sc.equilibrium(scene)
    beam.shell.loads.clear()
    return beam, scene


def first_zero(heights: list[float]) -> float | None:
    """When the tip first crosses zero, over a quarter of the exact period; None if it does not in a whole one."""
    z = np.array(heights)
    at = np.flatnonzero(z[:-1] * z[1:] < 0)
    return float((at[0] + z[at[0]] / (z[at[0]] - z[at[0] + 1])) / (STEPS / 4)) if len(at) else None


def simulated(thickness: float, **options: Any) -> dict[str, Any]:
    beam, scene = released(thickness)
    heights, products, gradients = [beam.tip_at(beam.shell.start)[2]], [], []
    for frame in sc.simulate(scene, STEPS, fps=STEPS / PERIOD, **options):
        heights.append(beam.tip_at(frame.positions)[2])
        products.append(frame.stats["products"])
        gradients.append(frame.stats["gradients"])
    cost = {"products a step": float(np.mean(products)), "gradients a step": float(np.mean(gradients))}
    return {"first zero": first_zero(heights), **cost}


def main() -> None:
    result: dict[str, Any] = {}
    for thickness in (1e-2, 1e-3, 1e-4, 1e-5):
        result[f"{thickness:g}"] = {
            "simulate": simulated(thickness),
            "simulate, tolerance 1e-6": simulated(thickness, tolerance=1e-6),
            "Newmark": simulated(thickness, integrator="newmark"),
        }
        for name, row in result[f"{thickness:g}"].items():
            print(f"t/L = {thickness:g}, {name}: {row}", flush=True)
    common.write("stiff_strip", result)


if __name__ == "__main__":
    main()
