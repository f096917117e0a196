"""Pictures of shells without a renderer or a graphics card: thumbnails and contact sheets, the same everywhere."""

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ..cache.files import write_whole

VIEW = np.array([0.45, -0.8, 0.4])
"""Where the camera is, seen from the shell: in front, to the right and above."""
LIGHT = np.array([-0.3, -0.6, 0.75])
FRONT, BACK = np.array([106.0, 158.0, 214.0]), np.array([222.0, 154.0, 92.0])
GROUND, EMPTY = np.array([38, 38, 40], dtype=np.uint8), np.array([70, 70, 74], dtype=np.uint8)
INK = np.array([240, 240, 240], dtype=np.uint8)
MOST_POINTS = 3_000_000
"""Points that a picture is made of at most: with larger meshes the gaps between them are smaller than pixels anyway."""
DIGITS = ("75557", "26227", "71747", "71717", "55711", "74717", "74757", "71222", "75757", "75717")
"""Five rows of three dots, each row a number from 0 to 7, a digit each."""


def axes() -> Any:
    """Right, up and towards the camera as rows, (3, 3)."""
    towards = VIEW / np.linalg.norm(VIEW)
    right = np.cross([0.0, 0.0, 1.0], towards)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(towards, right), towards])


def bounds(positions: Any) -> Any:
    """Lowest and highest of points (n, 3) as the camera sees them, (2, 2) [m]."""
    seen = positions @ axes()[:2].T
    return np.array([seen.min(axis=0), seen.max(axis=0)])


def joined(found: list[Any]) -> Any:
    """Bounds that hold all of these."""
    return np.array([np.min([each[0] for each in found], axis=0), np.max([each[1] for each in found], axis=0)])


def draw(parts: list[tuple[Any, Any]], frame: Any, width: int, height: int) -> Any:
    """A picture (height, width, 3) uint8 of meshes, positions (n, 3) [m] and triangles (m, 3), within bounds (2, 2)."""
    image = np.empty((height, width, 3), dtype=np.uint8)
    image[:] = GROUND
    centre, size = frame.mean(axis=0), np.maximum(frame[1] - frame[0], 1e-9)
    scale = 0.9 * min(width / size[0], height / size[1])
    pixels, depths, colours = [], [], []
    for positions, faces in parts:
        seen = positions @ axes().T
        flat = (seen[:, :2] - centre) * scale * [1.0, -1.0] + [width / 2, height / 2]
        points, owner = _spread(np.column_stack([flat, seen[:, 2]]), faces)
        column, row = np.floor(points[:, 0]).astype(np.int64), np.floor(points[:, 1]).astype(np.int64)
        inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
        pixels.append((row * width + column)[inside])
        depths.append(points[inside, 2])
        colours.append(_shades(positions, faces)[owner[inside]])
    pixel, depth, colour = np.concatenate(pixels), np.concatenate(depths), np.concatenate(colours)
    order = np.lexsort((-depth, pixel))
    nearest = order[np.unique(pixel[order], return_index=True)[1]]
    image.reshape(-1, 3)[pixel[nearest]] = colour[nearest]
    return image


def _spread(corners: Any, faces: Any) -> tuple[Any, Any]:
    """Points all over the triangles, no further apart than a pixel if that is not too many; whose each is."""
    triangles = corners[faces]
    edges = np.linalg.norm((triangles - np.roll(triangles, 1, axis=1))[:, :, :2], axis=2)
    longest = int(np.sqrt(2 * MOST_POINTS / len(faces)))
    count = int(np.clip(np.ceil(1.5 * edges.max()), 1, max(longest, 1))) + 1
    i, j = np.nonzero(np.add.outer(np.arange(count), np.arange(count)) < count)
    a, b = i / (count - 1), j / (count - 1)
    weights = np.column_stack([a, b, 1.0 - a - b])
    points = np.einsum("kc,mcd->mkd", weights, triangles).reshape(-1, 3)
    return points, np.repeat(np.arange(len(faces)), len(weights))


def _shades(positions: Any, faces: Any) -> Any:
    """Colour of each triangle, (m, 3) uint8: two sides, lit from above."""
    a, b, c = (positions[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    front = normals @ axes()[2] >= 0.0
    facing = np.where(front, 1.0, -1.0) * (normals @ (LIGHT / np.linalg.norm(LIGHT)))
    light = 0.3 + 0.7 * np.clip(0.5 + 0.5 * facing, 0.0, 1.0)
    return (np.where(front[:, None], FRONT, BACK) * light[:, None]).astype(np.uint8)


def number(image: Any, value: int, scale: int = 3) -> None:
    """Write a number into the upper left corner."""
    left = 2 * scale
    for digit in str(value):
        dots = (
            np.kron(
                [[int(row) >> place & 1 for place in (2, 1, 0)] for row in DIGITS[int(digit)]], np.ones((scale, scale))
            )
            > 0
        )
        area = image[2 * scale : 2 * scale + dots.shape[0], left : left + dots.shape[1]]
        area[dots[: area.shape[0], : area.shape[1]]] = INK
        left += 4 * scale


def sheet(tiles: list[Any], gap: int = 4) -> Any:
    """Pictures of one size side by side, nearly as many across as down."""
    height, width = tiles[0].shape[:2]
    across = int(np.ceil(np.sqrt(len(tiles))))
    down = -(-len(tiles) // across)
    made = np.zeros((down * (height + gap) + gap, across * (width + gap) + gap, 3), dtype=np.uint8)
    for place, tile in enumerate(tiles):
        row, column = divmod(place, across)
        top, left = gap + row * (height + gap), gap + column * (width + gap)
        made[top : top + height, left : left + width] = tile
    return made


def blank(width: int, height: int) -> Any:
    """A tile for what is not there."""
    image = np.empty((height, width, 3), dtype=np.uint8)
    image[:] = EMPTY
    return image


def save(path: Path, image: Any) -> None:
    """Write a PNG, (height, width, 3) uint8."""
    height, width = image.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)
    rows[:, 1:] = image.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    write_whole(path, b"\x89PNG\r\n\x1a\n" + body)
