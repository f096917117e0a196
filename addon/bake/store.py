"""The files of a group under way: positions, kept fields, sidecars and the state to resume from."""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..bridge.build import Link
from ..cache import fields, pc2, sidecar, splits, state, trash
from ..cache.files import CacheError, discard, is_there, replace
from ..cache.paths import CachePaths
from ..cache.splits import Cut, Splits
from ..cache.spool import Spool
from ..info import version
from ..properties import physics_names
from . import fingerprint, identity

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
    info: sidecar.Sidecar
    cut: Cut
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
        """New part files, or the existing ones cut to `keep` samples."""
        info, widths = self.info, [width_of(name) for name in self.info.fields]
        # First of all: whoever finds frames after a crash finds what they are.
        info.samples, info.moving = keep or 0, False
        sidecar.write(self.paths.part_sidecar, info)
        if info.breaks:
            pc2.check_replaceable(self.paths.pc2)
            self.spool = Spool(self.paths.spool, self.cut.faces, info.points, 3 + sum(widths), keep)
            splits.save(self.paths.part_of(self.paths.splits), self.cut, self.spool.splits)
        else:
            self._open_writers(keep)

    def append(self, local: Any, share: Share) -> None:
        """One more frame; `local` (n, 3) are its positions in object space."""
        if self.spool is not None:
            self.spool.append(np.column_stack([local, *share.fields.values()]), share.faces, share.parents)
        else:
            self._write(local, share.fields)
        self.info.samples += 1

    def finish(self, samples: int) -> None:
        """That many samples, whole and on the disk under part names; of a shell that may break they are made now."""
        self.info.samples = samples
        if self.spool is not None:
            self._from_spool(self.spool)
        for writer in (self.writer, *self.field_writers.values()):
            if writer is not None:
                writer.finish(samples)

    def checkpoint(self) -> None:
        """The samples so far survive a crash."""
        for each in (self.spool, self.writer, *self.field_writers.values()):
            if each is not None:
                each.checkpoint()

    def close(self) -> None:
        for each in (self.spool, self.writer, *self.field_writers.values()):
            if each is not None:
                each.close()

    def _from_spool(self, spool: Spool) -> None:
        self.info.points = spool.splits.total
        self._open_writers(None)
        ends = np.cumsum([3] + [width_of(name) for name in self.info.fields])
        for index in range(self.info.samples):
            rows = spool.whole_sample(index)
            columns = np.split(rows, ends[:-1], axis=1)[1:] if self.info.fields else []
            self._write(rows[:, :3], dict(zip(self.info.fields, columns, strict=True)))
        splits.save(self.paths.part_of(self.paths.splits), self.cut, spool.splits)

    def _open_writers(self, keep: int | None) -> None:
        points = self.info.points
        self.writer = pc2.Writer(self.paths.pc2, points, self.info.start, keep)
        for name in self.info.fields:
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
        self._saved = self._began = time.monotonic()
        self._published = False

    def open(self, keep: int | None = None) -> None:
        """New part files, or the existing ones cut to `keep` samples."""
        for target in self.targets:
            if keep is None:
                trash.move(unfinished_files(target.paths), target.info.shell_id)
                discard(target.paths.state)
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
        self._count_seconds()
        for target in self.targets:
            sidecar.write(target.paths.part_sidecar, target.info)
        self._saved = time.monotonic()

    def publish(self, complete: bool) -> None:
        """Make the frames the result of every object."""
        samples = min(target.info.samples for target in self.targets)
        self._count_seconds()
        for target in self.targets:
            target.finish(samples)
        for target in self.targets:
            target.info.complete = complete
            put_in_place(target.paths, target.info)
        self._published = True

    def _count_seconds(self) -> None:
        """What went by since this was last called, on top of what the sidecars have."""
        now = time.monotonic()
        for target in self.targets:
            target.info.seconds += now - self._began
        self._began = now

    def close(self) -> None:
        for target in self.targets:
            target.close()
            if self._published and target.info.complete:
                # What is left under way by now is of bakes that were killed.
                for path in (target.paths.spool, *unfinished_files(target.paths)):
                    discard(path)
                for place in trash.of_shell(target.paths.folder, target.info.shell_id):
                    trash.empty(place)
            elif not self._published and target.info.samples == 0:
                discard(target.paths.part_sidecar)
            elif not self._published:
                _let_go(target.paths, target.info)


def _let_go(paths: CachePaths, info: sidecar.Sidecar) -> None:
    """Nobody writes these files any more."""
    info.baker = ""
    try:
        if is_there(paths.part_sidecar):
            sidecar.write(paths.part_sidecar, info)
    except CacheError:
        pass  # a process that is gone writes no more either


def put_in_place(paths: CachePaths, info: sidecar.Sidecar) -> None:
    """Publish finished part files. A crash in between is made good by `finish_moving`."""
    info.moving, info.baker = True, ""
    try:
        sidecar.write(paths.part_sidecar, info)
    except CacheError:
        if info.complete:
            raise
        # No room for a line of text: what is there of an unfinished bake counts its frames itself.
    if not info.complete and not _goes_on(paths, info):
        trash.move([path for path in result_files(paths) if path not in (paths.spool, paths.state)], info.shell_id)
    _move_in(paths, info)


def _goes_on(paths: CachePaths, info: sidecar.Sidecar) -> bool:
    """Whether the result in place is the same bake, stopped earlier."""
    try:
        older = sidecar.read(paths.sidecar)
    except CacheError:
        return False
    return not older.complete and older.fingerprint == info.fingerprint and older.samples <= info.samples


def finish_moving(paths: CachePaths) -> None:
    """Put the rest in place where Blender went down while it did so."""
    if is_there(paths.part_sidecar):
        info = sidecar.read(paths.part_sidecar)
        if info.moving:
            _move_in(paths, info)


def _move_in(paths: CachePaths, info: sidecar.Sidecar) -> None:
    made = [paths.pc2, *(paths.field(name) for name in info.fields), *([paths.splits] if info.breaks else [])]
    for path in made:
        if is_there(paths.part_of(path)):
            replace(paths.part_of(path), path)
    for path in result_files(paths):
        # Results of an older bake that this one does not have.
        if path.suffix in (".field", ".npz") and path not in (*made, paths.state):
            discard(path)
    replace(paths.part_sidecar, paths.sidecar)


def result_files(paths: CachePaths) -> list[Path]:
    """Files of what was published last."""
    return [path for path in paths.all() if path not in unfinished_files(paths)]


def unfinished_files(paths: CachePaths) -> list[Path]:
    """Files of the bake under way, if there is one; its state and spool with them."""
    found = paths.all()
    mine = [path for path in found if path.suffix in (".part", ".new") or path == paths.part_sidecar]
    if paths.part_sidecar not in found:
        return mine
    return mine + [path for path in found if path in (paths.spool, paths.state)]


def whole_result(paths: CachePaths) -> bool:
    """Whether a complete bake is in place, which an unfinished one must not replace."""
    try:
        return is_there(paths.pc2) and sidecar.read(paths.sidecar).complete
    except CacheError:
        return False


def find_unfinished(paths: CachePaths) -> sidecar.Sidecar:
    """The sidecar of an unfinished bake, under way or published."""
    finish_moving(paths)
    if is_there(paths.part_sidecar):
        info = sidecar.read(paths.part_sidecar)
        if is_there(paths.spool if info.breaks else paths.part):
            return info
    info = sidecar.read(paths.sidecar)
    if info.complete:
        raise CacheError(f"the bake '{paths.name}' is complete: there is nothing to resume")
    return info


def reopen_unfinished(paths: CachePaths) -> None:
    """Move the files of an unfinished bake back to part names where they were published."""
    info = find_unfinished(paths)
    published = not (is_there(paths.part_sidecar) and is_there(paths.spool if info.breaks else paths.part))
    if not published or is_there(paths.spool):
        return  # frames of what breaks are in the spool, which was never moved
    info.moving = True
    sidecar.write(paths.part_sidecar, info)
    for path in (paths.pc2, *(paths.field(name) for name in info.fields)):
        if is_there(path):
            replace(path, paths.part_of(path))
    discard(paths.sidecar)
    info.moving = False
    sidecar.write(paths.part_sidecar, info)


def face_to_vertex(values: Any, faces: Any, count: int) -> Any:
    """Face values averaged onto vertices, (count,)."""
    total = np.bincount(faces.ravel(), weights=np.repeat(values, 3), minlength=count)
    return total / np.maximum(np.bincount(faces.ravel(), minlength=count), 1)


def origin(obj: Any, made_from: str, inputs: str, target: str = "PC2") -> dict[str, Any]:
    """What a sidecar says about whose a bake is, what it was asked for and which programs made it.

    `made_from`, `inputs`: hashes of settings and of all else, which tell whether it is outdated.
    """
    settings = obj.thin_shell
    used = {name: fingerprint.plain(getattr(settings, name)) for name in physics_names()}
    default = {name: settings.bl_rna.properties[name] for name in used}
    return {
        "file_id": identity.file_id(),
        "shell_id": identity.shell_id(obj),
        "variant": identity.variant(),
        "path": bpy.data.filepath,
        "date": time.time(),
        "target": target,
        "settings": {name: value for name, value in used.items() if not _is_default(value, default[name])},
        "baked_settings": made_from,
        "baked_inputs": inputs,
        "baker": identity.baker(),
        "thin_shell": version(),
        "blender": bpy.app.version_string,
        "blend": os.path.basename(bpy.data.filepath),
    }


def _is_default(value: Any, rna: Any) -> bool:
    if rna.type == "POINTER":
        return value is None
    if getattr(rna, "is_array", False):
        return list(value) == list(rna.default_array)
    return bool(value == rna.default)


def remove(paths: CachePaths, shell_id: str) -> list[str]:
    """Move every file of a bake into the trash; names of those that could not be."""
    return trash.move(paths.all(), shell_id)
