"""A character of four sheets, hat, body and two legs, carried by a dancing skeleton.

See: the skeleton (dark) sways, turns and kicks; cloth hat, body and legs follow a moment later, overshoot and swing.

Differs: a dancer and a dance of our own; sheets are carried by their bones as by the pot in figure 1, where the paper
draws position and orientation constraints.
"""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix

from .kit import objects as ob
from .kit import studio
from .kit.card import MODAL, Card, Fact, Picture, Size
from .kit.meshes import Shape, revolved, sheet, tube
from .kit.modal import Puppet

CARD = Card("Dancing character", MODAL, "6")
LAST, FPS = 72, 30
JOINTS = {
    "hat": (0.0, 0.0, 1.78),
    "body": (0.0, 0.0, 1.5),
    "left leg": (-0.13, 0.0, 0.82),
    "right leg": (0.13, 0.0, 0.82),
}
REACH = {"hat": 0.14, "body": 0.21, "left leg": 0.09, "right leg": 0.09}
STUFF = {"hat": (300.0, 0.15), "body": (5000.0, 60.0), "leg": (5000.0, 700.0)}
"""E·t [N/m], D [mN·m]."""
TINTS = {"hat": "red", "body": "yellow", "left leg": "blue", "right leg": "blue"}


def hanging(width: float, height: float, cells: tuple[int, int], top: tuple[float, float]) -> Shape:
    """A sheet that hangs in XZ from (x, z)."""
    flat = sheet(width, height, *cells)
    x, y, _ = flat.points.T
    return Shape(np.column_stack([x + top[0], 0.05 * x**2, y - height / 2 + top[1]]), flat.faces, flat.uv, flat.rows)


def build(size: Size) -> None:
    ob.frames(LAST, FPS)
    cone = np.column_stack([np.linspace(0.05, 0.30, 7), np.linspace(1.86, 1.62, 7)])
    shapes = {
        "hat": revolved(cone, size(20, 32)),
        "body": hanging(0.42, 0.66, size((8, 14), (14, 22)), (0.0, 1.54)),
        "left leg": hanging(0.15, 0.76, size((3, 16), (5, 24)), (-0.13, 0.86)),
        "right leg": hanging(0.15, 0.76, size((3, 16), (5, 24)), (0.13, 0.86)),
    }
    for name, shape in shapes.items():
        obj = ob.shell(
            name,
            shape,
            bending="hinge",
            damping_mass=1.5,
            damping_stiffness=0.002,
            **ob.material(*STUFF[name.split()[-1]], 0.5),
        )
        studio.paint(obj, *((TINTS[name], "cream") if name != "hat" else ("cream", TINTS[name])))
    _skeleton()


def _skeleton() -> None:
    """A head, shoulders and hips, keyed frame by frame to the bones that carry the sheets."""
    parts = [(ob.ball("Head", (0, 0, 0), 0.13, collides=False), "hat", (0, 0, 1.70))]
    for name, carrier, half, height in (("Shoulders", "body", 0.23, 1.52), ("Hips", "body", 0.17, 0.85)):
        bar = ob.mesh_object(name, tube(0.02, 2 * half, 16, 1).moved(0, 0, -half))
        bar.data.transform(Matrix.Rotation(np.pi / 2, 4, "Y"))
        parts.append((bar, carrier, (0, 0, height)))
    spine = ob.mesh_object("Spine", tube(0.014, 0.85, 16, 1))
    parts.append((spine, "body", (0, 0.07, 0.85)))
    for obj, name, at in parts:
        studio.paint(obj, "dark" if obj.name != "Head" else "skin", smooth=False)
        for frame in range(1, LAST + 1):
            matrix = Matrix(bone(name, (frame - 1) / FPS).tolist()) @ Matrix.Translation(at)
            obj.location, obj.rotation_euler = matrix.to_translation(), matrix.to_euler()
            obj.keyframe_insert("location", frame=frame)
            obj.keyframe_insert("rotation_euler", frame=frame)


def turned(axis: str, angle: float) -> np.ndarray:
    return np.array(Matrix.Rotation(angle, 3, axis))


def bone(name: str, t: float) -> np.ndarray:
    """Where a bone is at time t [s], (4, 4): sways and turns, the hat nods, legs kick in turns about the hips."""
    grow = min(1.0, t)
    sway = np.array([0.16 * np.sin(4.0 * t), 0.0, 0.05 * np.sin(8.0 * t)]) * grow
    body = turned("Z", 0.6 * np.sin(2.4 * t) * grow)
    turn = body
    if name == "hat":
        turn = body @ turned("Y", 0.25 * np.sin(4.0 * t) * grow)
    elif name != "body":
        turn = body @ turned("X", 0.7 * np.sin(6.0 * t + (0.0 if name == "left leg" else np.pi)) * grow)
    joint = np.array(JOINTS[name])
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = turn, body @ joint + sway - turn @ joint
    return matrix


def bake(size: Size) -> None:
    steps = 2
    for name, joint in JOINTS.items():
        obj = bpy.data.objects[name]
        puppet = Puppet(obj, np.flatnonzero(np.linalg.norm(ob.local(obj) - joint, axis=1) < REACH[name]))
        puppet.modes.base_motion(bone(name, 0.0), 0.0)
        for _ in range(1, LAST):
            for _ in range(steps):
                now = puppet.modes.time + 1 / (steps * FPS)
                puppet.modes.base_motion(bone(name, now), now)
                x = puppet.modes.step(1 / (steps * FPS))
            puppet.path.append(x.copy())
        puppet.play()


def picture(size: Size) -> Picture:
    return Picture((1, 30, 38, 46, 54, 64), view=(0.25, -1.0, 0.12), panel=(260, 380), follow=(*JOINTS, "Head"))


def check(size: Size) -> Fact:
    """Sheets keep their edges while body and legs leave the bones' rigid motion."""
    swing, change = {}, []
    for name in JOINTS:
        obj = bpy.data.objects[name]
        path, rest = ob.motion(obj), ob.local(obj)
        rigid = np.array([rest @ bone(name, k / FPS)[:3, :3].T + bone(name, k / FPS)[:3, 3] for k in range(LAST)])
        swing[f"{name} swings by [m]"] = float(np.linalg.norm(path - rigid, axis=2).max())
        edges = np.array([e.vertices for e in obj.data.edges])
        length = np.linalg.norm(path[:, edges[:, 0]] - path[:, edges[:, 1]], axis=2)
        change.append(float(np.abs(length / length[0] - 1).mean(axis=1).max()))
    return Fact(
        "body and legs swing away from their bones, edges keep their length in the mean",
        min(list(swing.values())[1:]) > 0.02 and max(change) < 0.05,
        swing | {"change of edges": max(change)},
    )
