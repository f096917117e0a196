"""Cache: frame range, where and how the result is kept, what of it is shown."""

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Mesh

from .. import compat

# Numbers of items stay with their names for ever: files hold them.
TARGETS = [
    ("PC2", "Point Cache", "A PC2 file played by a Mesh Cache modifier: plays anywhere, small .blend", 0),
    ("SHAPE_KEYS", "Shape Keys", "Inside the .blend, one key a frame: for glTF and game engines", 1),
    ("ALEMBIC", "Alembic", "An .abc file played by a Mesh Sequence Cache modifier: for other programs", 2),
]
RESULTS = {
    "strain": ("Strain", "Largest stretch or compression, as a share"),
    "stress": ("Stress", "Largest membrane stress [N/m]"),
    "bending": ("Bending Energy", "Bending energy per area [J/m²]"),
    "contact": ("Contact", "Contact force [N]"),
    "plastic": ("Plastic Bend", "Bending that stays, added up at the edges of a face [1/m]"),
    "damage": ("Damage", "How near an edge is to breaking: 1 is at its threshold"),
    "velocity": ("Velocity", "Velocity of each vertex [m/s]"),
}
"""Fields of a frame that can be kept: what the panel calls them and what they are."""
SHOWN_NUMBERS = {"strain": 1, "stress": 2, "bending": 3, "contact": 4, "plastic": 5, "damage": 6, "velocity": 7}
SHOWN = [("NONE", "None", "No colours", 0)] + [
    (key, label, about, SHOWN_NUMBERS[key]) for key, (label, about) in RESULTS.items()
]

TABLE = {
    "frame_start": IntProperty(
        name="Simulation Start", description="First frame; the sheet is at rest there", default=1
    ),
    "frame_end": IntProperty(name="End", description="Last frame to bake", default=250),
    "cache_target": EnumProperty(name="Bake to", description="How the result is kept", items=TARGETS),
    "cache_folder": StringProperty(
        name="Folder",
        description="Where caches go; // is the folder of the .blend file",
        subtype="DIR_PATH",
        options=compat.relative_path_options(),
        default="//thin_shell_cache",
    ),
    "cache_name": StringProperty(name="Cache", description="File name of the bake, without ending", options={"HIDDEN"}),
    "shell_id": StringProperty(
        name="Shell Id", description="Whose a cache is", options={"HIDDEN"}, override={"LIBRARY_OVERRIDABLE"}
    ),
    "baked": BoolProperty(name="Baked", description="A bake is attached to the object", options={"HIDDEN"}),
    "baked_target": StringProperty(options={"HIDDEN"}),
    "baked_start": IntProperty(options={"HIDDEN"}),
    "baked_samples": IntProperty(options={"HIDDEN"}),
    "baked_complete": BoolProperty(options={"HIDDEN"}),
    "baked_date": StringProperty(name="Date", description="Which bake is attached", options={"HIDDEN"}),
    "baked_settings": StringProperty(
        name="Fingerprint", description="Settings the bake was made from", options={"HIDDEN"}
    ),
    "baked_inputs": StringProperty(
        name="Inputs", description="Meshes, images and animation the bake was made from", options={"HIDDEN"}
    ),
    "whole_mesh": PointerProperty(
        name="Whole Mesh", description="The mesh as it was before the bake cracked it", type=Mesh, options={"HIDDEN"}
    ),
    "split_mesh": PointerProperty(
        name="Cracked Mesh", description="The mesh with the bake's cracks", type=Mesh, options={"HIDDEN"}
    ),
    "unlocked": BoolProperty(
        name="Edit Settings",
        description="Change settings of a baked shell; the bake stays and is shown as outdated",
        default=False,
    ),
    "show_result": EnumProperty(name="Show", description="Colour the surface by a result", items=SHOWN),
    "result_range": FloatProperty(
        name="Range", description="Value shown in the strongest colour; 0: largest of the frame", default=0.0, min=0.0
    ),
}
for _key, (_label, _about) in RESULTS.items():
    TABLE[f"keep_{_key}"] = BoolProperty(
        name=_label, description=f"Keep for every frame: {_about.lower()}", default=False
    )
