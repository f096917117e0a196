"""The leaves of a plant, shaken by their pot.

See: the pot jerks to the right and back and stands still. Leaves lag behind, overshoot and go on nodding; none of them
grows.

Differs: seven leaves of our own drawing; the pot is moved by keyframes.
"""

from __future__ import annotations

import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import MODAL, Card, Fact, Picture, Size
from .kit.meshes import Shape, revolved, sheet, tube
from .kit.modal import Puppet

CARD = Card("Plant shaken by its pot", MODAL, "1")
LEAVES, LAST, FPS = 9, 60, 30
REACH = 0.12


def leaf(size: Size, long: float) -> Shape:
    """A pointed blade along X from the stem, arched, creased along its midrib."""
    flat = sheet(1.0, 1.0, *size((10, 4), (18, 6)))
    u, v = flat.uv.T
    wide = 0.055 * np.sin(np.pi * np.clip(0.06 + 0.94 * u, 0, 0.985)) ** 0.8
    y = (v - 0.5) * 2 * wide
    z = long * (0.55 * u - 0.45 * u**2) + 0.35 * np.abs(y)
    return Shape(np.column_stack([long * u * 0.92, y, z]), flat.faces, flat.uv, flat.rows)


def build(size: Size) -> None:
    ob.frames(LAST, FPS)
    profile = np.array(
        [
            (0.0, 0.0),
            (0.075, 0.0),
            (0.1, 0.15),
            (0.108, 0.15),
            (0.108, 0.165),
            (0.095, 0.165),
            (0.09, 0.14),
            (0.0, 0.14),
        ]
    )
    profile[0, 0] = profile[-1, 0] = 1e-5
    pot = ob.mesh_object("Pot", revolved(profile, 48))
    studio.paint(pot, "red", rough=0.8, smooth=False)
    for frame in range(1, LAST + 1):
        pot.location = (shift(frame), 0, 0)
        pot.keyframe_insert("location", frame=frame)
    rng = np.random.default_rng(4)
    for index in range(LEAVES):
        turn = 2 * np.pi * index * 0.382 + rng.uniform(-0.2, 0.2)
        height = 0.24 + 0.024 * index
        obj = ob.shell(
            f"Leaf {index}", leaf(size, 0.30 - 0.012 * index), (0.008 * np.cos(turn), 0.008 * np.sin(turn), height),
            (0, -0.28 - 0.03 * index, turn), bending="hinge", damping_mass=1.2, damping_stiffness=0.002,
            **ob.material(3000.0, 2.5, 0.18),
        )  # fmt: skip
        studio.paint(obj, "green", rough=0.4)
    stem = ob.mesh_object("Stem", tube(0.007, 0.31, 12, 1), (0, 0, 0.135))
    studio.paint(stem, "green", smooth=False)
    stem.parent = pot


def shift(frame: float) -> float:
    """Where the pot is [m]: over and back within two thirds of a second, then still."""
    t = np.clip((frame - 4) / 20, 0, 1)
    return float(REACH * np.sin(2 * np.pi * t) * np.sin(np.pi * t))


def bake(size: Size) -> None:
    steps = 2
    for obj in ob.shells():
        shape = ob.local(obj)
        puppet = Puppet(obj, np.flatnonzero(shape[:, 0] < 0.16 * shape[:, 0].max()))
        place = np.eye(4)
        puppet.modes.base_motion(place, 0.0)
        for frame in range(1, LAST):
            for step in range(1, steps + 1):
                place[0, 3] = shift(frame + step / steps)
                puppet.modes.base_motion(place, puppet.modes.time + 1 / (steps * FPS))
                x = puppet.modes.step(1 / (steps * FPS))
            puppet.path.append(x.copy())
        puppet.play()


def picture(size: Size) -> Picture:
    names = tuple(f"Leaf {index}" for index in range(LEAVES))
    return Picture(
        (1, 9, 13, 18, 25, LAST),
        view=(0.1, -1.0, 0.25),
        panel=(360, 400),
        columns=3,
        follow=("Pot", *names),
    )


def check(size: Size) -> Fact:
    """The last second, when the pot stands: tips still move; edges keep their length throughout."""
    swing, strain = [], []
    for obj in ob.shells():
        path = ob.motion(obj)
        tip = path[-30:, np.abs(ob.local(obj)[:, 0] - ob.local(obj)[:, 0].max()) < 1e-6].mean(axis=1)
        swing.append(float(np.ptp(tip[:, 2])))
        edges = np.array([e.vertices for e in obj.data.edges])
        length = np.linalg.norm(path[:, edges[:, 0]] - path[:, edges[:, 1]], axis=2)
        strain.append(float(np.abs(length / length[0] - 1).mean(axis=1).max()))
    largest = max(swing)
    return Fact(
        "tips still nod after the pot stands, and leaves do not grow (mean change of edges)",
        largest > 0.004 and max(strain) < 0.05,
        {"nod [mm]": 1e3 * largest, "change of edges": max(strain)},
    )
