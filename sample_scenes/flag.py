"""A flag billowing in a steady wind: the quadratic model above, the nonlinear hinge below, nothing readjusted.

See: waves that run from the mast to the free end, of the same size and speed on both flags.

Differs: the paper's wind is a constant field and its force goes with the normal part of the air's speed; here the drag
goes with its square (drag coefficient 1, air of 1.225 kg/m³), and the wind blows a little across the flag to start the
motion. Both flags collide with themselves, exactly.
"""

from __future__ import annotations

import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import QUADRATIC, Card, Fact, Picture, Size
from .kit.meshes import sheet, upright

CARD = Card("Billowing flag", QUADRATIC, "2")
WIDE, HIGH, LAST = 1.2, 0.8, 72
MODELS = {"quadratic": ("red", 1.6), "hinge": ("blue", 0.6)}


def build(size: Size) -> None:
    ob.frames(LAST)
    columns, rows = size((15, 10), (27, 18))
    cloth = upright(sheet(WIDE, HIGH, columns, rows))
    for name, (tint, height) in MODELS.items():
        obj = ob.shell(
            name, cloth, (0, 0, height), bending=name, substeps=2, wind_velocity=(8.0, 1.4, 0.0), air_lift=0.0,
            self_contact=True, contact_distance=4.0, **ob.material(800.0, 0.15, 0.12),
        )  # fmt: skip
        ob.pin(obj, np.flatnonzero(cloth.points[:, 0] < 1e-6))
        studio.paint(obj, tint, "cream")
    studio.mast((-0.012, 0, 0.1), 2.0)


def picture(size: Size) -> Picture:
    return Picture(
        (12, 24, 36, 48, 60, 72), view=(0.35, -1.0, 0.12), panel=(400, 520), floor=0.0, columns=3, margin=1.03
    )


def swing(path: np.ndarray) -> float:
    """RMS sideways excursion of the free edge about its mean, after the first second [m]."""
    edge = path[24:, np.flatnonzero(path[0][:, 0] > WIDE - 1e-6), 1]
    return float(np.sqrt(((edge - edge.mean(axis=0)) ** 2).mean()))


def check(size: Size) -> Fact:
    paths = {name: ob.motion(ob.bpy.data.objects[name]) for name in MODELS}
    swings = {f"swing, {name} [m]": swing(path) for name, path in paths.items()}
    one, other = swings.values()
    crossed = {f"crossings, {name}": ob.crossings(ob.bpy.data.objects[name], path) for name, path in paths.items()}
    return Fact(
        "the free edge swings as far with either model, and neither flag crosses itself",
        0.6 < one / other < 1.67 and min(one, other) > 0.02 and not any(crossed.values()),
        swings | crossed,
    )
