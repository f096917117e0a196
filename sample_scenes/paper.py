"""A sheet of paper curled, then creased on one half, then held by three pins: only its rest angles are edited.

See: the flat sheet rolls up about its long axis; then a crease folds from the near edge to the middle and dies out
there, since the two halves want shapes that do not fit. Three pins (red) keep a line and one corner where they were.
Flat shaded, as in print, to show the mesh.

Differs: the paper pins the finished shape, here the pins hold from the start; two of them lie on the line that does not
move.
"""

from __future__ import annotations

import bpy
import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import DISCRETE_SHELLS, Card, Fact, Picture, Size
from .kit.meshes import sheet

CARD = Card("Curled, creased, pinned paper", DISCRETE_SHELLS, "3")
WIDE, LONG, LAST = 0.21, 0.297, 44
CURL, FOLD = 0.07, np.radians(75)


def build(size: Size) -> None:
    ob.frames(LAST)
    columns, rows = size((12, 16), (20, 28))
    paper = sheet(WIDE, LONG, columns, rows)
    obj = ob.shell(
        "Paper", paper, (0, 0, 0.08), bending="hinge", field_gravity=0.2, damping_mass=6.0,
        integrator="implicit_euler", solver="newton", substeps=1, strain_limit=0.1,
        use_curl=True, curl_axis=(0, 1, 0), curl_radius=CURL, curl_start=1, curl_end=18,
        crease_attribute="fold", crease_angle=FOLD, crease_start=20, crease_end=36, **ob.material(3000.0, 0.6, 0.1),
    )  # fmt: skip
    ends = np.array([edge.vertices for edge in obj.data.edges])
    x, y, _ = paper.points.T
    column = x[np.abs(x + 0.25 * WIDE).argmin()]
    half = (np.abs(x[ends] - column) < 1e-9).all(axis=1) & (y[ends].mean(axis=1) < 0)
    obj.data.attributes.new("fold", "FLOAT", "EDGE").data.foreach_set("value", half.astype(np.float32))
    place = paper.points + np.array([0, 0, 0.08])
    for goal in ((0.0, 0.45 * LONG), (0.0, -0.45 * LONG), (0.5 * WIDE, 0.5 * LONG)):
        vertex = int(np.linalg.norm(paper.points[:, :2] - goal, axis=1).argmin())
        ob.pin(obj, [vertex])
        studio.paint(ob.ball("Pin", place[vertex] + (0, 0, 0.004), 0.005, collides=False), "red", smooth=False)
    studio.paint(obj, "cream", "blue", stripes=np.pi / 2, count=15, flat=True)


def picture(size: Size) -> Picture:
    return Picture((1, 10, 18, 24, 30, LAST), view=(0.8, -1.0, 0.65), panel=(440, 360), floor=0.0, columns=3)


def folds(size: Size) -> tuple[float, float]:
    """Mean angle of the sheet at the column of the crease, in its creased third and in the opposite one [rad]."""
    columns, rows = size((12, 16), (20, 28))
    grid = ob.positions(bpy.data.objects["Paper"], LAST).reshape(rows + 1, columns + 1, 3)
    at = columns // 4
    before, after = grid[:, at] - grid[:, at - 1], grid[:, at + 1] - grid[:, at]
    cosine = np.einsum("ij,ij->i", before, after) / np.linalg.norm(before, axis=1) / np.linalg.norm(after, axis=1)
    angle = np.arccos(np.clip(cosine, -1, 1))
    return float(angle[: rows // 3].mean()), float(angle[-rows // 3 :].mean())


def check(size: Size) -> Fact:
    left, right = np.degrees(folds(size))
    flat, end = (ob.positions(bpy.data.objects["Paper"], frame) for frame in (1, LAST))
    return Fact(
        "the sheet rolls up, the crease folds its near half towards 75° and leaves the far half",
        40 < left < 85 and right < 0.4 * left and np.ptp(end[:, 2]) > 0.02 and np.ptp(flat[:, 2]) < 1e-6,
        {"creased [°]": float(left), "not creased [°]": float(right), "height [m]": float(np.ptp(end[:, 2]))},
    )
