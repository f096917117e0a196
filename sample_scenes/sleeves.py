"""Three sleeves of subdivision elements: sagging, wrung, compressed.

See: left to right in time. Top: a sleeve hung by the upper half of its ends sags into U-shaped folds, chains from end
to end, as these come together. Middle: the right end is turned by 110°, diagonal folds wind around. Bottom: the ends
are pushed together without gravity and the wall buckles into diamonds.

Differs: 494 vertices as in the paper, E·t = 5000 N/m; the thickness, which the paper does not give, is 1 mm for the
last two; the sagging one is limp and heavy (D = 0.004 mN·m, 0.3 kg/m²), modelled bent down by 1 cm, and its steps are
converged: with one linear system a step, so limp a sleeve hops. At reduced size it has 300 vertices. Ends are held by
two rings of vertices. No sleeve collides with itself; the last two stop before folds touch, and are drawn shiny to
show them.
"""

from __future__ import annotations

import bpy
import numpy as np

from .kit import objects as ob
from .kit.card import SUBDIVISION, Card, Fact, Picture, Size
from .kit.sleeves import GRIDS, LONG, RADIUS, cloth, folds, sleeve, waves

CARD = Card("Sleeves: sagging, wrung, compressed", SUBDIVISION, "7")
FPS, LAST, TURN = 25, 24, np.radians(110)
HEIGHT = {"sagging": 0.40, "wrung": 0.24, "compressed": 0.08}


def vertices(size: Size) -> int:
    return 494


def loose(size: Size) -> int:
    """Vertices of the one that sags, whose steps are costly."""
    return size(300, 494)


def build(size: Size) -> None:
    ob.frames(LAST, FPS)
    count, steps = vertices(size), size(2, 4)
    sleeve(
        "sagging", loose(size), (0, 0, HEIGHT["sagging"]), "red", ((1, 0.0, 0.0), (LAST - 8, 0.0, 0.06 * LONG)),
        upright=False, bow=0.01, held=0.5, iterations=0, substeps=1, damping_mass=4.0,
        **ob.material(5000.0, 0.004, 0.3),
    )  # fmt: skip
    for name, tint, end in (("wrung", "blue", (TURN, 0.0)), ("compressed", "green", (0.0, 0.03 * LONG))):
        sleeve(
            name, count, (0, 0, HEIGHT[name]), tint, ((1, 0.0, 0.0), (LAST - 4, *end)), upright=False, substeps=steps,
            metallic=0.6, field_gravity=0.0, damping_viscosity=2e-3 if name == "wrung" else 0.02, **cloth(RADIUS / 50),
        )  # fmt: skip


def picture(size: Size) -> Picture:
    return Picture((1, 7, 12, 17, LAST), view=(0.15, -1.0, 0.12), panel=(260, 420), floor=None)


def check(size: Size) -> Fact:
    count = vertices(size)
    around, along = GRIDS[count]
    at = {name: (0.0, 0.0, height) for name, height in HEIGHT.items()}
    wrung = folds("wrung", LAST, count, at["wrung"], False)
    # Where around the sleeve the folds lie, ring by ring, over the middle half: their slant.
    x = ob.positions(bpy.data.objects["wrung"], LAST)
    across = x[:, 1] + 1j * (x[:, 2] - HEIGHT["wrung"])
    rings = across.reshape(along + 1, around)[along // 4 : 3 * along // 4 + 1]
    bumps = np.abs(rings) - np.abs(rings).mean(axis=1)[:, None]
    phase = np.unwrap(np.angle((bumps * np.exp(1j * wrung * np.angle(rings))).sum(axis=1)))
    slant = float(np.polyfit(np.arange(len(phase)), phase, 1)[0]) / wrung * along
    depth = float(waves("compressed", LAST, count, at["compressed"], False).max() / RADIUS)
    before, after = (ob.positions(bpy.data.objects["sagging"], frame) for frame in (1, LAST))
    around, along = GRIDS[loose(size)]
    middle = np.arange(len(before)) // around == along // 2
    fall = float(before[middle, 2].mean() - after[middle, 2].mean())
    numbers = {
        "folds of the wrung sleeve": float(wrung),
        "their turn from end to end [rad]": slant,
        "folds of the compressed one": float(folds("compressed", LAST, count, at["compressed"], False)),
        "their depth over the radius": depth,
        "fall of the middle of the sagging one [mm]": 1e3 * fall,
    }
    # Folds run along lines of tension from end to end: they turn with the end.
    holds = 3 <= wrung <= 7 and slant > 0.5 * TURN and depth > 0.05 and fall > 0.005
    return Fact("a wrung sleeve has diagonal folds, a compressed one buckles, a loose one sags", bool(holds), numbers)
