"""A sleeve of thin metal, compressed along its axis.

See: the wall dents suddenly, in diamonds with sharp ridges, and the dents deepen as the end comes down.

Differs: the paper's material (E·t = 1e5 N/m, ν = 0.05, 1 mm) on a sleeve of R = 5 cm; its size is not in the paper. 494
vertices at reduced size, 2232 at full (the paper: 2542); steps of 0.01 s as in the paper; elastic: the dents would
spring back. It does not collide with itself.
"""

from __future__ import annotations

import numpy as np

from .kit import objects as ob
from .kit.card import SUBDIVISION, Card, Fact, Picture, Size
from .kit.sleeves import LONG, RADIUS, folds, sleeve, waves

CARD = Card("Axial compression of metal", SUBDIVISION, "11")
FPS, LAST, AT = 25, 36, (0.0, 0.0, 0.02)
STRETCH, NU, THICK, SHORTER = 1e5, 0.05, 1e-3, 0.12


def vertices(size: Size) -> int:
    return size(494, 2232)


def build(size: Size) -> None:
    ob.frames(LAST, FPS)
    sleeve(
        "Metal", vertices(size), AT, "metal", ((1, 0.0, 0.0), (LAST - 4, 0.0, SHORTER * LONG)), THICK, metallic=1.0,
        substeps=size(2, 4), field_gravity=0.0, damping_viscosity=5e-3,
        **ob.material(STRETCH, 1e3 * STRETCH / (1 - NU**2) * THICK**2 / 12, 0.5, poisson=NU),
    )  # fmt: skip


def picture(size: Size) -> Picture:
    return Picture((1, 9, 16, 24, LAST), view=(0.15, -1.0, 0.15), panel=(240, 300))


def check(size: Size) -> Fact:
    count = vertices(size)
    depth = [float(waves("Metal", frame, count, AT).max() / THICK) for frame in (2, LAST // 2, LAST)]
    number = folds("Metal", LAST, count, AT)
    x = ob.positions(ob.bpy.data.objects["Metal"], LAST)
    numbers = {
        "depth over thickness before": depth[0],
        "half-way": depth[1],
        "at the end": depth[2],
        "folds around": float(number),
        "largest reach over the radius": float(np.hypot(*(x[:, :2]).T).max() / RADIUS),
    }
    holds = depth[0] < 0.5 < depth[1] < depth[2] and 2 <= number <= 6 and numbers["largest reach over the radius"] < 1.5
    return Fact("a metal sleeve stays straight, then dents, ever deeper, without blowing up", bool(holds), numbers)
