"""Energy given back by velocities: exactly so much, with momentum kept where nothing holds a shell."""

import numpy as np
import pytest

import shellcore as sc
from meshes import grid
from shellcore.balance import lowered

RNG = np.random.default_rng(3)
COUNT = 40


def thrown():
    x, mass = RNG.normal(size=(2 * COUNT, 3)), RNG.uniform(0.5, 2.0, 2 * COUNT)
    return x, RNG.normal(size=x.shape) + np.array([0.0, 0.0, 3.0]), mass, np.ones(x.shape, dtype=bool)


def kinetic(v, mass):
    return 0.5 * mass @ (v**2).sum(axis=1)


def momenta(x, v, mass):
    return np.concatenate([mass @ v, mass @ np.cross(x, v)])


FIRST, SECOND = slice(0, COUNT), slice(COUNT, 2 * COUNT)


@pytest.mark.parametrize("supported", [(True, True), (True, False), (False, False)])
def test_takes_exactly_what_is_asked(supported):
    x, v, mass, free = thrown()
    shells = list(zip((FIRST, SECOND), supported, strict=True))
    after, taken = lowered(x, v, mass, free, shells, 5.0)
    assert taken == 5.0
    assert kinetic(v, mass) - kinetic(after, mass) == pytest.approx(5.0, rel=1e-12)


def test_what_flies_keeps_both_momenta():
    x, v, mass, free = thrown()
    after, _ = lowered(x, v, mass, free, [(FIRST, True), (SECOND, False)], 5.0)
    before = momenta(x[SECOND], v[SECOND], mass[SECOND])
    assert np.allclose(momenta(x[SECOND], after[SECOND], mass[SECOND]), before, rtol=0, atol=1e-12 * abs(before).max())
    assert not np.allclose(momenta(x[FIRST], after[FIRST], mass[FIRST]), momenta(x[FIRST], v[FIRST], mass[FIRST]))


def test_what_flies_nearly_rigidly_keeps_its_linear_momentum():
    x, v, mass, free = thrown()
    v = np.cross([0.0, 1.0, 2.0], x) + [1.0, 0.0, 0.0] + 1e-3 * v
    after, taken = lowered(x, v, mass, free, [(FIRST, False), (SECOND, False)], 5.0)
    assert taken == 5.0 and kinetic(v, mass) - kinetic(after, mass) == pytest.approx(5.0, rel=1e-10)
    for part in (FIRST, SECOND):
        assert np.allclose(mass[part] @ after[part], mass[part] @ v[part], rtol=1e-12)


def test_what_is_held_goes_on_and_no_more_is_taken_than_there_is():
    x, v, mass, free = thrown()
    free[:3] = False
    after, taken = lowered(x, v, mass, free, [(FIRST, True), (SECOND, True)], 1e9)
    assert np.array_equal(after[:3], v[:3]) and not after[3:].any()
    assert taken == pytest.approx(kinetic(v, mass) - kinetic(after, mass), rel=1e-12)
    assert np.array_equal(lowered(x, 0.0 * v, mass, free, [(FIRST, True), (SECOND, True)], 1.0)[0], 0.0 * v)


def test_a_saved_balance_must_make_sense():
    points, faces = grid(3, 3, 0.2, 0.2)
    scene = sc.Scene(
        [sc.Shell(points, faces, sc.Material.preset("paper"))], colliders=[sc.Plane((0, 0, -1), (0, 0, 1))]
    )
    (frame,) = sc.simulate(scene, frames=1)
    with pytest.raises(sc.ShellError, match="contact_energy"):
        list(sc.simulate(scene, frames=1, resume=frame.state | {"contact_energy": float("nan")}))
