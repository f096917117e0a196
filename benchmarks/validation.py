"""Every target of the project's physics notes, by model and mesh: numbers, tables and pictures of docs/validation.md.

Run from the project's root. Writes docs/validation.json, the computed part of docs/validation.md and its pictures, and
prints what it writes. Takes some minutes; parts named as arguments are computed anew, the rest is kept; `page` only
writes the page again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "benchmarks")]

import cases  # noqa: E402
import matplotlib  # noqa: E402
import numpy as np  # noqa: E402
import scenes  # noqa: E402
from report import motion, page, shells  # noqa: E402

import shellcore as sc  # noqa: E402

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402
from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # noqa: E402

COLOURS = ["#1b6ca8", "#2a9d5c", "#c0392b", "#8e44ad", "#e08e0b"]
SHEETS = ("alternating", "crossed", "equilateral", "equilateral turned", "scattered", "jittered")


def exact_answers() -> dict[str, dict[str, list[float]]]:
    """Every figure over its exact answer, by case and model."""
    tips = {row[0]: row for row in cases.reference("cantilever_endload.csv")}
    shear = cases.reference("sze_cantilever_end_shear.csv")[[5, 10, 20]]
    result: dict[str, dict[str, list[float]]] = {}
    for model in cases.MODELS:

        def put(name: str, *values: float, model: str = model) -> None:
            result.setdefault(name, {})[model] = [float(value) for value in values]

        for gamma, (drop, x) in cases.HEAVY.items():
            found = cases.heavy_cantilever(gamma, model, thickness=1e-5 if gamma < 5 else 1e-4)
            put(f"heavy cantilever Γ = {gamma}: drop, x", found["drop"] / drop, found["x"] / x)
        for load in (1, 2, 4, 10):
            w, u = cases.tip_loaded(load, model)
            put(f"tip load {load}: w, u", w / tips[load][2], u / tips[load][1])
        for thickness, name in ((1e-3, "end shear at P/4, P/2, P: w"), (0.1, "the same, t = 0.1 as published: w")):
            put(name, *(cases.end_shear(shear[:, 0], model, thickness)[:, 1] / shear[:, 2]))
        for edge in ("clamped", "supported"):
            put(f"square plate, {edge}", cases.square_plate(edge, model) / cases.PLATE[edge])
        for ends, roots in (("clamped", cases.CLAMPED_FREE), ("free", cases.FREE_FREE)):
            for cylindrical, shape in ((True, "bent to cylinders"), (False, "narrow strip, EI = 8/9 D")):
                own = np.square(roots) * (1.0 if cylindrical else np.sqrt(8 / 9))
                found = cases.beam_modes(ends, model, cylindrical, count=len(roots)) ** 2
                put(f"frequencies, {ends}-free, {shape}", *(found / own))
        swing = cases.swinging_strip(model) ** 2 / (cases.CLAMPED_FREE[0] ** 2 * np.sqrt(8 / 9))
        put("frequency of a strip in time, EI = 8/9 D", swing)
    return result


def rolled() -> dict[str, Any]:
    """Tip of a strip rolled up by a couple: found and exact (shortening, deflection)."""
    table = cases.reference("cantilever_rollup_exact.csv")[1::2]
    found = {model: cases.roll_up(table[:, 0], model) for model in cases.MODELS}
    return {"exact": table[:, 1:].tolist(), **{model: value.tolist() for model, value in found.items()}}


def cylinders() -> dict[str, Any]:
    """Rigidity of held cylinders over what the table predicts, and the whole sheet's by refinement."""
    angles = (0, 22.5, 45, 90, 135)
    middle, refined = {}, {}
    for kind in ("equilateral", "one", "crossed", "alternating"):
        mesh = cases.sheet_mesh(kind, 24)
        middle[kind] = [cases.forced_cylinder(mesh, np.radians(a))[1] / cases.predicted(kind, a) for a in angles]
        sheets = [cases.sheet_mesh(kind, n) for n in (10, 20, 40)]
        refined[kind] = [cases.forced_cylinder(s, 0.0, "quadratic")[0] / cases.predicted(kind, 0) for s in sheets]
    jittered = [
        np.mean([cases.forced_cylinder(cases.jittered(24, s), np.radians(a))[1] for s in range(3)]) for a in angles
    ]
    middle["jittered"] = [float(f / cases.predicted("jittered", a)) for f, a in zip(jittered, angles, strict=True)]
    return {"angles": angles, "middle": middle, "whole at n = 10, 20, 40": refined}


# Name, Γ, t/L and the strain limit of the stretch cap: paper at its true stretch stiffness, and as `simulate` moves it.
CANTILEVERS = (("cloth", 1.0, 3e-3, 0.0), ("paper", 5.0, 3e-4, 0.0), ("paper, capped", 5.0, 3e-4, 1e-3))


def sheet_of(kind: str, n: int) -> Any:
    return cases.turned(cases.sheet_mesh("equilateral", n)) if "turned" in kind else cases.sheet_mesh(kind, n)


def independence() -> dict[str, Any]:
    """EI/D of a heavy square sheet by triangulation, resolution, thinness and load."""
    result: dict[str, Any] = {}
    for name, gamma, thickness, limit in CANTILEVERS:
        for fit in (False, True):
            for kind in SHEETS:
                sizes = (20, 40, 80) if kind in ("alternating", "equilateral", "scattered") else (20, 40)
                values = [
                    cases.sheet_rigidity(sheet_of(kind, n), "quadratic", fit, gamma, thickness, limit) for n in sizes
                ]
                result.setdefault(name, {}).setdefault("fitted" if fit else "plain", {})[kind] = values
    return result


def drapes() -> dict[str, Any]:
    """Cloth on a ball: how far quadratic and hinge end apart, fold scale; and the picture."""
    result: dict[str, Any] = {}
    figure = plt.figure(figsize=(13, 8.6))
    for column, ratio in enumerate(scenes.DRAPE_RATIOS):
        ends = {}
        for row, model in enumerate(("quadratic", "hinge")):
            shell, ends[model], speeds = scenes.drape(ratio, model, n=40)
            axes = figure.add_subplot(2, 3, 3 * row + column + 1, projection="3d")
            shaded(axes, ends[model], shell.faces, COLOURS[2 * row])
            axes.set_title(f"{model}, {ratio:g} : 1")
            result[f"{ratio:g} {model}"] = {"curvature": scenes.fold_scale(shell, ends[model]), "speed": speeds[-1]}
        apart = np.sqrt(((ends["quadratic"] - ends["hinge"]) ** 2).sum(axis=1).mean()) / scenes.SIDE
        result[f"{ratio:g} apart"] = float(apart)
    figure.subplots_adjust(0, 0, 1, 0.96, 0, 0.02)
    figure.savefig(ROOT / "docs/pictures/drapes.png", dpi=90)
    plt.close(figure)
    return result


def shaded(axes: Any, x: np.ndarray, faces: np.ndarray, colour: str) -> None:
    """A mesh lit from the side."""
    a, b, c = (x[faces[:, j]] for j in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    light = np.array([0.5, -0.6, 0.65])
    bright = 0.25 + 0.75 * np.clip(np.abs(normal @ (light / np.linalg.norm(light))), 0, 1)
    rgb = bright[:, None] * np.array(matplotlib.colors.to_rgb(colour))
    axes.add_collection3d(Poly3DCollection(x[faces], facecolors=rgb, edgecolors=rgb, linewidths=0.5))
    size = 0.62
    axes.set(xlim=(-size, size), ylim=(-size, size), zlim=(-0.65, 0.59))
    axes.set_box_aspect((1, 1, 1), zoom=1.0)
    axes.view_init(22, -60)
    axes.set_axis_off()


def ranges() -> dict[str, Any]:
    """Beams of three stiffnesses, falling shells at the limit of the cubic model, a flag torn by wind."""
    result: dict[str, Any] = {}
    for stiffness in scenes.FLEXURAL:
        for fold in (False, True):
            shell = scenes.beam(stiffness, fold)
            name = f"{'v-beam' if fold else 'flat beam'} {stiffness:g}: droop"
            result[name] = scenes.droop(shell, sc.equilibrium(shell))
    roots = [cases.swinging_strip("hinge", rigidity) for rigidity in (1.0, 10.0, 100.0)]
    frequencies = np.square(roots) * np.sqrt([1.0, 10.0, 100.0])
    result["frequency ratios for rigidity × 10"] = (frequencies[1:] / frequencies[:-1]).tolist()
    for shape in ("cylinder", "bowl"):
        for ratio in (1e4, 1e3, 1e2):
            shell, frames = scenes.falling(shape, ratio)
            strain = max(scenes.edge_strain(shell, frame.positions) for frame in frames)
            result[f"falling {shape} {ratio:g} : 1, largest strain"] = strain
    shell, frames = scenes.torn_flag()
    result["flag, largest strain"] = max(scenes.edge_strain(shell, frame.positions) for frame in frames)
    return result


def picture(data: dict[str, Any]) -> None:
    figure, grid = plt.subplots(2, 2, figsize=(13, 9.5))
    axes = grid[0, 0]
    names = list(data["exact"])
    for i, model in enumerate(cases.MODELS):
        for row, name in enumerate(names):
            errors = 100 * (np.array(data["exact"][name][model]) - 1)
            axes.plot(errors, np.full(len(errors), row + 0.2 * (i - 1)), "o", color=COLOURS[i], ms=3.5)
        axes.plot([], [], "o", color=COLOURS[i], label=model)
    axes.axvspan(-2, 2, color="#dddddd", zorder=0)
    axes.set_yticks(range(len(names)), names, fontsize=6.5)
    axes.set(xlabel="error [%] (grey: 2%)", xlim=(-8, 14), title="Against exact answers, equilateral mesh")
    axes.legend(fontsize=8)

    axes = grid[0, 1]
    for fraction, colour in zip((0.1, 0.4, 0.7, 1.0), COLOURS, strict=False):
        s = np.linspace(0, 12, 200)
        k = fraction * 2 * np.pi / 12
        axes.plot(np.sin(k * s) / k, (1 - np.cos(k * s)) / k, color=colour, lw=1)
    exact, found = np.array(data["roll"]["exact"]), np.array(data["roll"]["hinge"])
    axes.plot(12 - exact[:, 0], exact[:, 1], "k+", ms=9, label="exact tip")
    axes.plot(12 - found[:, 0], found[:, 1], "o", mfc="none", color="#c0392b", label="hinge, 60 elements")
    axes.set(aspect="equal", title="Roll-up by an end couple, L = 12")
    axes.legend(fontsize=8)

    for axes, name in zip(grid[1], ("cloth", "paper, capped"), strict=True):
        for (weights, style), shift in zip((("plain", "s"), ("fitted", "o")), (-0.15, 0.15), strict=True):
            for i, kind in enumerate(SHEETS):
                values = data["independence"][name][weights][kind]
                colour = COLOURS[0] if weights == "fitted" else COLOURS[4]
                axes.plot(i + shift + 0.05 * np.arange(len(values)), values, style + "-", color=colour, ms=4, lw=0.7)
            axes.plot([], [], style, color=colour, label=weights)
        axes.axhspan(0.95, 1.05, color="#dddddd", zorder=0)
        axes.set_xticks(range(len(SHEETS)), [kind.replace(" ", "\n") for kind in SHEETS], fontsize=8)
        title = {"cloth": "t/L = 3e-3, Γ = 1", "paper, capped": "t/L = 3e-4 as moved, Γ = 5"}[name]
        axes.set(ylabel="EI / D", title=f"Heavy square sheet, {title}; 20, 40 (80) cells")
        axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(ROOT / "docs/pictures/validation.png", dpi=90)


def main() -> None:
    parts = {
        "exact": exact_answers,
        "roll": rolled,
        "subdivision": shells.subdivision_strips,
        "plates": shells.plates,
        "roof": shells.roofs,
        "frequencies": shells.plate_frequencies,
        "convergence": shells.convergence,
        "fall": motion.free_fall,
        "oscillator": motion.oscillations,
        "momentum": motion.momentum,
        "energy": motion.swinging_energy,
        "incline": motion.incline,
        "identities": motion.identities,
        "modal": motion.modal,
        "agreement": motion.agreement,
        "cylinders": cylinders,
        "independence": independence,
        "drapes": drapes,
        "ranges": ranges,
    }
    kept = ROOT / "docs/validation.json"
    chosen = sys.argv[1:]
    data: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if chosen and kept.exists() else {}
    for name in [part for part in chosen if part != "page"] or ([] if chosen else list(parts)):
        data[name] = parts[name]()
        # As a file holds them: keys of tables become text.
        data = json.loads(json.dumps(data))
        kept.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"## {name}\n{json.dumps(data[name], indent=1, ensure_ascii=False)}", flush=True)
    if set(parts) <= set(data):
        picture(data)
        page.picture(data, ROOT / "docs/pictures/validation_motion.png")
        page.write(data, ROOT / "docs/validation.md")


if __name__ == "__main__":
    main()
