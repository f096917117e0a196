"""Compressed sleeves at two resolutions, subdivision elements beside linear ones.

See: red, subdivision elements on a coarse and a fine mesh: the same diamonds, as many around. Blue, constant-strain
triangles with hinges on a coarse and a fine mesh.

Differs: the paper's linear elements (of Etzmuß et al.) buckle at the size of their mesh; ours, hinges of the same
rigidity, find nearly the same number of folds and differ by their mesh in shape. 494 and 2232 vertices (red), 2232 and
5856 (blue), at reduced size 300 and 494. Compressed by 4%, creeping (viscosity 0.02 s), thickness R/50.
"""

from __future__ import annotations

import numpy as np

from .kit import objects as ob
from .kit.card import SUBDIVISION, Card, Fact, Picture, Size
from .kit.sleeves import LONG, RADIUS, cloth, folds, sleeve, waves

CARD = Card("Compressed sleeves: subdivision beside linear elements", SUBDIVISION, "1")
FPS, LAST, APART = 25, 30, 0.15
THICK = RADIUS / 50


def looks(size: Size) -> dict[str, tuple[str, int, str]]:
    """Model, vertices and colour of each, left to right."""
    coarse, fine, finest = size((300, 494, 494), (494, 2232, 5856))
    return {
        "subdivision, coarse": ("subdivision", coarse, "red"),
        "subdivision, fine": ("subdivision", fine, "red"),
        "linear, coarse": ("hinge", size(coarse, fine), "blue"),
        "linear, fine": ("hinge", finest, "blue"),
    }


def place(index: int) -> tuple[float, float, float]:
    return (APART * index, 0.0, 0.02)


def build(size: Size) -> None:
    ob.frames(LAST, FPS)
    for index, (name, (model, count, tint)) in enumerate(looks(size).items()):
        sleeve(
            name, count, place(index), tint, ((1, 0.0, 0.0), (LAST - 8, 0.0, 0.04 * LONG)), THICK, bending=model,
            substeps=size(2, 4), field_gravity=0.0, damping_viscosity=0.02, **cloth(THICK),
        )  # fmt: skip


def picture(size: Size) -> Picture:
    return Picture((1, 12, LAST), view=(0.1, -1.0, 0.12), panel=(640, 300))


def check(size: Size) -> Fact:
    found = {
        name: folds(name, LAST, count, place(index)) for index, (name, (_, count, _)) in enumerate(looks(size).items())
    }
    depths = [
        waves(name, LAST, count, place(index)).max() / THICK
        for index, (name, (_, count, _)) in enumerate(looks(size).items())
    ]
    coarse, fine = (found[name] for name in ("subdivision, coarse", "subdivision, fine"))
    # The wave number of a long elastic cylinder at its critical load (Koiter).
    classic = 0.909 * np.sqrt(RADIUS / THICK)
    holds = abs(coarse - fine) <= 1 and 0.25 * classic <= fine <= classic and min(depths[:2]) > 1.0
    numbers = {f"folds, {name}": float(value) for name, value in found.items()}
    numbers |= {"classic number": float(classic), "depth over thickness, subdivision, fine": float(depths[1])}
    return Fact("subdivision sleeves of either mesh have as many folds, within theory's range", bool(holds), numbers)
