"""Three sleeves of subdivision elements: sagging, wrung, compressed.

See: left to right in time, increasing. Top: both ends come together and the sleeve sags into hanging folds. Middle:
the right end is turned by 110°, diagonal folds wind around. Bottom: the ends are pushed together without gravity and
the wall buckles into diamonds.

Differs: 192 vertices where the paper has 494, at either size; cotton of E·t = 5000 N/m with D = 0.15 mN·m, a limp
heavy one (0.04 mN·m, 0.5 kg/m²) for the sagging sleeve. Ends are held by two rings of vertices, and the sleeve does
not collide with itself, so it stops before folds touch. The middle row is also figure 9.
"""

from __future__ import annotations

import bpy
import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import SUBDIVISION, Card, Fact, Picture, Size
from .kit.meshes import tube

CARD = Card("Sleeves: sagging, wrung, compressed", SUBDIVISION, "7, 9")
RADIUS, LONG, LAST = 0.05, 0.2, 20
TWIST, TOGETHER = np.radians(110), {"sagging": 0.2, "wrung": 0.0, "compressed": 0.06}
HEIGHT = {"sagging": 0.40, "wrung": 0.24, "compressed": 0.08}


def grid(size: Size) -> tuple[int, int]:
    """Cells around and along."""
    return 16, 11


def build(size: Size) -> None:
    ob.frames(LAST)
    around, along = grid(size)
    shape = tube(RADIUS, LONG, around, along)
    # Out of round by a fiftieth of a millimetre, the same on every mesh, so that folds have something to grow from.
    angle, height = np.arctan2(shape.points[:, 1], shape.points[:, 0]), shape.points[:, 2] / LONG
    rng = np.random.default_rng(3)
    waves = sum(np.sin(np.pi * height) * np.cos(m * angle + rng.uniform(0, 6.28) + 3 * height) for m in range(2, 9))
    shape.points[:, :2] *= (1 + 2e-3 * waves)[:, None]
    for name, tint in (("sagging", "red"), ("wrung", "blue"), ("compressed", "green")):
        obj = ob.shell(
            name, shape, (0, 0, HEIGHT[name]), (0, np.pi / 2, 0), bending="subdivision", damping_mass=3.0,
            field_gravity=1.0 if name == "sagging" else 0.0,
            **ob.material(5000.0, *((0.04, 0.5) if name == "sagging" else (0.15, 0.15))),
        )  # fmt: skip
        low, top = np.arange(2 * around), np.arange(len(shape.points) - 2 * around, len(shape.points))
        ob.pin(obj, np.concatenate([low, top]))
        handle = ob.hook(obj, top, f"{name} end", (LONG, 0, HEIGHT[name]))
        ob.key(
            handle, "location", (1, (LONG, 0, HEIGHT[name])), (LAST - 4, (LONG * (1 - TOGETHER[name]), 0, HEIGHT[name]))
        )
        ob.key(handle, "rotation_euler", (1, (0, 0, 0)), (LAST - 4, (TWIST if name == "wrung" else 0.0, 0, 0)))
        studio.paint(obj, tint, "cream")


def picture(size: Size) -> Picture:
    return Picture((1, 6, 10, 14, LAST), view=(0.15, -1.0, 0.12), panel=(260, 420), floor=None)


def radii(name: str, frame: int, size: Size) -> np.ndarray:
    """Distances from the sleeve's axis, (rings, around)."""
    x = ob.positions(bpy.data.objects[name], frame)
    return np.hypot(x[:, 1], x[:, 2] - HEIGHT[name]).reshape(grid(size)[1] + 1, -1)


def check(size: Size) -> Fact:
    rings = grid(size)[1] + 1
    middle = slice(rings // 4, 3 * rings // 4 + 1)
    waves = np.fft.rfft(radii("wrung", LAST, size)[middle], axis=1)
    power = np.abs(waves[:, 1:]).mean(axis=0)
    folds = int(power.argmax()) + 1
    # The wave's phase along the sleeve, the mesh's own turn (half a cell a ring) taken off: the slant of the folds.
    phase = np.unwrap(np.angle(waves[:, folds]))
    around = grid(size)[0]
    slant = float(-np.diff(phase).mean() / folds + np.pi / around)
    dent = radii("compressed", LAST, size)[middle]
    low = ob.positions(bpy.data.objects["sagging"], LAST)[:, 2].min() - HEIGHT["sagging"] + RADIUS
    numbers = {
        "folds of the wrung sleeve": float(folds),
        "their turn from end to end [rad]": slant * (rings - 1),
        "depth of the buckles over the radius": float(np.ptp(dent) / RADIUS),
        "sag [m]": float(-low),
    }
    holds = 2 <= folds <= 8 and abs(slant) * (rings - 1) > 0.5 and np.ptp(dent) > 0.1 * RADIUS and low < -0.005
    return Fact("a wrung sleeve has diagonal folds, a compressed one buckles, a loose one sags", bool(holds), numbers)
