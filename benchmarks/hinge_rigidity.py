"""Effective bending rigidity by direction, plain and fitted, on every kind of mesh: the tables and the picture of
docs/theory/hinge_rigidity.md. Run from the project's root; prints the tables in Markdown.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import effective_rigidity as sheets  # noqa: E402
import matplotlib  # noqa: E402
import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

import meshes  # noqa: E402
from shellcore.hinge_rigidity import hinge_rigidities  # noqa: E402
from shellcore.material import Material, directional_rigidity  # noqa: E402
from shellcore.mesh import topology  # noqa: E402

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402

Floats = NDArray[np.float64]
MESHES = {
    "equilateral": sheets.equilateral(),
    "alternating": sheets.alternating(),
    "crossed": sheets.crossed(),
    "jittered Delaunay": sheets.jittered(1),
    "scattered Delaunay": sheets.scattered(1),
    "one diagonal": sheets.right(),
}
MATERIALS = {
    "isotropic": (3.0, 3.0, None),
    "D11 : D22 = 2 : 1": (6.0, 3.0, None),
    "5 : 1": (15.0, 3.0, None),
    "2 : 1, D66 = 0.09 √(D11 D22)": (6.0, 3.0, 0.4),
}
DEGREES = np.arange(0.0, 180.1, 7.5)
TURNS = np.radians([0.0, 30.0, 90.0])
COLOURS = ["#1b6ca8", "#2a9d5c", "#c0392b", "#8e44ad", "#e08e0b", "#777777"]


def material_of(warp: float, weft: float, twist: float | None) -> Material:
    return Material(stretch=1.0, bend=(warp, weft), bend_shear=twist, areal_density=1.0, thickness=1.0)


def ratio(sheet: sheets.PeriodicSheet, material: Material, turn: float, fit: bool) -> Floats:
    """Effective over wanted rigidity at DEGREES from a warp turned by `turn` [rad] from the mesh's x axis."""
    axes = np.tile([np.cos(turn), np.sin(turn), 0.0], (len(sheet.mesh.faces), 1))
    rigidity = hinge_rigidities(sheet.mesh, sheet.positions, axes, material, fit)
    alpha = np.radians(DEGREES)
    wanted = directional_rigidity(material.bending_moduli(1), np.cos(alpha), np.sin(alpha))
    return sheets.effective_rigidity(sheet, rigidity, alpha + turn) / wanted


def tables() -> None:
    """Smallest and largest ratio over all directions, and the ratios along warp and weft."""
    weft = int(np.argmin(np.abs(DEGREES - 90)))
    for name, constants in MATERIALS.items():
        material = material_of(*constants)
        print(f"\n**{name}**\n")
        print("| mesh | warp at | plain, all directions | fitted, all directions | fitted, warp / weft |")
        print("|---|---|---|---|---|")
        for kind, sheet in MESHES.items():
            for turn in TURNS[:1] if name == "isotropic" else TURNS:
                plain, fitted = ratio(sheet, material, turn, False), ratio(sheet, material, turn, True)
                print(
                    f"| {kind} | {np.degrees(turn):.0f}° | {plain.min():.2f} to {plain.max():.2f} "
                    f"| {fitted.min():.2f} to {fitted.max():.2f} | {fitted[0]:.3f} / {fitted[weft]:.3f} |"
                )


def timings() -> None:
    print("\n| vertices | plain | fitted |\n|---|---|---|")
    for cells in (79, 158, 316):
        x, faces = meshes.grid(cells, cells, 1.0, 1.0)
        mesh = topology(faces, len(x))
        spent = []
        for fit in (False, True):
            began = time.perf_counter()
            hinge_rigidities(mesh, x, None, material_of(6.0, 3.0, None), fit)
            spent.append(time.perf_counter() - began)
        print(f"| {len(x)} | {spent[0]:.2f} s | {spent[1]:.2f} s |")


def picture(path: Path) -> None:
    figure = plt.figure(figsize=(13, 8.2), layout="constrained")
    panels = figure.subplot_mosaic("abe\ncdf", per_subplot_kw={("e", "f"): {"projection": "polar"}})
    rows = [("a", "b", "isotropic", 0.0), ("c", "d", "2 : 1, D66 = 0.09 √(D11 D22)", 0.0)]
    for plain, fitted, name, turn in rows:
        material = material_of(*MATERIALS[name])
        for panel, fit in ((plain, False), (fitted, True)):
            axis = panels[panel]
            for colour, (kind, sheet) in zip(COLOURS, MESHES.items(), strict=True):
                if fit and kind == "one diagonal":
                    continue
                axis.plot(DEGREES, ratio(sheet, material, turn, fit), color=colour, label=kind)
            axis.axhspan(0.9, 1.1, color="#dddddd", zorder=0)
            axis.axhline(1.0, color="black", lw=0.6, zorder=1)
            axis.set(ylim=(0.5, 2.3), xlim=(0, 180), xticks=range(0, 181, 45), xlabel="direction of bending [°]")
            axis.set_title(f"{'fitted' if fit else 'plain'}: {name}", fontsize=10)
            axis.set_ylabel("effective rigidity / material's")
    panels["a"].legend(fontsize=8, loc="upper right")
    _equation_8(panels["e"])
    _oblique(panels["f"])
    figure.savefig(path, dpi=85, pil_kwargs={"optimize": True})


def _equation_8(axis: plt.Axes) -> None:
    alpha = np.linspace(0, 2 * np.pi, 361)
    c, s = np.cos(alpha) ** 2, np.sin(alpha) ** 2
    for colour, share in zip(COLOURS, (0.1, 1.0, 2.0), strict=False):
        axis.plot(alpha, c**2 + s**2 + 2 * share * c * s, color=colour, label=f"G = {share:g} K")
    axis.set_title("eq. (8) as printed, Y⁰ = Y¹ = K\n(full weight: the same at half of G)", fontsize=10)
    axis.set(rticks=[0.5, 1.0, 1.5], rmax=1.6)
    axis.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3)


def _oblique(axis: plt.Axes) -> None:
    name, turn = "2 : 1, D66 = 0.09 √(D11 D22)", np.radians(30.0)
    material = material_of(*MATERIALS[name])
    alpha = np.radians(DEGREES)
    wanted = directional_rigidity(material.bending_moduli(1), np.cos(alpha), np.sin(alpha))
    around = np.concatenate([alpha, alpha + np.pi]) + turn
    axis.plot(around, np.tile(wanted, 2), color="black", lw=3, alpha=0.3, label="material")
    for index in (1, 3, 4):
        kind = list(MESHES)[index]
        measured = wanted * ratio(MESHES[kind], material, turn, True)
        axis.plot(around, np.tile(measured, 2), color=COLOURS[index], label=f"{kind}, fitted")
    axis.set_title("the same cloth, warp at 30° to the mesh", fontsize=10)
    axis.set(rticks=[2, 4, 6])
    axis.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=2)


if __name__ == "__main__":
    tables()
    timings()
    picture(ROOT / "docs" / "pictures" / "hinge_rigidity.png")
