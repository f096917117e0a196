"""One or several jobs in a row, driven a few milliseconds at a time, with progress to show."""

import time
from collections.abc import Generator
from dataclasses import dataclass, field

from .job import Job
from .order import Order, Report

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
    """Runs orders one after another."""

    def __init__(self, orders: list[Order]) -> None:
        self.jobs = [Job(order) for order in orders]
        self.shown = Shown()
        self._steps: Generator[Report, None, None] = self._all()
        self._stage_since = time.perf_counter()
        self._frames = 0
        self._began = time.perf_counter()

    def _all(self) -> Generator[Report, None, None]:
        for job in self.jobs:
            yield from job.run()
            if job.error is not None or job.stop:
                return

    def advance(self, seconds: float) -> bool:
        """Work for about that long; True when all is done."""
        began = time.perf_counter()
        while True:
            report = next(self._steps, None)
            now = time.perf_counter()
            if report is None:
                return True
            self._note(report, now)
            self.shown.longest_tick = max(self.shown.longest_tick, now - began)
            # A long piece of work is announced: hand back first, so that the words reach the screen.
            if now - began >= seconds or report.stage in (
                "Preparing the solver",
                "Factoring the matrix",
                "Attaching the result",
            ):
                return False

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
            self._frames += 1
            shown.frame_seconds = (now - self._began) / self._frames
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
