"""Baking one variant: once, wherever and however often the task is given.

Found finished it is left alone. Stopped or killed it goes on from its last checkpoint, and ends with the bytes that it
would have had undisturbed. Anything else under its name is baked anew.
"""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy

from ..bake import attach, fingerprint, groups, inputs
from ..bake.job import Job, run_to_end
from ..bake.order import Order
from ..bake.store import finish_moving, unfinished_files
from ..bridge.units import frames_per_second
from ..cache import attributes, fields, pc2, sidecar, state, trash
from ..cache.files import CacheError, discard, is_there
from ..cache.paths import CachePaths, make_folder
from ..errors import UserError
from ..properties.cache import RESULTS
from . import assignments, codes, locks, variant
from .assignments import Assignment
from .progress import Teller


@dataclass(frozen=True)
class Request:
    """What to bake: `name` is the variant's. Frames, where not given, are the shells' own."""

    name: str
    settings: tuple[Assignment, ...] = ()
    folder: str = ""
    start: int | None = None
    end: int | None = None
    target: str = "PC2"
    threads: int | None = None


def bake(scene: Any, objects: list[Any], request: Request, teller: Teller) -> int:
    """Bake the shells of a variant; the exit code. Nothing is written but the variant's own files."""
    variant.checked_name(request.name)
    given = {"frame_start": request.start, "frame_end": request.end}
    assignments.put(request.settings, objects)
    with variant.played(scene, objects, request.folder, request.name) as paths, stopped_by_signal() as wanted:
        for folder in {each.folder for each in paths.values()}:
            make_folder(folder)
        with locks.all_of([each.folder / f"{each.name}.lock" for each in paths.values()]):
            for obj in objects:
                variant.check_ours(obj, paths[obj.name])
            for group in groups.together(objects, [key for key, value in given.items() if value is not None]):
                code = _bake_group(scene, group, paths, request, teller, wanted)
                if code != codes.DONE:
                    return code
    return codes.DONE


def _bake_group(
    scene: Any, group: list[Any], paths: dict[str, CachePaths], request: Request, teller: Teller, wanted: list[int]
) -> int:
    names = [obj.name for obj in group]
    mine = [paths[name] for name in names]
    settings = group[0].thin_shell
    order = Order(
        scene=scene.name,
        objects=tuple(names),
        first=settings.frame_start if request.start is None else request.start,
        last=settings.frame_end if request.end is None else request.end,
        target=request.target,
        threads=request.threads,
        attach=False,
    )
    for each in mine:
        finish_moving(each)
    marks = [_Marks.of(obj, scene, order, mine) for obj in group]
    if all(_is_done(each, mark) for each, mark in zip(mine, marks, strict=True)):
        _finish(scene, group, mine, request.target)
        teller.say("done", f"{', '.join(names)}: '{request.name}' is baked already", objects=names, baked=False)
        return codes.DONE
    went_on = _goes_on(mine, marks)
    job = _run(order, "resume" if went_on else "new", teller, wanted)
    if went_on and isinstance(job.error, UserError) and not job.moved:
        # What was there is of another bake after all.
        job = _run(order, "new", teller, wanted)
    for text in (*(issue.message for issue in job.issues if issue.level == "WARNING"), *job.warnings):
        teller.warn(text)
    if job.error is not None:
        code = codes.code_of(job.error)
        teller.fail(str(job.error), code)
        return code
    if not job.complete:
        teller.fail(f"stopped at frame {job.done}, which is kept: give the task again to go on", codes.STOPPED)
        return codes.STOPPED
    _finish(scene, group, mine, request.target)
    seconds = sidecar.read(mine[0].sidecar).seconds
    teller.say(
        "done", f"baked {', '.join(names)} of '{request.name}' to frame {job.done} in {seconds:.1f} s",
        objects=names, baked=True, resumed=went_on, seconds=seconds,
    )  # fmt: skip
    return codes.DONE


def _run(order: Order, mode: str, teller: Teller, wanted: list[int]) -> Job:
    job = Job(replace(order, mode=mode))
    said = 0.0
    for report in run_to_end(job, every=0.0):
        job.stop = job.stop or bool(wanted)
        if report.stage != "Solving" and (report.stage != "Frame" or time.monotonic() - said >= 1.0):
            said = time.monotonic()
            teller.frame(list(order.objects), report.frame, report.first, report.last, report.stage)
    return job


@dataclass(frozen=True)
class _Marks:
    """What a bake of a shell would be made from, as its sidecar says it."""

    values: dict[str, Any]

    @classmethod
    def of(cls, obj: Any, scene: Any, order: Order, group: list[CachePaths]) -> "_Marks":
        inputs.forget()
        settings = obj.thin_shell
        return cls(
            {
                "baked_settings": fingerprint.of_settings(obj, scene),
                "baked_inputs": inputs.digest(obj, scene),
                "start": order.first,
                "end": order.last,
                "target": order.target,
                "fps": frames_per_second(scene),
                "fields": [name for name in RESULTS if getattr(settings, f"keep_{name}")],
                "breaks": settings.use_fracture,
                "group": [each.name for each in group],
            }
        )

    def fit(self, info: sidecar.Sidecar) -> bool:
        return all(getattr(info, name) == value for name, value in self.values.items())


def _is_done(paths: CachePaths, marks: _Marks) -> bool:
    """Whether the whole bake is in place, made from the same."""
    try:
        info = sidecar.read(paths.sidecar)
        with pc2.Reader(paths.pc2) as reader:
            frames = reader.header.samples
        for name in info.fields:
            frames = min(frames, fields.counted(paths.field(name))[2])
    except CacheError:
        return False
    whole = info.complete and frames >= info.end - info.start + 1
    return whole and (not info.breaks or is_there(paths.splits)) and marks.fit(info)


def _goes_on(paths: list[CachePaths], marks: list[_Marks]) -> bool:
    """Whether every shell of a group has frames of this very bake, and the group a state to go on from."""
    try:
        for each, mark in zip(paths, marks, strict=True):
            info = sidecar.read(each.part_sidecar if is_there(each.part_sidecar) else each.sidecar)
            if info.complete or not mark.fit(info):
                return False
        return state.load(paths[0].state)[2] == info.fingerprint
    except CacheError:
        return False


def _finish(scene: Any, group: list[Any], paths: list[CachePaths], target: str) -> None:
    """Make what is made of a bake, and take away what only served it; a task may have been killed before it did so."""
    for obj, each in zip(group, paths, strict=True):
        attributes.write(each, sidecar.read(each.sidecar))
        if target == "ALEMBIC" and not (is_there(each.alembic) and _newer(each.alembic, each.pc2)):
            attach.show(obj, scene, each, target)
        owner = sidecar.read(each.sidecar).shell_id
        for path in (each.state, each.spool, *unfinished_files(each)):
            discard(path)
        for place in trash.of_shell(each.folder, owner):
            trash.empty(place)


def _newer(path: Path, than: Path) -> bool:
    return path.stat().st_mtime_ns > than.stat().st_mtime_ns


@contextmanager
def stopped_by_signal() -> Iterator[list[int]]:
    """A list that fills where a farm asks the task to end; the frame under way is given up, those before it stay."""
    wanted: list[int] = []

    def heard(number: int, _frame: Any) -> None:
        wanted.append(number)

    before = {number: signal.signal(number, heard) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield wanted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def opened() -> Any:
    """The scene of the file that the task was given."""
    if not bpy.data.filepath:
        raise codes.ArgumentError("no file is open: name the .blend before --command")
    return bpy.context.scene


def chosen(scene: Any, names: list[str]) -> list[Any]:
    """The shells of these names, or all; raises with near ones."""
    shells = groups.shells(scene)
    if not shells:
        raise codes.ArgumentError(f"there is no thin shell in the scene '{scene.name}': is this the right file?")
    there = [obj.name for obj in shells]
    for name in names:
        if name not in there:
            why = "is no thin shell" if name in scene.objects else "is not in the scene"
            raise codes.ArgumentError(f"'{name}' {why} '{scene.name}': {assignments.near(name, there)}")
    return groups.named(scene, names) if names else shells
