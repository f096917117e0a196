"""Four hats dropped on their brim: nearly rigid, rubber with and without damping, floppy.

See: the same hat four times, tilted, falling on the floor. The rigid one (grey) tips over onto its brim as a whole, the rubber
ones (red, yellow) flex at impact and rebound, the brim of the undamped one goes on quivering, the floppy one (blue) folds down.

Differs: the paper drops a real hat beside the simulated one; here damping and stiffness are compared. Only the floor is
touched: a hat does not collide with itself.
"""

from __future__ import annotations

import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import DISCRETE_SHELLS, Card, Fact, Picture, Size
from .kit.meshes import Shape, revolved

CARD = Card("Falling hats", DISCRETE_SHELLS, "1")
LAST, FPS = 50, 60
CROWN, BRIM, TALL = 0.085, 0.175, 0.12
HATS = {
    "rigid": ("grey", 300.0, 8e3, 0.0),
    "rubber": ("red", 10.0, 4e3, 0.0),
    "rubber, damped": ("yellow", 10.0, 4e3, 0.03),
    "floppy": ("blue", 0.6, 2e3, 0.0),
}
"""Colour, D [mN·m], E·t [N/m], damping of folds and strain [s]."""


def hat(size: Size) -> Shape:
    """Crown and brim, turned from one smooth profile."""
    outline = np.array(
        [
            (0.0, TALL), (0.35 * CROWN, TALL - 0.001), (0.7 * CROWN, TALL - 0.006), (0.9 * CROWN, TALL - 0.02),
            (0.98 * CROWN, 0.6 * TALL), (CROWN, 0.25 * TALL), (1.04 * CROWN, 0.06 * TALL), (1.16 * CROWN, 0.0),
            (0.5 * (CROWN + BRIM), -0.003), (0.93 * BRIM, 0.004), (BRIM, 0.012),
        ]
    )  # fmt: skip
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(outline, axis=0), axis=1))])
    at = np.linspace(0, along[-1], size(10, 15))
    profile = np.column_stack([np.interp(at, along, outline[:, k]) for k in (0, 1)])
    return revolved(profile, size(18, 30))


def build(size: Size) -> None:
    ob.frames(LAST, FPS)
    ob.ground()
    for index, (name, (tint, bend, stretch, damped)) in enumerate(HATS.items()):
        obj = ob.shell(
            name,
            hat(size),
            (0.46 * index, 0.0, 0.14),
            (np.radians(24), np.radians(8), 0),
            bending="hinge",
            solver="newton",
            substeps=5,
            damping_stiffness=damped,
            friction=0.6,
            **ob.material(stretch, bend, 0.8, thickness=2.0),
        )
        studio.paint(obj, tint, "cream", sheen=0.5)


def picture(size: Size) -> Picture:
    return Picture((1, 8, 12, 18, 28, LAST), view=(0.1, -1.0, 0.38), panel=(620, 250), margin=1.04)


def brim_motion(path: np.ndarray, rim: np.ndarray) -> float:
    """RMS change of the distances from the top of the crown to the brim over the last 0.3 s [m]; rigid motion is zero."""
    distance = np.linalg.norm(path[-18:, rim] - path[-18:, :1], axis=2)
    return float(np.sqrt(((distance - distance.mean(axis=0)) ** 2).mean()))


def check(size: Size) -> Fact:
    rim = np.arange(size(18, 30)) - size(18, 30)
    paths = {name: ob.motion(ob.bpy.data.objects[name]) for name in HATS}
    shaking = {f"{name} [mm]": 1e3 * brim_motion(paths[name], rim) for name in HATS}
    sagged = {
        f"{name} height": float(np.ptp(paths[name][-1][:, 2]) / np.ptp(hat(size).points[:, 2]))
        for name in ("rigid", "floppy")
    }
    holds = (
        shaking["rubber [mm]"] > 3 * shaking["rubber, damped [mm]"]
        and shaking["rigid [mm]"] < 0.3 * shaking["rubber [mm]"]
        and sagged["floppy height"] < 0.75 * sagged["rigid height"]
    )
    return Fact(
        "damping ends the brim's vibration, a stiff hat has none, a floppy one loses its height", holds, shaking | sagged
    )
