"""How many steps a frame gets: as many as the error that is allowed asks for.

A run may stray by a share of the size of a shell in the time T = 2π √(2L/3g) in which a rod of its length L would swing
once. What steps err by is added up as vectors, for as long as a swing goes one way: errors of smooth motion add, those
of what rings cancel, and no number of steps would follow it. It is in proportion to h², so that √(made/allowed) times
as many steps are right for the next frame.

Only what a shell does as a whole is asked about (`motion_norm.py`), of the plain difference of accelerations: seen
through the Hessian, as is usual for stiff equations, errors of sheets that fall came out ten times too small.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ShellError
from ..linalg.vectors import by_columns
from ..system import System
from ..types import Floats, Ints
from .motion_norm import MotionNorm

# Shares of the size that runs may stray by in T.
ACCURACY = {"draft": 0.02, "default": 0.0035, "final": 0.0004}
# Steps a frame at most, and those that a run begins with.
MOST, FIRST = 16, 2
# Of what a step may err by, what it is at most before it is made again in shorter ones.
AGAIN = 9.0
# Gravity that stands in for none [m/s²].
NO_GRAVITY = 1.0


class StepSize:
    """Of a run whose frames last `frame` [s]: `share` of the size that positions may stray by in T."""

    def __init__(self, system: System, share: float, frame: float) -> None:
        self._frame, self._share = frame, share
        self.adapts = False
        """Whether steps are as long as this says."""
        self.steps = FIRST
        """In the frame under way."""
        self.slack = 1.0
        """What the last step erred by over what it may, if that is more: solves need be no better."""
        self._made = np.zeros((system.vertex_count, 3))
        self.follow(system, np.arange(system.vertex_count))

    def follow(self, system: System, parent: Ints) -> None:
        """Measure motion of this system; `parent` (n,): the unknown of the last one that each comes from."""
        self.norm = MotionNorm(system)
        # Errors are added up for a quarter of T.
        times = [_swing(system, i) for i in range(len(system.scene.shells))]
        self._rates = [self._share * size / time for size, time in times]
        self._memory = np.ones(system.vertex_count)
        self._lasts = []
        for (part, _), (_, time) in zip(system.parts, times, strict=True):
            self._memory[part] = 0.25 * time
            self._lasts.append(self._frame / (1.0 - float(np.exp(-self._frame / (0.25 * time)))))
        self._made = by_columns(self._made[parent])

    def allowed(self, h: float) -> list[float]:
        """What h [s] may err by [m], for each shell."""
        return [rate * h for rate in self._rates]

    def ratio(self, h: float, error: Floats) -> float:
        """An error (n, 3) of h [s] over what is allowed: the worst shell's."""
        return max(size / allowed for size, allowed in zip(self.norm(error, 0.0), self.allowed(h), strict=True))

    def good(self, h: float, error: Floats) -> bool:
        """Whether a step of h [s] that erred so can be taken; if not, the rest of the frame has shorter ones."""
        if self.ratio(h, error) <= AGAIN or self.steps >= MOST:
            return True
        self.shorten()
        return False

    @property
    def may_shorten(self) -> bool:
        """Whether a step that is hard to solve is made again in shorter ones."""
        return self.adapts and self.steps < MOST

    def shorten(self) -> None:
        """Have the rest of the frame take shorter steps."""
        self.steps = min(MOST, 2 * self.steps)

    def take(self, h: float, error: Floats) -> None:
        """A step was taken that erred so, (n, 3) [m]."""
        self._made = self._made + error
        self.slack = max(1.0, self.ratio(h, error))

    def end_frame(self) -> None:
        """Choose how many steps the next frame gets."""
        steps, wanted = self.steps, self.steps * float(np.sqrt(self._over(self._made)))
        self.steps = int(np.clip(np.ceil(wanted), max(1, steps // 2), min(MOST, 2 * steps)))
        # What is remembered shall be what such steps would have made.
        fading = np.exp(-self._frame / self._memory) * (steps / self.steps) ** 2
        self._made = self._made * fading[:, None]

    def _over(self, made: Floats) -> float:
        """Errors remembered, (n, 3) [m], over what is allowed for as long: the worst shell's."""
        sizes = zip(self.norm(made, 0.0), self._rates, self._lasts, strict=True)
        return max(size / (rate * lasts) for size, rate, lasts in sizes)

    def kept(self) -> dict[str, Any]:
        """Plain arrays for a saved state."""
        return {"step_size": np.array([self.steps, self.slack]), "step_error": self._made}

    def restore(self, saved: dict[str, Any]) -> None:
        """Take up what `kept` gave; a state that another scheme has saved has nothing of it."""
        if "step_size" not in saved:
            return
        numbers, made = (np.array(saved.get(name, ()), dtype=np.float64) for name in ("step_size", "step_error"))
        fits = numbers.shape == (2,) and made.shape == self._made.shape
        if not (fits and np.isfinite(numbers).all() and np.isfinite(made).all() and 1 <= numbers[0] <= MOST):
            raise ShellError("resume: step_size or step_error do not fit; is it a state of this scene?")
        self.steps, self.slack, self._made = int(numbers[0]), float(numbers[1]), by_columns(made)


def _swing(system: System, i: int) -> tuple[float, float]:
    """Size of shell i [m], and the time T in which a rod of its length would swing once [s]."""
    gravity = float(np.linalg.norm(system.scene.gravity_at(0.0))) or NO_GRAVITY
    size = float(np.linalg.norm(np.ptp(system.scene.shells[i].rest_positions, axis=0))) / np.sqrt(2.0)
    return size, 2.0 * np.pi * float(np.sqrt(2.0 * size / (3.0 * gravity)))


def share_of(accuracy: str | float) -> float:
    """The share of the size that an accuracy by name, or a number, stands for."""
    if isinstance(accuracy, str):
        if accuracy not in ACCURACY:
            raise ShellError(f"accuracy={accuracy!r} is not known: choose one of {', '.join(ACCURACY)}, or a number")
        return ACCURACY[accuracy]
    if isinstance(accuracy, bool) or not isinstance(accuracy, (int, float, np.number)) or not 0.0 < accuracy <= 1.0:
        raise ShellError(
            f"accuracy must be one of {', '.join(ACCURACY)} or a share of the size, up to 1, not {accuracy!r}"
        )
    return float(accuracy)
