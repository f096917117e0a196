"""Compressed sleeves at two resolutions, subdivision elements beside linear ones.

See: red, subdivision elements on a coarse mesh and on one of 4.5 times as many vertices: the same dents in the same
places. Blue, constant-strain triangles with hinges on the same two meshes: the coarse one (third) has other dents, the
fine one (fourth) has those of the red ones. All are drawn shiny, which shows dents better than cloth does.

Differs: the paper's linear elements (of Etzmuß et al.) have simple bending forces and get no better on a finer mesh
(2232 and 5856 vertices). Ours, hinges of the same rigidity, come to the same answer in the end: what subdivision saves
is the mesh. 494 vertices, as in figure 7, and 2232. Compressed by 2%, creeping (viscosity 0.02 s), 1 mm thick
(R/50). Where dents form is a matter of what is out of round, one thickness here; of a sleeve that is round to a
twentieth of it meshes agree on the number of dents within one or two and not on their places, with either element.
"""

from __future__ import annotations

from .kit import objects as ob
from .kit import studio
from .kit.card import SUBDIVISION, Card, Fact, Picture, Size
from .kit.sleeves import LONG, RADIUS, cloth, dents, folds, likeness, sleeve

CARD = Card("Compressed sleeves: subdivision beside linear elements", SUBDIVISION, "1")
FPS, LAST, APART, SHORTER = 25, 33, 0.13, 0.02
THICK = RADIUS / 50


def looks(size: Size) -> dict[str, tuple[str, int, str]]:
    """Model, vertices and colour of each, left to right."""
    coarse, fine = size((300, 800), (494, 2232))
    return {
        "subdivision, coarse": ("subdivision", coarse, "red"),
        "subdivision, fine": ("subdivision", fine, "red"),
        "linear, coarse": ("hinge", coarse, "blue"),
        "linear, fine": ("hinge", fine, "blue"),
    }


def place(index: int) -> tuple[float, float, float]:
    return (APART * index, 0.0, 0.0)


def build(size: Size) -> None:
    ob.frames(LAST, FPS)
    for index, (name, (model, count, tint)) in enumerate(looks(size).items()):
        obj = sleeve(
            name, count, place(index), tint, ((1, 0.0, 0.0), (LAST - 8, 0.0, SHORTER * LONG)), THICK, bending=model,
            uneven=1.0, metallic=0.8, substeps=4, field_gravity=0.0, damping_viscosity=0.02, **cloth(THICK),
        )  # fmt: skip
        if model == "hinge":
            obj.modifiers.remove(obj.modifiers["Smooth"])
            studio.paint(obj, tint, metallic=0.8, rough=0.3, smooth=False)


def picture(size: Size) -> Picture:
    return Picture((1, LAST), view=(0.1, -1.0, 0.12), panel=(1000, 440), columns=1)


def check(size: Size) -> Fact:
    field, numbers = {}, {}
    for index, (name, (_, count, _)) in enumerate(looks(size).items()):
        field[name] = dents(name, LAST, count, place(index))
        numbers[f"folds around, {name}"] = float(folds(name, LAST, count, place(index)))
        numbers[f"depth over thickness, {name}"] = float((RADIUS - field[name].min()) / THICK)
    for model in ("subdivision", "linear"):
        numbers[f"likeness of coarse and fine, {model}"] = likeness(field[f"{model}, coarse"], field[f"{model}, fine"])
    numbers["likeness of the fine ones"] = likeness(field["subdivision, fine"], field["linear, fine"])
    ours, linear, fine = list(numbers.values())[-3:]
    holds = ours > 0.6 and ours > linear + 0.2 and fine > 0.8 and numbers["depth over thickness, subdivision, fine"] > 3
    return Fact(
        "subdivision has the dents of the fine mesh on the coarse one, linear elements have not", holds, numbers
    )
