"""Lips of closed cracks: the sheet that contact sees is drawn in along them, and nothing else changes."""

import numpy as np
import pytest
from torn_scenes import OPENS, SIZE, THICKNESS, torn_sheet

import shellcore as sc
from meshes import grid
from shellcore.cracks import Cracks
from shellcore.dynamics.stage import Stage
from shellcore.system import System

RIM = 0.25 * THICKNESS / 2


def opened(shell):
    """The system just after the seam of a free shell opened, and its positions."""
    scene = sc.Scene([shell], contact="exact", gravity=(0.0, 0.0, 0.0))
    cracks, system = Cracks(scene), System(scene)
    found = cracks.step(system, system.start, 2 * OPENS)
    assert found is not None
    ahead, parent, _ = found
    return ahead, np.asfortranarray(system.start[parent]), cracks


@pytest.fixture(scope="module", params=["tear", "slit"])
def cut(request):
    return opened(torn_sheet(request.param, 3))


def lips_of(system):
    return system._touching.bodies.lips


def test_only_copies_are_drawn_in_each_into_its_own_piece(cut):
    system, x, cracks = cut
    drawn = lips_of(system).read(x)
    moved = np.linalg.norm(drawn - x, axis=1)
    twin = np.bincount(cracks.source)[cracks.source] > 1
    assert np.array_equal(moved > 0, twin) and np.array_equal(cracks.closed, twin)
    # By a rim where the crack is straight, further at corners, nowhere by a quarter of the contact distance.
    assert (moved[twin] > 0.3 * RIM).all() and moved.max() < 0.5 * THICKNESS
    faces = system.scene.shells[0].faces
    for vertex in np.flatnonzero(twin):
        around = faces[(faces == vertex).any(axis=1)]
        flat = (drawn[vertex] - x[around]).reshape(-1, 3, 3)
        normal = np.cross(x[around[:, 1]] - x[around[:, 0]], x[around[:, 2]] - x[around[:, 0]])
        areas = [np.einsum("ij,ij->i", np.cross(flat[:, k], flat[:, (k + 1) % 3]), normal) for k in range(3)]
        inside = np.min(areas, axis=0) / np.einsum("ij,ij->i", normal, normal)
        assert inside.max() > -1e-9


def test_straight_lips_are_two_rims_apart():
    points, faces = grid(4, 4, SIZE, SIZE)
    material = sc.Material.solid(young=1e6, poisson=0.2, thickness=THICKNESS, density=500)
    shell = sc.Shell(points, faces, material)
    middle = np.flatnonzero(np.abs(points[:, 0] - SIZE / 2) < 1e-9)
    shell.seam(np.column_stack([middle[:-1], middle[1:]]).tolist(), OPENS)
    system, x, cracks = opened(shell)
    drawn = lips_of(system).read(x)
    for k in middle:
        pair = drawn[cracks.source == k]
        assert np.ptp(pair, axis=0) == pytest.approx([2 * RIM, 0.0, 0.0], abs=1e-12)


def test_forces_are_carried_back_with_both_momenta_and_points_found_again(cut):
    system, x, _ = cut
    lips = lips_of(system)
    random = np.random.default_rng(0)
    forces = random.normal(size=x.shape)
    carried = lips.carry(forces)
    move = random.normal(size=x.shape)
    assert np.vdot(carried, move) == pytest.approx(np.vdot(forces, lips.read(x + move) - lips.read(x)), rel=1e-12)
    assert np.allclose(carried.sum(axis=0), forces.sum(axis=0), atol=1e-12)
    assert np.allclose(np.cross(x, carried).sum(axis=0), np.cross(lips.read(x), forces).sum(axis=0), atol=1e-12)
    points = lips.read(x) + 1e-3 * move
    assert np.abs(lips.read(lips.placed(x, points)) - points).max() < 1e-15


def test_nothing_presses_at_birth_and_derivatives_are_right_where_it_does(cut):
    system, x, _ = cut
    contact, h = system.contact, 1 / 24
    contact.begin_step(Stage.euler(OPENS, h, x, np.zeros_like(x)), x, np.zeros(3))
    value, gradient = contact.value_and_gradient(x)
    assert value == 0.0 and not gradient.any()
    # Lips that overlap by more than a rim: each corner goes out of its piece as far as it is drawn in.
    near = np.asfortranarray(x + 0.7 * (x - lips_of(system).read(x)))
    contact.begin_step(Stage.euler(OPENS, h, x, (near - x) / h), x, np.zeros(3))
    value, gradient = contact.value_and_gradient(near)
    assert value > 0.0
    assert np.abs(gradient.sum(axis=0)).max() < 1e-12 * np.abs(gradient).max()
    way = np.asfortranarray(np.random.default_rng(1).normal(size=x.shape))
    step = 1e-9
    ahead, back = (contact.value_and_gradient(np.asfortranarray(near + s * step * way)) for s in (1.0, -1.0))
    assert (ahead[0] - back[0]) / (2 * step) == pytest.approx(np.vdot(gradient, way), rel=1e-5)
    curved = contact.hessian(near).product(np.ascontiguousarray(way))
    assert np.allclose((ahead[1] - back[1]) / (2 * step), curved, atol=1e-5 * np.abs(curved).max())
