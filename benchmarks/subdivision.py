"""Sleeves of subdivision shells, twisted and compressed: do the folds depend on the material and not on the mesh?

No gravity: end rings are clamped and moved slowly, one linear system a step. Folds are counted as the strongest wave
around the middle half of the sleeve. Writes out/sleeve_*.json and .npz, and from these
docs/pictures/subdivision_twist.png and subdivision_compression.png.

    python benchmarks/subdivision.py                      all cases of both, then pictures
    python benchmarks/subdivision.py twist "thin"         some cases of one, by name
    python benchmarks/subdivision.py pictures             of cases that were run
    python benchmarks/subdivision.py cost                 time of the compression scene against hinge + fem
"""

from __future__ import annotations

import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import common
import meshes
import shellcore as sc

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import PolyCollection

# The paper's scheme: one linear system a step, of equal steps.
EULER: dict[str, Any] = {"integrator": "implicit_euler", "substeps": 1, "strain_limit": 1e-3}
RADIUS, LENGTH = 0.05, 0.2
STRETCH, POISSON = 5000.0, 0.25
# Steps [s], and how many the load rests before folds are counted.
STEP, SETTLE = 0.01, 30
# [s]. Compression snaps: with little viscosity a sleeve is thrown through many patterns, with this it creeps into one.
VISCOSITY = {"twist": 1e-3, "compression": 0.02}
SLEEVES = {494: (26, 18), 800: (32, 24), 1496: (44, 33), 2232: (62, 35), 2542: (62, 40), 4015: (73, 54), 5856: (96, 60)}
# Root mean square of what a sleeve is out of round by, as a share of the thickness, and its waves around: the same for
# every mesh, no wave number preferred. Part of the rest shape: of a start shape nothing would be left when it buckles.
SEED, WAVES = 0.05, range(2, 13)


def sleeve(
    size: int,
    thickness: float,
    bending: str,
    stretch: float = 1.0,
    bend: float = 1.0,
    rule: int = 3,
    damping: sc.Damping | None = None,
    poisson: float = POISSON,
) -> sc.Shell:
    """A sleeve whose limit surface passes through a cylinder; factors on its stretch and bending stiffness."""
    points, faces = meshes.cylinder(*SLEEVES[size], RADIUS, LENGTH)
    rigidity = STRETCH * thickness**2 / 12.0
    material = sc.Material(
        stretch=stretch * STRETCH,
        poisson=poisson,
        bend=bend * rigidity,
        bend_poisson=poisson,
        areal_density=0.15,
        thickness=thickness,
    )
    around, along = np.arctan2(points[:, 1], points[:, 0]), points[:, 2] / LENGTH
    rng = np.random.default_rng(3)
    bumps = sum(
        np.sin(np.pi * k * along) * np.cos(m * around + rng.uniform(0, 2 * np.pi)) for m in WAVES for k in (1, 2, 3)
    )
    bumps = SEED * thickness * bumps / np.sqrt(3 * len(WAVES) / 4)
    points = points + bumps[:, None] * np.column_stack([np.cos(around), np.sin(around), 0 * around])
    control = sc.fit_control(points, faces) if bending == "subdivision" else points
    return sc.Shell(control, faces, material, bending=bending, quadrature=rule, damping=damping)


def run(
    load: str,
    size: int,
    thickness: float,
    amounts: list[float],
    bending: str = "subdivision",
    rate: float = 0.25,
    **factors: float,
):
    """Wave number and depth at each amount of twist [rad] or compression [share of the length].

    The load grows by `rate` a second and rests for `SETTLE` steps at each amount, one linear solve a step as in the
    paper.
    """
    shell = sleeve(size, thickness, bending, damping=sc.Damping(viscosity=VISCOSITY[load]), **factors)
    rings = SLEEVES[size][1] + 1
    points = meshes.cylinder(*SLEEVES[size], RADIUS, LENGTH)[0]
    low, top = np.arange(SLEEVES[size][0]), np.arange(len(points) - SLEEVES[size][0], len(points))
    moments = np.cumsum([0.0] + [b - a for a, b in pairwise([0.0, *amounts])]) / rate
    rests = np.cumsum([0.0] + [SETTLE * STEP] * len(amounts))
    # Grow, rest, grow, rest, …
    times = np.ravel(np.column_stack([moments[1:] + rests[:-1], moments[1:] + rests[1:]]))
    values = np.repeat(amounts, 2)

    def goal(t: float) -> np.ndarray:
        amount = np.interp(t, [0.0, *times], [0.0, *values])
        if load == "compression":
            return points[top] - [0.0, 0.0, amount * LENGTH]
        c, s = np.cos(amount), np.sin(amount)
        return points[top] @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])

    shell.clamp(low, points[low])
    shell.clamp(top, goal)
    rows: list[dict[str, Any]] = []
    shapes: list[tuple[np.ndarray, np.ndarray]] = []
    began = time.process_time()
    due = iter(zip(amounts, times[1::2], strict=True))
    amount, moment = next(due)
    scene = sc.Scene([shell], gravity=(0, 0, 0), self_contact=False)
    steps = int(np.ceil(times[-1] / STEP - 1e-9))
    for frame in sc.simulate(scene, frames=steps, fps=1.0 / STEP, solver="newton", iterations=1, **EULER):
        if frame.time < moment - 1e-9:
            continue
        whole = frame.control()
        radius = np.hypot(*shell.limit(whole)[:, :2].T).reshape(rings, -1)
        spectrum = np.abs(np.fft.rfft(radius - radius.mean(axis=1)[:, None], axis=1)) * 2 / radius.shape[1]
        spectrum = np.sqrt((spectrum[rings // 4 : 3 * rings // 4 + 1] ** 2).mean(axis=0))
        row = {"amount": amount, "folds": int(spectrum.argmax()), "depth / thickness": spectrum.max() / thickness}
        row |= {
            "second": int(np.argsort(-spectrum)[1]),
            "share of second": float(np.sort(spectrum)[-2] / spectrum.max()),
        }
        row["moving [m/s]"] = float(np.abs(frame.velocities).max())
        row |= {"steps": round(frame.time / STEP), "seconds": time.process_time() - began}
        rows.append(row)
        shapes.append(shell.surface(whole, 1 if size < 2000 else 0))
        print(load, bending, size, f"t = R/{RADIUS / thickness:.0f}", factors, row, flush=True)
        amount, moment = next(due, (np.inf, np.inf))
    return rows, shapes


def picture(name: str, shown: list[tuple[str, tuple[np.ndarray, np.ndarray]]]) -> None:
    """Sleeves side by side, seen from the side, lit from the upper left."""
    figure, axes = plt.subplots(1, len(shown), figsize=(2.1 * len(shown), 4.2), squeeze=False)
    for axis, (title, (x, faces)) in zip(axes[0], shown, strict=True):
        normal = np.cross(x[faces[:, 1]] - x[faces[:, 0]], x[faces[:, 2]] - x[faces[:, 0]])
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        light = np.clip(normal @ np.array([-0.55, -0.7, 0.45]), 0, 1)
        front = np.argsort(-x[faces][:, :, 1].mean(axis=1))
        colour = np.outer(0.15 + 0.85 * light, [0.80, 0.45, 0.35])
        kept = front[normal[front, 1] < 0.2]
        drawn = PolyCollection(x[faces[kept]][:, :, [0, 2]], facecolors=colour[kept], edgecolors=colour[kept])
        drawn.set_linewidth(0.3)
        axis.add_collection(drawn)
        axis.set_xlim(-0.075, 0.075)
        axis.set_ylim(-0.01, LENGTH + 0.01)
        axis.set_aspect("equal")
        axis.axis("off")
        axis.set_title(title, fontsize=8)
    figure.tight_layout()
    figure.savefig(common.PICTURES / f"subdivision_{name}.png", dpi=80)
    plt.close(figure)


def twist(names: list[str]) -> None:
    """The same sleeve on several meshes; other materials on one; a thin one through growing torsion."""
    amounts = [0.15, 0.3]
    thin = RADIUS / 100
    cases: dict[str, tuple[int, float, list[float], dict[str, float]]] = {
        **{f"{size} vertices": (size, RADIUS / 50, amounts, {}) for size in (494, 1496, 4015)},
        "thin": (1496, thin, amounts, {}),
        "thickness × 10": (1496, 10 * thin, amounts, {}),
        "and stretch × 10": (1496, 10 * thin, amounts, {"stretch": 10.0}),
        "thin, all moduli × 10": (1496, thin, amounts, {"stretch": 10.0, "bend": 10.0}),
        "growing": (1496, RADIUS / 200, [0.015, 0.03, 0.1, 0.3, 0.6], {}),
    }
    for name, (size, thickness, loads, factors) in cases.items():
        if not names or name in names:
            keep("twist", name, *run("twist", size, thickness, loads, **factors))


def compression(names: list[str]) -> None:
    """A sleeve pushed together, beside hinge + fem on the same meshes."""
    for size in (494, 1496, 2232, 5856):
        for bending in ("subdivision", "hinge"):
            name = f"{bending}, {size} vertices"
            if not names or name in names:
                keep("compression", name, *run("compression", size, RADIUS / 50, [0.02], bending, 0.05))


def pictures() -> None:
    """Sleeves of `keep`, where they were run, as they end."""
    twisted = (
        "494 vertices",
        "1496 vertices",
        "4015 vertices",
        "thin",
        "thickness × 10",
        "and stretch × 10",
        "thin, all moduli × 10",
    )
    pushed = tuple(f"{bending}, {size} vertices" for bending in ("subdivision", "hinge") for size in (494, 2232, 5856))
    for load, names in (("twist", twisted), ("compression", pushed)):
        shown = []
        for name in names:
            path = kept(load, name)
            if path.exists():
                with np.load(path) as saved:
                    shown.append((name, (saved["shapes"][-1], saved["faces"])))
        if shown:
            picture(load, shown)


def kept(load: str, name: str) -> Path:
    """Where the shapes of a case are."""
    safe = "".join(c if c.isalnum() else "_" for c in name)
    return common.OUT / f"sleeve_{load}_{safe}.npz"


def keep(load: str, name: str, rows: list[dict[str, Any]], shapes: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """Numbers and shapes of a case, in a file of its own, so that cases can run one by one."""
    path = kept(load, name)
    common.write(path.stem, {"name": name, "rows": rows})
    np.savez_compressed(path, faces=shapes[-1][1], shapes=np.stack([x for x, _ in shapes]))


SCHEMES: dict[str, tuple[int, dict[str, Any]]] = {
    "one system a step by conjugate gradients": (20, {"solver": "newton_cg", "iterations": 1}),
    "one system a step, factored": (6, {"solver": "newton", "iterations": 1}),
}


def cost() -> None:
    """Processor time a step of 0.01 s while a sleeve of 2542 vertices is compressed, cloth and metal."""
    points = meshes.cylinder(*SLEEVES[2542], RADIUS, LENGTH)[0]
    low, top = np.arange(62), np.arange(len(points) - 62, len(points))
    result: dict[str, Any] = {}
    materials = {"cloth": (RADIUS / 50, 1.0, POISSON), "metal": (1e-3, 1e5 / STRETCH, 0.05)}
    models = {"hinge": ("hinge", 3), "one point": ("subdivision", 1), "three points": ("subdivision", 3)}
    for scheme, (frames, options) in SCHEMES.items():
        for stuff, (thickness, stretch, poisson) in materials.items():
            first = 0.0
            for name, (bending, rule) in models.items():
                shell = sleeve(2542, thickness, bending, stretch, stretch, rule, sc.Damping(viscosity=1e-3), poisson)
                shell.clamp(low, points[low])
                shell.clamp(top, lambda t: points[top] - [0.0, 0.0, 0.1 * t])
                times = []
                began = time.process_time()
                scene = sc.Scene([shell], gravity=(0, 0, 0))
                for frame in sc.simulate(scene, frames=frames, fps=100.0, **options, **EULER):  # noqa: B007
                    times.append(time.process_time() - began)
                    began = time.process_time()
                taken = float(np.mean(times[1:]))
                first = first or taken
                radius = np.hypot(*shell.limit(frame.control())[:, :2].T)
                row = {"seconds a step": taken, "ratio to hinge": taken / first}
                row |= {"radius": (float(radius.min()), float(radius.max()))}
                result[f"{scheme}, {stuff}, {name}"] = row
                print(scheme, stuff, name, row, flush=True)
    common.write("subdivision_cost", result)


if __name__ == "__main__":
    asked, names = [a for a in sys.argv[1:2] if a in ("twist", "compression", "cost", "pictures")], sys.argv[2:]
    if "cost" in asked:
        cost()
    if "twist" in asked or not asked:
        twist(names)
    if "compression" in asked or not asked:
        compression(names)
    if "pictures" in asked or not asked:
        pictures()
