"""A square sheet draped over a sphere, heavily damped: the quadratic model beside the nonlinear hinge.

See: left the quadratic model (red), right the hinge (blue): the same folds at the four corners, the same hem.

Differs: the paper does not print its numbers; here a sheet of 1.2 m, D = 0.6 mN·m, 0.15 kg/m². The sheet does not
collide with itself.
"""

from __future__ import annotations

import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import QUADRATIC, Card, Fact, Picture, Size
from .kit.meshes import sheet

CARD = Card("Drape: quadratic beside hinge", QUADRATIC, "1")
SIDE, RADIUS, LAST = 1.2, 0.3, 48
MODELS = {"quadratic": "red", "hinge": "blue"}


def build(size: Size) -> None:
    ob.frames(LAST)
    cells = size(16, 28)
    for index, (model, tint) in enumerate(MODELS.items()):
        at = 1.35 * index
        studio.paint(ob.ball(f"Ball {model}", (at, 0, 0.55), RADIUS, friction=0.6), "paper", smooth=False)
        studio.stand((at, 0.0), 0.3)
        obj = ob.shell(
            model, sheet(SIDE, SIDE, cells, cells), (at, 0, 0.55 + RADIUS + 0.01), bending=model, damping_mass=6.0,
            friction=0.6, integrator="implicit_euler", solver="newton", substeps=1, strain_limit=0.1,
            **ob.material(1500.0, 0.6, 0.15),
        )  # fmt: skip
        studio.paint(obj, tint, "cream")


def picture(size: Size) -> Picture:
    return Picture((1, 8, 14, LAST), view=(0.0, -1.0, 0.55), panel=(640, 380))


def check(size: Size) -> Fact:
    ends = [ob.positions(ob.bpy.data.objects[model], LAST) for model in MODELS]
    ends[1][:, 0] -= 1.35
    apart = float(np.sqrt(((ends[0] - ends[1]) ** 2).sum(axis=1).mean()) / SIDE)
    hems = [end[:, 2].min() for end in ends]
    fell = float((0.86 - np.mean(hems)) / SIDE)
    return Fact(
        "both models drape alike: distance between the final shapes, over the side",
        apart < 0.03 and fell > 0.4,
        {"distance": apart, "depth of the corners": fell},
    )
