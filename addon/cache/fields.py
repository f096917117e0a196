"""Numbers per vertex and frame beside a bake (strain, velocity, …), in the same streaming way as the positions."""

import os
import struct
from pathlib import Path
from typing import Any

import numpy as np

from .files import CacheError, open_regular
from .stream import Stream

HEADER = struct.Struct("<12siii")
MAGIC = b"THINSHELLF1\0"


class FieldWriter:
    """Streams (points,) or (points, 3) samples to a part file."""

    def __init__(self, path: Path, points: int, width: int, keep: int | None = None) -> None:
        self.path, self.points, self.width = path, points, width
        self.part = path.with_name(path.name + ".part")
        if keep is None:
            self._stream = Stream(self.part, HEADER.pack(MAGIC, 1, points, width))
            return
        found = counted(self.part)
        if found[:2] != (points, width) or found[2] < keep:
            raise CacheError(
                f"{self.part.name} holds {found[2]} frames of {found[0]} points, not the {keep} of {points} to "
                "continue from: start a new bake"
            )
        self._stream = Stream(self.part)
        self._stream.cut(HEADER.size + 4 * points * width * keep)

    def append(self, values: Any) -> None:
        """One more sample."""
        data = np.ascontiguousarray(values, dtype="<f4")
        if data.size != self.points * self.width:
            raise CacheError(f"a result has shape {data.shape}, the cache needs {self.points} of {self.width} numbers")
        self._stream.append(data.tobytes())

    def checkpoint(self) -> None:
        """The samples so far survive a crash."""
        self._stream.checkpoint()

    def finish(self, samples: int) -> None:
        """The part file holds that many samples, whole and on the disk."""
        self._stream.cut(HEADER.size + 4 * self.points * self.width * samples)
        self._stream.checkpoint()
        self._stream.close()

    def close(self) -> None:
        self._stream.close()


def counted(path: Path) -> tuple[int, int, int]:
    """Points, numbers per point and whole samples of a file."""
    with open_regular(path) as file:
        return read_header(file, path.name)


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
