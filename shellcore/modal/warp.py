"""Rotations of nodes: how far each turns, and what a displacement gathered in turning frames comes to.

A node with rotation vector w [rad] has the frame R(w) = exp [w]×. Where w grows in proportion from zero, a
displacement u gathered in that frame comes to ∫₀¹ R(s w) ds u = u + a w×u + b w×(w×u) (the paper's eq. 11) with

    a = (1 − cos θ)/θ²,   b = (θ − sin θ)/θ³,   θ = |w|.

Vectors are components first, (3, k), except where single nodes carry matrices.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ..linalg.vectors import cross, dot, skew
from ..types import Floats, Ints, Sparse

# Below this θ² a series has more digits than the derivatives of a and b, whose differences cancel.
SMALL = 0.06
_LEVI_CIVITA = skew(np.eye(3)).reshape(3, 9)
# What takes a flattened (3, 3) matrix to twice the axis of its skew part and to its trace.
_PARTS = np.zeros((9, 4))
_PARTS[[7, 2, 3], [0, 1, 2]], _PARTS[[5, 6, 1], [0, 1, 2]], _PARTS[[0, 4, 8], 3] = 1.0, -1.0, 1.0
_ONES = np.ones(3)


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


def coefficients(w: Floats) -> Floats:
    """cos θ, sin θ/θ, a and b of rotation vectors (3, k), stacked (4, k).

    Half angles keep a exact to the end; b loses its digits where θ vanishes, but no faster than what it multiplies.
    """
    square = dot(w, w)
    square += 1e-30
    half = np.sqrt(square)
    half *= 0.5
    result = np.empty((4, len(square)))
    turned, sinc, a, b = result
    np.sin(half, out=a)
    np.cos(half, out=sinc)
    sinc *= a
    sinc /= half
    a *= a
    a *= 2.0
    np.subtract(1.0, a, out=turned)
    np.subtract(1.0, sinc, out=b)
    result[2:] /= square
    return result


def warped(w: Floats, u: Floats, known: Floats | None = None) -> Floats:
    """Displacement that u, gathered in frames that turn to w, comes to; all (3, k). `known`: the coefficients of w.

    u + a w×u + b w×(w×u), with w×(w×u) = w(w·u) − θ²u and 1 − bθ² = sin θ/θ.
    """
    _, sinc, a, b = coefficients(w) if known is None else known
    result = cross(w, u)
    result *= a
    result += (b * dot(w, u)) * w
    result += sinc * u
    return result


def unturned(w: Floats, force: Floats, known: Floats | None = None) -> Floats:
    """R(w)ᵀ F: forces (3, k), or one vector for all (3,), as the turned frames see them, (3, k)."""
    cosine, sinc, a = (coefficients(w) if known is None else known)[:3]
    if force.ndim == 1:
        result: Floats = (force @ _LEVI_CIVITA).reshape(3, 3) @ w
        along = force @ w
        force = force[:, None]
    else:
        result, along = cross(force, w), dot(w, force)
    result *= sinc
    result += (a * along) * w
    result += cosine * force
    return result


def warp_derivative(both: Floats) -> tuple[Floats, Floats]:
    """`warped` displacements (k, 3) and their derivatives by (u, w), (k, 3, 6), of few nodes; u, w in rows (k, 2, 3).

    Full accuracy at every angle, in as few calls as can be: this runs on handles, where calls are what costs.
    """
    u, w = both[:, 0], both[:, 1]
    crosses = (both @ _LEVI_CIVITA).reshape(-1, 2, 3, 3)
    about = crosses[:, 1]
    products = about[:, None] @ crosses
    turned = np.concatenate([about, products[:, 1]], axis=1).reshape(-1, 2, 3, 3) @ u[:, None, :, None]
    sides = turned[..., 0]
    a_b, rates = _smooth(np.einsum("ki,ki->k", w, w))
    displacement: Floats = u + (a_b * sides).sum(axis=1)
    derivative = np.empty((len(u), 3, 6))
    a_b = a_b[..., None]
    derivative[:, :, :3] = _UNIT + a_b[:, 0] * about + a_b[:, 1] * products[:, 1]
    by_length = (rates * sides).sum(axis=1)
    inner = products[:, 0] + (sides[:, 0] @ _LEVI_CIVITA).reshape(-1, 3, 3)
    derivative[:, :, 3:] = by_length[:, :, None] * w[:, None] - a_b[:, 0] * crosses[:, 0] - a_b[:, 1] * inner
    return displacement, derivative


# Series in θ² of a = (1 − cos θ)/θ², b = (θ − sin θ)/θ³ and of their derivatives by θ, over θ; powers in columns.
_SERIES = np.array(
    [
        [1 / 2, -1 / 24, 1 / 720, -1 / 40320, 1 / 3628800, -1 / 479001600],
        [1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800, -1 / 6227020800],
        [-1 / 12, 1 / 180, -1 / 6720, 1 / 453600, -1 / 47900160, 1 / 7264857600],
        [-1 / 60, 1 / 1260, -1 / 60480, 1 / 4989600, -1 / 622702080, 1 / 108972864000],
    ]
).T
_POWERS = np.arange(6.0)
_UNIT = np.eye(3)


def _smooth(square: Floats) -> tuple[Floats, Floats]:
    """(a, b) and their rates at θ², each (k, 2, 1), without cancellation."""
    values: Floats = np.minimum(square, SMALL)[:, None] ** _POWERS @ _SERIES
    if square.max(initial=0.0) > SMALL:
        t = np.maximum(square, SMALL)
        theta = np.sqrt(t)
        sinc = np.sin(theta) / theta
        a = (1.0 - np.cos(theta)) / t
        b = (1.0 - sinc) / t
        closed = np.stack([a, b, (sinc - 2.0 * a) / t, (a - 3.0 * b) / t], axis=1)
        values = np.where((square < SMALL)[:, None], values, closed)
    return values[:, :2, None], values[:, 2:, None]


def rotation_matrix(w: Floats) -> Floats:
    """exp [w]×, (3, 3), of one rotation vector (3,)."""
    _, sinc, a, _ = coefficients(w[:, None])
    axis = skew(w[None])[0]
    result: Floats = np.eye(3) + sinc * axis + a * (axis @ axis)
    return result


def rotation_vectors(rotations: Floats, near: Floats) -> Floats:
    """Rotation vectors (k, 3) of matrices (k, 3, 3); of the many of each, the one nearest to `near` (k, 3).

    So turns add up.
    """
    parts = rotations.reshape(-1, 9) @ _PARTS
    skewed, cosine = parts[:, :3], parts[:, 3] - 1.0
    sine = np.sqrt((skewed * skewed) @ _ONES)
    theta = np.arctan2(sine, cosine)
    axis = skewed / np.maximum(sine, 1e-300)[:, None]
    if cosine.min() < -1.98:
        # Near half a turn the axis is the eigenvector of the symmetric part.
        flipped = np.flatnonzero(cosine < -1.98)
        part = rotations[flipped]
        vectors = np.linalg.eigh(0.5 * (part + part.transpose(0, 2, 1)))[1][:, :, 2]
        along = np.where(sine[flipped, None] > 1e-9, skewed[flipped], near[flipped])
        axis[flipped] = vectors * np.where(np.einsum("ij,ij->i", vectors, along) < 0.0, -1.0, 1.0)[:, None]
    if theta.min() < 1e-12:
        # No turn, or whole turns about an axis that only `near` knows.
        still = theta < 1e-12
        axis[still] = near[still] / np.maximum(np.sqrt((near[still] ** 2).sum(axis=1)), 1e-300)[:, None]
    turns = np.rint(((axis * near) @ _ONES - theta) / (2.0 * np.pi))
    w: Floats = (theta + 2.0 * np.pi * turns)[:, None] * axis
    return w


def rotation_vector(rotation: Floats) -> Floats:
    """The shortest rotation vector (3,) of a matrix (3, 3)."""
    vector: Floats = rotation_vectors(rotation[None], np.zeros((1, 3)))[0]
    return vector


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
