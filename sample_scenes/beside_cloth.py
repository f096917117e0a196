"""The same flag in Blender's Cloth and in Thin Shell: one mesh, one weight, one wind.

See: left Blender's Cloth (grey), right Thin Shell (red), in the same wind field and with the same mass. Cloth is drawn
out by the wind and flaps as a stiff board; ours sags by its weight, billows and folds, and stretches less.

Differs: not from a paper. Cloth has its defaults but for three: the mass of a vertex is the weight of our cloth
(0.2 kg/m²) shared among the vertices; Air Viscosity is 0, as its default of 1 holds so light a flag still; and it
collides with itself, as ours does. Ours has E·t = 2000 N/m. A WIND field presses on Cloth with 0.02 of its strength a
square metre, on ours as hard when it blows square on.
"""

from __future__ import annotations

import bpy
import numpy as np

from .kit import objects as ob
from .kit import studio
from .kit.card import OURS, Card, Fact, Picture, Size
from .kit.meshes import Shape, sheet, upright

CARD = Card("The same flag in Blender's Cloth", OURS)
WIDE, HIGH, LAST, APART = 1.2, 0.8, 60, 1.55
DENSITY, STRENGTH = 0.2, 1500.0


def flag(size: Size) -> Shape:
    return upright(sheet(WIDE, HIGH, *size((18, 12), (30, 20))))


def build(size: Size) -> None:
    ob.frames(LAST)
    cloth = flag(size)
    held = np.flatnonzero(cloth.points[:, 0] < 1e-6)
    ours = ob.shell(
        "Thin Shell", cloth, (APART, 0, 0.75), substeps=2, self_contact=True, contact_distance=4.0,
        **ob.material(2000.0, 0.05, DENSITY),
    )  # fmt: skip
    ob.pin(ours, held)
    studio.paint(ours, "red", "cream")
    theirs = ob.mesh_object("Cloth", cloth, (0, 0, 0.75))
    theirs.vertex_groups.new(name="Pin").add([int(v) for v in held], 1.0, "REPLACE")
    modifier = theirs.modifiers.new("Cloth", "CLOTH")
    modifier.settings.vertex_group_mass = "Pin"
    modifier.settings.mass = DENSITY * WIDE * HIGH / len(cloth.points)
    modifier.settings.air_damping = 0.0
    modifier.collision_settings.use_self_collision = True
    modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, LAST
    studio.paint(theirs, "grey", "cream")
    for at in (0.0, APART):
        studio.mast((at - 0.012, 0, 0.1), 1.12)
    _wind()


def _wind() -> None:
    """A wind field along X and a little across."""
    bpy.ops.object.effector_add(type="WIND", location=(-1.0, 0, 0.8), rotation=(0, np.pi / 2, 0.15))
    bpy.context.object.field.strength = STRENGTH


def bake(size: Size) -> None:
    ob.bake()
    # Cloth simulates while the playhead moves on by one.
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)


def picture(size: Size) -> Picture:
    return Picture(
        (8, 20, 34, 48), view=(0.15, -1.0, 0.08), panel=(600, 270), follow=("Cloth", "Thin Shell"), margin=1.04
    )


def stretch(obj: bpy.types.Object, rest: np.ndarray) -> tuple[float, float]:
    """Largest and mean lengthening of an edge over the motion."""
    edges = np.array([e.vertices for e in obj.data.edges])
    length = np.linalg.norm(rest[edges[:, 0]] - rest[edges[:, 1]], axis=1)
    path = ob.motion(obj, 1, LAST)
    now = np.linalg.norm(path[:, edges[:, 0]] - path[:, edges[:, 1]], axis=2)
    strain = now / length - 1
    return float(strain.max()), float(np.clip(strain, 0, None).mean())


def check(size: Size) -> Fact:
    rest = flag(size).points
    numbers = {}
    for name in ("Cloth", "Thin Shell"):
        obj = bpy.data.objects[name]
        most, mean = stretch(obj, rest)
        path = ob.motion(obj, 1, LAST)
        numbers |= {f"{name}, most": most, f"{name}, mean": mean, f"{name}, crossings": ob.crossings(obj, path)}
    holds = (
        numbers["Thin Shell, most"] < numbers["Cloth, most"]
        and numbers["Thin Shell, mean"] < numbers["Cloth, mean"]
        and numbers["Thin Shell, crossings"] == 0
    )
    return Fact("stretch of edges: ours is the smaller, and our flag never crosses itself", holds, numbers)
