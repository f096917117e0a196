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

# A crash loses at most about this much work [s].
CHECKPOINT_SECONDS = 10.0


@dataclass
class Target:
    """One object's files."""

    paths: CachePaths
    keep_fields: list[str]
    info: sidecar.Sidecar
    writer: pc2.Writer | None = None
    field_writers: dict[str, fields.FieldWriter] = field(default_factory=dict)


class Store:
    """Writes the frames of a group; `publish` makes them the objects' results."""

    def __init__(self, targets: list[Target], fingerprint: str) -> None:
        self.targets, self.fingerprint = targets, fingerprint
        self._last_state: tuple[dict[str, Any], int] | None = None
        self._saved = time.monotonic()

    def open(self, keep: int | None = None) -> None:
        """New part files, or the existing ones cut to `keep` samples."""
        for target in self.targets:
            info = target.info
            target.writer = pc2.Writer(target.paths.pc2, info.points, info.start, keep)
            for name in target.keep_fields:
                width = 3 if name == "velocity" else 1
                path = target.paths.field(name)
                target.field_writers[name] = fields.FieldWriter(path, info.points, width, keep)
            info.samples = keep or 0

    def append(self, links: list[Link], positions: list[Any], values: list[dict[str, Any]]) -> None:
        """One frame of every shell."""
        for target, link, x, extra in zip(self.targets, links, positions, values, strict=True):
            if target.writer is None:
                raise CacheError("the cache is not open")
            target.writer.append(link.local(x))
            for name, writer in target.field_writers.items():
                writer.append(extra[name])
            target.info.samples = target.writer.samples

    def remember(self, solver_state: dict[str, Any], frame: int) -> None:
        """The state after the last frame; on the disk every now and then."""
        self._last_state = solver_state, frame
        if time.monotonic() - self._saved > CHECKPOINT_SECONDS:
            self.checkpoint()

    def checkpoint(self) -> None:
        """Frames so far and the state after the last one survive a crash."""
        for target in self.targets:
            if target.writer is not None:
                target.writer.checkpoint()
            sidecar.write(target.paths.part_sidecar, target.info)
        if self._last_state is not None:
            state.save(self.targets[0].paths.state, *self._last_state, self.fingerprint)
        self._saved = time.monotonic()

    def publish(self, complete: bool) -> None:
        """Make the frames the result of every object."""
        for target in self.targets:
            target.info.complete = complete
            if target.writer is not None:
                target.writer.publish()
            for writer in target.field_writers.values():
                writer.publish()
            sidecar.write(target.paths.part_sidecar, target.info)
            replace(target.paths.part_sidecar, target.paths.sidecar)

    def close(self) -> None:
        for target in self.targets:
            for writer in (target.writer, *target.field_writers.values()):
                if writer is not None:
                    writer.close()


def whole_result(paths: CachePaths) -> bool:
    """Whether a complete bake is in place, which an unfinished one must not replace."""
    try:
        return paths.pc2.is_file() and sidecar.read(paths.sidecar).complete
    except CacheError:
        return False


def reopen_unfinished(paths: CachePaths, keep_fields: list[str]) -> sidecar.Sidecar:
    """The sidecar of an unfinished bake, its files moved back to part names where they were published."""
    if not paths.part.is_file() or not paths.part_sidecar.is_file():
        info = sidecar.read(paths.sidecar)
        if info.complete:
            raise CacheError(f"the bake '{paths.name}' is complete: there is nothing to resume")
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
