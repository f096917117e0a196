"""One or several jobs in a row, driven a few milliseconds at a time, with progress to show."""

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import bpy

from .. import compat
from .job import Job, unforeseen
from .order import ATTACHING, PREPARING, Order, Report

LONG = 0.2
"""A piece of work that cannot be interrupted is announced where it takes longer than this [s]."""

QUICK = 10_000
"""Vertices that are prepared in less than that: 1.6k take 0.02 s, 6.4k 0.07 s."""

current: "Session | None" = None
"""The session that is running; never saved with a file."""
finished: "Session | None" = None
"""The last one that ran, for the statistics."""


@dataclass
class Shown:
    """What the panel and the status bar say."""

    stage: str = "Starting"
    frame: int = 0
    first: int = 0
    last: int = 0
    eta: float = 0.0
    frame_seconds: float = 0.0
    longest_tick: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)

    @property
    def share(self) -> float:
        return (self.frame - self.first) / max(self.last - self.first, 1)

    @property
    def time_left(self) -> str:
        return _clock(self.eta)

    @property
    def text(self) -> str:
        left = f", {self.time_left} left" if self.eta else ""
        return f"Thin Shell: frame {self.frame} of {self.last}{left}. {self.stage}. ESC stops and keeps the frames"


class Session:
    """Runs orders one after another; at its end whoever started it calls `go_back`, to the mode he was in."""

    def __init__(self, orders: list[Order], go_back: Callable[[], None] = lambda: None, window: bool = False) -> None:
        """`window`: the frame under way is shown, and stopped the playhead stays on the last one."""
        self.go_back = go_back
        self.left = 0.0
        """When the window was left to Blender last, on the clock of `time.perf_counter`."""
        self.announced = False
        """Whether something long comes next."""
        self.wanted_stop = False
        """Somebody pressed Stop: the next tick does it."""
        self.jobs = [Job(order) for order in orders]
        for job in self.jobs:
            job.window = window
        self.shown = Shown()
        self._steps: Generator[Report, None, None] = self._all()
        self._stage_since = time.perf_counter()
        self.frames = 0
        every: Any = bpy.data.objects
        found = [every.get(name) for order in orders for name in order.objects]
        large = sum(len(obj.data.vertices) for obj in found if obj is not None) > QUICK
        self._preparing = LONG + 1.0 if large else 0.0
        """What the last preparation took [s]; the first one goes by the size of the meshes."""
        self._began = time.perf_counter()

    def _all(self) -> Generator[Report, None, None]:
        for job in self.jobs:
            yield from job.run()
            if job.error is not None or job.stop:
                return

    def advance(self, seconds: float) -> bool:
        """Work for about that long, or until something long is announced; True when all is done."""
        began = time.perf_counter()
        for job in self.jobs:
            job.compare()
        if not any(job.stop for job in self.jobs) and self._waits():
            return False
        while True:
            asked, before = time.perf_counter(), self.shown.stage
            report = next(self._steps, None)
            now = time.perf_counter()
            if before == PREPARING:
                self._preparing = now - asked
            if report is None:
                return True
            self._note(report, now)
            self.shown.longest_tick = max(self.shown.longest_tick, now - began)
            # A long piece of work is announced: hand back first, so that the words reach the screen.
            self.announced = self._announces(report)
            if now - began >= seconds or self.announced:
                return False

    def _announces(self, report: Report) -> bool:
        """Whether what comes next takes long, as far as is known: another preparation takes what the last one took."""
        copied = any(job.order.target != "PC2" for job in self.jobs)
        return (report.stage == ATTACHING and copied) or (report.stage == PREPARING and self._preparing > LONG)

    def _waits(self) -> bool:
        """Whether a mesh that is read is in Edit Mode: the bake goes on when the artist leaves it."""
        found = next((job.waits_for() for job in self.jobs if job.waits_for()), "")
        if found:
            self.shown.stage, self.announced = f"Waits: {found} is in Edit Mode", True
        return bool(found)

    def aside(self) -> None:
        """Take off what is shown while nobody can look: every frame would do so, and evaluate the mesh anew."""
        for job in self.jobs:
            job.aside()

    def preview(self) -> None:
        """Show the last frames where a window does."""
        for job in self.jobs:
            job.preview()

    def torn(self) -> list[tuple[Any, Any, Any]]:
        """Objects whose mesh cannot show the frame under way, with its positions and triangles in their space."""
        return [each for job in self.jobs for each in job.torn()]

    def bakes(self, obj: Any) -> bool:
        """Whether an object is one of those that are baked, now or later."""
        uid = compat.session_uid(obj)
        return any(uid in job.uids.values() or (not job.uids and obj.name in job.order.objects) for job in self.jobs)

    def fail(self, error: Exception) -> None:
        """Something outside the jobs went wrong: stop, keep the finished frames, and say so."""
        said = unforeseen(error)
        for job in self.jobs:
            job.error = job.error or said
        self.stop()

    def stop(self) -> None:
        """Stop after this step and keep the finished frames."""
        for job in self.jobs:
            job.stop = True
        for _ in self._steps:
            pass

    def abandon(self) -> None:
        """Stop at once, keeping what is on the disk, where the scene may be gone already."""
        for job in self.jobs:
            job.stop = True
        try:
            self._steps.close()
        except ReferenceError:
            pass  # data of a file that is closed; its caches are finished before it is touched

    @property
    def error(self) -> Exception | None:
        return next((job.error for job in self.jobs if job.error is not None), None)

    def _note(self, report: Report, now: float) -> None:
        shown = self.shown
        shown.stages[report.stage] = shown.stages.get(report.stage, 0.0) + now - self._stage_since
        self._stage_since = now
        shown.stage, shown.frame, shown.first, shown.last = report.stage, report.frame, report.first, report.last
        if report.stage == "Frame":
            self.frames += 1
            shown.frame_seconds = (now - self._began) / self.frames
            shown.eta = shown.frame_seconds * (report.last - report.frame)

    def summary(self) -> str:
        """One sentence about what was done."""
        frames = ", ".join(f"{', '.join(job.order.objects)} to frame {job.done}" for job in self.jobs if job.done)
        took = _clock(time.perf_counter() - self._began)
        return f"Baked {frames} in {took}" if frames else "Nothing was baked"


def _clock(seconds: float) -> str:
    whole = round(seconds)
    return (
        f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
        if whole >= 3600
        else f"{whole // 60}:{whole % 60:02d}"
    )
