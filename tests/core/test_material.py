"""Material: what goes in comes out, in SI, and what cannot be a material is refused by name."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shellcore.errors import ShellError
from shellcore.material import Material, directional_rigidity

PLAIN = {"stretch": 100.0, "bend": 1e-4, "areal_density": 0.1, "thickness": 1e-3}
positive = st.floats(1e-6, 1e6)


@given(young=st.floats(1e3, 1e12), poisson=st.floats(-0.9, 0.5), thickness=st.floats(1e-6, 1e-2), density=positive)
def test_solid_is_the_kirchhoff_plate(young: float, poisson: float, thickness: float, density: float) -> None:
    material = Material.solid(young=young, poisson=poisson, thickness=thickness, density=density)
    a11, a22, a12, a66 = (float(v[0]) for v in material.membrane_moduli(1))
    d11, d22, d12, d66 = (float(v[0]) for v in material.bending_moduli(1))
    # Uniaxial tension frees the width: the compliance 1/(A11 - A12²/A22) must be that of a bar, 1/Et.
    assert a11 - a12**2 / a22 == pytest.approx(young * thickness, rel=1e-9)
    assert a66 == pytest.approx(young * thickness / (2 * (1 + poisson)), rel=1e-12)
    assert d11 == d22 == pytest.approx(a11 * thickness**2 / 12, rel=1e-12)
    assert d12 == pytest.approx(poisson * d11, rel=1e-12, abs=1e-300)
    assert d66 == pytest.approx((d11 - d12) / 2, rel=1e-9)
    assert float(material.face_areal_density(1)[0]) == pytest.approx(density * thickness)


@given(first=positive, second=positive, nu=st.floats(-0.99, 0.99))
def test_coupling_is_by_the_geometric_mean_and_shear_defaults_to_isotropic(
    first: float, second: float, nu: float
) -> None:
    material = Material(
        **PLAIN | {"bend": (first, second), "bend_poisson": nu, "stretch": (second, first), "poisson": nu}
    )
    d11, d22, d12, d66 = (float(v[0]) for v in material.bending_moduli(1))
    assert (d11, d22) == (first, second)
    assert d12 == pytest.approx(nu * math.sqrt(first * second), rel=1e-12, abs=1e-300)
    assert d66 == pytest.approx((1 - nu) / 2 * math.sqrt(first * second), rel=1e-12)
    assert [float(v[0]) for v in material.membrane_moduli(1)] == pytest.approx([d22, d11, d12, d66])


@given(first=positive, second=positive, twist=positive, nu=st.floats(-0.9, 0.9), angle=st.floats(0, math.pi))
def test_directional_rigidity_is_the_energy_of_a_cylinder(
    first: float, second: float, twist: float, nu: float, angle: float
) -> None:
    material = Material(**PLAIN | {"bend": (first, second), "bend_shear": twist, "bend_poisson": nu})
    moduli = material.bending_moduli(1)
    direction = np.array([math.cos(angle), math.sin(angle)])
    curvature = np.outer(direction, direction)
    d11, d22, d12, d66 = (float(v[0]) for v in moduli)
    k11, k22, k12 = curvature[0, 0], curvature[1, 1], curvature[0, 1]
    twice_energy = d11 * k11**2 + 2 * d12 * k11 * k22 + d22 * k22**2 + 4 * d66 * k12**2
    rigidity = float(directional_rigidity(moduli, np.cos(angle), np.sin(angle))[0])
    assert rigidity == pytest.approx(twice_energy, rel=1e-9)
    assert rigidity > 0


@given(rigidity=positive, nu=st.floats(-0.9, 0.9), angle=st.floats(0, math.pi))
def test_an_isotropic_material_has_no_direction(rigidity: float, nu: float, angle: float) -> None:
    moduli = Material(**PLAIN | {"bend": rigidity, "bend_poisson": nu}).bending_moduli(1)
    assert float(directional_rigidity(moduli, np.cos(angle), np.sin(angle))[0]) == pytest.approx(rigidity, rel=1e-12)


def test_any_number_may_be_per_face() -> None:
    stretch, thickness = np.array([1.0, 2.0, 3.0]), np.array([1e-3, 2e-3, 3e-3])
    material = Material(**PLAIN | {"stretch": (stretch, 5.0), "thickness": thickness})
    a11, a22, _, a66 = material.membrane_moduli(3)
    np.testing.assert_array_equal(a11, [1, 2, 3])
    np.testing.assert_array_equal(a22, [5, 5, 5])
    np.testing.assert_allclose(a66, 0.5 * np.sqrt([5, 10, 15]))
    np.testing.assert_array_equal(material.face_thickness(3), thickness)
    np.testing.assert_array_equal(material.face_areal_density(3), [0.1, 0.1, 0.1])


def test_a_material_keeps_its_own_numbers() -> None:
    thickness = np.array([1e-3, 2e-3])
    material = Material(**PLAIN | {"thickness": thickness})
    thickness[0] = 7.0
    material.face_thickness(2)[1] = 9.0
    np.testing.assert_array_equal(material.face_thickness(2), [1e-3, 2e-3])
    with pytest.raises(dataclasses.FrozenInstanceError):
        material.thickness = 1.0  # type: ignore[misc]
    stiffer = dataclasses.replace(material, stretch=400.0)
    assert float(stiffer.membrane_moduli(2)[3][0]) == pytest.approx(200.0), "the default shear follows the stretch"


def test_bending_may_be_zero() -> None:
    for modulus in Material(**PLAIN | {"bend": 0}).bending_moduli(2):
        np.testing.assert_array_equal(modulus, [0, 0])


@pytest.mark.parametrize(
    ("change", "words", "faces"),
    [
        ({"stretch": 0.0}, "stretch > 0", []),
        ({"stretch": -1.0}, "stretch must not be negative", []),
        ({"stretch": (1.0, 2.0, 3.0)}, "pair", []),
        ({"stretch": "soft"}, "stretch must be a number", []),
        ({"stretch": np.ones((2, 2))}, "shape", []),
        ({"poisson": 1.0}, "poisson", []),
        ({"poisson": np.array([0.1, -1.0, 0.2])}, "face 1", [1]),
        ({"shear": 0.0}, "shear > 0", []),
        ({"bend": (1.0, 0.0)}, "bend > 0", []),
        ({"bend_shear": np.array([1.0, 1.0, 0.0])}, "face 2", [2]),
        ({"bend_poisson": -1.5}, "bend_poisson", []),
        ({"thickness": 0.0}, "thickness", []),
        ({"thickness": math.nan}, "thickness must be finite", []),
        ({"areal_density": np.array([1.0, math.inf])}, "face 1", [1]),
        ({"areal_density": np.ones(2), "thickness": np.ones(3)}, "one length", []),
    ],
)
def test_what_is_no_material_is_refused_by_name(change: dict[str, object], words: str, faces: list[int]) -> None:
    with pytest.raises(ShellError, match=words) as refused:
        Material(**PLAIN | change)  # type: ignore[arg-type]
    assert refused.value.faces == faces


def test_a_per_face_array_of_another_mesh_is_refused() -> None:
    material = Material(**PLAIN | {"thickness": np.ones(3)})
    with pytest.raises(ShellError, match="thickness has 3 values but the mesh has 5 faces") as refused:
        material.face_thickness(5)
    assert refused.value.faces == [3, 4]


@pytest.mark.parametrize(("poisson", "young"), [(0.51, 1.0), (-1.0, 1.0), (0.3, -1.0)])
def test_no_solid_has_such_constants(poisson: float, young: float) -> None:
    with pytest.raises(ShellError):
        Material.solid(young=young, poisson=poisson, thickness=1e-3, density=1e3)


def test_every_preset_is_a_material_with_a_source() -> None:
    presets = Material.presets()
    assert {"reference", "paper", "can_wall", "leaf", "denim", "silk", "cotton_kawabata"} <= presets.keys()
    for name, row in presets.items():
        material = Material.preset(name)
        assert len(row.source) > 10, name
        assert bool(row.assumed) or not row.order_of_magnitude, f"{name}: an estimate must say what is assumed"
        # No sheet thinner than foil or thicker than felt, none lighter than silk or heavier than leather.
        assert 2e-5 < float(material.face_thickness(1)[0]) < 3e-3, name
        assert 0.05 < float(material.face_areal_density(1)[0]) < 1.2, name
        assert 1e-6 < float(material.bending_moduli(1)[0][0]) < 2e-2, name


def test_presets_say_what_their_sources_say() -> None:
    a11, _, a12, _ = (float(v[0]) for v in Material.preset("cotton_kawabata").membrane_moduli(1))
    assert a11 - a12**2 / a11 == pytest.approx(5000.0)
    a11, _, a12, _ = (float(v[0]) for v in Material.preset("reference").membrane_moduli(1))
    assert a11 - a12**2 / a11 == pytest.approx(2000.0)
    denim = Material.preset("denim").bending_moduli(1)
    half = math.sqrt(0.5)
    assert float(directional_rigidity(denim, half, half)[0]) == pytest.approx(73.4e-6), "the measured bias strip"
    assert float(Material.preset("paper").bending_moduli(1)[0][0]) == pytest.approx(4.58e-4, rel=1e-2)


def test_an_unknown_preset_is_answered_with_the_list() -> None:
    with pytest.raises(ShellError, match="reference"):
        Material.preset("papre")


def test_kawabata_units() -> None:
    material = Material.from_kawabata(
        extension=(4.0, 8.0), linearity=(0.6, 0.7), bending=(0.1, 0.05), shear=0.6, weight=15.0, thickness=0.4
    )
    gram_force = 9.80665e-3
    a11, a22, a12, a66 = (float(v[0]) for v in material.membrane_moduli(1))
    # At the maximum load of 500 gf/cm the linear sheet has stored the measured energy WT = LT·F·EMT/2.
    energy = 0.6 * (500 * gram_force / 0.01) * 0.04 / 2
    assert 0.5 * a11 * 0.04**2 == pytest.approx(energy)
    assert a22 == pytest.approx(0.7 * 500 * gram_force / 0.01 / 0.08)
    assert a12 == 0
    # One degree of shear takes 0.6 gf on each centimetre.
    assert a66 * math.radians(1) == pytest.approx(0.6 * gram_force / 0.01)
    # One gf·cm per cm width at a curvature of 1 per cm.
    d11, d22, _, _ = (float(v[0]) for v in material.bending_moduli(1))
    assert d11 * 100 == pytest.approx(0.1 * gram_force * 0.01 / 0.01)
    assert d22 == pytest.approx(d11 / 2)
    assert float(material.face_areal_density(1)[0]) == pytest.approx(0.15)
    assert float(material.face_thickness(1)[0]) == pytest.approx(4e-4)


def test_kawabata_takes_the_tensile_rigidity_itself() -> None:
    material = Material.from_kawabata(tensile=1000.0, bending=0.1, shear=(0.4, 0.8), weight=15.0, thickness=0.4)
    a11, a22, _, a66 = (float(v[0]) for v in material.membrane_moduli(1))
    assert a11 == a22 == pytest.approx(980.665)
    assert a66 == pytest.approx(0.6 * 0.980665 * 180 / math.pi)
    for both in ({}, {"tensile": 1.0, "extension": 1.0}):
        with pytest.raises(ShellError, match="either"):
            Material.from_kawabata(bending=0.1, shear=0.5, weight=15.0, thickness=0.4, **both)
