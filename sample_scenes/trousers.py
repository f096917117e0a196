"""Trousers of 1000 vertices, held by the ends of their legs and hanging upside down.

See: the ends of the legs are moved apart and let down. Between them the inner seam hangs like a chain, the slack of
the legs buckles into diagonal folds, and the waist, which nothing holds, closes and swings to rest.

Differs: 1025 vertices where the paper has 1000, E·t = 3000 N/m, D = 0.02 mN·m, 0.25 kg/m². The paper's figure does not
say how its legs are held; here their ends are rings that are kept round. The cloth touches itself and does not cross.
"""

from __future__ import annotations

import bpy
import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import SUBDIVISION, Card, Fact, Picture, Size
from .kit.garments import trousers
from .kit.meshes import Shape

CARD = Card("Trousers hung by the legs", SUBDIVISION, "12, right")
APART, DOWN, FPS = 0.18, 0.18, 25
"""How far each leg is moved out and let down [m]."""
FOOT = 0.35
"""Height of the waist above the floor at the start [m]."""


def last(size: Size) -> int:
    return size(20, 60)


def build(size: Size) -> None:
    ob.frames(last(size), FPS)
    cloth = trousers()
    obj = ob.shell(
        "Trousers", Shape(cloth.points, cloth.faces, cloth.uv), (-cloth.points[:, 0].mean(), 0, FOOT),
        bending="subdivision", rest_angles="flat", integrator="implicit_euler", solver="newton", iterations=1,
        substeps=size(2, 4), strain_limit=0.1,
        self_contact=True, contact_distance=3.0, damping_mass=3.0, damping_viscosity=1e-3,
        **ob.material(3000.0, 0.02, 0.25),
    )  # fmt: skip
    matrix = np.array(obj.matrix_world)
    for name, side in (("left", -1.0), ("right", 1.0)):
        end = cloth.openings[name]
        ob.pin(obj, end)
        at = cloth.points[end].mean(axis=0) @ matrix[:3, :3].T + obj.location
        handle = ob.hook(obj, end, f"{name} leg", at)
        ob.key(handle, "location", (1, at), (16, at + np.array([side * APART, 0, -DOWN])))
    studio.paint(obj, "blue", "cream")


def picture(size: Size) -> Picture:
    return Picture((1, 9, 17, last(size)), view=(0.35, -1.0, 0.12), panel=(320, 440), floor=0.0)


def check(size: Size) -> Fact:
    cloth, obj = trousers(), bpy.data.objects["Trousers"]
    before, after = (ob.positions(obj, frame) for frame in (1, last(size)))
    # The inner seam from one leg's end over the crotch to the other's: on the squared paper, the border of the gap.
    column, row = cloth.cell.T
    inner = [np.flatnonzero((column == c) & (row >= 8)) for c in (8, 10)]
    left, right = (part[np.argsort(row[part])] for part in inner)
    middle = np.flatnonzero((column == 9) & (row == 8))
    seam = np.concatenate([left[::-1], middle, right])

    def length(x: np.ndarray) -> float:
        return float(np.linalg.norm(np.diff(x[seam], axis=0), axis=1).sum())

    def area(x: np.ndarray) -> float:
        a, b, c = (x[cloth.faces[:, k]] for k in range(3))
        return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)

    numbers = {
        "area over before": area(after) / area(before),
        "length of the inner seam over before": length(after) / length(before),
        "its sag below the ends of the legs [m]": float(after[seam][[0, -1], 2].mean() - after[seam, 2].min()),
        "distance of its ends [m]": float(np.linalg.norm(after[seam[0]] - after[seam[-1]])),
    }
    same, kept, sag, wide = numbers.values()
    # No chain of that length hangs deeper; what is less is taken up by its buckles. Weight stretches the cloth by 0.1%.
    deepest = np.sqrt((length(before) / 2) ** 2 - (wide / 2) ** 2)
    holds = abs(same - 1) < 0.02 and kept < 1.01 and 0.75 * deepest < sag < 1.01 * deepest
    return Fact("the cloth keeps its area, its inner seam hangs as a chain of its length can", bool(holds), numbers)
