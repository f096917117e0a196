"""Two cans under a press: aluminium that keeps its dents, and the same shell without plasticity.

See: the press comes down on both and goes up again. The metal can (left) stays crushed, the elastic one (right)
springs back.

Differs: not from a paper; Discrete Shells names plastic bending by rest angles, which this does where the bend passes
a yield. The stretch is softer than a real can's, and its walls do not collide with each other.
"""

from __future__ import annotations

import bpy
import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import OURS, Card, Fact, Picture, Size
from .kit.meshes import Shape, revolved, sheet

CARD = Card("A can crushed and kept", OURS)
RADIUS, TALL, LAST, FPS = 0.033, 0.115, 36, 48
PRESSED = 0.15
"""How far the press goes, over the height."""
CANS = {"metal": ("metal", True), "elastic": ("teal", False)}


def can(size: Size) -> Shape:
    """A closed can with a rim at either end, its wall bumpy by a tenth of a millimetre so that it buckles at once."""
    inner = 0.8 * RADIUS
    rings = size(10, 15)
    wall = np.column_stack([np.full(rings + 1, RADIUS), np.linspace(0.006, TALL - 0.006, rings + 1)])
    profile = np.concatenate(
        [[(0, 0.004), (inner / 2, 0.004), (inner, 0.0)], wall, [(inner, TALL), (inner / 2, TALL - 0.004)]]
    )
    profile = np.concatenate([profile, [(1e-4, TALL - 0.004)]])
    made = revolved(profile, size(16, 26))
    angle = np.arctan2(made.points[:, 1], made.points[:, 0])
    height = made.points[:, 2] / TALL
    bump = 1 + 0.006 * np.sin(np.pi * height) * (np.cos(4 * angle + 9 * height) + 0.5 * np.cos(5 * angle - 6 * height))
    made.points[:, :2] *= bump[:, None]
    return made


def build(size: Size) -> None:
    ob.frames(LAST, FPS)
    ob.ground(friction=1.5)
    for index, (name, (tint, yields)) in enumerate(CANS.items()):
        obj = ob.shell(
            name, can(size), (0.13 * index, 0, 0.0005), bending="hinge", solver="newton", substeps=6, damping_mass=3.0,
            use_plasticity=yields, yield_curvature=12.0, friction=0.5, strain_limit=0.0,
            **ob.material(6000.0, 1.5, 1.0, thickness=0.1),
        )  # fmt: skip
        studio.paint(obj, tint, metallic=1.0 if yields else 0.0, rough=0.3)
    press = ob.mesh_object("Press", sheet(0.34, 0.2, 1, 1), (0.065, 0, 0), (np.pi, 0, 0))
    ob.collider(press, "PLANE")
    press.hide_render = True
    plate = ob.mesh_object("Plate", plate_shape(), (0.065, 0, 0))
    studio.paint(plate, "dark", metallic=0.8, rough=0.4, smooth=False)
    for obj in (press, plate):
        above, below = TALL + 0.004, TALL * (1 - PRESSED)
        places = [(1, above), (18, below), (20, below), (30, above + 0.03), (LAST, above + 0.03)]
        ob.key(obj, "location", *((frame, (0.065, 0, z)) for frame, z in places))


def plate_shape() -> Shape:
    """A slab whose underside is at zero."""
    corners = np.array([(x, y, z) for z in (0.0, 0.012) for y in (-0.06, 0.06) for x in (-0.13, 0.13)])
    faces = np.array([(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)])
    return Shape(corners, faces, np.zeros((8, 2)))


def picture(size: Size) -> Picture:
    return Picture(
        (1, 15, 18, 20, 25, LAST), view=(0.1, -1.0, 0.25), panel=(380, 320), follow=("metal", "elastic", "Plate")
    )


def check(size: Size) -> Fact:
    height = {}
    for name in CANS:
        x = ob.positions(bpy.data.objects[name], LAST)
        height[name] = float(np.ptp(x[:, 2]) / TALL)
    return Fact(
        "height left after the press is gone: metal keeps its dent, the elastic can springs back",
        height["metal"] < 0.93 and height["elastic"] > height["metal"] + 0.04,
        height,
    )
