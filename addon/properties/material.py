"""Material, its axes, damping, and weights that vary it over the surface."""

from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, PointerProperty, StringProperty
from bpy.types import Image

# Numbers of items stay with their names for ever: files hold them.
SOURCES = [
    ("SHEET", "Sheet", "Stiffness of the sheet itself, along and across its weave", 0),
    ("SOLID", "Solid", "A homogeneous plate: Young's modulus, Poisson's ratio, density and thickness", 1),
]
AXES = [
    ("NONE", "Automatic", "Along the world's X, laid onto the surface", 0),
    ("UV", "UV Direction", "Along the direction of U in the UV map", 1),
    ("IMAGE", "Image", "From the colours of an image, read through the UV map", 2),
    ("VECTOR", "Vector", "Along a direction of the object, laid onto the surface", 3),
]
ENCODINGS = [
    ("DOUBLE_ANGLE", "Double Angle", "Red, green = ½ + ½(cos 2φ, sin 2φ), blue = strength; φ from U towards V", 0),
    ("HUE", "Hue", "Hue = φ/180°, saturation = strength: for painting by hand", 1),
]
WEIGHTED = {
    "stretch": "Stretch Stiffness",
    "shear": "Shear Stiffness",
    "bend": "Bending Stiffness",
    "thickness": "Thickness",
    "density": "Weight",
}
"""What a vertex group or attribute can scale, and what the panel calls it."""


def _stiffness(name: str, about: str, default: float) -> object:
    return FloatProperty(name=name, description=f"{about} [N/m]", default=default, min=1e-3, max=1e10, precision=1)


def _rigidity(name: str, about: str, default: float, least: float = 0.0) -> object:
    return FloatProperty(
        name=name, description=f"{about} [mN·m = 0.001 N·m]", default=default, min=least, max=1e9, precision=4
    )


TABLE = {
    "material_source": EnumProperty(name="Given as", description="How the material is described", items=SOURCES),
    "stretch_warp": _stiffness("Stretch Warp", "Stiffness against stretch along the axis, E·t/(1-ν²)", 2133.3333),
    "stretch_weft": _stiffness("Weft", "Stiffness against stretch across the axis, E·t/(1-ν²)", 2133.3333),
    "shear_auto": BoolProperty(
        name="Isotropic Shear", description="Shear follows from stretch and Poisson's ratio", default=True
    ),
    "shear": _stiffness("Shear", "Stiffness against shear in the surface, G·t", 800.0),
    "poisson": FloatProperty(
        name="Poisson's Ratio", description="How much it narrows when stretched", default=0.25, min=-0.99, max=0.99
    ),
    "bend_warp": _rigidity("Bend Warp", "Rigidity against bending along the axis, E·t³/12(1-ν²)", 0.05),
    "bend_weft": _rigidity("Weft", "Rigidity against bending across the axis", 0.05),
    "twist_auto": BoolProperty(
        name="Isotropic Twist", description="Twist follows from bending and Poisson's ratio", default=True
    ),
    "twist": _rigidity("Twist", "Rigidity against twisting", 0.01875),
    "bend_poisson": FloatProperty(
        name="Bending Poisson", description="Poisson's ratio of bending", default=0.25, min=-0.99, max=0.99
    ),
    "areal_density": FloatProperty(
        name="Weight",
        description="Mass of a square metre [kg/m²]; office paper 0.08",
        default=0.15,
        min=1e-5,
        max=1e5,
        precision=4,
    ),
    "thickness": FloatProperty(
        name="Thickness",
        description="Thickness of the sheet [mm]; office paper 0.1",
        default=0.3,
        min=1e-4,
        max=1e4,
        precision=4,
        subtype="DISTANCE_CAMERA",
    ),
    "young": FloatProperty(
        name="Young's Modulus",
        description="Stiffness of the solid [MPa]; steel 210000, paper 5000, rubber 1.5",
        default=5000.0,
        min=1e-6,
        max=1e9,
        precision=3,
    ),
    "solid_poisson": FloatProperty(
        name="Poisson's Ratio", description="Poisson's ratio of the solid", default=0.3, min=-0.99, max=0.5
    ),
    "density": FloatProperty(
        name="Density",
        description="Mass of a cubic metre [kg/m³]; water 1000, steel 7850",
        default=1000.0,
        min=0.1,
        max=1e6,
    ),
    "preset_name": StringProperty(name="Preset", description="The preset these values came from", default="reference"),
    "axes_source": EnumProperty(
        name="Axes", description="Where the warp direction comes from", items=AXES, default="NONE"
    ),
    "axes_uv": StringProperty(name="UV Map", description="UV map to read; empty: the active one"),
    "axes_angle": FloatProperty(
        name="Angle",
        description="Turn the warp direction from U towards V",
        subtype="ANGLE",
        default=0.0,
        min=-6.2832,
        max=6.2832,
    ),
    "axes_image": PointerProperty(
        name="Image", description="Image whose colours hold the direction (set it to Non-Color)", type=Image
    ),
    "axes_encoding": EnumProperty(name="Colours", description="What the colours mean", items=ENCODINGS),
    "axes_vector": FloatVectorProperty(
        name="Direction",
        description="Direction in the object's own space",
        size=3,
        default=(1.0, 0.0, 0.0),
        subtype="XYZ",
    ),
    "show_axes": BoolProperty(name="Show Axes", description="Draw the warp direction on the surface", default=False),
    "show_axes_length": FloatProperty(
        name="Length", description="Length of the drawn lines, as a share of a face", default=0.6, min=0.05, max=5.0
    ),
    "damping_mass": FloatProperty(
        name="Air",
        description="Slows everything against the world [1/s]: the share of its speed that it loses each second",
        default=0.0,
        min=0.0,
        max=1e4,
        precision=4,
    ),
    "damping_stiffness": FloatProperty(
        name="Material",
        description="Damps stretching and folding, not the motion as a whole [s]: quick wobbles most",
        default=0.0,
        min=0.0,
        max=100.0,
        precision=5,
    ),
    "damping_hinge": FloatProperty(
        name="Folds",
        description="Damps the speed of folding, per length of edge [N·s]",
        default=0.0,
        min=0.0,
        max=1e4,
        precision=6,
    ),
    "damping_viscosity": FloatProperty(
        name="Viscosity",
        description="Resists quick stretch, as thick rubber does [s]",
        default=0.0,
        min=0.0,
        max=100.0,
        precision=5,
    ),
    "friction": FloatProperty(
        name="Friction", description="Coefficient of friction µ against colliders", default=0.3, min=0.0, max=2.0
    ),
}
for _name, _label in WEIGHTED.items():
    TABLE[f"weight_{_name}"] = StringProperty(
        name=_label, description=f"Vertex group or attribute that scales it; empty: uniform. {_label}"
    )
    TABLE[f"weight_{_name}_low"] = FloatProperty(
        name="At 0",
        description=f"Factor on {_label.lower()} where the weight is 0 (it is 1 where the weight is 1)",
        default=0.1,
        min=1e-4,
        max=1e4,
        precision=3,
    )

SAMPLED = frozenset({"friction"})
"""What is read at every frame of a bake."""
