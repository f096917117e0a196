"""Four flags in one wind that differ only in the direction of their stiff threads.

See: threads are drawn. Isotropic; stiff vertical threads: folds run upright; stiff horizontal threads: the flag stays
straight along the wind and its free edge rolls; diagonal: folds slant.

Differs: rigidity 30 : 1 between the axes; wind of 6 m/s along the flags and 1.2 m/s across, 0.14 kg/m². The paper does
not say whether its flags touch themselves; these do, and do not cross.
"""

from __future__ import annotations

import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import CUBIC, Card, Fact, Picture, Size
from .kit.meshes import sheet, upright

CARD = Card("Four orthotropic flags", CUBIC, "5 (6 in the text)")
WIDE, HIGH, LAST = 0.9, 0.65, 60
STIFF, SOFT = 6.0, 0.2
AXES = {
    "isotropic": ((0.4, 0.4), None),
    "vertical": ((STIFF, SOFT), 90.0),
    "horizontal": ((STIFF, SOFT), 0.0),
    "diagonal": ((STIFF, SOFT), 45.0),
}


def build(size: Size) -> None:
    ob.frames(LAST)
    cells = size((14, 10), (26, 18))
    cloth = upright(sheet(WIDE, HIGH, *cells))
    for index, (name, (bend, angle)) in enumerate(AXES.items()):
        at = 1.05 * index
        obj = ob.shell(
            name, cloth, (at, 0, 1.0), integrator="implicit_euler", solver="auto", substeps=2, strain_limit=0.1,
            wind_velocity=(6.0, 1.2, 0.0), damping_mass=0.2,
            self_contact=True, contact_distance=4.0,
            axes_source="UV", axes_angle=np.radians(angle or 0.0), **ob.material(800.0, bend, 0.14, twist=0.15),
        )  # fmt: skip
        ob.pin(obj, np.flatnonzero(cloth.points[:, 0] < 1e-6))
        studio.paint(obj, "teal", "cream", stripes=None if angle is None else np.radians(angle), count=16)
        studio.mast((at - 0.012, 0, 0.3), 1.06)


def picture(size: Size) -> Picture:
    return Picture((16, 30, 44, LAST), view=(0.1, -1.0, 0.1), panel=(760, 250), floor=0.0)


def curvature(x: np.ndarray, columns: int) -> tuple[float, float]:
    """Mean square second differences along and across the wind, over the steps to the fourth."""
    grid = x.reshape(-1, columns, 3)
    along, across = np.diff(grid, 2, axis=1), np.diff(grid, 2, axis=0)
    steps = WIDE / (columns - 1), HIGH / (len(grid) - 1)
    return tuple(float((d**2).sum(axis=-1).mean() / h**4) for d, h in ((along, steps[0]), (across, steps[1])))


def check(size: Size) -> Fact:
    columns = size(15, 27)
    ratio = {}
    for name in AXES:
        path = ob.motion(ob.bpy.data.objects[name])[LAST // 3 :]
        along, across = np.mean([curvature(x, columns) for x in path], axis=0)
        ratio[name] = float(np.sqrt(along / across))
    # A flapping flag is chaotic: the isotropic one may come within 2% of the level threads, the extremes stay apart.
    ordered = ratio["vertical"] > 1.3 * ratio["isotropic"] and ratio["horizontal"] < ratio["isotropic"]
    return Fact(
        "curvature along the wind over curvature across it: largest with upright threads, least with level ones",
        ordered and ratio["vertical"] > 1.8 * ratio["horizontal"],
        ratio,
    )
