"""Fields of a frame against states whose strain, stress, curvature and contact are known."""

from __future__ import annotations

import numpy as np
import pytest
from states import rotation

import shellcore as sc
from meshes import grid
from shellcore.frame import Fields
from shellcore.system import System

MATERIAL = sc.Material(stretch=(100.0, 40.0), shear=20.0, poisson=0.2, bend=0.3, areal_density=0.2, thickness=1e-3)
SHEET = grid(4, 4, 1.0, 1.0)


def fields(x, **options):
    return Fields(System(sc.Scene([sc.Shell(*SHEET, MATERIAL, **options)])), x)


def test_strain_is_the_larger_principal_stretch_with_its_sign():
    points, _ = SHEET
    turn = rotation(np.random.default_rng(4))
    pulled = fields((points * np.array([1.1, 0.97, 1.0])) @ turn.T)
    pressed = fields((points * np.array([1.02, 0.9, 1.0])) @ turn.T)
    assert pulled["strain"] == pytest.approx(0.1, abs=1e-12)
    assert pressed["strain"] == pytest.approx(-0.1, abs=1e-12)


def test_stress_is_the_larger_principal_one():
    points, _ = SHEET
    e11, e22 = 0.5 * (1.1**2 - 1.0), 0.5 * (0.97**2 - 1.0)
    a12 = 0.2 * np.sqrt(100.0 * 40.0)
    exact = 100.0 * e11 + a12 * e22
    assert abs(exact) > abs(a12 * e11 + 40.0 * e22)
    assert fields(points * np.array([1.1, 0.97, 1.0]))["stress"] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("bending", ["hinge", "cubic"])
def test_bending_sums_to_the_energy(bending):
    points, _ = SHEET
    radius = 2.0
    rolled = np.column_stack(
        [radius * np.sin(points[:, 0] / radius), points[:, 1], radius * np.cos(points[:, 0] / radius)]
    )
    shell = sc.Shell(*SHEET, MATERIAL, bending=bending)
    system = System(sc.Scene([shell]))
    density = Fields(system, rolled)["bending"]
    assert (density >= 0).all()
    # Chords are shorter than arcs: the cubic energy is exact for folds that keep lengths only.
    assert density @ shell.areas == pytest.approx(system.bendings[0].energy.value(rolled), rel=2e-3)


def test_contact_is_the_force_of_the_floor():
    shell = sc.Shell(*SHEET, MATERIAL)
    scene = sc.Scene([shell], colliders=[sc.Plane((0, 0, 5.0), (0, 0, -1))])
    assert not np.any(next(sc.simulate(scene, 1)).fields["contact"])


def test_fields_are_named():
    mapping = fields(SHEET[0])
    assert len(mapping) == len(list(mapping)) == 6
    with pytest.raises(KeyError, match="no field 'heat'; there are strain"):
        mapping["heat"]
