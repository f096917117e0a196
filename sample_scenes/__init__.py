"""Experiments of the five papers, and some of our own, as Blender scenes.

One module a scene. Its docstring says what to see and, after "Differs:", what is not as in print; `CARD` names paper
and figure; `build(size)` makes the scene from nothing through the add-on, as an artist would; `check(size)` measures
one physical fact of the paper on the baked result. `run.py` bakes, checks, saves and renders; `kit/` is what they
share.
"""

SCENES: tuple[str, ...] = (
    "beams",
    "hats",
    "drape",
    "paper",
    "ratios",
    "flag",
    "willmore",
    "cylinders",
    "four_flags",
    "poncho",
    "plates",
    "bowls",
    "sleeves",
    "sagging",
    "buckling",
    "fabrics",
    "torsion",
    "metal",
    "trousers",
    "sweater",
    "plant",
    "modal_beams",
    "handles",
    "dancer",
    "crisps",
    "can",
    "letter",
    "poster",
    "beside_cloth",
)
"""Names of all scenes, in the order of the gallery."""
