"""A flag billowing in a steady wind: the quadratic model above, the nonlinear hinge below, nothing readjusted.

See: waves that run from the mast to the free end, alike on both flags: they begin as one and drift apart later, as
flutter does.

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
            name, cloth, (0, 0, height), bending=name, integrator="implicit_euler", solver="auto", substeps=2,
            strain_limit=0.1, wind_velocity=(8.0, 1.4, 0.0), air_lift=0.0,
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


def apart(one: np.ndarray, other: np.ndarray, frame: int) -> float:
    """RMS distance between two flags in a frame over how far they have come."""
    come = one[frame] - one[0]
    return float(np.sqrt(((other[frame] - other[0] - come) ** 2).sum() / (come**2).sum()))


def check(size: Size) -> Fact:
    paths = {name: ob.motion(ob.bpy.data.objects[name]) for name in MODELS}
    numbers = {f"swing, {name} [m]": swing(path) for name, path in paths.items()}
    least = min(numbers.values())
    # Flutter is chaotic: later the same flag swings twice as far or half as far in another wind of 2% more.
    off = numbers["apart after six frames"] = apart(*paths.values(), frame=6)
    crossed = {f"crossings, {name}": ob.crossings(ob.bpy.data.objects[name], path) for name, path in paths.items()}
    return Fact(
        "both models begin to move as one, both flutter, and neither flag crosses itself",
        off < 0.05 and least > 0.02 and not any(crossed.values()),
        numbers | crossed,
    )
