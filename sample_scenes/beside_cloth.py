"""The same sheet in Blender's Cloth and in Thin Shell, one mesh, hung by two corners and let go.

See: left Blender's Cloth as its button makes it (grey): its corners stretch while it swings. Right Thin Shell (red):
the same swing, but the sheet keeps its length and folds instead.

Differs: not from a paper, and without wind, whose push on Cloth depends on its vertex mass. Cloth
has its own defaults (vertex mass 0.3 kg, quality 5); our sheet has 0.15 kg/m² and E·t = 2000 N/m.
"""

from __future__ import annotations

import bpy
import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import OURS, Card, Fact, Picture, Size
from .kit.meshes import Shape, sheet

CARD = Card("Beside Blender's Cloth", OURS)
SIDE, LAST, APART = 1.0, 40, 1.35


def square(size: Size) -> Shape:
    return sheet(SIDE, SIDE, *size((18, 18), (28, 28)))


def build(size: Size) -> None:
    ob.frames(LAST)
    cloth = square(size)
    x, y, _ = cloth.points.T
    held = np.flatnonzero((np.abs(np.abs(x) - SIDE / 2) < 1e-6) & (y > SIDE / 2 - 1e-6))
    ours = ob.shell("Thin Shell", cloth, (APART, 0, 1.3), substeps=2, **ob.material(2000.0, 0.05, 0.15))
    ob.pin(ours, held)
    studio.paint(ours, "red", "cream")
    theirs = ob.mesh_object("Cloth", cloth, (0, 0, 1.3))
    theirs.vertex_groups.new(name="Pin").add([int(v) for v in held], 1.0, "REPLACE")
    modifier = theirs.modifiers.new("Cloth", "CLOTH")
    modifier.settings.vertex_group_mass = "Pin"
    modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, LAST
    studio.paint(theirs, "grey", "cream")


def bake(size: Size) -> None:
    ob.bake()
    # Cloth simulates while the playhead moves on by one.
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)


def picture(size: Size) -> Picture:
    return Picture((4, 10, 15, 22, LAST), view=(0.35, -1.0, 0.2), panel=(380, 300), follow=("Cloth", "Thin Shell"))


def stretch(obj: bpy.types.Object, rest: np.ndarray) -> tuple[float, float]:
    """Largest and mean lengthening of an edge over the motion."""
    edges = np.array([e.vertices for e in obj.data.edges])
    length = np.linalg.norm(rest[edges[:, 0]] - rest[edges[:, 1]], axis=1)
    path = ob.motion(obj, 1, LAST)
    now = np.linalg.norm(path[:, edges[:, 0]] - path[:, edges[:, 1]], axis=2)
    strain = now / length - 1
    return float(strain.max()), float(np.clip(strain, 0, None).mean())


def check(size: Size) -> Fact:
    rest = square(size).points
    numbers = {}
    for name in ("Cloth", "Thin Shell"):
        most, mean = stretch(bpy.data.objects[name], rest)
        numbers |= {f"{name}, most": most, f"{name}, mean": mean}
    smaller = numbers["Thin Shell, most"] < 0.7 * numbers["Cloth, most"]
    return Fact(
        "stretch of edges: ours is the smaller",
        smaller and numbers["Thin Shell, mean"] < numbers["Cloth, mean"],
        numbers,
    )
