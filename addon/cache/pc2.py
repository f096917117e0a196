"""PC2 point caches, which Blender's Mesh Cache modifier plays without this add-on.

A header of 32 bytes (magic, version, points, start, rate, samples), then float32 positions, sample after sample.
Written to a `.part` file first: the old result stays until the new one is whole.
"""

import os
import struct
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np

from .files import CacheError, open_regular, replace
from .stream import Stream

HEADER = struct.Struct("<12siiffi")
MAGIC = b"POINTCACHE2\0"
# Far above any mesh Blender holds, far below what overflows a file offset.
MOST_POINTS = 2**31 - 1


@dataclass(frozen=True)
class Header:
    """What a point cache says about itself, already checked against the size of the file."""

    points: int
    start: float
    samples: int

    @property
    def sample_bytes(self) -> int:
        return 12 * self.points


def read_header(file: FileIO, name: str, partial: bool = False) -> Header:
    """The header; raises where it is not PC2 or promises more than the file holds.

    `partial`: an unfinished file, whose samples are counted by its size instead.
    """
    size = os.fstat(file.fileno()).st_size
    file.seek(0)
    raw = file.read(HEADER.size)
    if len(raw) < HEADER.size:
        raise CacheError(f"{name} is too short to be a point cache: delete the bake and bake again")
    magic, version, points, start, _rate, samples = HEADER.unpack(raw)
    if magic != MAGIC or version != 1:
        raise CacheError(f"{name} is not a PC2 point cache: move the file away and bake again")
    if not 0 < points <= MOST_POINTS or samples < 0 or not np.isfinite(start):
        raise CacheError(f"{name} is damaged ({points} points, {samples} samples): delete the bake and bake again")
    there = (size - HEADER.size) // (12 * points)
    if partial:
        samples = there
    elif samples > there:
        raise CacheError(
            f"{name} is cut short: it promises {samples} frames of {points} points and holds {there}; "
            "copy the file again or bake again"
        )
    return Header(points, start, samples)


class Reader:
    """Samples of a finished cache, one at a time."""

    def __init__(self, path: Path, partial: bool = False) -> None:
        self.path = path
        self._file = open_regular(path)
        try:
            self.header = read_header(self._file, path.name, partial)
        except BaseException:
            self._file.close()
            raise

    def sample(self, index: int) -> Any:
        """Positions of a sample, (points, 3) float32."""
        if not 0 <= index < self.header.samples:
            raise CacheError(f"{self.path.name} has no sample {index}: it holds {self.header.samples}")
        self._file.seek(HEADER.size + index * self.header.sample_bytes)
        # Read first: a file cut short meanwhile costs what is there, not what its header promises.
        raw = self._file.read(self.header.sample_bytes)
        if len(raw) < self.header.sample_bytes:
            raise CacheError(f"{self.path.name} is cut short at sample {index}: bake again")
        return np.frombuffer(raw, dtype="<f4").reshape(-1, 3)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Writer:
    """Streams samples to `path` + ".part"; `publish` puts the file in place."""

    def __init__(self, path: Path, points: int, start: float, keep: int | None = None) -> None:
        """`keep`: continue an existing part file after that many samples instead of starting a new one."""
        self.path, self.points, self.start = path, points, start
        self.part = path.with_name(path.name + ".part")
        self.samples = keep or 0
        check_replaceable(path)
        if keep is None:
            self._stream = Stream(self.part, self._header(0))
            return
        with Reader(self.part, partial=True) as reader:
            header = reader.header
        if header.points != points or header.samples < keep:
            raise CacheError(
                f"{self.part.name} holds {header.samples} frames of {header.points} points, not the {keep} of "
                f"{points} to continue from: start a new bake"
            )
        self._stream = Stream(self.part)
        self._stream.cut(HEADER.size + 12 * points * keep)

    def append(self, positions: Any) -> None:
        """One more sample, (points, 3)."""
        if positions.shape != (self.points, 3):
            raise CacheError(f"a frame has shape {positions.shape}, the cache needs ({self.points}, 3)")
        data = np.ascontiguousarray(positions, dtype="<f4")
        if not np.isfinite(data).all():
            raise CacheError(
                "a frame holds positions that are not finite or too large for the cache; nothing was written"
            )
        self._stream.append(data.tobytes())
        self.samples += 1

    def update_count(self) -> None:
        """Let the part file play as it is: its header counts the samples so far."""
        self._stream.begin_with(self._header(self.samples))

    def checkpoint(self) -> None:
        """The samples so far survive a crash."""
        self._stream.checkpoint()

    def finish(self, samples: int) -> None:
        """The part file holds that many samples, whole and on the disk."""
        self.samples = samples
        self._stream.cut(HEADER.size + 12 * self.points * samples)
        self.update_count()
        self._stream.checkpoint()
        self._stream.close()

    def publish(self) -> None:
        """Finish the file and put it in place of the old result."""
        self.finish(self.samples)
        replace(self.part, self.path)

    def close(self) -> None:
        self._stream.close()

    def _header(self, samples: int) -> bytes:
        return HEADER.pack(MAGIC, 1, self.points, self.start, 1.0, samples)


def check_replaceable(path: Path) -> None:
    """Raise where baking to `path` would overwrite something that is no point cache."""
    if not path.exists() and not path.is_symlink():
        return
    with open_regular(path) as file:
        if file.read(len(MAGIC)) != MAGIC and os.fstat(file.fileno()).st_size > 0:
            raise CacheError(
                f"{path.name} in {path.parent} is not a point cache: move it away, it will not be overwritten"
            )


def copy_part(source: Path, writer: Writer, samples: int) -> None:
    """Copy the first samples of a finished cache into a new part file."""
    with Reader(source) as reader:
        if reader.header.points != writer.points:
            raise CacheError(
                f"{source.name} has {reader.header.points} points, the mesh now {writer.points}: bake from the start"
            )
        for index in range(samples):
            writer.append(reader.sample(index))
