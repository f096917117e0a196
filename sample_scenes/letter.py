"""A letter folded in three and opened again.

See: two creases fold the sheet like an accordion; then it is let open, and keeps a soft zigzag that a flat sheet would
not have.

Differs: not from a paper; it edits rest angles as Discrete Shells does. Opening is the artist's "Continue from Frame":
the crease angle is changed at frame 24 and the bake goes on from there.
"""

from __future__ import annotations

from itertools import pairwise

import bpy
import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import OURS, Card, Fact, Picture, Size
from .kit.meshes import sheet

CARD = Card("A letter folded and opened", OURS)
WIDE, LONG, TURN, LAST = 0.21, 0.297, 24, 46
FOLDED, OPEN = np.radians(145), np.radians(40)


def cells(size: Size) -> tuple[int, int]:
    """Cells across and along; the length in three equal parts."""
    return size((8, 12), (14, 21))


def build(size: Size) -> None:
    ob.frames(TURN)
    letter = sheet(WIDE, LONG, *cells(size))
    obj = ob.shell(
        "Letter", letter, (0, 0, 0.1), (0, 0, np.pi / 2), bending="hinge", field_gravity=0.15, damping_mass=8.0,
        solver="newton", crease_attribute="fold", crease_angle=FOLDED, crease_start=2, crease_end=TURN - 4,
        **ob.material(3000.0, 0.8, 0.1),
    )  # fmt: skip
    ends = np.array([edge.vertices for edge in obj.data.edges])
    y = letter.points[:, 1]
    value = sum(
        sign * (np.abs(y[ends] - place) < 1e-6).all(axis=1) for sign, place in ((1.0, -LONG / 6), (-1.0, LONG / 6))
    )
    obj.data.attributes.new("fold", "FLOAT", "EDGE").data.foreach_set("value", value.astype(np.float32))
    ob.pin(obj, np.flatnonzero((np.abs(y) < 1e-6 + 0.5 * LONG / cells(size)[1]) & (np.abs(letter.points[:, 0]) < 0.04)))
    studio.paint(obj, "cream", "dark", stripes=0.0, count=16, smooth=False)


def bake(size: Size) -> None:
    ob.bake()
    obj = bpy.data.objects["Letter"]
    ob.active(obj)
    bpy.context.scene.frame_end = obj.thin_shell.frame_end = LAST
    bpy.context.scene.frame_set(TURN)
    obj.thin_shell.unlocked = True
    obj.thin_shell.crease_angle = OPEN
    assert bpy.ops.thin_shell.bake(mode="CONTINUE") == {"FINISHED"}


def picture(size: Size) -> Picture:
    return Picture((1, 10, 16, TURN, 27, LAST), view=(0.45, -1.0, 0.5), panel=(440, 340), floor=0.0, columns=3)


def fold(frame: int, size: Size) -> float:
    """Mean angle between the panels [°]: from normals of the middle of each third."""
    columns, rows = cells(size)
    grid = ob.positions(bpy.data.objects["Letter"], frame).reshape(rows + 1, columns + 1, 3)
    third = rows // 3
    panels = [grid[k * third : (k + 1) * third + 1] for k in range(3)]
    along = [panel[-2, columns // 2] - panel[1, columns // 2] for panel in panels]
    along = [vector / np.linalg.norm(vector) for vector in along]
    return float(np.degrees(np.mean([np.arccos(np.clip(a @ b, -1, 1)) for a, b in pairwise(along)])))


def check(size: Size) -> Fact:
    angles = {f"frame {frame} [°]": fold(frame, size) for frame in (1, TURN, LAST)}
    flat, folded, opened = angles.values()
    return Fact(
        "panels fold to 145° and stay at 40° when opened",
        flat < 1e-3 and 120 < folded < 150 and 25 < opened < 50,
        angles,
    )
