"""A crisp packet: two flat films joined along their edges and blown up.

See: the flat bag swells until it cannot grow, its edges draw in and pucker, for a film does not stretch.

Differs: not from a paper. The volume is that of the "tea bag" problem: V = w³(h/πw − 0.142(1 − 10^(−h/w))) for an
inextensible bag of w × h.
"""

from __future__ import annotations

import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import OURS, Card, Fact, Picture, Size
from .kit.meshes import Shape, sheet

CARD = Card("Crisp packet", OURS)
WIDE, HIGH, LAST, FPS = 0.16, 0.22, 40, 120


def bag(columns: int, rows: int) -> Shape:
    """Two sheets of the same outline, sharing it, a hair apart in the middle."""
    top = sheet(WIDE, HIGH, columns, rows)
    u, v = top.uv.T
    edge = (u < 1e-9) | (u > 1 - 1e-9) | (v < 1e-9) | (v > 1 - 1e-9)
    bulge = 16 * u * (1 - u) * v * (1 - v) * 0.004
    front = top.points + np.column_stack([0 * u, 0 * u, bulge])
    back = top.points - np.column_stack([0 * u, 0 * u, bulge])
    where = np.cumsum(~edge) - 1 + len(front)
    where[edge] = np.flatnonzero(edge)
    points = np.concatenate([front, back[~edge]])
    return Shape(
        points, np.concatenate([top.faces, where[top.faces][:, ::-1]]), np.concatenate([top.uv, top.uv[~edge]])
    )


def build(size: Size) -> None:
    ob.frames(LAST, FPS)
    obj = ob.shell(
        "Packet", bag(*size((12, 16), (26, 36))), (0, 0, 0.125), (np.radians(80), 0, 0), bending="quadratic",
        rest_angles="flat", use_pressure=True, pressure=60.0, field_gravity=0.0, damping_mass=8.0,
        damping_stiffness=0.005, air_density=0.0, strain_limit=0.0, **ob.material(3000.0, 0.02, 0.08),
    )  # fmt: skip
    studio.paint(obj, "red", metallic=0.85, rough=0.28)


def picture(size: Size) -> Picture:
    return Picture((1, 3, 5, 8, LAST), view=(0.55, -1.0, 0.2), panel=(300, 400))


def check(size: Size) -> Fact:
    obj = ob.bpy.data.objects["Packet"]
    x = ob.positions(obj, LAST)
    x = x - x.mean(axis=0)
    obj.data.calc_loop_triangles()
    corners = np.array([t.vertices for t in obj.data.loop_triangles])
    volume = abs(np.einsum("ij,ij->", x[corners[:, 0]], np.cross(x[corners[:, 1]], x[corners[:, 2]]))) / 6
    ideal = WIDE**3 * (HIGH / (np.pi * WIDE) - 0.142 * (1 - 10 ** (-HIGH / WIDE)))
    share = float(volume / ideal)
    return Fact(
        "volume over that of an inextensible bag", 0.85 < share < 1.1, {"share": share, "litres": 1e3 * float(volume)}
    )
