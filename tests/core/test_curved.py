"""Shells that are curved at rest: they stay where they are, and answer a load and its opposite alike."""

from __future__ import annotations

import numpy as np
import pytest

import shellcore as sc
from meshes import bumpy, hemisphere, unstructured, v_beam

MATERIAL = sc.Material(stretch=2e4, poisson=0.3, bend=0.02, areal_density=0.5, thickness=1e-3)
SHAPES = {
    "hemisphere": hemisphere(3, 0.5),
    "v_beam": v_beam(8, 2, 1.0, 0.15, 1.2),
    "bumpy": bumpy(unstructured(40, 1.0, 0.8, seed=5), 0.15, seed=2),
}
every_shape = pytest.mark.parametrize("name", SHAPES)
both_models = pytest.mark.parametrize("bending", ["hinge", "cubic"])


def still(shell, fps=24.0, **options):
    """Largest distance from rest over 1000 steps, as a share of the size."""
    size = np.ptp(shell.rest_positions, axis=0).max()
    frames = sc.simulate(sc.Scene([shell], gravity=(0, 0, 0)), 1000, fps=fps, **options)
    return max(np.abs(frame.positions - shell.rest_positions).max() for frame in frames) / size


@every_shape
@both_models
def test_a_shell_at_rest_stays_at_rest(name, bending):
    # Newton moves for any force, however small; the quasi-Newton road would not below its tolerance.
    shell = sc.Shell(*SHAPES[name], MATERIAL, bending=bending)
    assert np.abs(shell.shape_angles).max() > 0.1
    assert still(shell, solver="newton") < 1e-9


@every_shape
@both_models
def test_a_shell_at_rest_stays_at_rest_without_any_solver(name, bending):
    shell = sc.Shell(*SHAPES[name], MATERIAL, bending=bending)
    assert still(shell, fps=2e4, integrator="newmark", beta=0.0) < 1e-9


@both_models
def test_a_hemisphere_at_rest_stays_with_newmark(bending):
    shell = sc.Shell(*SHAPES["hemisphere"], MATERIAL, bending=bending, membrane="springs")
    assert still(shell, fps=500.0, integrator="newmark", solver="newton", tolerance=1e-13) < 1e-9


@both_models
def test_a_hemisphere_at_rest_stays_far_from_the_origin(bending):
    points, faces = SHAPES["hemisphere"]
    assert still(sc.Shell(points + 100.0, faces, MATERIAL, bending=bending), solver="newton") < 1e-9


@every_shape
@both_models
def test_a_small_load_and_its_opposite_act_alike(name, bending):
    """u(f) = A f + B f² + …: what u(f) and u(−f) share is of second order, while u itself is of first."""
    points, faces = SHAPES[name]

    def moved(size):
        shell = sc.Shell(points, faces, MATERIAL, bending=bending)
        # The rim of the hemisphere, one end of the others.
        height = points[:, 2] if name == "hemisphere" else points[:, 0]
        shell.pin(np.flatnonzero(height < 1e-9))
        shell.load([int(np.argmax(height))], size * np.array([0.3, 0.2, 1.0]))
        scene = sc.Scene([shell], gravity=(0, 0, 0))
        return sc.equilibrium(scene, tolerance=1e-10 * abs(size)) - points

    sizes = small_loads(moved)
    there, back = (np.array([moved(sign * size) for size in sizes]) for sign in (1.0, -1.0))
    odd, even = (np.linalg.norm(part, axis=(1, 2)) for part in (there - back, there + back))
    assert np.log2(odd[:-1] / odd[1:]) == pytest.approx(1.0, abs=0.1)
    assert np.log2(even[:-1] / even[1:]) == pytest.approx(2.0, abs=0.2)
    assert even[-1] < 0.05 * odd[-1]


def small_loads(moved):
    """Three loads, halved each time, the first of which moves the shell by a few thousandths of its size."""
    trial = 1e-4
    size = 0.004 * trial / np.abs(moved(trial)).max()
    return size * np.array([1.0, 0.5, 0.25])
