"""The quadratic model over the range of bending to in-plane stiffness: 1e-5, 1e-3 and 1e-2 to 1.

See: the same sheet on the same sphere, from cloth (left) over card (middle) to board (right), by bending stiffness
alone.

Differs: the ratio has a unit (m²); here it is D over E·t = 1000 N/m for a sheet of 1 m: D = 10, 1000 and 10000 mN·m.
"""

from __future__ import annotations

from .kit import objects as ob
from .kit import studio
from .kit.card import QUADRATIC, Card, Fact, Picture, Size
from .kit.meshes import sheet

CARD = Card("Three stiffness ratios", QUADRATIC, "3")
SIDE, RADIUS, LAST = 1.0, 0.25, 40
RATIOS = {"1e-5": ("red", 10.0), "1e-3": ("yellow", 1000.0), "1e-2": ("blue", 10000.0)}


def build(size: Size) -> None:
    ob.frames(LAST)
    cells = size(12, 22)
    for index, (name, (tint, bend)) in enumerate(RATIOS.items()):
        at = 1.15 * index
        studio.paint(ob.ball(f"Ball {name}", (at, 0, 0.45), RADIUS), "paper", smooth=False)
        studio.stand((at, 0.0), 0.25)
        obj = ob.shell(
            name, sheet(SIDE, SIDE, cells, cells), (at, 0, 0.45 + RADIUS + 0.01), bending="quadratic", damping_mass=5.0,
            friction=0.6, integrator="implicit_euler", solver="newton", substeps=3, strain_limit=0.1,
            **ob.material(1000.0, bend, 0.6),
        )  # fmt: skip
        studio.paint(obj, tint, "cream")


def picture(size: Size) -> Picture:
    return Picture((1, 7, 12, LAST), view=(0.0, -1.0, 0.4), panel=(700, 290), columns=2)


def check(size: Size) -> Fact:
    drops = {}
    for name in RATIOS:
        end = ob.positions(ob.bpy.data.objects[name], LAST)
        drops[name] = float((end[:, 2].max() - end[:, 2].min()) / SIDE)
    soft, middle, stiff = drops.values()
    return Fact("depth of the drape over the side falls with the ratio", soft > 1.3 * middle > 1.69 * stiff, drops)
