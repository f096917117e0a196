"""Every gradient and every Hessian against differences, and every Hessian offered as semidefinite against its spectrum.

Sixth-order differences over a hundredth of the smallest altitude leave about 1e-10; the bound is 1e-6.
"""

from __future__ import annotations

import numpy as np
import pytest
from catalogue import ENERGIES, KINDS_OF, build
from derivatives import gradient_gap, hessian_gap, smallest_height, softest
from hypothesis import given, settings
from hypothesis import strategies as st
from states import KINDS, samples, single_hinge

from shellcore.energies.cubic import Cubic
from shellcore.energies.hinge import hinge_angles
from shellcore.mesh import topology

every_energy = pytest.mark.parametrize("name", ENERGIES)


@every_energy
@settings(max_examples=12)
@given(data=st.data())
def test_gradients_and_hessians_agree_with_differences(name, data):
    sample = data.draw(samples(KINDS_OF.get(name, KINDS)))
    energy = build(name, sample)
    step = 0.01 * smallest_height(sample.x, sample.faces)
    assert gradient_gap(energy, sample.x, step) < 1e-6
    assert hessian_gap(energy, sample.x, step) < 1e-6


@every_energy
@settings(max_examples=25)
@given(data=st.data())
def test_semidefinite_hessians_are(name, data):
    sample = data.draw(samples(KINDS_OF.get(name, KINDS)))
    energy = build(name, sample)
    offered = energy.hessian(sample.x, psd=True).matrix().toarray()
    assert softest(offered) >= -1e-10
    constant = energy.stiffness()
    if constant is not None:
        assert softest(constant.toarray()) >= -1e-10


@every_energy
@settings(max_examples=5)
@given(data=st.data())
def test_products_and_matrices_are_the_same_hessian(name, data):
    sample = data.draw(samples(KINDS_OF.get(name, KINDS)))
    hessian = build(name, sample).hessian(sample.x, psd=False)
    direction = sample.rng.normal(size=sample.x.shape)
    image = hessian.matrix() @ direction.ravel()
    assert hessian.product(direction).ravel() == pytest.approx(image, rel=1e-12, abs=1e-12 * np.abs(image).max())


def test_the_constant_part_of_thousands_of_cubic_hinges_is_semidefinite():
    rng = np.random.default_rng(7)
    count = 4000
    hinges = [single_hinge(rng, fold) for fold in rng.uniform(-175.0, 175.0, count) * np.pi / 180.0]
    points = np.concatenate([p for p, _ in hinges])
    faces = np.concatenate([f + 4 * i for i, (_, f) in enumerate(hinges)])
    mesh = topology(faces, len(points))
    angles = hinge_angles(points, mesh.hinges)
    assert np.abs(angles).max() > np.radians(174.0)
    blocks = Cubic(points, mesh, np.ones(count), angles).matrix.tobsr((4, 4)).data
    assert blocks.shape == (count, 4, 4)
    values = np.linalg.eigvalsh(blocks)
    assert (values[:, 0] >= -1e-10 * values[:, -1]).all()
