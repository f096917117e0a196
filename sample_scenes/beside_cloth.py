"""The same flag in Blender's Cloth and in Thin Shell, one mesh, one wind field.

See: left Blender's Cloth with its Cotton preset (grey) sags on its pins, right Thin Shell (red) keeps its length.

Differs: not from a paper. Cloth has its default quality; both weigh 0.15 kg/m² and feel the same Wind field.
"""

from __future__ import annotations

import bpy
import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import OURS, Card, Fact, Picture, Size
from .kit.meshes import sheet, upright

CARD = Card("Beside Blender's Cloth", OURS)
WIDE, HIGH, LAST, APART = 1.2, 0.8, 60, 1.5


def build(size: Size) -> None:
    ob.frames(LAST)
    cloth = upright(sheet(WIDE, HIGH, *size((24, 16), (36, 24))))
    held = np.flatnonzero((cloth.points[:, 0] < 1e-6) & (np.abs(np.abs(cloth.points[:, 2]) - HIGH / 2) < 1e-6))
    ours = ob.shell("Thin Shell", cloth, (APART, 0, 0.9), substeps=2, **ob.material(2000.0, 0.05, 0.15))
    ob.pin(ours, held)
    studio.paint(ours, "red", "cream")
    theirs = ob.mesh_object("Cloth", cloth, (0, 0, 0.9))
    group = theirs.vertex_groups.new(name="Pin")
    group.add([int(v) for v in held], 1.0, "REPLACE")
    modifier = theirs.modifiers.new("Cloth", "CLOTH")
    modifier.settings.vertex_group_mass = "Pin"
    modifier.settings.mass = 0.15 * WIDE * HIGH / len(cloth.points)  # Cloth wants the mass of a vertex
    modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, LAST
    studio.paint(theirs, "grey", "cream")
    bpy.ops.object.effector_add(type="WIND", location=(-1, -1, 0.9), rotation=(0, np.radians(90), np.radians(12)))
    wind = bpy.context.object
    wind.field.strength, wind.field.flow = 900.0, 0.0
    for at in (0.0, APART):
        studio.mast((at - 0.012, 0, 0.1), 1.3)


def bake(size: Size) -> None:
    ob.bake()
    # Cloth simulates while the playhead moves on by one.
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)


def picture(size: Size) -> Picture:
    return Picture((8, 20, 36, LAST), view=(0.1, -1.0, 0.15), panel=(560, 290), follow=("Cloth", "Thin Shell"))


def stretch(obj: object, rest: np.ndarray) -> tuple[float, float]:
    """Largest and mean lengthening of an edge over the motion after the first half second."""
    edges = np.array([e.vertices for e in obj.data.edges])
    length = np.linalg.norm(rest[edges[:, 0]] - rest[edges[:, 1]], axis=1)
    path = ob.motion(obj, 1, LAST)[12:]
    now = np.linalg.norm(path[:, edges[:, 0]] - path[:, edges[:, 1]], axis=2)
    strain = now / length - 1
    return float(strain.max()), float(np.clip(strain, 0, None).mean())


def check(size: Size) -> Fact:
    rest = upright(sheet(WIDE, HIGH, *size((24, 16), (36, 24)))).points
    numbers = {}
    for name in ("Cloth", "Thin Shell"):
        most, mean = stretch(bpy.data.objects[name], rest)
        numbers |= {f"{name}, most": most, f"{name}, mean": mean}
    return Fact(
        "stretch of edges: ours is smaller",
        numbers["Thin Shell, most"] < 0.5 * numbers["Cloth, most"]
        and numbers["Thin Shell, mean"] < numbers["Cloth, mean"],
        numbers,
    )
