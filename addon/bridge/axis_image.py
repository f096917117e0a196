"""Directions as colours: the encoding of axis images, and painting simple ones.

Red and green hold ½ + ½(cos 2φ, sin 2φ) with φ from U towards V: a direction and its opposite have the same colour, so
nothing jumps at 180° and colours can be filtered. Blue is the strength, 0 for isotropic. The hue mode, for painting by
hand, has φ/180° as hue and the strength as saturation.
"""

from typing import Any

import numpy as np


def encode(angles: Any, strength: Any = 1.0) -> Any:
    """RGBA in 0..1, shape (…, 4), of angles φ [rad]."""
    angles = np.asarray(angles, dtype=np.float64)
    rgba = np.ones((*angles.shape, 4))
    rgba[..., 0], rgba[..., 1] = 0.5 + 0.5 * np.cos(2 * angles), 0.5 + 0.5 * np.sin(2 * angles)
    rgba[..., 2] = strength
    return rgba


def sample(pixels: Any, uv: Any, encoding: str = "DOUBLE_ANGLE") -> tuple[Any, Any]:
    """Angles φ [rad] and strengths in 0..1 at texture coordinates (…, 2) of an image (height, width, ≥3), row 0 lowest.

    Bilinear between pixel centres, repeating beyond the border; colours are mixed as vectors of the double angle.
    """
    vectors = _as_vectors(pixels, encoding)
    height, width = vectors.shape[:2]
    x, y = uv[..., 0] * width - 0.5, uv[..., 1] * height - 0.5
    x0, y0 = np.floor(x), np.floor(y)
    fx, fy = (x - x0)[..., None], (y - y0)[..., None]
    columns = [(x0.astype(np.int64) + k) % width for k in (0, 1)]
    rows = [(y0.astype(np.int64) + k) % height for k in (0, 1)]
    mixed = (
        vectors[rows[0], columns[0]] * (1 - fx) * (1 - fy)
        + vectors[rows[0], columns[1]] * fx * (1 - fy)
        + vectors[rows[1], columns[0]] * (1 - fx) * fy
        + vectors[rows[1], columns[1]] * fx * fy
    )
    angle = 0.5 * np.arctan2(mixed[..., 1], mixed[..., 0])
    # Where directions cancel there is none: the mean vector is short and so is the strength.
    length = np.hypot(mixed[..., 0], mixed[..., 1])
    return angle, np.clip(np.minimum(mixed[..., 2], length), 0.0, 1.0)


def face_samples(pixels: Any, corner_uv: Any, encoding: str = "DOUBLE_ANGLE") -> tuple[Any, Any]:
    """One angle and strength per triangle from its corners' coordinates (m, 3, 2): the mean of three inner points."""
    inner = np.array([[4.0, 1.0, 1.0], [1.0, 4.0, 1.0], [1.0, 1.0, 4.0]]) / 6.0
    points = np.einsum("kj,mjc->mkc", inner, corner_uv)
    angles, strengths = sample(pixels, points, encoding)
    mean = np.stack([np.cos(2 * angles), np.sin(2 * angles)]) @ np.full(3, 1 / 3)
    return 0.5 * np.arctan2(mean[1], mean[0]), np.minimum(strengths.mean(axis=1), 1.0)


def paint(kind: str, size: int, angle: float = 0.0) -> Any:
    """An axis map (size, size, 4): "UNIFORM" at `angle` [rad], "RADIAL" about the middle, "DIAGONAL" at 45°."""
    u, v = np.meshgrid(*(2 * [(np.arange(size) + 0.5) / size]), indexing="xy")
    if kind == "RADIAL":
        angles = np.arctan2(v - 0.5, u - 0.5) + angle
    elif kind == "HERRINGBONE":
        angles = np.where(np.floor(u * 4) % 2 == 0, 0.25, 0.75) * np.pi + angle
    else:
        angles = np.full((size, size), angle + (np.pi / 4 if kind == "DIAGONAL" else 0.0))
    return encode(angles)


def _as_vectors(pixels: Any, encoding: str) -> Any:
    """Pixels as (cos 2φ, sin 2φ, strength), float64."""
    rgb = np.asarray(pixels, dtype=np.float64)[..., :3]
    if encoding == "DOUBLE_ANGLE":
        return np.stack([2 * rgb[..., 0] - 1, 2 * rgb[..., 1] - 1, rgb[..., 2]], axis=-1)
    high, low = rgb.max(axis=-1), rgb.min(axis=-1)
    chroma = high - low
    safe = np.where(chroma > 0, chroma, 1.0)
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    sector = np.select([high == r, high == g], [((g - b) / safe) % 6, (b - r) / safe + 2], (r - g) / safe + 4)
    # Hue runs once round for φ = 0..180°: the hue angle is the double angle.
    double = sector * np.pi / 3
    saturation = np.where(high > 0, chroma / np.where(high > 0, high, 1.0), 0.0)
    return np.stack([np.cos(double) * saturation, np.sin(double) * saturation, saturation], axis=-1)
