"""Table 1 of the quadratic bending paper: quadratic against nonlinear hinge, drape and flag, same mesh sizes.

Four rows a problem: cost of the bending gradient, of its Hessian (assembled; for the quadratic model the time to
add its constant matrix), of an explicit step, and of an implicit step (Newton with the hinge's exact Jacobian
reassembled every iteration against the constant one; same membrane, linear solver and position tolerance).
The hinge gradient must cost at most twice the membrane's: a slow hinge is no victory.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import common
import meshes
import shellcore as sc

SIZES = {"regular": (400, 1600, 6400, 25600), "irregular": (450, 2100, 6500, 22500)}
SIDE = 2.0
ROUNDS = 4
# The paper's scheme, with steps of equal length.
EULER: dict[str, Any] = {"integrator": "implicit_euler", "substeps": 1}
# Explicit steps in a timed frame, and their length [s].
EXPLICIT_STEPS, EXPLICIT_STEP = 40, 1e-5


def scene(problem: str, mesh: str, size: int, bending: str) -> sc.Scene:
    """A heavily damped drape over a ball, or a flag held along one side in the wind.

    The cheapest contact: what is compared is bending.
    """
    if mesh == "regular":
        cells = round(np.sqrt(size)) - 1
        points, faces = meshes.grid(cells, cells, SIDE, SIDE)
    else:
        points, faces = meshes.unstructured(size, SIDE, SIDE, seed=1)
    damping = sc.Damping(mass=3.0) if problem == "drape" else None
    shell = sc.Shell(points, faces, sc.Material.preset("reference"), bending=bending, damping=damping)
    if problem == "drape":
        ball = sc.Sphere((SIDE / 2, SIDE / 2, -0.52), 0.5)
        return sc.Scene([shell], colliders=[ball], self_contact=False, contact="penalty")
    shell.pin(np.flatnonzero(points[:, 0] < 1e-9))
    return sc.Scene([shell], wind=sc.Wind((6.0, 1.0, 0.0)), self_contact=False)


def clocks(problem: str, mesh: str, size: int, bending: str, settled: dict[str, Any]) -> dict[str, Callable[[], float]]:
    """What measures each row, in milliseconds, at the state the quadratic model reached after a few frames."""
    setting = scene(problem, mesh, size, bending)
    if "state" not in settled:
        settled["state"] = list(sc.simulate(setting, 4, solver="auto", strain_limit=1e-3, **EULER))[-1].state
    x = np.asfortranarray(settled["state"]["positions"])
    elastic = sc.elastic_energies(setting.shells[0])
    energy, membrane = elastic.bending.energy, elastic.membranes[0]
    other = energy.hessian(x)
    jacobian = "exact" if bending == "hinge" else "constant"
    return {
        "membrane gradient": lambda: common.milliseconds(lambda: membrane.gradient(x)),
        "gradient": lambda: common.milliseconds(lambda: energy.gradient(x)),
        "hessian": (lambda: common.milliseconds(lambda: other + energy.hessian(x)))
        if bending == "quadratic"
        else (lambda: common.milliseconds(lambda: energy.hessian(x, psd=False), repeats=3)),
        "explicit step": lambda: explicit(setting, settled["state"]),
        "implicit step": lambda: implicit(setting, settled["state"], jacobian),
    }


def explicit(setting: sc.Scene, state: dict[str, Any], frames: int = 5) -> float:
    """Milliseconds of an explicit step from `state`: the least of a few frames of many steps."""
    run = sc.simulate(
        setting, frames, fps=1.0 / (EXPLICIT_STEPS * EXPLICIT_STEP), substeps=EXPLICIT_STEPS, integrator="explicit",
        strain_limit=0.0, resume=dict(state, time=0.0),
    )  # fmt: skip
    return 1e3 * min(frame.stats["seconds"] for frame in run) / EXPLICIT_STEPS


def implicit(setting: sc.Scene, state: dict[str, Any], jacobian: str, steps: int = 4) -> float:
    """Milliseconds of an implicit step from `state`, all in: median of a few. (A sheet that strikes the ball in one of
    them has the Hessian factored a dozen times, whatever its Jacobian: the mean was that one step.)"""
    frames = sc.simulate(
        setting, steps, fps=100, solver="newton_cg", jacobian=jacobian, tolerance=2e-4, resume=dict(state, time=0.0),
        strain_limit=0.0, **EULER,
    )  # fmt: skip
    return 1e3 * float(np.median([frame.stats["seconds"] for frame in frames]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smallest", type=int, default=0, help="leave out meshes with fewer vertices")
    parser.add_argument("--largest", type=int, default=10**9, help="leave out meshes with more vertices")
    parser.add_argument("--problems", nargs="*", default=["drape", "flag"])
    parser.add_argument("--meshes", nargs="*", default=list(SIZES))
    parser.add_argument("--keep", action="store_true", help="keep rows of earlier runs that are not measured again")
    given = parser.parse_args()
    known = json.loads((common.OUT / "table1.json").read_text())["rows"] if given.keep else []
    table = {(row["problem"], row["mesh"], row["vertices"]): row for row in known}
    for problem in given.problems:
        for mesh in given.meshes:
            for size in (s for s in SIZES[mesh] if given.smallest <= s <= given.largest):
                row = measured(problem, mesh, size)
                table[problem, mesh, size] = row
                said = "  ".join(f"{name} {ratio:6.1f}×" for name, ratio in row["ratios"].items())
                fair = row["hinge gradient / membrane gradient"]
                most = row["most that a hinge gradient of two membrane gradients allows"]
                print(f"{problem:6} {mesh:9} {size:6}  {said}  hinge/membrane {fair:.2f}", end="  ")
                print("  ".join(f"{name} <= {bound:.1f}" for name, bound in most.items()), flush=True)
    rows = [table[key] for key in sorted(table)]
    common.write("table1", {"when": time.strftime("%Y-%m-%d"), "rows": rows})
    picture(rows)


def measured(problem: str, mesh: str, size: int) -> dict[str, Any]:
    """Costs of both models on one mesh [ms], and their ratios."""
    settled: dict[str, Any] = {}
    models = {bending: clocks(problem, mesh, size, bending, settled) for bending in ("quadratic", "hinge")}
    best: dict[str, dict[str, float]] = {bending: {} for bending in models}
    # In turns, the best of each: the machine's clock wanders by a third within seconds.
    for _ in range(ROUNDS):
        for row in models["hinge"]:
            for bending, rows in models.items():
                best[bending][row] = min(best[bending].get(row, np.inf), rows[row]())
    quadratic, hinge = best["quadratic"], best["hinge"]
    membrane = min(hinge["membrane gradient"], quadratic["membrane gradient"])
    # What the same step would cost with a hinge just within its bar.
    slow = quadratic["explicit step"] - quadratic["gradient"] + 2.0 * membrane
    return {
        "problem": problem,
        "mesh": mesh,
        "vertices": size,
        "hinge": hinge,
        "quadratic": quadratic,
        "ratios": {row: hinge[row] / quadratic[row] for row in quadratic if row != "membrane gradient"},
        "hinge gradient / membrane gradient": hinge["gradient"] / membrane,
        "most that a hinge gradient of two membrane gradients allows": {
            "gradient": 2.0 * membrane / quadratic["gradient"],
            "explicit step": slow / quadratic["explicit step"],
        },
    }


def picture(table: list[dict[str, Any]]) -> None:
    """Ratios over mesh size, with the bars to reach."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    bars = {"gradient": 7, "hessian": 50, "explicit step": 2, "implicit step": 2}
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.2), constrained_layout=True)
    for axis, (row, bar) in zip(axes, bars.items(), strict=True):
        for problem in ("drape", "flag"):
            for mesh, style in (("regular", "o-"), ("irregular", "s--")):
                part = [r for r in table if r["problem"] == problem and r["mesh"] == mesh]
                if part:
                    sizes = [r["vertices"] for r in part]
                    axis.loglog(sizes, [r["ratios"][row] for r in part], style, label=f"{problem}, {mesh}")
        axis.axhline(bar, color="k", lw=1, ls=":")
        axis.set_title(f"{row}: hinge / quadratic")
        axis.set_xlabel("vertices")
    axes[0].legend(fontsize=7)
    common.PICTURES.mkdir(parents=True, exist_ok=True)
    figure.savefig(common.PICTURES / "table1.png", dpi=90)


if __name__ == "__main__":
    main()
