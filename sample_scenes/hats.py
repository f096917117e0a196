"""Four hats dropped on their brim: nearly rigid, rubber with and without damping, floppy.

See: the same hat four times, tilted, falling on the floor. From left: the rigid one tips onto its brim as a whole, the
rubber ones flex at impact and rebound, the brim of the undamped one quivers on, the floppy one folds.

Differs: the paper drops a real hat beside the simulated one; here damping and stiffness are compared. Only the floor
is touched: a hat does not collide with itself. Newmark's scheme, as in the paper.
"""

from __future__ import annotations

import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import DISCRETE_SHELLS, Card, Fact, Picture, Size
from .kit.meshes import Shape, revolved

CARD = Card("Falling hats", DISCRETE_SHELLS, "1")
LAST, FPS = 34, 60
CROWN, BRIM, TALL = 0.085, 0.175, 0.12
HATS = {
    "rigid": ("grey", 300.0, 8e3, 0.0),
    "rubber": ("red", 10.0, 4e3, 0.0),
    "rubber, damped": ("yellow", 10.0, 4e3, 0.03),
    "floppy": ("blue", 0.15, 1e3, 0.0),
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
            integrator="newmark",
            solver="newton",
            substeps=5,
            strain_limit=0.1,
            damping_stiffness=damped,
            friction=0.6,
            **ob.material(stretch, bend, 0.8, thickness=2.0),
        )
        # The profile runs from the top down, so normals point inwards: the second colour is the outside.
        studio.paint(obj, "cream", tint)


def picture(size: Size) -> Picture:
    return Picture((1, 8, 11, 14, 19, LAST), view=(0.06, -1.0, 0.3), panel=(720, 240), columns=2)


def brim(name: str, size: Size) -> np.ndarray:
    """Distances from the top of the crown to the brim, (frames, k) [m]; rigid motion leaves them alone."""
    path = ob.motion(ob.bpy.data.objects[name])
    return np.linalg.norm(path[:, -size(18, 30) :] - path[:, :1], axis=2)


def check(size: Size) -> Fact:
    flexed, quiver = {}, {}
    for name in HATS:
        distance = brim(name, size)
        flexed[name] = float(1e3 * np.sqrt(((distance - distance[0]) ** 2).mean(axis=1)).max())
        quiver[name] = float(FPS * np.sqrt((np.diff(distance[13:26], axis=0) ** 2).mean()))
    holds = (
        flexed["rigid"] < 0.3 * flexed["rubber"] < 0.3 * flexed["floppy"]
        and quiver["rubber, damped"] < 0.3 * quiver["rubber"]
    )
    numbers = {f"{name} flexes by [mm]": value for name, value in flexed.items()}
    numbers |= {f"{name} quivers at [m/s]": quiver[name] for name in ("rubber", "rubber, damped")}
    return Fact("the brim flexes more the softer the hat; damping ends its vibration after the impact", holds, numbers)
