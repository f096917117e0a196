"""Five ponchos on the same figure: high and low shear modulus of bending, then three attempts with Young's moduli
alone.

See: far left (red), the high shear modulus lets the cloth fold along its threads only, which are drawn: flat panels and
one crease. Next to it (blue) the same cloth with a low one bends every way and falls closer to the body. The three at
the right have the low shear modulus and both, the first, or the second Young's modulus raised: stiff everywhere, or in
one direction, and farther off the body than either.

How close the low one comes depends on whether it folds once or twice in front, which on coarse meshes is chance; how
much of its curvature is twist along the threads does not.

Differs: the figure is made of balls; the cloth, 1088 vertices, collides with it but not with itself. D = 0.2 mN·m, or
4 where raised; twisting rigidity 0.02 or 4 mN·m; 0.3 kg/m².
"""

from __future__ import annotations

import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import CUBIC, Card, Fact, Picture, Size
from .kit.meshes import Shape, _quads

CARD = Card("Poncho and the shear modulus", CUBIC, "4 (5 in the text)")
HALF, NECK, LAST, APART = 0.42, 0.085, 36, 0.98
CELLS = (24, 7), (64, 16)
"""Points around and rings of the cloth, reduced and full."""
# Balls of one half of the figure: x, z, radius. Its shoulders are at z = 0.19.
HALF_BODY = (
    (0.0, -0.12, 0.15), (0.0, 0.03, 0.155), (0.06, 0.075, 0.11), (0.11, 0.09, 0.088), (0.155, 0.085, 0.075),
    (0.195, 0.055, 0.066), (0.225, 0.0, 0.058), (0.245, -0.06, 0.053), (0.26, -0.12, 0.05),
)  # fmt: skip
BODY = HALF_BODY + tuple((-x, z, radius) for x, z, radius in HALF_BODY if x > 0)
LOOKS = {
    "high shear": ("red", (0.2, 0.2), 4.0),
    "low shear": ("blue", (0.2, 0.2), 0.02),
    "both Young's": ("teal", (4.0, 4.0), 0.02),
    "first Young's": ("green", (4.0, 0.2), 0.02),
    "second Young's": ("violet", (0.2, 4.0), 0.02),
}
"""Colour, D along both axes [mN·m], twisting rigidity [mN·m]."""


def pattern(around: int, rings: int) -> Shape:
    """A square with a round hole: rings that go from the one to the other."""
    angle = np.linspace(0, 2 * np.pi, around, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    square = circle / np.abs(circle).max(axis=1)[:, None]
    share = np.linspace(0, 1, rings + 1)[:, None, None]
    flat = ((1 - share) * NECK * circle + share * HALF * square).reshape(-1, 2)
    uv = 0.5 + flat / (2 * HALF)
    return Shape(np.column_stack([flat, np.zeros(len(flat))]), _quads(rings + 1, around, True), uv, around)


def build(size: Size) -> None:
    ob.frames(LAST)
    cloth = pattern(*size(*CELLS))
    for index, (name, (tint, bend, twist)) in enumerate(LOOKS.items()):
        at = APART * index
        for number, (x, z, radius) in enumerate(BODY):
            piece = ob.ball(
                f"Body {index} {number}", (at + x, 0, z + 0.5), radius, friction=0.5, segments=size(12, 32), drawn=0.97
            )
            studio.paint(piece, "skin", smooth=False)
        _head(at, size)
        studio.stand((at, 0.0), 0.4)
        obj = ob.shell(
            name, cloth, (at, 0, 0.71), damping_mass=4.0, friction=0.5,
            integrator="implicit_euler", solver="newton", substeps=1, strain_limit=0.1,
            axes_source="VECTOR", axes_vector=(1, 0, 0), **ob.material(1000.0, bend, 0.3, twist=twist),
        )  # fmt: skip
        studio.paint(obj, tint, "cream", stripes=0.0, count=12)


def _head(at: float, size: Size) -> None:
    for name, height, radius in (("Neck", 0.72, 0.055), ("Head", 0.85, 0.085)):
        studio.paint(
            ob.ball(name, (at, 0, height), radius, collides=False, segments=size(12, 32)), "skin", smooth=False
        )


def picture(size: Size) -> Picture:
    return Picture((5, 12, LAST), view=(0.12, -1.0, 0.28), panel=(1400, 330), floor=0.0, columns=1, margin=1.03)


def gap(name: str) -> float:
    """Mean distance of the cloth from the figure at rest [m]."""
    index = list(LOOKS).index(name)
    x = ob.positions(ob.bpy.data.objects[name], LAST)
    balls = [np.linalg.norm(x - (APART * index + bx, 0, bz + 0.5), axis=1) - r for bx, bz, r in BODY]
    return float(np.min(balls, axis=0).mean())


def twist(name: str, size: Size) -> float:
    """Share of twisting along the threads in the squares of all curvatures of the cloth at rest."""
    cloth, x = pattern(*size(*CELLS)), ob.positions(ob.bpy.data.objects[name], LAST)
    corners = cloth.faces.T
    a, b, c, d = x[corners]
    areas = np.cross(c - a, d - b)
    normals = np.zeros_like(x)
    for corner in corners:
        np.add.at(normals, corner, areas)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    # Along every side and diagonal of a face, −dn·dx = κᵤ du² + 2τ du dv + κᵥ dv²: least squares.
    first, second = np.triu_indices(4, 1)
    flat, along, turned = (field[corners[second]] - field[corners[first]] for field in (cloth.points, x, normals))
    du, dv = flat[:, :, 0], flat[:, :, 1]
    rows = np.stack([du * du, 2 * du * dv, dv * dv], axis=-1).transpose(1, 0, 2)
    bent = -np.einsum("kfj,kfj->fk", turned, along)
    curvature = np.linalg.solve(np.einsum("fki,fkj->fij", rows, rows), np.einsum("fki,fk->fi", rows, bent)[:, :, None])[
        :, :, 0
    ]
    weight = np.linalg.norm(areas, axis=1)[:, None] * curvature**2 * [1.0, 2.0, 1.0]
    return float(weight[:, 1].sum() / weight.sum())


def check(size: Size) -> Fact:
    gaps = {f"off the body, {name} [m]": gap(name) for name in LOOKS}
    high, low = twists = [twist(name, size) for name in list(LOOKS)[:2]]
    numbers = {f"twist, {name}": value for name, value in zip(LOOKS, twists, strict=False)}
    return Fact(
        "a high shear modulus lets the cloth fold along its threads only: share of twist in all curvature",
        high < 0.75 * low,
        numbers | gaps,
    )
