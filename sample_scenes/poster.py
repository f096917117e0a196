"""A poster torn from its top edge.

See: the left edge is held, the right one is turned aside and forwards about its lower corner. The sheet tears from the
middle of the top edge downwards, along a wandering line that was painted weaker, and the halves come apart.

Differs: not from a paper; tearing by stretch is ours, the breaking of edges is Cubic Shells' appendix B.
"""

from __future__ import annotations

import bpy
import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import OURS, Card, Fact, Picture, Size
from .kit.meshes import Shape, scattered

CARD = Card("A torn poster", OURS)
WIDE, HIGH, LAST, FOOT = 0.4, 0.56, 22, 0.06
TURN = (0.25, 0.32, 0.0)
"""How far the right edge is turned about its lower corner: forwards and aside [rad]."""


def build(size: Size) -> None:
    ob.frames(LAST)
    flat = scattered(WIDE, HIGH, size(260, 560), seed=2)
    x, y, _ = flat.points.T
    poster = Shape(np.column_stack([x, 0 * x, y]), flat.faces, flat.uv)
    obj = ob.shell(
        "Poster", poster, (0, 0, FOOT + HIGH / 2), solver="newton", damping_mass=4.0, use_fracture=True,
        fracture_along=1e6, fracture_across=1e6, use_fracture_stretch=True, fracture_stretch=9.0,
        toughness_source="WEIGHT", toughness_weight="tough", toughness_low=0.15, strain_limit=0.0, substeps=2,
        **ob.material(1500.0, 0.6, 0.12),
    )  # fmt: skip
    # Weakest along a slightly wandering line down the middle: a painted map, as an artist would guide a tear.
    group = obj.vertex_groups.new(name="tough")
    for vertex, weight in enumerate(np.clip(np.abs(x - 0.02 * np.sin(14 * y)) / 0.05, 0.0, 1.0)):
        group.add([vertex], float(weight), "REPLACE")
    left, right = np.flatnonzero(x < -WIDE / 2 + 1e-6), np.flatnonzero(x > WIDE / 2 - 1e-6)
    ob.pin(obj, np.concatenate([left, right]))
    hand = ob.hook(obj, right, "Right hand", (WIDE / 2, 0, FOOT))
    ob.key(hand, "rotation_euler", (1, (0, 0, 0)), (LAST - 4, TURN))
    studio.paint_image(obj, printed())


def printed(height: int = 280) -> np.ndarray:
    """A rising sun with rays over a sea, (height, width, 3): shapes that show where the halves belonged together."""
    v, u = np.mgrid[0:height, 0 : height * WIDE / HIGH] / height
    x, y = u - 0.5 * WIDE / HIGH, v - 0.36
    rays = np.cos(20 * np.arctan2(y, x)) > 0
    colour = np.where(rays[..., None], studio.PALETTE["yellow"], (0.80, 0.70, 0.45))
    colour = np.where((np.hypot(x, y) < 0.21)[..., None], studio.PALETTE["red"], colour)
    sea = y < 0.018 * np.sin(24 * u)
    waves = np.sin(150 * (y - 0.018 * np.sin(24 * u))) > 0.4
    colour = np.where(sea[..., None], studio.PALETTE["blue"], colour)
    colour = np.where((sea & waves)[..., None], studio.PALETTE["teal"], colour)
    frame = np.maximum(np.abs(u / (WIDE / HIGH) - 0.5), np.abs(v - 0.5)) > 0.475
    # Image files hold display values, materials light.
    return np.where(frame[..., None], studio.PALETTE["paper"], colour) ** (1 / 2.2)


def picture(size: Size) -> Picture:
    # Shreds that fall are not followed.
    return Picture((1, 5, 9, 13, 18), view=(0.15, -1.0, 0.1), panel=(300, 350), framing=(1,), margin=1.3)


def check(size: Size) -> Fact:
    mesh = bpy.data.objects["Poster"].data
    place = np.array([v.co for v in mesh.vertices])
    corners = np.array([loop.edge_index for loop in mesh.loops])
    edges = np.array([edge.vertices for edge in mesh.edges])
    border = edges[np.bincount(corners, minlength=len(edges)) == 1]
    low, high = place.min(axis=0) + 1e-6, place.max(axis=0) - 1e-6
    outer = ((place[border] < low).all(axis=1) | (place[border] > high).all(axis=1))[:, [0, 2]].any(axis=1)
    torn = place[border[~outer]].reshape(-1, 3)
    deep = float((high[2] - torn[:, 2].min()) / HIGH) if len(torn) else 0.0
    aside = float(np.abs(torn[:, 0]).mean() / WIDE) if len(torn) else 1.0
    return Fact(
        "the tear runs down from the middle of the top edge",
        deep > 0.3 and aside < 0.25,
        {"depth over the height": deep, "mean distance from the middle over the width": aside},
    )
