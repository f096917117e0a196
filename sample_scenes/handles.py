"""A flat beam taken by its tip: by position, by orientation, by both.

See: three strips, clamped at the far end. The yellow ball drags the first one's tip up; the second one's tip is only
turned; the third one's is put in place and turned.

Differs: handles are drawn as a ball and as three coloured rods.
"""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix

from .kit import objects as ob
from .kit import studio
from .kit.card import MODAL, Card, Fact, Picture, Size
from .kit.meshes import sheet, tube
from .kit.modal import Puppet

CARD = Card("Position and orientation handles", MODAL, "5")
LENGTH, WIDTH, LAST, APART = 0.3, 0.06, 40, 0.14
KINDS = {"position": (0.16, None), "orientation": (None, 1.1), "both": (0.08, -0.2)}
"""How far the tip is lifted [m], how far it is turned [rad]."""


def build(size: Size) -> None:
    ob.frames(LAST, 30)
    for index, (name, (lift, turn)) in enumerate(KINDS.items()):
        obj = ob.shell(
            name, sheet(LENGTH, WIDTH, *size((18, 3), (36, 6))), (0, APART * index, 0.2), bending="hinge",
            damping_mass=5.0, field_gravity=0.0, **ob.material(3000.0, 8.0, 0.2),
        )  # fmt: skip
        studio.paint(obj, "blue", "cream")
        if lift is not None:
            studio.paint(ob.ball(f"Ball {name}", (0, 0, 0), 0.012, collides=False), "yellow", smooth=False)
        if turn is not None:
            for axis, tint in enumerate(("red", "green", "blue")):
                rod = ob.mesh_object(f"Rod {axis} {name}", tube(0.0025, 0.06, 12, 1))
                rod.data.transform(Matrix.Rotation(np.pi / 2, 4, "Y" if axis == 0 else "X") if axis < 2 else Matrix())
                studio.paint(rod, tint, smooth=False)


def goal(lift: float | None, part: float) -> np.ndarray:
    """Where the tip goes: up, and inwards so far that a strip of constant curvature keeps its length."""
    up = (lift or 0.0) * part
    return np.array([-0.6 * up**2 / LENGTH, 0.0, up])


def turned(angle: float, part: float) -> np.ndarray:
    c, s = np.cos(-angle * part), np.sin(-angle * part)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def bake(size: Size) -> None:
    for name, (lift, turn) in KINDS.items():
        obj = bpy.data.objects[name]
        x = ob.local(obj)[:, 0]
        puppet = Puppet(obj, np.flatnonzero(x < x.min() + 0.09 * LENGTH), modes=40)
        tip = np.flatnonzero(x > x.max() - 1e-6)
        at = puppet.rest[tip].mean(axis=0)
        place = puppet.modes.position_handle(tip, at) if lift is not None else None
        facing = puppet.modes.orientation_handle(tip, np.eye(3)) if turn is not None else None
        for frame in range(2, LAST + 1):
            part = min(1.0, (frame - 1) / 24)
            if place is not None:
                place.target = at + goal(lift, part)
            if facing is not None:
                facing.target = turned(turn, part)
            puppet.steps(2, 1 / 60)
        puppet.play()
        for frame, path in enumerate(puppet.path, start=1):
            _draw(name, path[tip].mean(axis=0), turned(turn or 0.0, min(1.0, (frame - 1) / 24)), frame)


def _draw(name: str, at: np.ndarray, turn: np.ndarray, frame: int) -> None:
    """Put the drawn handle where the tip is."""
    for obj in bpy.data.objects:
        if obj.name in (f"Ball {name}", *(f"Rod {axis} {name}" for axis in range(3))):
            obj.location = at
            obj.rotation_euler = Matrix(turn.tolist()).to_euler()
            obj.keyframe_insert("location", frame=frame)
            obj.keyframe_insert("rotation_euler", frame=frame)


def picture(size: Size) -> Picture:
    drawn = [f"Rod {axis} {name}" for name in ("orientation", "both") for axis in range(3)]
    return Picture(
        (1, 9, 16, LAST), view=(0.45, -1.0, 0.75), panel=(520, 340), floor=0.05, columns=2,
        follow=(*KINDS, "Ball position", *drawn),
    )  # fmt: skip


def check(size: Size) -> Fact:
    numbers = {}
    for name, (lift, _) in KINDS.items():
        path = ob.motion(bpy.data.objects[name])
        tip = np.flatnonzero(path[0][:, 0] > path[0][:, 0].max() - 1e-6)
        moved = path[-1][tip].mean(axis=0) - path[0][tip].mean(axis=0)
        if lift is not None:
            numbers[f"{name} misses by [mm]"] = float(1e3 * np.linalg.norm(moved - goal(lift, 1.0)))
        else:
            inward = path[-1][tip] - path[-1][tip - 1]
            slope = float(np.arctan2(inward[:, 2].mean(), inward[:, 0].mean()))
            numbers["orientation: slope of the last cell over the angle asked"] = slope / KINDS[name][1]
    values = list(numbers.values())
    holds = values[0] < 1.0 and values[2] < 1.0 and 0.85 < values[1] < 1.1
    return Fact("tips go where the handles are", holds, numbers)
