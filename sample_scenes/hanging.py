"""Sleeves of three materials under gravity.

See: the same sleeve, hung by the upper part of its ends while they come together. Soft cloth falls into deep U-shaped
folds, a stiffer one into a shallow swag, the stiffest keeps its round and bends as a tube.

Differs: the paper's materials are not given; here D = 0.01, 0.04 and 0.4 mN·m at 0.3 kg/m² and E·t = 5000 N/m. 494
vertices as in the paper (300 at reduced size). The sleeves are modelled bent down by 1 cm and do not cross themselves.
"""

from __future__ import annotations

import bpy
import numpy as np

from .kit import objects as ob
from .kit.card import SUBDIVISION, Card, Fact, Picture, Size
from .kit.sleeves import GRIDS, LONG, sleeve

CARD = Card("Sleeves of three materials under gravity", SUBDIVISION, "10")
FPS, LAST, APART = 25, 30, 0.28
LOOKS = {"soft": ("red", 0.01), "medium": ("yellow", 0.04), "stiff": ("teal", 0.4)}
"""Colour and rigidity [mN·m]."""


def vertices(size: Size) -> int:
    return size(300, 494)


def place(index: int) -> tuple[float, float, float]:
    return (APART * index, 0.0, 0.15)


def build(size: Size) -> None:
    ob.frames(LAST, FPS)
    for index, (name, (tint, bend)) in enumerate(LOOKS.items()):
        sleeve(
            name, vertices(size), place(index), tint, ((1, 0.0, 0.0), (LAST - 12, 0.0, 0.2 * LONG)), upright=False,
            bow=0.01, held=0.3, substeps=size(2, 4), damping_mass=4.0, self_contact=True, contact_distance=2.0,
            **ob.material(5000.0, bend, 0.3),
        )  # fmt: skip


def picture(size: Size) -> Picture:
    return Picture((1, 12, LAST), view=(0.12, -1.0, 0.15), panel=(720, 240))


def check(size: Size) -> Fact:
    around, along = GRIDS[vertices(size)]
    middle = np.arange((along + 1) * around) // around == along // 2
    falls, rounds = {}, {}
    for name in LOOKS:
        before, after = (ob.positions(bpy.data.objects[name], frame)[middle] for frame in (1, LAST))
        falls[name] = float(before[:, 2].mean() - after[:, 2].mean())
        flat = after[:, 1:] - after[:, 1:].mean(axis=0)
        # Area within the middle ring over that of the circle it was.
        area = 0.5 * abs(float(np.sum(flat[:, 0] * np.roll(flat[:, 1], -1) - np.roll(flat[:, 0], -1) * flat[:, 1])))
        rounds[name] = area / (np.pi * 0.05**2)
    numbers = {f"fall of the middle, {name} [mm]": 1e3 * value for name, value in falls.items()}
    numbers |= {f"area within the middle, {name}": value for name, value in rounds.items()}
    holds = min(falls.values()) > 0.002 and rounds["soft"] < rounds["stiff"] and falls["stiff"] < max(falls.values())
    return Fact("all sag; the soft one collapses, the stiff one keeps its section", bool(holds), numbers)
