"""Four plates dropped on a ball break along their grain.

See: left to right isotropic, grain vertical (away from the viewer), horizontal, diagonal. The isotropic plate breaks
every way, the others split along their grain, which is drawn.

Differs: the paper drops plates and does not say on what; here a ball hits the middle, at ten times gravity and in slow
motion so that the fall is short. Stiffness 4 : 1 and cracks along the grain at a third of the bend that cracks across
it need. Pieces do not collide with each other.
"""

from __future__ import annotations

from collections.abc import Callable

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
    brittle(shapes(size), 0.55, ball=0.2)
    ob.ground(0.0)


def brittle(shape: Shape, height: float, bend: float = 4.0, against: float = 3.0, ball: float | None = None) -> None:
    """Four of the shape, each with its grain, at a height over the floor, or over a ball each of that radius [m].

    They crack along their grain where the curvature changes by `bend` [1/m], across it at `against` times that.
    """
    rigid = 1e9 * 5e-3**3 / 12 / 0.96 * 1e3
    for index, (name, angle) in enumerate(AXES.items()):
        at = APART * index
        if ball is not None:
            solid = ob.ball(f"Ball {name}", (at, 0, height - 0.11 - ball), ball)
            studio.paint(solid, "dark", rough=0.3, smooth=False)
        turn = np.radians(angle or 0.0)
        rigidity = (rigid, rigid) if angle is None else (rigid, rigid / 4)
        obj = ob.shell(
            name, shape, (at, 0, height), bending="cubic", integrator="implicit_euler", solver="newton",
            substeps=2, axes_source="VECTOR", axes_vector=(np.cos(turn), np.sin(turn), 0),
            use_fracture=True, fracture_along=bend, fracture_across=bend if angle is None else against * bend,
            strain_limit=0.0, **ob.material(
                5e6 * 0.96, rigidity, 5.0, poisson=0.2, thickness=5.0, twist=0.4 * np.sqrt(np.prod(rigidity))
            ),
        )  # fmt: skip
        studio.paint(obj, "cream", "red", stripes=None if angle is None else turn, count=18, smooth=False)


def picture(size: Size) -> Picture:
    return Picture((1, 8, 11, 16), view=(0.05, -1.0, 1.05), panel=(800, 250), floor=0.0, columns=2, margin=1.03)


def cracks(name: str, outer: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Edges of the broken mesh that were inside the whole one, seen from above, as vectors at rest, (k, 2) [m].

    `outer`: which of some edges, their ends (k, 2, 2) seen from above, were on the border of the whole one, (k,).
    """
    mesh = bpy.data.objects[name].data
    x = np.array([v.co for v in mesh.vertices])[:, :2]
    loops = np.array([loop.edge_index for loop in mesh.loops])
    edges = np.array([edge.vertices for edge in mesh.edges])
    border = x[edges[np.bincount(loops, minlength=len(edges)) == 1]]
    inner = border[~outer(border)]
    return inner[:, 1] - inner[:, 0]


def sides(border: np.ndarray) -> np.ndarray:
    """Which edges lie along a side of the square."""
    return (np.abs(border) > SIDE / 2 - 1e-6).all(axis=1).any(axis=1)


def check(size: Size) -> Fact:
    return along_the_grain("plates", sides)


def along_the_grain(what: str, outer: Callable[[np.ndarray], np.ndarray]) -> Fact:
    """Cracks follow the grain: mean of cos 2(angle between crack and grain), 1 along it, 0 without direction."""
    total, aligned = {}, {}
    for name, angle in AXES.items():
        edge = cracks(name, outer)
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
