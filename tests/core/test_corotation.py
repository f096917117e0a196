"""Factors turned along with shells."""

import numpy as np
import pytest

import meshes
import shellcore as sc
from shellcore.linalg.vectors import by_columns
from shellcore.shell_energies import shell_energies
from shellcore.solvers.corotation import Corotation

TURN = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])


def wavy(n=6):
    points, faces = meshes.grid(n, n, 1.0, 1.0)
    return points, faces, points + 0.05 * np.sin(5.0 * points[:, [1, 2, 0]])


def turned_about(points, turn):
    return by_columns(points @ turn.T + [0.3, -1.0, 2.0])


def test_rotations_are_found_and_what_is_held_stays():
    points, faces, bent = wavy()
    free = np.ones((len(points), 3), dtype=bool)
    free[3, 1] = free[8] = False
    corotation = Corotation(faces, points, free)
    rotations = corotation.between(corotation.frames(by_columns(bent)), corotation.frames(turned_about(bent, TURN)))
    held = ~free.all(axis=1)
    assert np.abs(rotations[:, :, ~held] - TURN[:, :, None]).max() < 1e-12
    assert np.array_equal(rotations[:, :, held], np.repeat(np.eye(3)[:, :, None], held.sum(), axis=2))


def test_vectors_are_turned_there_and_back():
    points, faces, bent = wavy()
    corotation = Corotation(faces, points, np.ones((len(points), 3), dtype=bool))
    rotations = corotation.between(corotation.frames(by_columns(points)), corotation.frames(by_columns(bent)))
    vectors = np.random.default_rng(0).normal(size=points.shape)
    ahead = corotation.turned(rotations, vectors, back=False)
    assert np.abs(ahead - np.einsum("ijn,nj->ni", rotations, vectors)).max() < 1e-14
    assert np.abs(corotation.turned(rotations, ahead, back=True) - vectors).max() < 1e-14


def test_what_has_no_face_turns_with_its_neighbour():
    points, faces, bent = wavy()
    lone = np.concatenate([points, [[1.1, 1.0, 0.0]]])
    corotation = Corotation(faces, lone, np.ones((len(lone), 3), dtype=bool))
    frames = corotation.frames(by_columns(np.concatenate([bent, [[9.0, 9.0, 9.0]]])))
    near = int(np.argmin(np.linalg.norm(points - lone[-1], axis=1)))
    assert np.array_equal(frames[:, :, -1], frames[:, :, near])


@pytest.mark.parametrize("bending", ["hinge", "cubic"])
def test_a_turned_factor_is_that_of_a_turned_shell(bending):
    """H(Rx) = R H(x) Rᵀ, to round-off, and far from H(x)."""
    points, faces, bent = wavy()
    shell = sc.Shell(points, faces, sc.Material.preset("cotton"), bending=bending)
    parts = shell_energies(shell, 0, len(points), 1.0)
    energies = [*parts.membranes, parts.bending.energy]

    def matrix(x):
        return sum(energy.hessian(x, psd=False).matrix() for energy in energies).toarray() + np.eye(3 * len(points))

    before, now = by_columns(bent), turned_about(bent, TURN)
    corotation = Corotation(faces, points, np.ones((len(points), 3), dtype=bool))
    rotations = corotation.between(corotation.frames(before), corotation.frames(now))
    right = np.random.default_rng(1).normal(size=points.shape)
    old = matrix(before)

    def solved(k, r):
        return np.linalg.solve(k, r.ravel()).reshape(r.shape)

    wanted = solved(matrix(now), right)
    found = corotation.turned(rotations, solved(old, corotation.turned(rotations, right, back=True)), back=False)
    assert np.abs(found - wanted).max() < 1e-9 * np.abs(wanted).max()
    assert np.abs(solved(old, right) - wanted).max() > 0.1 * np.abs(wanted).max()
