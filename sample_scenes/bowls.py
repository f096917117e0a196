"""Four bowls dropped on a ball break along their grain.

See: left to right isotropic, grain vertical (away from the viewer), horizontal, diagonal. The ball breaks through the
bottom; the curved shells then fall apart along the grain that is drawn, the isotropic one is shattered there.

Differs: the paper does not say on what its bowls fall; here on a ball each, hollow side up, at ten times gravity and in
slow motion, as the plates do. Stiffness 4 : 1 and cracks along the grain at a quarter of the bend that cracks across it
need, half of what it takes to crack the plates: a closed rim holds a bowl together. Pieces do not collide.
"""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np

from . import plates
from .kit import objects as ob
from .kit.card import CUBIC, Card, Fact, Picture, Size
from .kit.meshes import Shape, sunflower

CARD = Card("Four bowls break", CUBIC, "7 (8 in the text)")
RADIUS, OPEN = 0.6, np.radians(50)
"""Of the sphere that a bowl is cut from [m], and the angle from its bottom to its rim."""


def last(size: Size) -> int:
    return size(14, 22)


def bowl(size: Size) -> Shape:
    """A cap of a sphere, hollow side up, its bottom at zero; lines from the bottom to the rim keep their length."""
    flat = sunflower(RADIUS * OPEN, size(160, 420))
    x, y = flat.points[:, :2].T
    down = np.hypot(x, y) / RADIUS
    inwards = np.sinc(down / np.pi)
    points = np.column_stack([inwards * x, inwards * y, RADIUS * (1 - np.cos(down))])
    return Shape(points, flat.faces, flat.uv)


def build(size: Size) -> None:
    ob.frames(last(size), plates.FPS)
    bpy.context.scene.gravity = (0, 0, -98.1)
    plates.brittle(bowl(size), 0.55, bend=2.0, against=4.0, ball=0.2)
    ob.ground(0.0)


def picture(size: Size) -> Picture:
    return replace(plates.picture(size), frames=(1, 9, 12, last(size)))


def rim(border: np.ndarray) -> np.ndarray:
    """Which edges lie along the rim."""
    return (np.linalg.norm(border, axis=2) > RADIUS * np.sin(OPEN) - 1e-4).all(axis=1)


def check(size: Size) -> Fact:
    return plates.along_the_grain("bowls", rim)
