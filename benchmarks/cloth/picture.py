"""Draws docs/against_cloth.json: `python benchmarks/cloth/picture.py`."""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

DOCS = Path(__file__).resolve().parents[2] / "docs"
CASES = ("pinned", "flag", "drape", "self-contact")
SIZES = (1600, 6400, 25600)
RATIOS = (0.7, 1, 1.5, 2, 3, 5, 10)


def main() -> None:
    results = json.loads((DOCS / "against_cloth.json").read_text())
    figure, (time, strain) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for colour, case in zip(("C0", "C1", "C2", "C3"), CASES, strict=True):
        for style, kind in (("o-", "regular"), ("s--", "irregular")):
            rows = [(n, results.get(f"{case} {kind} {n}", {})) for n in SIZES]
            rows = [(n, row) for n, row in rows if "ratio" in row]
            if rows:
                sizes = [n for n, _ in rows]
                time.loglog(sizes, [row["ratio"] for _, row in rows], style, color=colour, label=f"{case}, {kind}")
                ours = [100 * row["ours"]["peak strain"] for _, row in rows]
                cloth = [100 * row["cloth"]["peak strain"] for _, row in rows]
                strain.loglog(sizes, ours, style, color=colour)
                strain.loglog(sizes, cloth, style, color=colour, alpha=0.35)
    time.axhline(1.0, color="black", linewidth=0.8)
    time.set(xlabel="vertices", ylabel="Cloth's time / ours", title="Whole bakes of 24 frames")
    time.set_yticks(RATIOS, [f"{ratio:g}" for ratio in RATIOS])
    time.set_yticks([], minor=True)
    time.legend(fontsize=8)
    strain.set(xlabel="vertices", ylabel="peak edge strain [%]", title="Stretch at the end (pale: Cloth)")
    for axes in (time, strain):
        axes.set_xticks(SIZES, [f"{n / 1000:g}k" for n in SIZES])
        axes.set_xticks([], minor=True)
        axes.grid(True, which="both", alpha=0.3)
    figure.savefig(DOCS / "pictures" / "against_cloth.png", dpi=110)
    print("wrote docs/pictures/against_cloth.png")


if __name__ == "__main__":
    main()
