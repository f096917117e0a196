"""Writes the computed part of docs/validation.md, between its two marks, and the picture beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot as plt

BEGIN, END = "<!-- made by make validate -->", "<!-- end of what make validate made -->"
COLOURS = {"hinge": "#1b6ca8", "quadratic": "#2a9d5c", "cubic": "#c0392b", "subdivision": "#8e44ad"}
MODELS = ("hinge", "quadratic", "cubic", "subdivision")
EULER_NEWMARK = ("implicit_euler", "newmark")


NOTES = {
    "Cantilevers and beams": (
        """Found over exact. Hinge models on equilateral meshes of 24 to 60 rows, subdivision on 16 to 32 cells.""",
        """A dash: not computed. What the hinge models need for these figures is under [conditions](#conditions).""",
    ),
    "Square plates under a uniform load": (
        """Deflection of the middle over exact, by cells a side, and the order of the last refinement.""",
        """Hinges on a lattice of three directions have D12 = D66 whatever the material says: an orthotropic plate whose
D12 is 0 comes out too stiff, and a finer mesh or fitted weights do not help. Where such plates must be right, take
`subdivision`. An equilateral mesh is stretched by up to 1% to close the square, which is the scatter of the supported
hinge plates.""",
    ),
    "Scordelis-Lo roof": (
        """A cylindrical roof on two end walls under its own weight (Kirchhoff-Love reference).""",
        """Hinge models stretch by constant-strain triangles, which are too stiff on this roof; subdivision is not.""",
    ),
    "Frequencies of square plates": (
        """The first six over exact (supported: 19.739, 49.348 twice, 78.957, 98.696 twice; clamped: Leissa 1973).""",
        """Split squares have a Poisson's ratio of their own; fitted weights (`hinge_fit`) mend most of it.""",
    ),
    "Convergence of a heavy cantilever": ("""Γ = 10, error of the drop by rows of elements.""", ""),
    "Motion": ("""Euler's fall is compared with −½gt(t + h), its own exact answer.""", ""),
    "Momentum and energy": (
        """A free shell of 25 vertices tumbles and shakes for 0.25 s; everything over its value in the first frame.""",
        """Momentum is held to round-off. Angular momentum is lost at the order of the scheme. Implicit Euler's energy
never rises; Newmark's wanders by its error of second order while its steps are short. With γ = ½ it damps nothing,
and a stiff sheet that moves far in a step would gain energy: the picture shows a cotton sheet that swings from one
side; at 1/48 s some steps are taken by implicit Euler, which loses what they would have gained.

![Convergence, energy, angular momentum](pictures/validation_motion.png)""",
    ),
    "Friction on an incline": (
        """One step a frame of 1/24 s. Below the angle of friction the speed [m/s] should be 0; above it, acceleration
over g(sin α − μ cos α).""",
        """The penalty contact, for planes and spheres only, is too sticky near the angle of friction at one step
a frame; exact contact, the default, is right.""",
    ),
    "Identities": ("""A grid folded along its lines, the matrix of quadratic bending, a hung sheet, a sphere.""", ""),
    "Models against each other": (
        """Rest shapes of one heavy sheet (Γ = 5, half as wide as long, clamped), RMS distance over its length.""",
        "",
    ),
}
"""What is said before and after each table."""


def write(data: dict[str, Any], path: Path) -> None:
    """Put the tables between the marks of the page; what stands around them is left alone."""
    text = path.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    path.write_text(f"{head}{BEGIN}\n{tables(data)}{END}{tail}", encoding="utf-8")


def tables(data: dict[str, Any]) -> str:
    parts = {
        "Cantilevers and beams": exact,
        "Square plates under a uniform load": plates,
        "Scordelis-Lo roof": roof,
        "Frequencies of square plates": frequencies,
        "Convergence of a heavy cantilever": rates,
        "Motion": motion,
        "Momentum and energy": momentum,
        "Friction on an incline": friction,
        "Identities": identities,
        "Models against each other": agreement,
    }
    text = ""
    for title, part in parts.items():
        before, after = NOTES[title]
        text += f"## {title}\n{before}\n\n{part(data)}\n" + (f"{after}\n\n" if after else "")
    return text


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def listed(values: Any, digits: int = 4) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values)


def small(value: float) -> str:
    """Short, with an exponent where it needs one; a figure that was not computed is a dash."""
    return "–" if not np.isfinite(value) else f"{value:.2g}"


def by_cells(found: dict[str, float], exact_value: float) -> tuple[list[str], str]:
    """Numbers of cells in order, and the order of the last refinement; a dash where errors do not fall."""
    cells = sorted(found, key=int)
    errors = [abs(found[n] - exact_value) for n in cells]
    rate = np.log(errors[-2] / errors[-1]) / np.log(int(cells[-1]) / int(cells[-2]))
    return cells, f"{rate:.1f}" if rate > 0 else "–"


def exact(data: dict[str, Any]) -> str:
    rows, subdivision = [], data["subdivision"]
    for name, by_model in data["exact"].items():
        shown = "end shear at P/4, P/2, P, t = 0.1 as published: w" if name.startswith("the same") else name
        last = listed(subdivision[shown]) if shown in subdivision else "–"
        rows.append((shown, *(listed(by_model[model]) for model in MODELS[:3]), last))
    target = np.array(data["roll"]["exact"])
    far = [np.linalg.norm(np.array(data["roll"][model]) - target, axis=1).max() / 12 for model in MODELS[:3]]
    name = "roll-up to a full circle: worst distance of the tip over the length"
    rows.append((name, *(f"{value:.4f}" for value in far), f"{subdivision[name][0]:.4f}"))
    return table(("case", *MODELS), rows)


def plates(data: dict[str, Any]) -> str:
    rows = []
    for name, found in data["plates"].items():
        cells, rate = by_cells(found, 1.0)
        rows.append((name, ", ".join(cells), listed((found[n] for n in cells), 5), rate))
    return table(("model, mesh, edge", "cells", "found / exact", "order"), rows)


def roof(data: dict[str, Any]) -> str:
    rows = [(model, ", ".join(found), listed(found.values())) for model, found in data["roof"].items()]
    return table(("model", "cells a side", "descent of the free edge / 0.300601"), rows)


def frequencies(data: dict[str, Any]) -> str:
    return table(
        ("model, edge", "found / exact"), [(name, listed(found)) for name, found in data["frequencies"].items()]
    )


def rates(data: dict[str, Any]) -> str:
    rows = []
    for model, found in data["convergence"].items():
        cells, rate = by_cells(found, 0.0)
        rows.append((model, ", ".join(cells), ", ".join(f"{100 * found[n]:.3f}%" for n in cells), rate))
    return table(("model", "rows", "error of the drop", "order"), rows)


def motion(data: dict[str, Any]) -> str:
    rows = [(f"free fall, {name}: distance from exact after 0.2 s [m]", small(v)) for name, v in data["fall"].items()]
    rows += [(name, f"{value:.4g}") for name, value in data["oscillator"].items()]
    rows += [
        (f"modal warping, tip angle 0.65 rad, change of length: {name}", f"{100 * value:+.2f}%")
        for name, value in data["modal"].items()
    ]
    return table(("case", "found"), rows)


def momentum(data: dict[str, Any]) -> str:
    rows = [(name, *(small(value) for value in row.values())) for name, row in data["momentum"].items()]
    changes = ("change of momentum", "of angular momentum", "largest rise of energy in a step", "energy at the end")
    return table(("model, integrator, step", *changes), rows)


def friction(data: dict[str, Any]) -> str:
    kinds = data["incline"]
    rows = [(name, *(f"{found[name]:.4f}" for found in kinds.values())) for name in next(iter(kinds.values()))]
    return table(("case", *(f'contact="{name}"' for name in kinds)), rows)


def identities(data: dict[str, Any]) -> str:
    rows = []
    for name, value in data["identities"].items():
        rows.append(
            (name, small(value) if abs(value) < 1e-6 else f"{value:.12g}" if abs(value - 1) < 1e-6 else f"{value:.5g}")
        )
    return table(("what", "found"), rows)


def agreement(data: dict[str, Any]) -> str:
    return table(("models", "distance"), [(name, small(value)) for name, value in data["agreement"].items()])


def picture(data: dict[str, Any], path: Path) -> None:
    """Convergence, energy and angular momentum."""
    figure, grid = plt.subplots(2, 2, figsize=(13, 9.5))
    axes = grid[0, 0]
    for name, found in data["plates"].items():
        if "orthotropic" in name:
            continue
        model, mesh, edge = name.split(", ")
        cells = sorted(found, key=int)
        errors = [abs(found[n] - 1) for n in cells]
        style = {"clamped": "o-", "supported": "s--"}[edge]
        colour = "#e08e0b" if mesh == "irregular" else COLOURS[model]
        axes.loglog([int(n) for n in cells], errors, style, color=colour, ms=4, label=name)
    axes.set(xlabel="cells a side", ylabel="error of the deflection", title="Square plates")
    axes.legend(fontsize=6.5)
    axes = grid[0, 1]
    for model, found in data["convergence"].items():
        cells = sorted(found, key=int)
        axes.loglog([int(n) for n in cells], [abs(found[n]) for n in cells], "o-", color=COLOURS[model], label=model)
    axes.loglog([10, 40], [0.01, 0.01 / 16], "k:", label="second order")
    axes.set(xlabel="rows of elements", ylabel="error of the drop", title="Heavy cantilever, Γ = 10")
    axes.legend(fontsize=8)
    axes = grid[1, 0]
    for name, values in data["energy"].items():
        model, integrator, step = name.split(", ")
        style = "-" if integrator == "implicit_euler" else ":" if step == "1/48 s" else "--"
        axes.plot(
            np.arange(1, len(values) + 1) / 48, 1e3 * np.array(values), style, color=COLOURS[model], lw=1, label=name
        )
    axes.set(xlabel="time [s]", ylabel="energy [mJ]", title="A sheet swings from one side")
    axes.legend(fontsize=7)
    axes = grid[1, 1]
    names = [f"{model}, {integrator}" for model in MODELS for integrator in EULER_NEWMARK]
    for offset, step, colour in ((-0.17, "1/200 s", "#1b6ca8"), (0.17, "1/800 s", "#e08e0b")):
        values = [data["momentum"][f"{name}, {step}"]["angular momentum"] for name in names]
        axes.barh(np.arange(len(names)) + offset, values, 0.3, color=colour, label=step)
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.set(xlabel="change of angular momentum in 0.25 s", title="A tumbling shell (momentum: under 1e-12)")
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    plt.close(figure)
