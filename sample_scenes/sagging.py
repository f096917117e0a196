"""Sleeves under their own weight: one mesh, three materials.

See: three sleeves hung by the upper half of their ends, which come together by 6%. Left to right in time. The limp one
(top) hangs in U-shaped folds, chains from end to end, nested in each other; the next dents in one deep U with round
shoulders; the firm one (third) bends in a wide and shallow one. Below them the mesh, the same for all.

Differs: the paper says neither which parameters it varies nor how its sleeves are held. Here rigidity alone, D = 0.004,
8 and 60 mN·m at E·t = 5000 N/m and 0.3 kg/m². 494 vertices and 936 faces as in the paper (300 vertices at reduced
size); modelled bent down by 1 cm, ends held by two rings of vertices, no contact. Steps are converged: with the one
linear system a step of the paper, at steps of 0.01 s, so limp a sleeve hops.
"""

from __future__ import annotations

import bpy
import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import SUBDIVISION, Card, Fact, Picture, Size
from .kit.meshes import tube
from .kit.sleeves import GRIDS, LONG, RADIUS, STRETCH, sleeve

CARD = Card("Sagging sleeves of three materials", SUBDIVISION, "10")
FPS, LAST, CLOSER = 25, 24, 0.06
LOOKS = {"limp": ("red", 0.004, 0.45), "middle": ("yellow", 8.0, 0.3), "firm": ("teal", 60.0, 0.15)}
"""Colour, rigidity [mN·m] and height [m]."""


def vertices(size: Size) -> int:
    return size(300, 494)


def build(size: Size) -> None:
    ob.frames(LAST, FPS)
    for name, (tint, bend, height) in LOOKS.items():
        sleeve(
            name, vertices(size), (0, 0, height), tint, ((1, 0.0, 0.0), (LAST - 8, 0.0, CLOSER * LONG)), upright=False,
            bow=0.01, held=0.5, iterations=0, substeps=1, damping_mass=4.0, **ob.material(STRETCH, bend, 0.3),
        )  # fmt: skip
    mesh = ob.mesh_object("Mesh", tube(RADIUS, LONG, *GRIDS[vertices(size)]), (0, 0, 0), (0, np.pi / 2, 0))
    modifier = mesh.modifiers.new("Wires", "WIREFRAME")
    modifier.thickness, modifier.use_replace, modifier.material_offset = 0.0012, False, 1
    studio.paint(mesh, "dark", smooth=False)
    lines = mesh.data.materials[0]
    studio.paint(mesh, "paper", smooth=False)
    mesh.data.materials.append(lines)


def picture(size: Size) -> Picture:
    return Picture(
        (1, 8, 16, LAST), view=(0.15, -1.0, 0.12), panel=(300, 560), floor=None, follow=(*LOOKS, "Mesh"), columns=4
    )


def bends(name: str, size: Size) -> float:
    """Root mean square curvature of the lines along a sleeve [1/m]: none while it is straight."""
    around, along = GRIDS[vertices(size)]
    x = ob.positions(bpy.data.objects[name], LAST).reshape(along + 1, around, 3)
    # Every ring is turned by half a cell: lines along the axis pass through every other one.
    second = (np.roll(x[4:], 1, axis=1) - 2 * x[2:-2] + np.roll(x[:-4], -1, axis=1)) / (2 * LONG / along) ** 2
    return float(np.sqrt((second**2).sum(axis=-1).mean()))


def check(size: Size) -> Fact:
    around, along = GRIDS[vertices(size)]
    middle = np.arange(around * (along + 1)) // around == along // 2
    numbers = {}
    for name in LOOKS:
        before, after = (ob.positions(bpy.data.objects[name], frame)[middle, 2].mean() for frame in (1, LAST))
        numbers[f"{name}: fall of the middle [mm]"] = float(1e3 * (before - after))
        numbers[f"{name}: curvature [1/m]"] = bends(name, size)
    limp, middle, firm = (numbers[f"{name}: curvature [1/m]"] for name in LOOKS)
    holds = limp > 1.1 * middle and middle > 1.5 * firm
    return Fact("the stiffer the cloth, the less curved its folds", holds, numbers)
