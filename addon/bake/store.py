"""The files of a group under way: positions, kept fields, sidecars and the state to resume from."""

import os
import time
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ..bridge.build import Link
from ..cache import fields, pc2, sidecar, state
from ..cache.files import CacheError, replace
from ..cache.paths import CachePaths
from ..cache.splits import Splits
from ..cache.spool import Spool

# A crash loses at most about this much work [s].
CHECKPOINT_SECONDS = 10.0


@dataclass
class Share:
    """One shell's part of a frame."""

    positions: Any
    """[m], world, (n, 3)."""
    faces: Any
    """(m, 3)"""
    parents: Any
    """What vertices that are new in this frame were split from, vertices of the frame before, (k,)."""
    fields: dict[str, Any]
    """Kept results, (n,) or (n, 3)."""


@dataclass
class Target:
    """One object's files. A shell that may break writes to a spool first, as its number of points is not known."""

    paths: CachePaths
    keep_fields: list[str]
    info: sidecar.Sidecar
    breaks: bool = False
    faces: Any = None
    writer: pc2.Writer | None = None
    field_writers: dict[str, fields.FieldWriter] = field(default_factory=dict)
    spool: Spool | None = None

    @property
    def points(self) -> int:
        """Vertices of the shell in the last frame written."""
        return self.info.points if self.spool is None else self.spool.splits.total

    @property
    def splits(self) -> Splits | None:
        return None if self.spool is None or not self.spool.splits.broken else self.spool.splits

    def open(self, keep: int | None) -> None:
        info, widths = self.info, [width_of(name) for name in self.keep_fields]
        if self.breaks:
            pc2.check_replaceable(self.paths.pc2)
            self.spool = Spool(self.paths.spool, self.faces, info.points, 3 + sum(widths), keep)
        else:
            self._open_writers(keep)
        info.samples = keep or 0

    def append(self, local: Any, share: Share) -> None:
        """One more frame; `local` (n, 3) are its positions in object space."""
        if self.spool is not None:
            self.spool.append(np.column_stack([local, *share.fields.values()]), share.faces, share.parents)
            self.info.samples = self.spool.samples
        elif self.writer is not None:
            self._write(local, share.fields)
            self.info.samples = self.writer.samples
        else:
            raise CacheError("the cache is not open")

    def publish(self) -> None:
        """Put the files in place; of a shell that may break they are made now, with one number of points."""
        if self.spool is not None:
            self.info.points = self.spool.splits.total
            self._open_writers(None)
            ends = np.cumsum([3] + [width_of(name) for name in self.keep_fields])
            for index in range(self.spool.samples):
                rows = self.spool.whole_sample(index)
                columns = np.split(rows, ends[:-1], axis=1)[1:] if self.keep_fields else []
                self._write(rows[:, :3], dict(zip(self.keep_fields, columns, strict=True)))
        for writer in (self.writer, *self.field_writers.values()):
            if writer is not None:
                writer.publish()

    def checkpoint(self) -> None:
        for each in (self.spool, self.writer):
            if each is not None:
                each.checkpoint()

    def close(self) -> None:
        for each in (self.spool, self.writer, *self.field_writers.values()):
            if each is not None:
                each.close()

    def _open_writers(self, keep: int | None) -> None:
        points = self.info.points
        self.writer = pc2.Writer(self.paths.pc2, points, self.info.start, keep)
        for name in self.keep_fields:
            self.field_writers[name] = fields.FieldWriter(self.paths.field(name), points, width_of(name), keep)

    def _write(self, local: Any, values: dict[str, Any]) -> None:
        if self.writer is None:
            raise CacheError("the cache is not open")
        self.writer.append(local)
        for name, writer in self.field_writers.items():
            writer.append(values[name])


def width_of(field_name: str) -> int:
    """Numbers per vertex of a result."""
    return 3 if field_name == "velocity" else 1


class Store:
    """Writes the frames of a group; `publish` makes them the objects' results."""

    def __init__(self, targets: list[Target], fingerprint: str) -> None:
        self.targets, self.fingerprint = targets, fingerprint
        self._last_state: tuple[dict[str, Any], int] | None = None
        self._saved = time.monotonic()

    def open(self, keep: int | None = None) -> None:
        """New part files, or the existing ones cut to `keep` samples."""
        for target in self.targets:
            target.open(keep)

    def append(self, links: list[Link], shares: list[Share]) -> list[Any]:
        """One frame of every shell; where its vertices are in its object's space, (n, 3) each."""
        placed = [link.local(share.positions) for link, share in zip(links, shares, strict=True)]
        for target, local, share in zip(self.targets, placed, shares, strict=True):
            target.append(local, share)
        return placed

    def remember(self, solver_state: dict[str, Any], frame: int) -> None:
        """The state after the last frame; on the disk every now and then."""
        self._last_state = solver_state, frame
        if time.monotonic() - self._saved > CHECKPOINT_SECONDS:
            self.checkpoint()

    def checkpoint(self) -> None:
        """Frames so far and the state after the last one survive a crash."""
        for target in self.targets:
            target.checkpoint()
        # The sidecars last: whoever finds them finds the state and the frames that they speak of.
        if self._last_state is not None:
            state.save(self.targets[0].paths.state, *self._last_state, self.fingerprint)
        for target in self.targets:
            sidecar.write(target.paths.part_sidecar, target.info)
        self._saved = time.monotonic()

    def publish(self, complete: bool) -> None:
        """Make the frames the result of every object."""
        for target in self.targets:
            target.info.complete = complete
            target.publish()
            sidecar.write(target.paths.part_sidecar, target.info)
            replace(target.paths.part_sidecar, target.paths.sidecar)

    def close(self) -> None:
        for target in self.targets:
            target.close()
            if target.info.complete:
                _remove_leftovers(target.paths)


def _remove_leftovers(paths: CachePaths) -> None:
    """What a finished bake leaves behind; Delete Bake finds it again where it cannot go now."""
    for path in (paths.spool, *paths.new):
        try:
            if not path.is_symlink():
                path.unlink(missing_ok=True)
        except OSError:
            pass


def whole_result(paths: CachePaths) -> bool:
    """Whether a complete bake is in place, which an unfinished one must not replace."""
    try:
        return paths.pc2.is_file() and sidecar.read(paths.sidecar).complete
    except CacheError:
        return False


def reopen_unfinished(paths: CachePaths, keep_fields: list[str], breaks: bool) -> sidecar.Sidecar:
    """The sidecar of an unfinished bake, its files moved back to part names where they were published.

    `breaks`: its frames are in a spool, which was never moved.
    """
    under_way = paths.spool if breaks else paths.part
    if not under_way.is_file() or not paths.part_sidecar.is_file():
        info = sidecar.read(paths.sidecar)
        if info.complete:
            raise CacheError(f"the bake '{paths.name}' is complete: there is nothing to resume")
        if breaks:
            return info
        replace(paths.pc2, paths.part)
        for name in keep_fields:
            published = paths.field(name)
            if published.is_file():
                replace(published, published.with_name(published.name + ".part"))
        replace(paths.sidecar, paths.part_sidecar)
    return sidecar.read(paths.part_sidecar)


def face_to_vertex(values: Any, faces: Any, count: int) -> Any:
    """Face values averaged onto vertices, (count,)."""
    total = np.bincount(faces.ravel(), weights=np.repeat(values, 3), minlength=count)
    return total / np.maximum(np.bincount(faces.ravel(), minlength=count), 1)


def versions() -> dict[str, Any]:
    """What a sidecar says about the programs that made it."""
    from ..info import version

    return {
        "thin_shell": version(),
        "blender": bpy.app.version_string,
        "blend": os.path.basename(bpy.data.filepath),
    }


def remove(paths: CachePaths) -> list[str]:
    """Delete every file of a bake; names of those that could not be."""
    stuck = []
    for path in paths.all():
        try:
            os.unlink(path)
        except OSError:
            stuck.append(path.name)
    return stuck
