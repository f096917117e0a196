"""Plasticity: what stays bent."""

from bpy.props import BoolProperty, FloatProperty

TABLE = {
    "use_plasticity": BoolProperty(
        name="Plasticity",
        description="Folds and dents beyond the yield stay, as in foil, paper and metal",
        default=False,
    ),
    "yield_curvature": FloatProperty(
        name="Yield Curvature",
        description="Bending beyond this stays [1/m]: 1/radius of the tightest bend that springs back fully. "
        "A yield stress σ in a sheet of thickness t gives 3σ(1-ν²)/(E·t)",
        default=20.0,
        min=1e-4,
        max=1e7,
        precision=3,
    ),
    "plastic_hardening": FloatProperty(
        name="Hardening",
        description="How much the yield grows with what already stayed, as a share of it: 0 keeps yielding at the same "
        "bend, 1 grows as fast as the lasting bend",
        default=0.0,
        min=0.0,
        max=100.0,
        precision=3,
    ),
    "use_plastic_rate": BoolProperty(
        name="Creep", description="Bends need time to stay, instead of staying at once", default=False
    ),
    "plastic_rate": FloatProperty(
        name="Rate",
        description="Share of the excess that stays each second [1/s]: large is nearly at once",
        default=10.0,
        min=1e-6,
        max=1e6,
        precision=3,
    ),
    "use_yield_stretch": BoolProperty(
        name="Yield in Stretch", description="Stretch beyond a yield stays too: dents with depth", default=False
    ),
    "yield_stretch": FloatProperty(
        name="Yield Stretch",
        description="Stretch or compression beyond this stays [%]; aluminium 0.2 to 0.4, paper about 0.5",
        default=0.3,
        min=1e-4,
        max=100.0,
        precision=3,
    ),
}
