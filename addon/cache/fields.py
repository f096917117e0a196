"""Numbers per vertex and frame beside a bake (strain, velocity, …), in the same streaming way as the positions."""

import os
import struct
from pathlib import Path
from typing import Any

import numpy as np

from .files import CacheError, create, open_regular, reason, replace, sync

HEADER = struct.Struct("<12siii")
MAGIC = b"THINSHELLF1\0"


class FieldWriter:
    """Streams (points,) or (points, 3) samples to a part file."""

    def __init__(self, path: Path, points: int, width: int, keep: int | None = None) -> None:
        self.path, self.points, self.width = path, points, width
        self.part = path.with_name(path.name + ".part")
        if keep is None:
            self._file = create(self.part)
            self._file.write(HEADER.pack(MAGIC, 1, points, width))
        else:
            self._file = open_regular(self.part, "r+b")
            read_header(self._file, self.part.name)
            self._file.truncate(HEADER.size + 4 * points * width * keep)
            self._file.seek(0, os.SEEK_END)

    def append(self, values: Any) -> None:
        """One more sample."""
        try:
            self._file.write(np.ascontiguousarray(values, dtype="<f4").tobytes())
            self._file.flush()
        except OSError as error:
            raise CacheError(f"{self.part.name} cannot be written: {reason(error)}") from None

    def publish(self) -> None:
        """Put the file in place."""
        try:
            sync(self._file)
        except OSError as error:
            raise CacheError(f"{self.part.name} cannot be finished: {reason(error)}") from None
        self.close()
        replace(self.part, self.path)

    def close(self) -> None:
        try:
            self._file.close()
        except OSError:
            pass


def read_header(file: Any, name: str) -> tuple[int, int, int]:
    """Points, numbers per point, whole samples in the file."""
    size = os.fstat(file.fileno()).st_size
    file.seek(0)
    raw = file.read(HEADER.size)
    magic, version, points, width = HEADER.unpack(raw) if len(raw) == HEADER.size else (b"", 0, 0, 0)
    if magic != MAGIC or version != 1 or points <= 0 or width not in (1, 3):
        raise CacheError(f"{name} is not a field of a Thin Shell bake, or damaged: bake again")
    return points, width, (size - HEADER.size) // (4 * points * width)


def read_sample(path: Path, index: int) -> Any:
    """A sample, (points,) or (points, 3) float32."""
    with open_regular(path) as file:
        points, width, samples = read_header(file, path.name)
        if not 0 <= index < samples:
            raise CacheError(f"{path.name} has no frame {index}: it holds {samples}")
        file.seek(HEADER.size + 4 * points * width * index)
        raw = file.read(4 * points * width)
    values = np.frombuffer(raw, dtype="<f4")
    return values if width == 1 else values.reshape(-1, 3)
