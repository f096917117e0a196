"""Four flags in one wind that differ only in the direction of their stiff threads.

See: threads are drawn. Isotropic; stiff vertical threads: folds run upright; stiff horizontal threads: the flag stays
straight along the wind and bends across it; diagonal: threads that rise along the wind stand across the droop, and the
folds are as steep as with vertical ones.

Differs: rigidity 30 : 1 between the axes; wind of 7 m/s along the flags and 1.4 m/s across, 0.12 kg/m².
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
    cells = size((14, 10), (22, 16))
    cloth = upright(sheet(WIDE, HIGH, *cells))
    for index, (name, (bend, angle)) in enumerate(AXES.items()):
        at = 1.05 * index
        obj = ob.shell(
            name, cloth, (at, 0, 1.0), substeps=2, wind_velocity=(7.0, 1.4, 0.0), damping_mass=0.2,
            axes_source="UV", axes_angle=np.radians(angle or 0.0), **ob.material(800.0, bend, 0.12, twist=0.15),
        )  # fmt: skip
        ob.pin(obj, np.flatnonzero(cloth.points[:, 0] < 1e-6))
        studio.paint(obj, "teal", "cream", stripes=None if angle is None else np.radians(angle), count=16)
        studio.mast((at - 0.012, 0, 0.3), 1.06)


def picture(size: Size) -> Picture:
    return Picture((16, 30, 44, LAST), view=(0.1, -1.0, 0.1), panel=(860, 240), floor=0.0, columns=1, margin=1.03)


def curvature(path: np.ndarray, columns: int) -> tuple[float, float]:
    """Curvature along the wind over that across it, and how far folds lean from upright [°], over a motion.

    From second differences d: folds run along the direction in which Σ (d·)² is least.
    """
    grid = path.reshape(len(path), -1, columns, 3)
    wide, high = WIDE / (columns - 1), HIGH / (grid.shape[1] - 1)
    along, across = np.diff(grid, 2, axis=2)[:, 1:-1] / wide**2, np.diff(grid, 2, axis=1)[:, :, 1:-1] / high**2
    mixed = (grid[:, 2:, 2:] - grid[:, 2:, :-2] - grid[:, :-2, 2:] + grid[:, :-2, :-2]) / (4 * wide * high)
    second = np.stack([np.stack([along, mixed], -1), np.stack([mixed, across], -1)], -1)
    _, axes = np.linalg.eigh(np.einsum("fijkab,fijkcb->ac", second, second))
    lean = float(np.degrees(np.arctan2(abs(axes[0, 0]), abs(axes[1, 0]))))
    return float(np.sqrt((along**2).mean() / (across**2).mean())), lean


def check(size: Size) -> Fact:
    columns, ratio, lean = size(15, 23), {}, {}
    for name in AXES:
        path = ob.motion(ob.bpy.data.objects[name])[LAST // 3 :]
        ratio[name], lean[name] = curvature(path, columns)
    holds = (
        ratio["vertical"] > 1.5 * ratio["isotropic"]
        and ratio["horizontal"] < ratio["isotropic"] / 1.1
        and lean["vertical"] < lean["isotropic"] < lean["horizontal"]
    )
    numbers = {f"{name}, along/across": value for name, value in ratio.items()}
    numbers |= {f"{name}, folds lean [°]": value for name, value in lean.items()}
    return Fact(
        "upright threads: curved along the wind, folds upright; level ones: across it, leaning; isotropic in between",
        holds,
        numbers,
    )
