"""Modal warping: a flat beam under gravity by linear modes and by warped ones; flat and v-beams at three stiffnesses.

See: the red strip is moved by linear modal analysis: its tip grows as it bends down. The blue one beside it has the
same modes, warped: it keeps its length. Behind them three pairs of flat and v-beams, stiffer from left to right; the
v-beams hardly move.

Differs: two figures in one picture.
"""

from __future__ import annotations

import bpy
import numpy as np

from .beams import vee
from .kit import objects as ob
from .kit import studio
from .kit.card import MODAL, Card, Fact, Picture, Size
from .kit.meshes import sheet
from .kit.modal import Puppet

CARD = Card("Beams by linear modes and by warping", MODAL, "3, 4")
LENGTH, WIDTH, LAST = 0.3, 0.05, 30
RIGIDITY = {"soft": 10.0, "medium": 25.0, "stiff": 100.0}


def build(size: Size) -> None:
    ob.frames(LAST, 30)
    cells = size((15, 2), (30, 4))
    strip = sheet(LENGTH, WIDTH, *cells)
    row = [("linear", strip, "red", 19.0, 0.0), ("warped", strip, "blue", 19.0, 0.12)]
    for index, (name, rigidity) in enumerate(RIGIDITY.items()):
        row.append((f"{name} flat", strip, "cream", rigidity, 0.34 + 0.2 * index))
        row.append((f"{name} vee", vee(strip), "green", rigidity, 0.42 + 0.2 * index))
    for name, shape, tint, rigidity, at in row:
        obj = ob.shell(
            name, shape, (0, at, 0.35), bending="hinge", damping_mass=3.0, **ob.material(3000.0, rigidity, 0.2)
        )
        studio.paint(obj, tint, "paper")
    studio.block((-LENGTH / 2 - 0.015, 0.4, 0.34), (0.03, 1.05, 0.16), "paper")


def bake(size: Size) -> None:
    for obj in ob.shells():
        x = ob.local(obj)[:, 0]
        held = np.flatnonzero(x < x.min() + 0.1 * LENGTH)
        puppet = Puppet(obj, held)
        for _ in range(LAST - 1):
            puppet.steps(2, 1 / 60)
            if obj.name == "linear":
                puppet.path[-1] = puppet.modes.linear_positions(puppet.modes.amplitudes)
        puppet.play()


def picture(size: Size) -> Picture:
    return Picture((1, 4, 7, 10), view=(1.0, -0.6, 0.45), panel=(520, 360), floor=None, columns=2)


def length(name: str, rows: int) -> float:
    """Longest the middle line of the strip gets, over its length at rest, minus one."""
    path = ob.motion(bpy.data.objects[name])
    line = path.reshape(len(path), rows + 1, -1, 3)[:, rows // 2]
    long = np.linalg.norm(np.diff(line, axis=1), axis=2).sum(axis=1)
    return float((long / long[0] - 1)[np.abs(long / long[0] - 1).argmax()])


def check(size: Size) -> Fact:
    rows = size(2, 4)
    linear, warped = length("linear", rows), length("warped", rows)
    drops = {}
    for name in RIGIDITY:
        for kind in ("flat", "vee"):
            path = ob.motion(bpy.data.objects[f"{name} {kind}"])[..., 2]
            drops[f"{name} {kind}"] = float(np.ptp(path, axis=0).max() / LENGTH)
    holds = linear > 0.1 and abs(warped) < 0.04 and all(drops[f"{n} vee"] < 0.7 * drops[f"{n} flat"] for n in RIGIDITY)
    return Fact(
        "linear modes lengthen the beam by over a tenth, warping by under 4%; v-beams swing less",
        holds,
        {"linear": linear, "warped": warped, **drops},
    )
