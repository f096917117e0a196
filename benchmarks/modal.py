"""Modal warping: what a step costs against its dense products, against a full implicit step, and with ten handles.

A plate clamped on one side, 64 modes, steps of 1/30 s. All times are CPU times of one run on one thread, taken in turns
so that a slow moment hits all alike; the least of each counts. Writes out/modal.json.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

# Idle BLAS threads spin, which CPU time would count.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import common
import meshes
import shellcore as sc

STEP = 1.0 / 30.0
MODES = 64
HANDLES = 10


def plate(cells: int, soft: bool = False) -> sc.Shell:
    """A sheet of 1 m, clamped on one side: plastic, or one that stretches easily, whose full steps are the quickest."""
    points, faces = meshes.grid(cells, cells, 1.0, 1.0)
    material = sc.Material.solid(young=2e9, poisson=0.3, thickness=2e-3, density=1200.0)
    if soft:
        material = sc.Material(stretch=500.0, bend=0.05, areal_density=0.3, thickness=1e-3)
    shell = sc.Shell(points, faces, material, damping=sc.Damping(mass=0.5))
    shell.clamp(np.flatnonzero(points[:, 0] < 1e-9))
    return shell


def least(calls: dict[str, Callable[[], Any]], rounds: int, repeats: int = 10) -> dict[str, float]:
    """Least CPU time [ms] of each call over rounds in which they take turns."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            call()
            began = time.process_time()
            for _ in range(repeats):
                call()
            best[name] = min(best[name], 1e3 * (time.process_time() - began) / repeats)
    return best


def speed(cells: int, rounds: int, frames: int) -> dict[str, float]:
    """Milliseconds of a step and of what it is measured against."""
    shell = plate(cells)
    began = time.process_time()
    modal = sc.ModalShell(shell, MODES)
    setup = time.process_time() - began
    phi, psi = modal._flat_phi, modal._flat_psi
    q, force = np.ones(MODES), np.ones(len(phi))
    for _ in range(30):
        modal.step(STEP)
    chosen = np.random.default_rng(0).choice(np.flatnonzero(shell.rest_positions[:, 0] > 0.1), HANDLES, replace=False)

    def dragged(points: int, count: int) -> Callable[[int], float]:
        """Handles that move every step: the first `points` are positions, the rest orientations."""
        handles: list[Any] = []
        away = 0.01 * np.sin(0.3 * np.arange(100))[:, None] * [0.0, 0.0, 1.0]
        turns = [_about_y(a) for a in 0.02 * np.sin(0.3 * np.arange(100))]

        def run(repeats: int) -> float:
            modal.reset()
            paths = modal.positions[chosen][:, None] + away
            for i, v in enumerate(chosen[:count]):
                kind = modal.position_handle if i < points else modal.orientation_handle
                handles.append(kind(int(v), paths[i, 0] if i < points else turns[0]))
            for k in range(10 + repeats):
                if k == 10:
                    start = time.process_time()
                for i, handle in enumerate(handles):
                    handle.target = paths[i, k] if i < points else turns[k]
                modal.step(STEP)
            spent = time.process_time() - start
            while handles:
                handles.pop().release()
            return 1e3 * spent / repeats

        return run

    runs = {
        "step in the same loop": dragged(0, 0),
        "ten position handles": dragged(HANDLES, HANDLES),
        "five positions, five orientations": dragged(HANDLES // 2, HANDLES),
    }
    result = {"vertices": float(len(shell.rest_positions)), "modes, once [s]": setup}
    calls = {
        "dense products": lambda: (phi @ q, psi @ q, force @ phi),
        "step": lambda: modal.step(STEP),
    }
    for _ in range(rounds):
        for name, value in least(calls, 2).items():
            result[name] = min(result.get(name, np.inf), value)
        for name, run in runs.items():
            result[name] = min(result.get(name, np.inf), run(40))
    result["full implicit step"] = full_step(shell, frames)
    result["full implicit step, soft"] = full_step(plate(cells, soft=True), frames)
    return result


def full_step(shell: sc.Shell, frames: int) -> float:
    """Milliseconds of a step of implicit Euler, after the first frame (which factors its matrix)."""
    scheme: dict[str, Any] = {"integrator": "implicit_euler", "substeps": 1, "solver": "auto", "strain_limit": 1e-3}
    simulation = sc.simulate(shell, frames + 1, fps=1.0 / STEP, **scheme)
    next(simulation)
    began = time.process_time()
    steps = sum(frame.stats["steps"] for frame in simulation)
    return 1e3 * (time.process_time() - began) / steps


def _about_y(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, nargs="*", default=[49, 99], help="per side: 2.5k and 10k vertices")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--frames", type=int, default=3, help="of the full simulation")
    given = parser.parse_args()
    tables = []
    for cells in given.cells:
        row = speed(cells, given.rounds, given.frames)
        row["step / dense products"] = row["step"] / row["dense products"]
        row["full step / step"] = row["full implicit step"] / row["step"]
        row["full step, soft / step"] = row["full implicit step, soft"] / row["step"]
        for name in ("ten position handles", "five positions, five orientations"):
            row[f"{name} / step"] = row[name] / row["step in the same loop"]
        tables.append(row)
        print("  ".join(f"{name} {value:.4g}" for name, value in row.items()), flush=True)
    common.write("modal", {"step": STEP, "modes": MODES, "speed [ms]": tables})


if __name__ == "__main__":
    main()
