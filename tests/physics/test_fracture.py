"""Cracks follow the grain: plates and bowls split along their stiff axis, isotropic discs along none (figures 6, 7)."""

import numpy as np
import pytest
from fracture_cases import bowl, plate, thrown

import meshes

AXES = {"horizontal": 0.0, "vertical": 0.5 * np.pi, "diagonal": 0.25 * np.pi}


def along_the_grain(broken, axis):
    assert len(broken.edges) >= 15
    assert abs(broken.double_angle) > 0.3
    assert broken.off(axis) < 20.0
    assert np.isfinite(broken.frame.positions).all()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("axis", list(AXES))
def test_plates_split_along_the_grain(axis, seed):
    along_the_grain(thrown(plate(seed), AXES[axis], ratio=10.0), AXES[axis])


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3, 4))])
@pytest.mark.parametrize("axis", list(AXES))
def test_bowls_split_along_the_grain(axis, seed):
    along_the_grain(thrown(bowl(seed), AXES[axis], ratio=10.0, speed=6.0), AXES[axis])


def test_isotropic_discs_prefer_no_direction():
    thrown_discs = [thrown(meshes.disc(150, 0.5, seed=seed), curvature=1.5) for seed in range(12)]
    assert min(len(broken.edges) for broken in thrown_discs) >= 10
    assert abs(np.mean([broken.double_angle for broken in thrown_discs])) < 0.3


def test_an_isotropic_bowl_has_no_grain():
    broken = thrown(bowl(0), ratio=1.0, curvature=1.5, speed=6.0)
    assert len(broken.edges) >= 15
    assert abs(broken.double_angle) < 0.3
