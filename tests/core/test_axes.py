"""Warp axes: unit, in the face, along U, turned towards V whichever way the map lies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import meshes
from shellcore.axes import axes_from_uv, face_axes
from shellcore.errors import ShellError


def _normals(x: np.ndarray, faces: np.ndarray) -> np.ndarray:
    n = np.cross(x[faces[:, 1]] - x[faces[:, 0]], x[faces[:, 2]] - x[faces[:, 0]])
    return n / np.linalg.norm(n, axis=1)[:, None]


@given(seed=st.integers(0, 1000))
def test_axes_are_projected_into_the_faces(seed: int) -> None:
    x, faces = meshes.bumpy(meshes.icosphere(1), 0.2, seed)
    given_axes = np.random.default_rng(seed).normal(size=(len(faces), 3))
    axes = face_axes(x, faces, given_axes)
    normals = _normals(x, faces)
    np.testing.assert_allclose(np.linalg.norm(axes, axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose((axes * normals).sum(axis=1), 0.0, atol=1e-12)
    # What was taken away lies along the normal.
    np.testing.assert_allclose(np.linalg.det(np.stack([axes, normals, given_axes], axis=1)), 0.0, atol=1e-10)
    assert ((axes * given_axes).sum(axis=1) > 0).all()


def test_axes_do_not_change_what_is_already_an_axis() -> None:
    x, faces = meshes.icosphere(1)
    once = face_axes(x, faces, None)
    np.testing.assert_allclose(face_axes(x, faces, once), once, atol=1e-14)


def test_the_default_is_x_on_a_flat_sheet_and_exists_on_every_face() -> None:
    x, faces = meshes.grid(3, 3, 1, 1)
    np.testing.assert_allclose(face_axes(x, faces, None), np.tile([1.0, 0, 0], (len(faces), 1)))
    upright = x[:, [2, 0, 1]]
    np.testing.assert_allclose(np.abs(face_axes(upright, faces, None)), np.tile([0, 1.0, 0], (len(faces), 1)))
    x, faces = meshes.icosphere(3)
    np.testing.assert_allclose((face_axes(x, faces, None) * _normals(x, faces)).sum(axis=1), 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("axis", "words"),
    [((0, 0, 2.0), "normal to the face"), ((0, 0, 0), "zero length"), ((math.nan, 0, 1), "not finite")],
)
def test_bad_axes_are_refused_by_face(axis: tuple[float, ...], words: str) -> None:
    x, faces = meshes.grid(2, 2, 1, 1)
    axes = np.tile([1.0, 0, 0], (len(faces), 1))
    axes[5] = axis
    with pytest.raises(ShellError, match=f"faces 5 .*{words}") as refused:
        face_axes(x, faces, axes)
    assert refused.value.faces == [5]
    with pytest.raises(ShellError, match="shape"):
        face_axes(x, faces, axes[:-1])


@given(
    turn=st.floats(-math.pi, math.pi),
    island=st.floats(-math.pi, math.pi),
    scale=st.floats(1e-3, 1e3),
    mirrored=st.booleans(),
    seed=st.integers(0, 100),
)
def test_u_turned_towards_v(turn: float, island: float, scale: float, mirrored: bool, seed: int) -> None:
    """A flat sheet unwrapped by a similarity (and a mirror): U and V are known directions of the plane."""
    flat, faces = meshes.grid(2, 2, 1, 1)
    u = np.array([math.cos(island), math.sin(island), 0])
    v = np.array([-math.sin(island), math.cos(island), 0]) * (-1 if mirrored else 1)
    uv = scale * np.stack([flat @ u, flat @ v], axis=1)[faces] + 3.0
    placed = Rotation.random(random_state=seed).as_matrix()
    axes = axes_from_uv(flat @ placed.T, faces, uv, turn)
    expected = placed @ (math.cos(turn) * u + math.sin(turn) * v)
    np.testing.assert_allclose(axes, np.tile(expected, (len(faces), 1)), atol=1e-9)


def test_a_sheared_map_follows_u_and_turns_square_to_it() -> None:
    x, faces = meshes.grid(2, 2, 1, 1)
    # Lines of constant v run along x; lines of constant u lean by 45°.
    uv = np.stack([x[:, 0] - x[:, 1], x[:, 1]], axis=1)[faces]
    np.testing.assert_allclose(axes_from_uv(x, faces, uv), np.tile([1.0, 0, 0], (len(faces), 1)), atol=1e-12)
    across = axes_from_uv(x, faces, uv, math.pi / 2)
    np.testing.assert_allclose(across, np.tile([0, 1.0, 0], (len(faces), 1)), atol=1e-12)


def test_angles_may_differ_by_face() -> None:
    x, faces = meshes.grid(2, 2, 1, 1)
    angles = np.linspace(0, 1, len(faces))
    axes = axes_from_uv(x, faces, x[faces][:, :, :2], angles)
    np.testing.assert_allclose(np.arctan2(axes[:, 1], axes[:, 0]), angles, atol=1e-12)


def test_bad_maps_are_refused_by_face() -> None:
    x, faces = meshes.grid(2, 2, 1, 1)
    uv = x[faces][:, :, :2].copy()
    uv[3] = [[0, 0], [1, 1], [2, 2]]
    uv[6] = 0.5
    with pytest.raises(ShellError, match="no area in the UV map") as refused:
        axes_from_uv(x, faces, uv)
    assert refused.value.faces == [3, 6]
    uv = x[faces][:, :, :2].copy()
    uv[2, 1, 0] = math.inf
    with pytest.raises(ShellError, match="faces 2 "):
        axes_from_uv(x, faces, uv)
    with pytest.raises(ShellError, match="corner_uv must have shape"):
        axes_from_uv(x, faces, x[:, :2])
    with pytest.raises(ShellError, match="angles"):
        axes_from_uv(x, faces, x[faces][:, :, :2], np.zeros(3))
