"""A sweater on a figure that turns and leans.

See: the sweater drops onto shoulders and arms and hangs in folds from them; then the figure turns to one side and the
other and leans, and the cloth follows: the hem lags and swings, folds run from the armpits.

Differs: the figure is a torso with two stretched arms, moved as one; the paper's woman is not to be had. Cloth, figure
and the cloth itself collide exactly (no interpenetration), on the triangles between points of the smooth surface.
1648 vertices as the paper's 1600 at full size; E·t = 1500 N/m, D = 0.03 mN·m, 0.3 kg/m².
"""

from __future__ import annotations

import bpy
import numpy as np

from .kit import figure, studio
from .kit import objects as ob
from .kit.card import SUBDIVISION, Card, Fact, Picture, Size
from .kit.garments import Garment, sweater
from .kit.meshes import Shape

CARD = Card("Sweater on a moving figure", SUBDIVISION, "12, left")
FPS, WAIST = 25, 0.75
"""Frames a second; height of the hem [m]."""
TURN, LEAN = 0.5, 0.2
"""[rad]."""


def last(size: Size) -> int:
    return size(20, 46)


def garment(size: Size) -> Garment:
    return sweater(size(1, 2))


def build(size: Size) -> None:
    ob.frames(last(size), FPS)
    pivot = bpy.data.objects.new("Pivot", None)
    pivot.location = (0, 0, WAIST)
    bpy.context.collection.objects.link(pivot)
    for name, (points, faces) in {
        "Torso": figure.torso(),
        "Left arm": figure.arm(-1.0),
        "Right arm": figure.arm(1.0),
    }.items():
        part = ob.mesh_object(name, Shape(points, faces, np.zeros((len(points), 2))))
        part.parent = pivot
        ob.collider(part, "MESH", 1.0)
        studio.paint(part, "skin", smooth=False)
    head = ob.ball("Head", (0, 0, 0.67), 0.1, collides=False)
    head.parent = pivot
    studio.paint(head, "skin", smooth=False)
    studio.stand((0.0, 0.0), WAIST - 0.12)
    start, end = 8, last(size)
    quarter = (end - start) // 4
    times = [(start + k * quarter, value) for k, value in enumerate((0.0, 1.0, 0.0, -1.0, 0.0))]
    ob.key(pivot, "rotation_euler", *((frame, (0, LEAN * share, TURN * share)) for frame, share in times))
    cloth = garment(size)
    obj = ob.shell(
        "Sweater", Shape(cloth.points, cloth.faces, cloth.uv), (-cloth.points[:, 0].mean(), 0, WAIST - 0.045),
        bending="subdivision", rest_angles="flat", integrator="implicit_euler", solver="newton", iterations=1,
        substeps=size(2, 4), strain_limit=0.1, friction=0.3,
        self_contact=True, contact_distance=4.0, damping_mass=2.0, damping_viscosity=2e-3,
        **ob.material(1500.0, 0.03, 0.3),
    )  # fmt: skip
    studio.paint(obj, "red", "cream")


def picture(size: Size) -> Picture:
    end = last(size)
    return Picture((1, 8, 8 + (end - 8) // 4, 8 + 3 * ((end - 8) // 4), end), view=(0.3, -1.0, 0.2), panel=(400, 380))


def inside(points: np.ndarray, frame: int) -> float:
    """Deepest that points lie below the figure's surface at a frame [m]; negative: how far they stay off it."""
    bpy.context.scene.frame_set(frame)
    deepest = -np.inf
    for name in ("Torso", "Left arm", "Right arm"):
        part = bpy.data.objects[name]
        here = part.matrix_world.inverted()
        for point in points:
            found, near, normal, _ = part.closest_point_on_mesh(here @ _vector(point))
            if found:
                deepest = max(deepest, -float((here @ _vector(point) - near).dot(normal)))
    return deepest


def _vector(point: np.ndarray):
    from mathutils import Vector

    return Vector([float(value) for value in point])


def check(size: Size) -> Fact:
    obj, cloth, end = bpy.data.objects["Sweater"], garment(size), last(size)
    turned = 8 + (end - 8) // 4
    depths = [inside(ob.positions(obj, frame), frame) for frame in (8, turned, end)]
    moved = ob.positions(obj, turned) - ob.positions(obj, 8)
    arms = np.concatenate([cloth.openings["left"], cloth.openings["right"]])
    neck = ob.positions(obj, end)[cloth.openings["neck"], 2].min()
    numbers = {
        "deepest point below the figure's surface [mm]": 1e3 * max(depths),
        "cuffs carried by the turn [m]": float(np.linalg.norm(moved[arms], axis=1).mean()),
        "lowest point of the neck above the hem's start [m]": float(neck - WAIST),
    }
    below, carried, high = numbers.values()
    # Stretched arms of 0.58 m turned by half a radian carry their ends by 0.29 m.
    holds = below < 0.0 and 0.2 < carried < 0.4 and high > 0.3
    return Fact("the sweater stays on and outside of the moving figure", bool(holds), numbers)
