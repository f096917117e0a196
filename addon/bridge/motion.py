"""Whatever moves, sampled once a frame and interpolated in between.

Samplers keep what finds an object (`lookup`), never Blender's own: an undo between two frames would leave those
dangling.
"""

from collections.abc import Callable
from typing import Any

from ..errors import UserError


class Track:
    """An array that moves: the last two samples, linear in between."""

    def __init__(self, sample: Callable[[Any], Any]) -> None:
        self._sample = sample
        self._times = (0.0, 0.0)
        self._values: tuple[Any, Any] = (None, None)

    def capture(self, time: float, depsgraph: Any) -> None:
        """Take the sample of `time` [s] from the evaluated scene."""
        value = self._sample(depsgraph)
        previous = self._values[1] if self._values[1] is not None else value
        if previous.shape != value.shape:
            raise UserError("the number of vertices changes during the animation: apply the modifier that changes it")
        self._times = (self._times[1], time) if self._values[1] is not None else (time, time)
        self._values = (previous, value)

    def at(self, time: float) -> Any:
        """The array at a time between the last two samples [s]."""
        (t0, t1), (before, after) = self._times, self._values
        if t1 <= t0 or time >= t1:
            return after
        share = max(0.0, (time - t0) / (t1 - t0))
        return before + share * (after - before)

    @property
    def now(self) -> Any:
        """The last sample."""
        return self._values[1]


class Sampler:
    """All tracks of a simulation, captured together."""

    def __init__(self) -> None:
        self.tracks: list[Track] = []

    def track(self, sample: Callable[[Any], Any], depsgraph: Any) -> Track:
        """A new track with its first sample, at time 0."""
        made = Track(sample)
        made.capture(0.0, depsgraph)
        self.tracks.append(made)
        return made

    def capture(self, time: float, depsgraph: Any) -> None:
        for track in self.tracks:
            track.capture(time, depsgraph)
