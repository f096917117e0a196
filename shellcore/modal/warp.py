"""Rotations of nodes: how far each turns, and what a displacement gathered in turning frames comes to.

A node with rotation vector w [rad] has the frame R(w) = exp [w]×. Where w grows in proportion from zero, a
displacement u gathered in that frame comes to ∫₀¹ R(s w) ds u = u + a w×u + b w×(w×u) (the paper's eq. 11) with

    a = (1 − cos θ)/θ²,   b = (θ − sin θ)/θ³,   θ = |w|.

Vectors are components first, (3, k), except where single nodes carry matrices.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ..types import Floats, Ints, Sparse
from ..vectors import cross, dot, skew

# Below this θ² a series has more digits than the closed forms, whose differences cancel.
SMALL = 0.06


def rotation_jacobian(positions: Floats, faces: Ints) -> Sparse:
    """W, (3n, 3n): displacements to rotation vectors of nodes, both stacked by components (all x, all y, all z).

    A triangle with normal n and hat gradients ∇Nⱼ turns by −∑ (n × ∇Nⱼ)(n·uⱼ) out of its plane and by
    ½ n ∑ n·(∇Nⱼ × uⱼ) in it. A node takes the mean of its triangles, weighted by their angles there: a triangle
    cut in two counts as much as before.
    """
    n, m = len(positions), len(faces)
    corners = positions[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    twice_area = np.linalg.norm(normal, axis=1)
    normal /= twice_area[:, None]
    following, last = np.roll(corners, -1, axis=1), np.roll(corners, -2, axis=1)
    hats = np.cross(normal[:, None], last - following) / twice_area[:, None, None]
    out_of_plane = -np.cross(normal[:, None], hats)[..., None] * normal[:, None, None, :]
    in_plane = 0.5 * normal[:, None, :, None] * np.cross(normal[:, None], hats)[:, :, None, :]
    blocks = out_of_plane + in_plane
    u, v = following - corners, last - corners
    angle = np.arctan2(twice_area[:, None], (u * v).sum(axis=2))
    share = angle / np.bincount(faces.ravel(), angle.ravel(), minlength=n)[faces]
    # Entry (face, node corner i, displaced corner j, component r, component c).
    values = share[:, :, None, None, None] * blocks[:, None]
    shape = (m, 3, 3, 3, 3)
    r, c = np.arange(3)[:, None], np.arange(3)[None, :]
    rows = np.broadcast_to(faces[:, :, None, None, None] + n * r, shape)
    columns = np.broadcast_to(faces[:, None, :, None, None] + n * c, shape)
    return csr_matrix((values.ravel(), (rows.ravel(), columns.ravel())), shape=(3 * n, 3 * n))


def coefficients(w: Floats) -> tuple[Floats, Floats, Floats]:
    """sin θ/θ, (1 − cos θ)/θ² and (θ − sin θ)/θ³ of rotation vectors (3, k), each (k,)."""
    square = dot(w, w)
    theta = np.sqrt(np.maximum(square, 1e-30))
    half = np.sin(0.5 * theta) / theta
    sinc = np.sin(theta) / theta
    a = 2.0 * half * half
    b = (1.0 - sinc) / np.maximum(square, SMALL)
    small = square < SMALL
    if small.all():
        return sinc, a, _series(square)
    return sinc, a, np.where(small, _series(square), b)


def _series(t: Floats) -> Floats:
    """(θ − sin θ)/θ³ for small t = θ²."""
    value: Floats = 1 / 6 - t * (1 / 120 - t * (1 / 5040 - t * (1 / 362880 - t * (1 / 39916800))))
    return value


def warped(w: Floats, u: Floats) -> Floats:
    """Displacement that u, gathered in frames that turn to w, comes to; all (3, k)."""
    _, a, b = coefficients(w)
    once = cross(w, u)
    result = cross(w, once)
    result *= b
    once *= a
    result += once
    result += u
    return result


def unturned(w: Floats, force: Floats) -> Floats:
    """R(w)ᵀ F: forces as the turned frames see them; all (3, k)."""
    sinc, a, _ = coefficients(w)
    once = cross(w, force)
    result = cross(w, once)
    result *= a
    once *= sinc
    result -= once
    result += force
    return result


def warp_matrices(w: Floats, u: Floats) -> tuple[Floats, Floats]:
    """Derivatives of `warped` by u and by w, each (k, 3, 3)."""
    _, a, b = coefficients(w)
    square = dot(w, w)
    small = square < SMALL
    t = np.where(small, 1.0, square)
    # (da/dθ)/θ and (db/dθ)/θ
    a_rate = np.where(small, -1 / 12 + square * (1 / 180 - square * (1 / 6720 - square / 453600)), 0.0)
    b_rate = np.where(small, -1 / 60 + square * (1 / 1260 - square * (1 / 60480 - square / 4989600)), 0.0)
    if not small.all():
        a_rate = np.where(small, a_rate, (1.0 - square * b - 2.0 * a) / t)
        b_rate = np.where(small, b_rate, (a - 3.0 * b) / t)
    axis, moved = skew(w.T), skew(u.T)
    a, b = a[:, None, None], b[:, None, None]
    by_u: Floats = np.eye(3) + a * axis + b * (axis @ axis)
    once = cross(w, u)
    twice = cross(w, once)
    along = (a_rate * once + b_rate * twice).T[:, :, None] * w.T[:, None, :]
    by_w: Floats = along - a * moved - b * (skew(once.T) + axis @ moved)
    return by_u, by_w


def rotation_matrix(w: Floats) -> Floats:
    """exp [w]×, (3, 3), of one rotation vector (3,)."""
    sinc, a, _ = coefficients(w[:, None])
    axis = skew(w[None])[0]
    result: Floats = np.eye(3) + sinc * axis + a * (axis @ axis)
    return result


def rotation_vector(rotation: Floats, near: Floats | None = None) -> Floats:
    """Rotation vector (3,) of a rotation matrix; of its many, the one nearest to `near`, so that turns add up."""
    skewed = 0.5 * np.array(
        [rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]]
    )
    sine, cosine = float(np.linalg.norm(skewed)), 0.5 * (float(np.trace(rotation)) - 1.0)
    theta = float(np.arctan2(sine, cosine))
    if cosine < -0.99:
        # Near half a turn the axis is the eigenvector of the symmetric part.
        values, vectors = np.linalg.eigh(0.5 * (rotation + rotation.T))
        axis = vectors[:, int(np.argmax(values))]
        axis = axis if axis @ skewed >= 0 else -axis
    elif sine > 1e-12:
        axis = skewed / sine
    else:
        axis, theta = np.zeros(3), 0.0
    w: Floats = theta * axis
    if near is not None:
        if theta == 0.0:
            length = float(np.linalg.norm(near))
            axis = near / length if length > 1e-9 else axis
        turns = np.round((float(axis @ near) - theta) / (2.0 * np.pi))
        w = (theta + 2.0 * np.pi * turns) * axis
    return w


def inverse_left_jacobian(w: Floats) -> Floats:
    """J⁻¹ with log(exp[δ] exp[w]) ≈ w + J⁻¹ δ, (3, 3)."""
    axis = skew(w[None])[0]
    square = float(w @ w)
    theta = np.sqrt(square)
    if square < 1e-4:
        c = 1 / 12 + square / 720
    else:
        c = (1.0 - 0.5 * theta / np.tan(0.5 * theta)) / square
    # At whole turns the logarithm has no derivative: keep it finite.
    c = float(np.clip(c, -1e3, 1e3))
    result: Floats = np.eye(3) - 0.5 * axis + c * (axis @ axis)
    return result
