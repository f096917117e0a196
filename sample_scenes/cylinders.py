"""Four falling cylinders that differ only in the direction of their stiff axis.

See: left to right isotropic, stiff along the cylinder ("vertical"), stiff around it ("horizontal"), diagonal. Colours
are stress: it flashes up at impact, most where the wall is stiff around. Then the second one is flattened most, and
the third bounces highest.

Differs: rigidity 25 : 1 between the axes, 1.5 mN·m for the isotropic one; the cylinders fall on their side, tilted by
6°. Colours are the size of the membrane stress, red from 8 N/m on; the paper does not say which stress it draws. Walls
collide with each other.
"""

from __future__ import annotations

import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import CUBIC, Card, Fact, Picture, Size
from .kit.meshes import revolved

CARD = Card("Falling cylinders by axis", CUBIC, "3 (4 in the text)")
RADIUS, LONG, LAST, FPS = 0.06, 0.17, 40, 72
STIFF, SOFT = 10.0, 0.4
AXES = {
    "isotropic": ((1.5, 1.5), 0.0),
    "vertical": ((STIFF, SOFT), 90.0),
    "horizontal": ((STIFF, SOFT), 0.0),
    "diagonal": ((STIFF, SOFT), 45.0),
}
"""D along and across the axis [mN·m]; the axis' angle from around the cylinder towards along it [°]."""


def build(size: Size) -> None:
    ob.frames(LAST, FPS)
    ob.ground()
    rings = size(9, 12)
    wall = np.column_stack([np.full(rings + 1, RADIUS), np.linspace(-LONG / 2, LONG / 2, rings + 1)])
    shape = revolved(wall, size(18, 24))
    for index, (name, (bend, angle)) in enumerate(AXES.items()):
        obj = ob.shell(
            name,
            shape,
            (0.24 * index, 0.0, 0.2),
            (np.radians(84), 0, 0),
            bending="cubic",
            integrator="newmark",
            solver="newton",
            substeps=3,
            strain_limit=0.1,
            newmark_gamma=0.6,
            newmark_beta=0.3025,
            axes_source="UV",
            axes_angle=np.radians(angle),
            friction=0.4,
            keep_stress=True,
            self_contact=True,
            contact_distance=2.0,
            **ob.material(9000.0, bend, 0.1, twist=0.75),
        )
        studio.paint_result(obj, "stress", 8.0)


def picture(size: Size) -> Picture:
    return Picture((1, 14, 18, 24, 32, LAST), view=(0.12, -1.0, 0.3), panel=(560, 260), columns=2)


def roundness(x: np.ndarray, around: int) -> float:
    """Height over width of the middle ring: 1 when round."""
    ring = x.reshape(-1, around, 3)
    ring = ring[len(ring) // 2]
    return float(np.ptp(ring[:, 2]) / np.ptp(ring[:, 0]))


def check(size: Size) -> Fact:
    flattened, bounced = {}, {}
    for name in AXES:
        path = ob.motion(ob.bpy.data.objects[name])
        middle = path.mean(axis=1)[:, 2]
        flattened[f"{name} height/width"] = min(roundness(x, size(18, 24)) for x in path)
        bounced[f"{name} bounce [m]"] = float(middle[middle.argmin() :].max() - RADIUS)
    holds = (
        min(flattened, key=flattened.get) == "vertical height/width"
        and max(bounced, key=bounced.get) == "horizontal bounce [m]"
        and bounced["horizontal bounce [m]"] > 1.2 * bounced["isotropic bounce [m]"]
        and bounced["horizontal bounce [m]"] > 1.2 * bounced["vertical bounce [m]"]
    )
    return Fact(
        "stiff along: flattens most; stiff around: bounces highest, a fifth higher than isotropic or stiff along",
        holds,
        flattened | bounced,
    )
