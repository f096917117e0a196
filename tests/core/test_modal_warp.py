"""Rotations of nodes, the closed-form integral of turning frames, and its derivative."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import meshes
import shellcore as sc
from shellcore.modal.warp import (
    coefficients,
    inverse_left_jacobian,
    rotation_jacobian,
    rotation_matrix,
    rotation_vector,
    rotation_vectors,
    unturned,
    warp_derivative,
    warped,
)

ANGLES = (0.0, 1e-12, 1e-7, 1e-3, 0.2, 0.2449, 0.245, 1.0, 3.1, 3.2, 6.2, 9.0)


def vectors(angle: float, count: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    w, u = rng.normal(size=(2, 3, count))
    return angle * w / np.linalg.norm(w, axis=0), u


@pytest.mark.parametrize("angle", ANGLES)
def test_the_integral_of_a_growing_rotation(angle: float) -> None:
    w, u = vectors(angle)
    nodes, weights = np.polynomial.legendre.leggauss(24)
    expected = sum(
        0.5 * weight * Rotation.from_rotvec(0.5 * (node + 1) * w.T).apply(u.T)
        for node, weight in zip(nodes, weights, strict=True)
    )
    np.testing.assert_allclose(warped(w, u).T, expected, atol=2e-14)


@pytest.mark.parametrize("angle", ANGLES)
def test_forces_in_turned_frames(angle: float) -> None:
    w, force = vectors(angle)
    back = Rotation.from_rotvec(w.T).inv()
    np.testing.assert_allclose(unturned(w, force).T, back.apply(force.T), atol=1e-14)
    one = force[:, 0]
    np.testing.assert_allclose(unturned(w, one).T, back.apply(np.tile(one, (5, 1))), atol=1e-14)
    np.testing.assert_allclose(unturned(w, force, coefficients(w)), unturned(w, force), atol=0)


@pytest.mark.parametrize("angle", ANGLES)
def test_derivative_of_the_warp(angle: float) -> None:
    w, u = vectors(angle)
    moved, derivative = warp_derivative(np.stack([u.T, w.T], axis=1))
    np.testing.assert_allclose(moved.T, warped(w, u), atol=2e-14)
    h = 1e-4
    for part in range(6):
        shift = np.zeros((2, 3, 1))
        shift[part // 3, part % 3] = h

        def at(s: float, shift: np.ndarray = shift) -> np.ndarray:
            return warped(w + s * shift[1], u + s * shift[0])

        difference = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)
        np.testing.assert_allclose(derivative[:, :, part].T, difference, atol=2e-11)


def test_rotation_vectors_of_matrices() -> None:
    rng = np.random.default_rng(3)
    for angle in (0.0, 1e-9, 0.3, 3.0, np.pi - 1e-9, np.pi, np.pi + 0.1, 6.0, 2 * np.pi, 8.0):
        axis = rng.normal(size=3)
        w = angle * axis / np.linalg.norm(axis)
        turn = rotation_matrix(w)
        np.testing.assert_allclose(turn, Rotation.from_rotvec(w).as_matrix(), atol=1e-14)
        # With a hint of how far it has turned, whole turns are not lost.
        np.testing.assert_allclose(rotation_vectors(turn[None], 0.98 * w[None])[0], w, atol=1e-6)
        np.testing.assert_allclose(rotation_matrix(rotation_vector(turn)), turn, atol=1e-8)


def test_how_a_logarithm_moves() -> None:
    for w in (np.array([0.004, -0.003, 0.0]), np.array([0.5, -1.2, 0.7]), np.array([2.0, 2.0, 1.0])):
        jacobian = inverse_left_jacobian(w)
        for i in range(3):
            step = 1e-6 * np.eye(3)[i]
            ahead, behind = (
                rotation_vectors((rotation_matrix(s) @ rotation_matrix(w))[None], w[None])[0] for s in (step, -step)
            )
            np.testing.assert_allclose(jacobian[:, i], (ahead - behind) / 2e-6, atol=1e-8)


@pytest.mark.parametrize("mesh", [meshes.grid(4, 5, 1.0, 1.2), meshes.icosphere(1), meshes.v_beam(4, 2, 1.0, 0.3, 0.8)])
def test_nodes_of_a_turned_body_turn_with_it(mesh: meshes.Mesh) -> None:
    points, faces = mesh
    spin = np.array([0.3, -0.7, 0.2])
    displacement = np.cross(spin, points) + np.array([1.0, 2.0, 3.0])
    found = (rotation_jacobian(points, faces) @ displacement.T.ravel()).reshape(3, -1)
    np.testing.assert_allclose(found, np.tile(spin[:, None], len(points)), atol=1e-12)
    # The warp takes this linear field to the finite rotation.
    turned = points + warped(found, np.cross(spin, points).T).T
    np.testing.assert_allclose(turned, points @ rotation_matrix(spin).T, atol=1e-12)


def test_modal_rotations_are_the_first_order_of_finite_ones() -> None:
    """Polar rotations of triangles, averaged by angle, against Ψq: the difference falls with the amplitude squared."""
    points, faces = meshes.v_beam(6, 3, 0.6, 0.15, 0.7)
    material = sc.Material(stretch=2e3, bend=0.02, areal_density=0.3, thickness=1e-3)
    shell = sc.Shell(points, faces, material, bending="hinge")
    shell.clamp(np.flatnonzero(points[:, 0] < 1e-9))
    modal = sc.ModalShell(shell, 6)
    q = np.array([1.0, -0.6, 0.5, 0.3, -0.2, 0.2]) / np.sqrt(modal.eigenvalues)
    q *= 0.1 / np.abs(np.einsum("ncm,m->nc", modal.rotations, q)).max()
    gaps = []
    for scale in (0.5, 0.25, 0.125):
        x = modal.linear_positions(scale * q)
        finite = _averaged_rotations(points, x, shell.faces)
        gaps.append(np.abs(finite - np.einsum("ncm,m->nc", modal.rotations, scale * q)).max())
    rates = np.log2(np.array(gaps[:-1]) / gaps[1:])
    assert (np.abs(rates - 2.0) < 0.2).all(), rates
    assert gaps[0] < 0.01


def _averaged_rotations(rest: np.ndarray, x: np.ndarray, faces: np.ndarray) -> np.ndarray:
    def frames(points: np.ndarray) -> np.ndarray:
        a, b, c = (points[faces[:, i]] for i in range(3))
        normal = np.cross(b - a, c - a)
        return np.stack([b - a, c - a, normal / np.linalg.norm(normal, axis=1)[:, None]], axis=2)

    gradient = frames(x) @ np.linalg.inv(frames(rest))
    u, _, vt = np.linalg.svd(gradient)
    rotations = Rotation.from_matrix(u @ vt).as_rotvec()
    corners = rest[faces]
    one, two = np.roll(corners, -1, axis=1) - corners, np.roll(corners, 1, axis=1) - corners
    angle = np.arctan2(np.linalg.norm(np.cross(one, two), axis=2), (one * two).sum(axis=2))
    total = np.bincount(faces.ravel(), angle.ravel())
    sums = [np.bincount(faces.ravel(), (angle * rotations[:, None, i]).ravel()) for i in range(3)]
    return np.stack(sums, axis=1) / total[:, None]
