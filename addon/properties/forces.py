"""Forces: gravity, wind and the weights of force fields."""

from bpy.props import FloatProperty, FloatVectorProperty, PointerProperty
from bpy.types import Collection

FIELD_TYPES = ("WIND", "FORCE", "VORTEX", "TURBULENCE", "DRAG")
"""Force fields that have a meaning for shells."""


def _weight(name: str) -> object:
    return FloatProperty(
        name=name,
        description=f"How much of {name.lower()} acts on this shell",
        default=1.0,
        soft_min=0.0,
        min=-200.0,
        max=200.0,
        soft_max=1.0,
    )


TABLE = {
    "field_gravity": _weight("Gravity"),
    "wind_velocity": FloatVectorProperty(
        name="Wind",
        description="Speed of the air everywhere, in world axes [m/s]; a fresh breeze is 10",
        size=3,
        default=(0.0, 0.0, 0.0),
        subtype="XYZ",
    ),
    "air_drag": FloatProperty(
        name="Drag",
        description="Drag coefficient against moving and still air; a plate has about 1",
        default=1.0,
        min=0.0,
        max=20.0,
    ),
    "air_lift": FloatProperty(name="Lift", description="Lift coefficient", default=0.0, min=0.0, max=20.0),
    "air_density": FloatProperty(
        name="Air Density",
        description="Density of the air [kg/m³]; 0: vacuum, nothing but fields act",
        default=1.225,
        min=0.0,
        max=2000.0,
        precision=4,
    ),
    "field_all": _weight("All"),
    "field_collection": PointerProperty(
        name="Effectors", description="Only fields of this collection act", type=Collection
    ),
}
for _type in FIELD_TYPES:
    TABLE[f"field_{_type.lower()}"] = _weight(_type.title())

SAMPLED = frozenset({"wind_velocity", "field_all", "field_gravity", *(f"field_{each.lower()}" for each in FIELD_TYPES)})
"""What is read at every frame of a bake."""
