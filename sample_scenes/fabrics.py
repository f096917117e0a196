"""Twisted sleeves of three materials on the same mesh.

See: left, a thin cloth with many fine folds; middle, ten times as thick, few wide ones; right, as thick and ten times
as hard to stretch, more again: the number of folds is the material's, not the mesh's.

Differs: 800 vertices and 1536 triangles (the paper: 1500 triangles), at reduced size 494; the paper gives no thickness:
R/100 and R/10 here. Twisted by 0.3 rad without gravity; drawn shiny to show the folds.
"""

from __future__ import annotations

from .kit import objects as ob
from .kit.card import SUBDIVISION, Card, Fact, Picture, Size
from .kit.sleeves import RADIUS, cloth, folds, sleeve, waves

CARD = Card("Twisted sleeves of three materials", SUBDIVISION, "8")
FPS, LAST, APART, TWIST = 25, 26, 0.15, 0.3
THIN = RADIUS / 100
LOOKS = {"thin": ("red", THIN, 1.0), "thick": ("yellow", 10 * THIN, 1.0), "and stiff": ("teal", 10 * THIN, 10.0)}
"""Colour, thickness, factor on the stretch alone."""


def vertices(size: Size) -> int:
    return size(494, 800)


def place(index: int) -> tuple[float, float, float]:
    return (APART * index, 0.0, 0.02)


def build(size: Size) -> None:
    ob.frames(LAST, FPS)
    for index, (name, (tint, thickness, stretch)) in enumerate(LOOKS.items()):
        sleeve(
            name, vertices(size), place(index), tint, ((1, 0.0, 0.0), (LAST - 6, TWIST, 0.0)), thickness,
            metallic=0.6, substeps=size(2, 4), field_gravity=0.0, damping_viscosity=1e-3, **cloth(thickness, stretch),
        )  # fmt: skip


def picture(size: Size) -> Picture:
    return Picture((1, LAST), view=(0.1, -1.0, 0.12), panel=(640, 400))


def check(size: Size) -> Fact:
    found = [folds(name, LAST, vertices(size), place(index)) for index, name in enumerate(LOOKS)]
    depths = [waves(name, LAST, vertices(size), place(index)).max() for index, name in enumerate(LOOKS)]
    numbers = {f"folds, {name}": float(value) for name, value in zip(LOOKS, found, strict=True)}
    numbers |= {f"depth, {name} [mm]": 1e3 * float(value) for name, value in zip(LOOKS, depths, strict=True)}
    thin, thick, stiff = found
    holds = thick < thin and thick < stiff and min(depths) > 1e-4
    return Fact("a thicker cloth has fewer folds, one that is harder to stretch more", bool(holds), numbers)
