"""Frames of a shell that breaks, while it is baked: their number of points grows, a point cache's cannot.

One record a sample: how many vertices there are, what the new ones were split from, the triangles where they changed,
then float32 rows of positions and kept results. `whole_sample` gives a sample the number of points of the last one. The
spool stays while a bake can be resumed.
"""

import struct
from pathlib import Path
from typing import Any

import numpy as np

from .files import CacheError
from .splits import Splits
from .stream import Stream

HEADER = struct.Struct("<12siiii")
MAGIC = b"THINSHELLS1\0"
RECORD = struct.Struct("<iii")


class Spool:
    """Appends samples of growing size; `splits` is what is known of the cracks so far."""

    def __init__(self, path: Path, faces: Any, points: int, width: int, keep: int | None = None) -> None:
        """`faces` (m, 3) before anything broke, `width` numbers per point; `keep`: go on after that many samples.

        A negative `keep` reads every sample that is whole and writes nothing.
        """
        self.path, self.width = path, width
        self.splits = Splits(points, np.array(faces, dtype=np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._places: list[tuple[int, int]] = []
        if keep is None:
            self._stream = Stream(path, HEADER.pack(MAGIC, 1, points, len(faces), width))
            return
        self._stream = Stream(path, reading=keep < 0)
        try:
            self._reopen(keep)
        except BaseException:
            self._stream.close()
            raise

    @property
    def samples(self) -> int:
        return len(self._places)

    def append(self, rows: Any, faces: Any, parents: Any) -> None:
        """One more sample: rows (count, width), triangles (m, 3), and what the new vertices were split from."""
        splits, count = self.splits, len(rows)
        if count != splits.total + len(parents) or rows.shape[1:] != (self.width,):
            raise CacheError(f"a frame has shape {rows.shape}, the cache needs ({splits.total + len(parents)}, …)")
        data = np.ascontiguousarray(rows, dtype="<f4")
        if not np.isfinite(data).all():
            raise CacheError("a frame holds values that are not finite or too large for the cache; nothing was written")
        changed = not np.array_equal(faces, splits.faces)
        whole = [RECORD.pack(count, len(parents), int(changed)), np.asarray(parents, "<i4").tobytes()]
        whole += [np.ascontiguousarray(faces, "<i4").tobytes()] if changed else []
        start = self._stream.length + sum(map(len, whole))
        self._stream.append(b"".join([*whole, data.tobytes()]))
        self._note(start, count, np.asarray(parents, np.int64), np.array(faces, np.int64) if changed else None)

    def sample(self, index: int) -> Any:
        """Rows of a sample, (count, width) float32."""
        start, count = self._places[index]
        raw = self._stream.read(start, 4 * count * self.width)
        if len(raw) < 4 * count * self.width:
            raise self._damaged()
        return np.frombuffer(raw, dtype="<f4").reshape(count, self.width)

    def whole_sample(self, index: int) -> Any:
        """Rows of a sample for all points of the end, (total, width): copies not yet born sit on their ancestors."""
        return self.sample(index)[self.splits.ancestors(index)]

    def checkpoint(self) -> None:
        """The samples so far survive a crash."""
        self._stream.checkpoint()

    def close(self) -> None:
        self._stream.close()

    def _note(self, start: int, count: int, parents: Any, faces: Any) -> None:
        splits, sample = self.splits, len(self._places)
        self._places.append((start, count))
        births = np.full(len(parents), sample, dtype=np.int64)
        self.splits = Splits(
            splits.originals,
            splits.faces if faces is None else faces,
            np.concatenate([splits.parents, parents]),
            np.concatenate([splits.births, births]),
        )

    def _reopen(self, keep: int) -> None:
        raw, triangles = self._stream.read(0, HEADER.size), len(self.splits.faces)
        known = HEADER.unpack(raw) if len(raw) == HEADER.size else (b"", 0, 0, 0, 0)
        if known != (MAGIC, 1, self.splits.originals, triangles, self.width):
            raise self._damaged()
        place, size = HEADER.size, self._stream.size()
        while len(self._places) != keep and (keep >= 0 or place < size):
            try:
                place = self._reopen_record(place, size, triangles)
            except CacheError:
                if keep >= 0:
                    raise
                break
        if keep >= 0:
            self._stream.cut(place)

    def _reopen_record(self, place: int, size: int, triangles: int) -> int:
        """Take in the record at `place` of a file of `size` bytes; where the next one begins."""
        raw = self._stream.read(place, RECORD.size)
        count, fresh, changed = RECORD.unpack(raw) if len(raw) == RECORD.size else (0, -1, 0)
        before = self.splits.total
        if fresh < 0 or count != before + fresh or changed not in (0, 1):
            raise self._damaged()
        start: int = place + RECORD.size + 4 * fresh + 12 * triangles * changed
        end: int = start + 4 * count * self.width
        if end > size:
            raise self._damaged()
        parents = np.frombuffer(self._stream.read(place + RECORD.size, 4 * fresh), "<i4").astype(np.int64)
        faces = None
        if changed:
            raw = self._stream.read(start - 12 * triangles, 12 * triangles)
            faces = np.frombuffer(raw, "<i4").astype(np.int64).reshape(-1, 3)
        for indices, most in ((parents, before), (faces, count)):
            if indices is not None and indices.size and not (0 <= indices.min() and indices.max() < most):
                raise self._damaged()
        self._note(start, count, parents, faces)
        return end

    def _damaged(self) -> CacheError:
        return CacheError(f"{self.path.name} is damaged or belongs to another mesh: start a new bake")
