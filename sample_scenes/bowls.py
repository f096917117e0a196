"""Four bowls dropped on a ball break along their grain.

See: left to right isotropic, grain vertical (away from the viewer), horizontal, diagonal; the curved shells split
along the grain that is drawn, the isotropic one every way.

Differs: bowls are squares cut from a sphere, hollow side up, that fall on a ball as the plates do; the paper's are
round and fall on a floor.
"""

from __future__ import annotations

import bpy
import numpy as np

from . import plates
from .kit import objects as ob
from .kit.card import CUBIC, Card, Fact, Picture, Size
from .kit.meshes import Shape

CARD = Card("Four bowls break", CUBIC, "7 (8 in the text)")
RADIUS = 1.0


def build(size: Size) -> None:
    ob.frames(plates.LAST, plates.FPS)
    bpy.context.scene.gravity = (0, 0, -98.1)
    flat = plates.shapes(size)
    height = RADIUS - np.sqrt(RADIUS**2 - (flat.points[:, :2] ** 2).sum(axis=1))
    plates.brittle(Shape(np.column_stack([flat.points[:, :2], height]), flat.faces, flat.uv), 0.55, 0.2)
    ob.ground(0.0)


def picture(size: Size) -> Picture:
    return plates.picture(size)


def check(size: Size) -> Fact:
    return plates.along_the_grain("bowls")
