"""Frames of a scene rendered and put side by side."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np

from . import photography
from .card import Picture

GAP = 4


def render(picture: Picture, folder: Path, scale: float, samples: int) -> list[Path]:
    """Render the frames of the strip; those that are there already stay."""
    photography.engine(samples)
    scene = bpy.context.scene
    scene.render.resolution_x, scene.render.resolution_y = (max(16, round(scale * p)) for p in picture.panel)
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format = "PNG"
    made = []
    for frame in picture.frames:
        path = folder / f"frame_{frame:04d}.png"
        made.append(path)
        if path.is_file():
            continue
        scene.frame_set(frame)
        scene.render.filepath = str(path.with_suffix(".new.png"))
        bpy.ops.render.render(write_still=True)
        path.with_suffix(".new.png").replace(path)
    return made


def pixels(path: Path) -> np.ndarray:
    """An image file as stored, (height, width, 4), row 0 at the bottom."""
    image = bpy.data.images.load(str(path))
    width, height = image.size
    flat = np.empty(width * height * 4, dtype=np.float32)
    image.pixels.foreach_get(flat)
    bpy.data.images.remove(image)
    return flat.reshape(height, width, 4)


def columns_for(count: int, width: int, height: int) -> int:
    """Panels in a row: full rows only, and a sheet that is nearest to twice as wide as high."""
    full = [n for n in range(1, count + 1) if count % n == 0]
    return min(full, key=lambda n: abs(np.log(n * width / (count // n * height) / 2.2)))


def sheet(panels: list[Path], path: Path, columns: int = 0, quality: int = 88) -> None:
    """A contact sheet as JPEG, row by row."""
    loaded = [pixels(panel) for panel in panels]
    height, width = loaded[0].shape[:2]
    columns = columns or columns_for(len(loaded), width, height)
    rows = -(-len(loaded) // columns)
    whole = np.ones((rows * (height + GAP) - GAP, columns * (width + GAP) - GAP, 4), dtype=np.float32)
    for index, panel in enumerate(loaded):
        top, left = divmod(index, columns)
        y, x = (rows - 1 - top) * (height + GAP), left * (width + GAP)
        whole[y : y + height, x : x + width] = panel
    save(whole, path, quality)


def mosaic(panels: list[tuple[Path, float, float]], path: Path, height: int, quality: int = 88) -> None:
    """Panels in one row, each a part of its image, from `low` to `high` of its height, scaled to the same height."""
    row = []
    for panel, low, high in panels:
        image = pixels(panel)
        image = image[round(low * len(image)) : round(high * len(image))]
        ratio = len(image) / height
        up, along = ((np.arange(round(n / ratio)) + 0.5) * ratio for n in image.shape[:2])
        scaled = image[np.ix_(up.astype(int), along.astype(int))]
        row += [scaled, np.ones((len(scaled), GAP, 4), dtype=np.float32)]
    save(np.concatenate(row[:-1], axis=1), path, quality)


def save(image: np.ndarray, path: Path, quality: int) -> None:
    """Write (height, width, 4) as JPEG."""
    made = bpy.data.images.new("Sheet", image.shape[1], image.shape[0])
    made.pixels.foreach_set(np.ascontiguousarray(image, dtype=np.float32).ravel())
    made.file_format = "JPEG"
    path.parent.mkdir(parents=True, exist_ok=True)
    made.save(filepath=str(path), quality=quality)
    bpy.data.images.remove(made)
