"""Flat beams and v-beams at three stiffnesses, clamped to a wall and let go.

See: three pairs, bending stiffness × 10 from pair to pair. The softest flat strip hangs like a ribbon, the stiffest
hardly droops; every v-beam stands above its flat neighbour of the same paper, most of all where the paper is soft.

Differs: stiffness is given as rigidity, D = 0.5, 5 and 50 mN·m for strips of 0.3 m and 0.2 kg/m², so that the flat
ones have the known drops of heavy cantilevers, Γ = qL³/D = 106, 10.6 and 1.06; the paper's 100, 1000, 10000 have no
unit. Air drag and implicit Euler bring them to rest within two seconds. The sides of the v stand at 50°: at 35° the
softest one buckles at its root, as a tape measure does that is pulled out too far.
"""

from __future__ import annotations

import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import DISCRETE_SHELLS, Card, Fact, Picture, Size
from .kit.meshes import Shape, sheet

CARD = Card("Beams at three stiffnesses", DISCRETE_SHELLS, "2")
LENGTH, WIDTH = 0.3, 0.05
RIGIDITY = {"soft": 0.5, "medium": 5.0, "stiff": 50.0}
LAST = 48


def vee(flat: Shape) -> Shape:
    """The strip folded along its middle line, sides at 50°."""
    x, y, _ = flat.points.T
    slope = np.radians(50.0)
    folded = np.column_stack([x, y * np.cos(slope), -np.abs(y) * np.sin(slope)])
    return Shape(folded, flat.faces, flat.uv, flat.rows)


def build(size: Size) -> None:
    ob.frames(LAST)
    columns, rows = size((10, 2), (30, 4))
    strip = sheet(LENGTH, WIDTH, columns, rows)
    held = np.flatnonzero(strip.points[:, 0] < -LENGTH / 2 + 0.101 * LENGTH)
    for index, (name, rigidity) in enumerate(RIGIDITY.items()):
        for shape, kind, offset, tint in ((strip, "flat", -0.045, "blue"), (vee(strip), "vee", 0.045, "red")):
            obj = ob.shell(
                f"{name} {kind}",
                shape,
                (0.0, 0.24 * index + offset, 0.4),
                bending="hinge",
                integrator="implicit_euler",
                solver="auto",
                substeps=2,
                strain_limit=0.1,
                damping_mass=3.0,
                **ob.material(3000.0, rigidity, 0.2),
            )
            ob.pin(obj, held)
            studio.paint(obj, tint, "cream", rough=0.9, sheen=0.0)
    studio.block((-LENGTH / 2 - 0.015, 0.24, 0.36), (0.03, 0.75, 0.22), "paper")


def picture(size: Size) -> Picture:
    return Picture((1, 4, 6, 9, 14, LAST), view=(1.0, -0.75, 0.45), panel=(460, 380), floor=None, columns=3)


def drop(name: str) -> float:
    """How far the tip is below the clamp at the end, in lengths."""
    obj = ob.bpy.data.objects[name]
    first, last = ob.positions(obj, 1), ob.positions(obj, LAST)
    tip = np.flatnonzero(first[:, 0] > first[:, 0].max() - 1e-6)
    return float((first[tip, 2] - last[tip, 2]).mean() / LENGTH)


def check(size: Size) -> Fact:
    drops = {f"{name} {kind}": drop(f"{name} {kind}") for name in RIGIDITY for kind in ("flat", "vee")}
    flats, vees = ([drops[f"{name} {kind}"] for name in RIGIDITY] for kind in ("flat", "vee"))
    holds = (
        flats[0] > flats[1] > flats[2]
        and vees[0] > vees[1] > vees[2]
        and all(v < 0.85 * f for v, f in zip(vees, flats, strict=True))
        and vees[0] < 0.2 * flats[0]
    )
    return Fact(
        "drop of the tip in lengths falls with stiffness and with a v-shaped section, most where it is soft",
        holds,
        drops,
    )
