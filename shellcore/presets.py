"""Materials by name: numbers with the place they come from.

Only data lives here; `Material` turns a row into a material. A number that no source measured is an order of
magnitude and its row says so: good for a look, not for a prediction.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Preset:
    """One row: the keywords of `Material`, SI units, with their source."""

    stretch: tuple[float, float]
    """Membrane stiffness along warp and weft, A11 and A22 [N/m]."""
    shear: float | None = None
    """A66 [N/m]; None: isotropic."""
    poisson: float = 0.0
    bend: tuple[float, float]
    """Plate rigidity along warp and weft, D11 and D22 [N·m]."""
    bend_shear: float | None = None
    """D66 [N·m]; None: isotropic."""
    bend_poisson: float = 0.0
    areal_density: float
    """[kg/m²]"""
    thickness: float
    """[m]"""
    source: str
    """Where the numbers were published or measured."""
    order_of_magnitude: bool
    """True where a stiffness or the weight is an estimate; `assumed` names what is."""
    assumed: str = ""
    notes: str = ""
    extra: dict[str, float] = field(default_factory=dict)
    """Further published properties by name and unit, e.g. {"yield_stress_Pa": 2.8e8}."""
    yield_source: str = ""
    """Where `yield_curvature_per_m` and `yield_stretch` among the extras come from."""


def _solid(young: float, poisson: float, thickness: float, areal_density: float, **about: object) -> Preset:
    """A homogeneous isotropic plate: A = Et/(1-ν²), D = Et³/12(1-ν²)."""
    plate = young * thickness / (1 - poisson**2)
    rigidity = plate * thickness**2 / 12
    return Preset(
        stretch=(plate, plate),
        poisson=poisson,
        bend=(rigidity, rigidity),
        bend_poisson=poisson,
        areal_density=areal_density,
        thickness=thickness,
        **about,  # type: ignore[arg-type]
    )


def _measured_cloth(
    c11: float, c12: float, c22: float, c33: float, bending: tuple[float, float, float], **about: object
) -> Preset:
    """A fabric of Wang, O'Brien and Ramamoorthi 2011: stiffness [N/m]; bending at 0°, 45°, 90° [N·m].

    D66 follows from the bias measurement: a cylinder at 45° costs D(45°) = (D11 + D22 + 2 D12)/4 + D66.
    """
    warp, bias, weft = bending
    return Preset(
        stretch=(c11, c22),
        poisson=c12 / (c11 * c22) ** 0.5,
        shear=c33,
        bend=(warp, weft),
        bend_shear=bias - (warp + weft) / 4,
        **about,  # type: ignore[arg-type]
    )


_WANG = "Wang, O'Brien, Ramamoorthi 2011, data-driven elastic models for cloth: measured sample "
_WANG_NOTES = (
    "Stiffness: median over the sample's six strain states; bending: the smallest curvature measured; "
    "twisting rigidity from the bias strip with no Poisson coupling."
)
_PENAVA = "Penava et al. 2014 (tensile modulus, Poisson's ratio, thickness, weight), as quoted in public code: "
_PENAVA_ASSUMED = "bending and shear: typical Kawabata values for such a fabric, not this sample's"

PRESETS: dict[str, Preset] = {
    "reference": Preset(
        stretch=(2e3 / (1 - 0.25**2),) * 2,
        poisson=0.25,
        bend=(5e-5, 5e-5),
        bend_poisson=0.25,
        areal_density=0.15,
        thickness=3e-4,
        source="the sheet this project measures its solvers on: E·t = 2e3 N/m, ν = 0.25, D = 5e-5 N·m",
        order_of_magnitude=False,
        notes="A benchmark, not a fabric; the thickness only serves contact.",
    ),
    "paper": _solid(
        5e9,
        0.3,
        1.0e-4,
        0.10,
        source="ARCSim paper.json (modulus, thickness, weight); rigidity from the plate formula",
        order_of_magnitude=False,
        notes="Office paper is orthotropic (machine direction about twice as stiff); this row is isotropic.",
        extra={"yield_curvature_per_m": 200.0},
        yield_source="Narain, Pfaff, O'Brien 2013, folded letter (figure 5): yield curvature 200 1/m in ARCSim's scene",
    ),
    "aluminium_foil": _solid(
        70e9,
        0.33,
        25.4e-6,
        0.071,
        source="ARCSim aluminium.json; rigidity from the plate formula",
        order_of_magnitude=False,
        extra={"yield_curvature_per_m": 400.0},
        yield_source="ARCSim aluminium.json (Narain, Pfaff, O'Brien 2013)",
    ),
    "can_wall": _solid(
        70e9,
        0.33,
        1.0e-4,
        0.272,
        source="beverage can wall 0.097-0.10 mm of alloy 3004/3104-H19; yield stress from Alcoa sheet data",
        order_of_magnitude=False,
        notes="Young's modulus and density are the handbook values of aluminium.",
        # Curvature whose elastic moment is that of a fully plastic section, 3σ(1 − ν²)/Et; strain σ/E.
        extra={"yield_stress_Pa": 2.8e8, "yield_curvature_per_m": 107.0, "yield_stretch": 0.004},
        yield_source="Alcoa sheet data, 3004/3104-H19: 280 MPa (243 to 310); 3σ(1-ν²)/Et of a plastic hinge, and σ/E",
    ),
    "pet_film": _solid(
        4e9,
        0.38,
        1.0e-4,
        0.139,
        source="handbook values of biaxial PET film",
        order_of_magnitude=True,
        assumed="all, to about 25%",
    ),
    "leaf": _solid(
        2e7, 0.3, 2.5e-4, 0.20, source="estimate for a fresh broad leaf", order_of_magnitude=True, assumed="all"
    ),
    "felt": _solid(
        1e7, 0.1, 2.5e-3, 0.70, source="estimate for a felt hat body", order_of_magnitude=True, assumed="all"
    ),
    "leather": _solid(
        5e7, 0.4, 1.2e-3, 1.08, source="estimate for upholstery leather", order_of_magnitude=True, assumed="all"
    ),
    "rubber": _solid(
        1.5e6,
        0.49,
        1.0e-3,
        0.95,
        source="handbook values of soft natural rubber",
        order_of_magnitude=True,
        assumed="modulus (1 to 3 MPa by compound)",
    ),
    "denim": _measured_cloth(
        226.0,
        40.6,
        1054.0,
        69.5,
        (64.2e-6, 73.4e-6, 97.0e-6),
        areal_density=0.324,
        thickness=8e-4,
        source=_WANG + "11oz-black-denim (jeans, 99% cotton)",
        order_of_magnitude=False,
        assumed="thickness",
        notes=_WANG_NOTES,
    ),
    "tshirt": _measured_cloth(
        86.6,
        79.7,
        313.5,
        27.5,
        (23.2e-6, 24.7e-6, 14.3e-6),
        areal_density=0.187,
        thickness=6e-4,
        source=_WANG + "gray-interlock (t-shirt knit, 60% cotton)",
        order_of_magnitude=False,
        assumed="thickness",
        notes=_WANG_NOTES + " Softer by five below a few percent of strain.",
    ),
    "trousers": _measured_cloth(
        2109.5,
        49.4,
        2143.9,
        40.3,
        (125.4e-6, 108.0e-6, 125.4e-6),
        areal_density=0.220,
        thickness=5e-4,
        source=_WANG + "royal-target (pants, 65% cotton)",
        order_of_magnitude=False,
        assumed="thickness",
        notes=_WANG_NOTES,
    ),
    "jacket": _measured_cloth(
        91.2,
        85.9,
        300.4,
        9.1,
        (14.3e-6, 22.0e-6, 20.3e-6),
        areal_density=0.113,
        thickness=3e-4,
        source=_WANG + "tango-red-jet-set (jacket, polyester)",
        order_of_magnitude=False,
        assumed="thickness",
        notes=_WANG_NOTES,
    ),
    "cotton": Preset(
        stretch=(277.0, 277.0),
        poisson=0.243,
        shear=40.0,
        bend=(7e-6, 5e-6),
        areal_density=0.1503,
        thickness=0.318e-3,
        source=_PENAVA + "plain cotton, E·t = 261 N/m, ν = 0.243",
        order_of_magnitude=True,
        assumed=_PENAVA_ASSUMED,
        notes="Et³/12(1-ν²) would give 2.3e-6 N·m: yarns slide in tension, so a cloth's bending is its own number.",
    ),
    "wool": Preset(
        stretch=(105.0, 105.0),
        poisson=0.277,
        shear=30.0,
        bend=(1.2e-5, 8e-6),
        areal_density=0.2348,
        thickness=0.568e-3,
        source=_PENAVA + "wool, E·t = 97 N/m, ν = 0.277",
        order_of_magnitude=True,
        assumed=_PENAVA_ASSUMED,
    ),
    "polyester": Preset(
        stretch=(141.0, 141.0),
        poisson=0.381,
        shear=25.0,
        bend=(5e-6, 4e-6),
        areal_density=0.1646,
        thickness=0.252e-3,
        source=_PENAVA + "polyester, E·t = 120 N/m, ν = 0.381",
        order_of_magnitude=True,
        assumed=_PENAVA_ASSUMED,
    ),
    "silk": Preset(
        stretch=(3e3, 2e3),
        poisson=0.1,
        shear=20.0,
        bend=(6e-6, 4e-6),
        areal_density=0.065,
        thickness=1.5e-4,
        source="Kawabata bending 0.03-0.1 gf·cm²/cm and 50-80 g/m² are usual for light silk",
        order_of_magnitude=True,
        assumed="all",
    ),
    "cotton_kawabata": _solid(
        5000 / 3e-4,
        0.25,
        3e-4,
        0.15,
        source="Thomaszewski, Wacker, Straßer 2006, section 6: E·t = 5000 N/m, ν = 0.25 from Kawabata measurements",
        order_of_magnitude=True,
        assumed="thickness (0.3 mm) and weight, which the paper does not give; the rigidity follows from thickness",
    ),
    "flexible_metal": _solid(
        1e5 / 1e-3,
        0.05,
        1e-3,
        1.0,
        source="Thomaszewski, Wacker, Straßer 2006, section 6: E·t = 1e5 N/m, ν = 0.05, 1 mm (sleeve of thin metal)",
        order_of_magnitude=True,
        assumed="weight",
        notes="Far softer than metal of 1 mm: the paper's choice for a sleeve that crumples like thin metal.",
    ),
}
