"""Inertia and quadratic energies as one: the sum of its parts, exact on translations."""

import numpy as np
import pytest

import shellcore as sc
from meshes import grid
from shellcore.integrators import Integrator, State
from shellcore.linalg.vectors import by_columns
from shellcore.system import System

H = 1 / 24


def potential(bend, shells):
    material = sc.Material(stretch=50.0, poisson=0.3, bend=bend, areal_density=0.2, thickness=1e-3)
    points, faces = grid(8, 8, 1.0, 1.0)
    made = [sc.Shell(points + np.array([2.0 * i, 0, 0]), faces, material, bending="quadratic") for i in range(shells)]
    system = System(sc.Scene(made))
    integrator = Integrator(system, "implicit_euler", 0.25, 0.5, "constant")
    still = np.zeros_like(system.start)
    return system, integrator.begin(State(0.0, system.start, still, still), H)[0]


@pytest.mark.parametrize("shells", [1, 2])
def test_it_is_the_sum_of_its_parts(shells):
    system, whole = potential(1e-2, shells)
    x = by_columns(system.start + 0.05 * np.random.default_rng(0).normal(size=system.start.shape))
    offset = x - system.start
    gradient = (system.mass / H**2)[:, None] * offset - system.weight
    value = 0.5 * float((system.mass[:, None] * offset**2).sum()) / H**2 - float((system.weight * offset).sum())
    for energy in system.elastic():
        part, by_x = energy.value_and_gradient(x)
        value, gradient = value + part, gradient + by_x
    found, by_x = whole.value_and_gradient(x)
    # The value leaves out a constant: what the energies are at the centre, here zero.
    assert found == pytest.approx(value, rel=1e-11)
    assert np.abs(by_x - gradient).max() < 1e-11 * np.abs(gradient).max()


@pytest.mark.parametrize("shells", [1, 2])
def test_translations_feel_only_inertia_however_stiff_the_sheet(shells):
    """Positions and move are sums of powers of two, so that offsets are exact."""
    system, whole = potential(1e6, shells)
    move = np.array([0.25, -0.5, 0.125])
    before, after = (whole.value_and_gradient(by_columns(system.start + by))[1] for by in (0.0, move))
    gradient = after - before
    wanted = (system.mass / H**2)[:, None] * move
    assert np.abs(gradient - wanted).max() < 1e-12 * np.abs(wanted).max()
