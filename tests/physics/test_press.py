"""A tube on the floor under a press: contacts that carry a load, from a collider that does work."""

import functools

import numpy as np
import pytest

import shellcore as sc
from meshes import cylinder

RADIUS, TALL, STEPS = 0.033, 0.08, 6


def scene():
    """A tube of thin metal, a plane that comes down on it by a tenth of its height and stays."""
    points, faces = cylinder(16, 8, RADIUS, TALL)
    points[:, :2] *= 1 + 0.006 * np.sin(np.pi * points[:, 2:] / TALL) * np.cos(
        4 * np.arctan2(points[:, 1:2], points[:, :1])
    )
    points[:, 2] += 2e-4
    metal = sc.Material(stretch=6400.0, poisson=0.25, bend=1.5e-3, bend_poisson=0.25, areal_density=1.0, thickness=1e-4)
    shell = sc.Shell(points, faces, metal, bending="hinge", friction=0.5, damping=sc.Damping(mass=3.0))

    def place(t):
        return 0.0, 0.0, TALL + 5e-4 - 0.2 * min(t, 0.5 * TALL)

    return sc.Scene([shell], colliders=[sc.Plane((0, 0, 0), (0, 0, 1)), sc.Plane(place, (0, 0, -1))])


def run(frames, resume=None):
    return list(sc.simulate(scene(), frames, fps=48, substeps=STEPS, solver="newton", strain_limit=0.0, resume=resume))


@functools.cache
def pressed():
    return run(4)


def test_the_press_gets_where_it_goes_without_halving():
    # Its work is none that a step gains by mistake: every step used to be halved twice, and slowed down.
    for frame in pressed():
        assert frame.stats["halvings"] == 0 and frame.stats["unsettled"] == 0
    assert pressed()[0].stats["excess_energy"] == 0.0
    z = pressed()[-1].positions[:, 2]
    assert np.ptp(z) == pytest.approx(0.9 * TALL, rel=0.02)


def test_a_load_is_met_in_one_round():
    # Springs that were hardened for it in one step are hard in the next.
    assert all(frame.stats["contact_rounds"] <= 1.5 * STEPS for frame in pressed()[1:])


def test_a_run_under_load_resumes_as_it_was():
    again = run(1, resume=pressed()[1].state)[0]
    assert np.array_equal(again.positions, pressed()[2].positions)


def test_factors_of_another_scene_are_refused():
    state = dict(pressed()[1].state)
    assert (state["hardened"] > 1).any()
    state["hardened"] = state["hardened"][1:]
    with pytest.raises(sc.ShellError, match="hardened"):
        run(1, resume=state)
