"""The virtual Kawabata test returns what was put in, within 2%."""

from __future__ import annotations

import numpy as np
import pytest

import shellcore as sc


def check(material: sc.Material, **models: str) -> None:
    found = sc.kawabata_test(material, **models)
    a11, a22, _, a66 = (float(a[0]) for a in material.membrane_moduli(1))
    d11, d22, _, _ = (float(d[0]) for d in material.bending_moduli(1))
    assert found.tensile == pytest.approx((a11, a22), rel=0.02)
    assert found.shear == pytest.approx((a66, a66), rel=0.02)
    assert found.bending == pytest.approx((d11, d22), rel=0.02)
    assert found.areal_density == pytest.approx(material.areal_density, rel=1e-9)
    assert found.thickness == pytest.approx(material.thickness, rel=1e-9)


@pytest.mark.parametrize("name", ["paper", "aluminium_foil", "denim", "tshirt", "silk", "rubber", "cotton_kawabata"])
def test_presets(name: str) -> None:
    check(sc.Material.preset(name))


@pytest.mark.parametrize("bending", ["quadratic", "cubic"])
def test_other_models(bending: str) -> None:
    check(sc.Material.preset("denim"), bending=bending)


@pytest.mark.parametrize("ratio", [5.0, 0.2])
def test_one_direction_five_times_as_stiff(ratio: float) -> None:
    check(
        sc.Material(
            stretch=(1000.0, 200.0),
            shear=20.0,
            poisson=0.3,
            bend=(1e-5 * ratio, 1e-5),
            bend_shear=1e-5 * np.sqrt(ratio) / 2,
            bend_poisson=0.2,
            areal_density=0.2,
            thickness=5e-4,
        )
    )


@pytest.mark.parametrize("seed", range(6))
def test_random_orthotropic_material(seed: int) -> None:
    rng = np.random.default_rng(seed)
    stretch = 10.0 ** rng.uniform(1.5, 4.0)
    bend = 10.0 ** rng.uniform(-6, -3.5)
    stretch_ratio, bend_ratio = 5.0 ** rng.uniform(-0.5, 0.5, 2)
    check(
        sc.Material(
            stretch=(stretch * stretch_ratio, stretch / stretch_ratio),
            shear=stretch * 10.0 ** rng.uniform(-1.5, 0.0),
            poisson=rng.uniform(0.0, 0.5),
            bend=(bend * bend_ratio, bend / bend_ratio),
            bend_shear=bend * rng.uniform(0.3, 0.7),
            bend_poisson=rng.uniform(0.0, 0.4),
            areal_density=rng.uniform(0.05, 0.5),
            thickness=rng.uniform(1e-4, 1e-3),
        )
    )


def test_round_trip_in_the_machines_units() -> None:
    put_in = {"bending": (0.08, 0.04), "shear": 0.9, "weight": 15.0, "thickness": 0.4, "tensile": (3000.0, 1500.0)}
    read = sc.kawabata_test(sc.Material.from_kawabata(**put_in)).kes()
    assert read["bending"] == pytest.approx(put_in["bending"], rel=0.02)
    assert read["shear"] == pytest.approx((0.9, 0.9), rel=0.02)
    assert read["tensile"] == pytest.approx(put_in["tensile"], rel=0.02)
    assert read["weight"] == pytest.approx(15.0) and read["thickness"] == pytest.approx(0.4)
    again = sc.Material.from_kawabata(**read)
    assert again.bend == pytest.approx(sc.Material.from_kawabata(**put_in).bend, rel=0.02)


def test_a_material_with_values_per_face_is_refused() -> None:
    patchy = sc.Material(stretch=100.0, bend=np.array([1e-5, 2e-5]), areal_density=0.1, thickness=1e-3)
    with pytest.raises(sc.ShellError, match="bend has a value per face"):
        sc.kawabata_test(patchy)
