"""Figure 2 of Cubic Shells: simulated time per CPU second of five (force, Jacobian) pairs.

NH: nonlinear hinge, CS: cubic shells (force, or its whole Jacobian), CC: the constant part of that Jacobian. Newton's
method with conjugate gradients, implicit Euler, the same membrane and position tolerance for all. Three scenarios
(orthotropic flag, falling cylinder, falling bowl) over five step sizes, then the flag from 10×10 to 160×160.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from typing import Any

# CPU seconds of one thread: BLAS threads that wait for each other burn them too.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import common
import meshes
import shellcore as sc

PAIRS = {
    ("NH", "NH"): ("hinge", "exact"),
    ("NH", "CS"): ("hinge", "cubic"),
    ("NH", "CC"): ("hinge", "constant"),
    ("CS", "CS"): ("cubic", "cubic"),
    ("CS", "CC"): ("cubic", "constant"),
}
STEPS = (1 / 24, 1 / 48, 1 / 96, 1 / 192, 1 / 384)
TOLERANCE = 1e-4
# The paper's scheme and solver, one step a frame, and the material's own stretch. With a number of iterations, which no
# step reaches, a step is one solve: none is sharpened for its energy.
SCHEME: dict[str, Any] = {
    "integrator": "implicit_euler", "substeps": 1, "solver": "newton_cg", "tolerance": TOLERANCE, "iterations": 200,
    "strain_limit": 0.0,
}  # fmt: skip
# Steps timed from each state. All pairs begin at the same one, to within the tolerance; how many CG products a step
# of a shell that bounces takes is luck, which evens out over the sum.
FOLLOWED = 4
WORK = ("iterations", "gradients", "products")
TURNS = (-8.0, -4.0, 0.0, 4.0, 8.0)
FABRIC = sc.Material(
    stretch=(2e3, 1.5e3),
    shear=300.0,
    poisson=0.1,
    bend=(1e-4, 4e-5),
    bend_shear=1e-5,
    areal_density=0.2,
    thickness=5e-4,
)
SHELL = sc.Material(stretch=1e4, poisson=0.3, bend=2e-2, bend_poisson=0.3, areal_density=1.5, thickness=1.5e-3)


def scenario(name: str, bending: str, cells: int, turn: float = 0.0) -> sc.Scene:
    """A scene of about cells² vertices; what falls is turned by `turn` [°] more, and wind comes from there.

    The cheapest contact: what is compared is bending.
    """
    if name == "flag":
        points, faces = meshes.grid(cells, cells, 1.0, 1.0)
        shell = sc.Shell(points, faces, FABRIC, bending=bending)
        shell.pin(np.flatnonzero(points[:, 0] < 1e-9))
        towards = np.arctan2(1.5, 5.0) + np.radians(turn)
        return sc.Scene([shell], wind=sc.Wind((5.2 * np.cos(towards), 5.2 * np.sin(towards), 0.0)), self_contact=False)
    if name == "cylinder":
        points, faces = meshes.cylinder(3 * cells // 2, 2 * cells // 3, 0.1, 0.25)
    else:
        points, faces = meshes.hemisphere(cells // 2, 0.15)
    # Falling on its side and its rim, tilted a little so that nothing balances.
    tilt = np.radians((80.0 if name == "cylinder" else 155.0) + turn)
    tilted = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
    points = points @ tilted.T
    points[:, 2] += 0.02 - points[:, 2].min()
    speed = np.tile([0.0, 0.0, -1.5], (len(points), 1))
    shell = sc.Shell(points, faces, SHELL, bending=bending, velocities=speed)
    floor = sc.Plane((0, 0, 0), (0, 0, 1))
    return sc.Scene([shell], colliders=[floor], self_contact=False, contact="penalty")


def trajectory(
    name: str, pair: tuple[str, str], step: float, cells: int, count: int, turn: float
) -> list[dict[str, Any]]:
    """Saved states after the first `count` steps of a run of its own."""
    bending, jacobian = PAIRS[pair]
    scene = scenario(name, bending, cells, turn)
    return [frame.state for frame in sc.simulate(scene, count, fps=1 / step, jacobian=jacobian, **SCHEME)]


class Stepper:
    """One pair in one scenario; takes a few steps from any state."""

    def __init__(self, name: str, pair: tuple[str, str], step: float, cells: int) -> None:
        bending, self.jacobian = PAIRS[pair]
        self.scene = scenario(name, bending, cells)
        self.step = step

    def take(self, state: dict[str, Any]) -> tuple[float, dict[str, int]]:
        """CPU seconds of FOLLOWED steps that come after one from `state`, and what their solver did.

        The first factors the constant matrix, and is over when the clock starts: what is compared is stepping.
        """
        start = {key: state[key] for key in ("positions", "velocities", "accelerations")} | {"time": 0.0}
        run = sc.simulate(self.scene, 1 + FOLLOWED, fps=1 / self.step, jacobian=self.jacobian, resume=start, **SCHEME)
        next(run)
        began = time.process_time()
        stats = [frame.stats for frame in run]
        spent = time.process_time() - began
        assert all(stat["iterations"] < SCHEME["iterations"] for stat in stats), "a step did not converge"
        return spent, {key: sum(stat[key] for stat in stats) for key in WORK}


def rates(
    name: str, step: float, cells: int, count: int, repeats: int, turns: Sequence[float] = (0.0,), most: int = 120
) -> dict[tuple[str, str], dict[str, float]]:
    """Simulated seconds per CPU second of each pair, and what its solver did per step.

    Every pair starts from the same states, of runs with either force, and of several runs that start a little turned:
    shells that bounce go separate ways within a few steps, and 15% more or fewer iterations on the way are luck. Of
    each state counts the fastest of some repeats, in which the pairs take turns.
    """
    forces = (("NH", "CC"), ("CS", "CC"))
    runs = [trajectory(name, pair, step, cells, count, turn) for turn in turns for pair in forces]
    states = [state for run in runs for state in run]
    states = states[:: -(-len(states) // most)]
    steppers = {pair: Stepper(name, pair, step, cells) for pair in PAIRS}
    spent = {pair: 0.0 for pair in PAIRS}
    work = {pair: dict.fromkeys(WORK, 0) for pair in PAIRS}
    for state in states:
        best = dict.fromkeys(PAIRS, np.inf)
        for turn in range(repeats):
            for pair, stepper in steppers.items():
                seconds, counts = stepper.take(state)
                best[pair] = min(best[pair], seconds)
                if turn == 0:
                    for key in WORK:
                        work[pair][key] += counts[key]
        for pair, seconds in best.items():
            spent[pair] += seconds
    steps = FOLLOWED * len(states)
    return {
        pair: {"rate": steps * step / spent[pair]} | {key: work[pair][key] / steps for key in WORK} for pair in PAIRS
    }


def first_of(found: dict[tuple[str, str], dict[str, float]]) -> tuple[str, str]:
    """The fastest pair. On a flat rest shape the whole cubic Jacobian is its constant part, the same code and the same
    work: a tie, which is (CS, CC)'s."""
    best = max(found, key=lambda pair: found[pair]["rate"])
    same = all(found["CS", "CS"][key] == found["CS", "CC"][key] for key in ("iterations", "gradients", "products"))
    return ("CS", "CC") if best == ("CS", "CS") and same else best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=24)
    parser.add_argument("--duration", type=float, default=0.25, help="simulated seconds a cell")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--states", type=int, default=120, help="states that steps are measured from a cell, at most")
    parser.add_argument("--scenarios", nargs="*", default=["flag", "cylinder", "bowl"])
    parser.add_argument("--resolutions", type=int, nargs="*", default=[10, 20, 40, 80, 160])
    parser.add_argument("--keep", action="store_true", help="keep the cells of earlier runs, measure resolutions only")
    given = parser.parse_args()
    cells: list[dict[str, Any]] = []
    first = 0
    if given.keep:
        known = json.loads((common.OUT / "figure2.json").read_text())
        cells, first, given.scenarios = known["cells"], known["first"], []
    for name in given.scenarios:
        for step in STEPS:
            count = max(2, round(given.duration / step))
            found = rates(name, step, given.cells, count, given.repeats, TURNS, given.states)
            best = first_of(found)
            first += best == ("CS", "CC")
            said = "  ".join(f"{a},{b} {value['rate']:.3f}" for (a, b), value in found.items())
            ahead = found["CS", "CC"]["rate"] / max(v["rate"] for p, v in found.items() if p[0] == "NH")
            print(f"{name:9} 1/{1 / step:<4.0f} {said}   first: {best}, {100 * (ahead - 1):+.1f}% on NH", flush=True)
            table = {f"{a},{b}": value for (a, b), value in found.items()}
            cells.append({"scenario": name, "step": step, "pairs": table, "first": list(best)})
    print(f"(CS, CC) is first in {first} of {len(cells)} cells")
    sizes: list[dict[str, Any]] = []
    for n in given.resolutions:
        duration = given.duration * min(1.0, (40 / n) ** 2)
        found = rates("flag", 1 / 96, n, max(2, round(96 * duration)), given.repeats, TURNS, given.states)
        said = "  ".join(f"{a},{b} {value['rate']:.4f}" for (a, b), value in found.items())
        print(f"{n}×{n} {said}   first: {first_of(found)}", flush=True)
        sizes.append({"cells": n, "rates": {f"{a},{b}": value["rate"] for (a, b), value in found.items()}})
    common.write("figure2", {"first": first, "cells": cells, "resolutions": sizes})
    picture(cells, sizes)


def picture(cells: list[dict[str, Any]], sizes: list[dict[str, Any]]) -> None:
    """The paper's four plots: rate over step size for the scenarios, and over resolution."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(14, 3.4), constrained_layout=True)
    for axis, name in zip(axes, ("flag", "cylinder", "bowl"), strict=False):
        part = [cell for cell in cells if cell["scenario"] == name]
        for a, b in PAIRS:
            key = f"{a},{b}"
            axis.loglog([c["step"] for c in part], [c["pairs"][key]["rate"] for c in part], "o-", label=f"({a}, {b})")
        axis.set(title=name, xlabel="step [s]", ylabel="simulated s per CPU s")
    for a, b in PAIRS:
        key = f"{a},{b}"
        axes[3].loglog([s["cells"] ** 2 for s in sizes], [s["rates"][key] for s in sizes], "o-", label=f"({a}, {b})")
    axes[3].set(title="flag, step 1/96 s", xlabel="vertices")
    for axis in axes[:3]:
        axis.set_xticks(STEPS, [f"1/{1 / step:.0f}" for step in STEPS])
        axis.minorticks_off()
    axes[0].legend(fontsize=7)
    common.PICTURES.mkdir(parents=True, exist_ok=True)
    figure.savefig(common.PICTURES / "figure2.png", dpi=90)


if __name__ == "__main__":
    main()
