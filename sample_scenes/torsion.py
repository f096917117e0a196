"""A sleeve twisted quickly: fine wrinkles that merge into folds.

See: at first many fine diagonal wrinkles all around; as the torsion grows they merge into fewer, deeper folds.

Differs: the paper says neither how fast nor how thin. Twisted slowly a sleeve buckles at its critical torsion, in 7
folds at this thickness, which then only deepen. Wrinkles that merge need a torsion far beyond the critical one before
they have grown: here 60 rad/s, a wall of R/200, steps of 0.1 ms, one frame a millisecond. 4015 vertices, at reduced
size 2232 (coarser meshes do not resolve the wrinkles). Two rings are held at either end, no gravity, no contact.
"""

from __future__ import annotations

import numpy as np

from .kit import objects as ob
from .kit.card import SUBDIVISION, Card, Fact, Picture, Size
from .kit.sleeves import RADIUS, cloth, folds, sleeve, waves

CARD = Card("Wrinkles of a twisted sleeve merge", SUBDIVISION, "9")
FPS, RATE, AT, WALL = 1000, 60.0, (0.0, 0.0, 0.02), RADIUS / 200


def last(size: Size) -> int:
    return size(7, 19)


def vertices(size: Size) -> int:
    return size(2232, 4015)


def build(size: Size) -> None:
    ob.frames(last(size), FPS)
    sleeve(
        "Sleeve", vertices(size), AT, "red", ((1, 0.0, 0.0), (last(size), RATE * (last(size) - 1) / FPS, 0.0)), WALL,
        waves=range(2, 25), substeps=10, field_gravity=0.0, damping_viscosity=1e-5, **cloth(WALL),
    )  # fmt: skip


def picture(size: Size) -> Picture:
    return Picture(size((1, 4, 7), (1, 4, 6, 9, 19)), view=(0.1, -1.0, 0.12), panel=(240, 320))


def check(size: Size) -> Fact:
    count = vertices(size)
    numbers = {}
    for frame in (4, 5, last(size)):
        power = waves("Sleeve", frame, count, AT) ** 2
        mean = float((np.arange(len(power)) * power).sum() / power.sum())
        label = f"at {RATE * (frame - 1) / FPS:.2f} rad"
        numbers |= {f"folds {label}": float(folds("Sleeve", frame, count, AT)), f"mean wave number {label}": mean}
        numbers |= {f"depth over thickness {label}": float(np.sqrt(power.max()) / WALL)}
    early, mean_early, _, middle, _, _, late, mean_late, deep = numbers.values()
    holds = early >= middle >= late and early > late and mean_late < 0.85 * mean_early and deep > 2.0
    return Fact("the number of folds falls as the torsion grows, and they deepen", bool(holds), numbers)
