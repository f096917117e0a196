"""Shape: pins, rest shape, sewing, pressure; and collisions."""

from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty, PointerProperty, StringProperty
from bpy.types import Collection, Object

# Numbers of items stay with their names for ever: files hold them.
REST_SHAPES = [
    ("START", "As at Start", "The shape it has at the first frame", 0),
    ("KEY", "Shape Key", "A shape key of this mesh", 1),
    ("OBJECT", "Object", "Another object with the same vertices, at its own place and scale", 2),
    ("UV", "From UV", "The UV map is the sewing pattern: islands are flat pieces of cloth, sewn where they meet", 3),
]
UV_SIZES = [
    ("AREA", "Fit to Mesh", "As large in all as the mesh is at the start", 0),
    ("SCALE", "Scale", "As large as the UV map says, given the length of its square", 1),
]
PATTERN = frozenset({"rest_uv", "rest_uv_size", "rest_uv_scale"})
"""Settings that count where the rest shape comes from the UV map."""
REST_ANGLES = [
    ("shape", "From Shape", "Folds and curvature of the rest shape are kept", 0),
    ("flat", "Flat", "The sheet was cut flat: it wants to unroll everywhere", 1),
]
COLLIDER_SHAPES = [
    ("AUTO", "Automatic", "The mesh as it is", 0),
    ("MESH", "Mesh", "The mesh as it is", 1),
    ("PLANE", "Endless Plane", "All behind the object's local XY plane; its Z points to the free side", 2),
    ("SPHERE", "Sphere", "A ball of the object's size about its origin", 3),
]


def _is_mesh(_self: Any, candidate: Object) -> bool:
    return candidate.type == "MESH"


TABLE = {
    "pin_group": StringProperty(
        name="Pin Group",
        description="Vertices that follow the object's own animation (armature, shape keys, movement). "
        "Weight 1 holds exactly, less is a spring",
    ),
    "pin_stiffness": FloatProperty(
        name="Stiffness",
        description="Spring of pins with a weight below 1, times the weight [N/m]",
        default=10.0,
        min=0.0,
        max=1e9,
    ),
    "rest_shape": EnumProperty(name="Rest Shape", description="The shape without strain", items=REST_SHAPES),
    "rest_key": StringProperty(name="Shape Key", description="Shape key that holds the rest shape"),
    "rest_object": PointerProperty(
        name="Object", description="Object that holds the rest shape", type=Object, poll=_is_mesh
    ),
    "rest_uv": StringProperty(name="UV Map", description="UV map with the pattern; empty: the active one"),
    "rest_uv_size": EnumProperty(name="Size", description="How large the pattern is", items=UV_SIZES),
    "rest_uv_scale": FloatProperty(
        name="UV Square",
        description="Length of one side of the UV square in the cloth [m]",
        default=1.0,
        min=1e-5,
        max=1e5,
        soft_max=100.0,
        precision=4,
    ),
    "rest_angles": EnumProperty(name="Rest Angles", description="The folds without bending", items=REST_ANGLES),
    "use_sewing": BoolProperty(
        name="Sewing", description="Edges without a face pull their ends together, as in Cloth", default=False
    ),
    "sewing_stiffness": FloatProperty(
        name="Stiffness",
        description="Spring of each sewing edge [N/m]; 0: as stiff as the sheet",
        default=0.0,
        min=0.0,
        max=1e9,
    ),
    "use_pressure": BoolProperty(name="Pressure", description="Push outwards along the normals", default=False),
    "pressure": FloatProperty(
        name="Pressure",
        description="Pressure along the normals [Pa]; a party balloon has about 2000",
        default=10.0,
        min=-1e8,
        max=1e8,
    ),
    "use_collision": BoolProperty(
        name="Collisions", description="Collide with objects that have Collision physics", default=True
    ),
    "collision_collection": PointerProperty(
        name="Collection", description="Collide only with objects of this collection", type=Collection
    ),
    "self_contact": BoolProperty(
        name="Self Contact",
        description="The sheet collides with itself and other shells; several times slower",
        default=False,
    ),
    "contact_distance": FloatProperty(
        name="Gap",
        description="Distance of the sheet's middle from whatever it meets [mm]; 0: its thickness. Larger is faster "
        "and safer",
        default=0.0,
        min=0.0,
        max=1e4,
        precision=3,
        subtype="DISTANCE_CAMERA",
    ),
    "use_outer_thickness": BoolProperty(
        name="Outer Thickness",
        description="Keep half the Outer Thickness of colliding meshes and half the Gap away from them, half the Gap "
        "from planes and balls, as older files do. Off: the Gap alone, from all of them",
        default=True,
    ),
    "collider_shape": EnumProperty(
        name="Shape for Thin Shell", description="What thin shells feel of this collider", items=COLLIDER_SHAPES
    ),
}

SAMPLED = frozenset({"pressure", "pin_stiffness", "sewing_stiffness"})
"""What is read at every frame of a bake."""
