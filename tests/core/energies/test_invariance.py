"""What rigid motion must not change: energies of the deformed and of the rest shape. And what follows from it:
internal forces, damping included, have neither resultant nor torque.
"""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from catalogue import INTERNAL, KINDS_OF, build
from hypothesis import given, settings
from hypothesis import strategies as st
from states import KINDS, rotation, samples

SELF_BALANCED = [*INTERNAL, "pressure, closed"]


def drawn(data, name):
    return data.draw(samples(KINDS_OF.get(name, KINDS)))


@pytest.mark.parametrize("name", SELF_BALANCED)
@settings(max_examples=40)
@given(data=st.data())
def test_energy_is_the_same_after_a_rigid_motion_of_the_shape(name, data):
    s = drawn(data, name)
    energy = build(name, s)
    turn, shift = rotation(s.rng), s.rng.normal(size=3)
    value, gradient = energy.value_and_gradient(s.x)
    moved_value, moved_gradient = energy.value_and_gradient(s.x @ turn.T + shift)
    assert moved_value == pytest.approx(value, rel=1e-11)
    assert moved_gradient == pytest.approx(gradient @ turn.T, rel=0, abs=1e-11 * np.abs(gradient).max())


@pytest.mark.parametrize("name", [name for name in INTERNAL if name != "attachments"])
@settings(max_examples=40)
@given(data=st.data())
def test_energy_is_the_same_after_a_rigid_motion_of_the_rest_shape(name, data):
    s = drawn(data, name)
    moved = s.with_rest_moved(rotation(s.rng), s.rng.normal(size=3))
    value = build(name, s).value(s.x)
    assert build(name, moved).value(s.x) == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize("name", SELF_BALANCED)
@settings(max_examples=40)
@given(data=st.data())
def test_internal_forces_balance(name, data):
    s = drawn(data, name)
    force = build(name, s).gradient(s.x)
    size = np.linalg.norm(force, axis=1)
    assert np.abs(force.sum(axis=0)).max() <= 1e-11 * size.sum()
    torque = np.cross(s.x, force).sum(axis=0)
    assert np.abs(torque).max() <= 1e-11 * (np.linalg.norm(s.x, axis=1) @ size)


@pytest.mark.parametrize("name", ["strain viscosity", "angle viscosity"])
@settings(max_examples=20)
@given(data=st.data())
def test_damping_does_not_see_rigid_motion(name, data):
    s = drawn(data, name)
    turned = s.before @ rotation(deepcopy(s.rng)).T + 1.0
    energy = build(name, s)
    moving, spinning = energy.gradient(s.x), energy.gradient(turned)
    assert np.abs(spinning).max() <= 1e-11 * np.abs(moving).max()
