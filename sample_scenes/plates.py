"""Four plates dropped on a ball break along their grain.

See: left to right isotropic, grain vertical (away from the viewer), horizontal, diagonal. The isotropic plate breaks
every way, the others split along their grain, which is drawn.

Differs: the paper drops plates and does not say on what; here a ball hits the middle, at ten times gravity and in slow
motion so that the fall is short. Stiffness 4 : 1 and cracks along the grain at a third of the bend that cracks across
it need.
"""

from __future__ import annotations

import bpy
import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import CUBIC, Card, Fact, Picture, Size
from .kit.meshes import Shape, scattered

CARD = Card("Four plates break", CUBIC, "6 (7 in the text)")
SIDE, LAST, FPS, APART = 1.0, 18, 96, 1.2
AXES = {"isotropic": None, "vertical": 90.0, "horizontal": 0.0, "diagonal": 45.0}


def shapes(size: Size) -> Shape:
    """An uneven triangulation, so that no direction is favoured."""
    return scattered(SIDE, SIDE, size(220, 420), seed=5)


def build(size: Size) -> None:
    ob.frames(LAST, FPS)
    bpy.context.scene.gravity = (0, 0, -98.1)
    brittle(shapes(size), 0.55, 0.2)
    ob.ground(0.0)


def brittle(shape: Shape, height: float, radius: float) -> None:
    """Four of the shape, each with its grain, over a ball each."""
    rigid = 1e9 * 5e-3**3 / 12 / 0.96 * 1e3
    for index, (name, angle) in enumerate(AXES.items()):
        at = APART * index
        studio.paint(ob.ball(f"Ball {name}", (at, 0, height - 0.11 - radius), radius), "dark", rough=0.3, smooth=False)
        turn = np.radians(angle or 0.0)
        bend = (rigid, rigid) if angle is None else (rigid, rigid / 4)
        obj = ob.shell(
            name, shape, (at, 0, height), bending="cubic", solver="newton", substeps=2, axes_source="VECTOR",
            axes_vector=(np.cos(turn), np.sin(turn), 0), use_fracture=True, fracture_along=4.0,
            fracture_across=4.0 if angle is None else 12.0, strain_limit=0.0,
            **ob.material(5e6 * 0.96, bend, 5.0, poisson=0.2, thickness=5.0, twist=0.4 * np.sqrt(bend[0] * bend[1])),
        )  # fmt: skip
        studio.paint(obj, "cream", "red", stripes=None if angle is None else turn, count=18, smooth=False)


def picture(size: Size) -> Picture:
    return Picture((1, 8, 11, 16), view=(0.05, -1.0, 1.05), panel=(800, 250), floor=0.0, columns=2, margin=1.03)


def cracks(name: str) -> np.ndarray:
    """Edges of the broken mesh that were inside the whole one, as vectors at rest, (k, 2) [m]."""
    mesh = bpy.data.objects[name].data
    x = np.array([v.co for v in mesh.vertices])[:, :2]
    loops = np.array([loop.edge_index for loop in mesh.loops])
    edges = np.array([edge.vertices for edge in mesh.edges])
    border = edges[np.bincount(loops, minlength=len(edges)) == 1]
    low, high = x.min(axis=0) + 1e-6, x.max(axis=0) - 1e-6
    outer = ((x[border] < low).all(axis=1) | (x[border] > high).all(axis=1)).any(axis=1)
    inner = border[~outer]
    return x[inner[:, 1]] - x[inner[:, 0]]


def check(size: Size) -> Fact:
    return along_the_grain("plates")


def along_the_grain(what: str) -> Fact:
    """Cracks follow the grain: mean of cos 2(angle between crack and grain), 1 along it, 0 without direction."""
    total, aligned = {}, {}
    for name, angle in AXES.items():
        edge = cracks(name)
        length = np.linalg.norm(edge, axis=1)
        double = (length * np.exp(2j * np.arctan2(edge[:, 1], edge[:, 0]))).sum() / max(length.sum(), 1e-12)
        total[name] = float(length.sum() / 2)
        aligned[name] = float(abs(double)) if angle is None else float((double * np.exp(-2j * np.radians(angle))).real)
    plain = aligned.pop("isotropic")
    holds = min(aligned.values()) > 0.5 and plain < 0.6 * min(aligned.values()) and min(total.values()) > 0.2
    numbers = {f"{name} cracks [m]": value for name, value in total.items()}
    numbers |= {f"{name} alignment": value for name, value in aligned.items()}
    numbers["isotropic, in its strongest direction"] = plain
    return Fact(f"{what} crack along their grain, without one in no direction as much", holds, numbers)
