"""Pieces of a mesh: sums, volumes, and the conformal part of a motion."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from meshes import bumpy, hemisphere, icosphere
from shellcore.mesh import topology
from shellcore.pieces import Pieces


@pytest.fixture
def three():
    """Two closed pieces and an open one, far apart and of unlike size."""
    parts = [bumpy(icosphere(2), 0.2, 1), bumpy(icosphere(2, 0.1), 0.02, 2), bumpy(hemisphere(4), 0.1, 3)]
    first = np.cumsum([0, *(len(x) for x, _ in parts)])
    x = np.vstack([x + np.array([4.0 * k, 0.0, k]) for k, (x, _) in enumerate(parts)])
    faces = np.vstack([faces + offset for offset, (_, faces) in zip(first[:-1], parts, strict=True)])
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(x))
    return x, faces, Pieces(topology(faces, len(x)), weights), [slice(*ends) for ends in pairwise(first)], weights


def test_sums_and_means_are_those_of_each_piece(three):
    x, _, pieces, parts, weights = three
    assert pieces.count == 3
    assert pieces.sums(weights) == pytest.approx([weights[part].sum() for part in parts])
    for part in parts:
        assert pieces.means(x)[part] == pytest.approx(
            np.broadcast_to(np.average(x[part], axis=0, weights=weights[part]), x[part].shape)
        )


def test_volumes():
    x, faces = icosphere(4)
    both = np.vstack([x, 0.5 * x + 3.0]), np.vstack([faces, faces + len(x)])
    pieces = Pieces(topology(both[1], len(both[0])), np.ones(len(both[0])))
    volumes = pieces.volumes(*both)
    assert volumes == pytest.approx(4 / 3 * np.pi * np.array([1, 1 / 8]), rel=0.005)
    assert volumes[0] == pytest.approx(8 * volumes[1], rel=1e-12)


def test_drift_is_all_of_a_conformal_motion_and_nothing_of_a_translation(three):
    x, _, pieces, parts, weights = three
    rng = np.random.default_rng(1)
    motion, drift = np.zeros_like(x), np.zeros_like(x)
    for part, closed in zip(parts, (True, True, False), strict=True):
        y = x[part] - np.average(x[part], axis=0, weights=weights[part])
        b = rng.standard_normal(3)
        field = rng.standard_normal() * y + (y**2).sum(axis=1)[:, None] * b - 2 * (y @ b)[:, None] * y
        motion[part] = field + rng.standard_normal(3)
        drift[part] = closed * (field - np.average(field, axis=0, weights=weights[part]))
    assert np.abs(pieces.drift(x, motion) - drift).max() < 1e-9 * np.abs(motion).max()


def test_what_is_left_has_no_drift(three):
    x, _, pieces, _, _ = three
    motion = np.random.default_rng(2).standard_normal(x.shape)
    rest = motion - pieces.drift(x, motion)
    assert np.abs(pieces.drift(x, motion)).max() > 0.01
    assert np.abs(pieces.drift(x, rest)).max() < 1e-9


def test_symmetric_pieces_without_some_motions():
    """Out of its plane, an inversion does not move a square of equal radii: the fields are dependent."""
    square = np.array([[1.0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]])
    pillow = np.array([[0, 1, 2], [0, 2, 3], [1, 0, 3], [1, 3, 2]])
    pieces = Pieces(topology(pillow, 4), np.ones(4))
    assert pieces.drift(square, 2 * square + [0.0, 0, 1]) == pytest.approx(2 * square)
