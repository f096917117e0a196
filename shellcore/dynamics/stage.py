"""What one implicit solve goes over: a step of a one-stage scheme, or a stage of a longer one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..types import Floats


@dataclass(frozen=True)
class Stage:
    """From positions `start` (n, 3) at `opens` [s] to `closes` [s], where the velocity of x is (x − base)/h.

    A step of implicit Euler opens where it is based, and h is how long it lasts. Later stages of a scheme open where
    the one before has ended, which nothing crosses, and are based where the scheme's formula says.
    """

    began: float
    """When the step began that this is a stage of [s]."""
    opens: float
    closes: float
    h: float
    """What divides the way from the base into a velocity [s]."""
    start: Floats
    speeds: Floats
    """Velocities where it opens [m/s], (n, 3)."""
    base: Floats
    """Where x would be without a velocity of its own [m], (n, 3)."""
    before: Floats | None
    """Accelerations to expect [m/s²], (n, 3), if anything tells."""
    acts: float
    """When what depends on velocities beyond a potential (wind, force fields) is taken [s]."""
    at: Floats
    moving: Floats
    """Positions [m] and velocities [m/s], (n, 3), where it is taken."""
    first: Floats | None = None
    """Positions (n, 3) where the step began, if this is not its first stage: strain rates are then counted from
    `carried` strains."""
    carry: float = 1.0
    """Of the scheme's formula, base = first + carry (start − first)."""
    smooth: bool = False
    """Whether what is moved by others has the velocity of its end, to second order, and not the mean."""

    @property
    def span(self) -> float:
        """From where it opens to where it closes [s]."""
        return self.closes - self.opens

    def carried(self, then: Floats, now: Floats) -> Floats:
        """What the formula makes of any measure of deformation that was `then` where the step began and is `now` where
        the stage opens: no sheet has been in the base itself, whose strain has an error of second order."""
        return then + self.carry * (now - then)

    def based(self, base: Floats) -> Stage:
        """The same with another base."""
        return replace(self, base=base)

    def mapped(self, read: Callable[[Floats], Floats]) -> Stage:
        """The same of points that are a linear map of the unknowns."""
        if read(self.start) is self.start:
            return self
        before, first = (None if part is None else read(part) for part in (self.before, self.first))
        start, speeds, base, at, moving = map(read, (self.start, self.speeds, self.base, self.at, self.moving))
        return replace(
            self, start=start, speeds=speeds, base=base, before=before, at=at, moving=moving, first=first
        )  # fmt: skip

    def speed_of(self, began: Floats, middle: Floats, closes: Floats) -> Floats:
        """Velocity at the end [m/s] of what is moved by others, from where it was as the step `began`, half-way and at
        the end; a step that is not `smooth` takes the mean."""
        whole = self.closes - self.began
        if not self.smooth:
            return (closes - began) / whole
        return (3.0 * closes - 4.0 * middle + began) / whole

    @staticmethod
    def euler(t: float, h: float, x: Floats, v: Floats, before: Floats | None = None) -> Stage:
        """A step over h [s] from x with velocities v (n, 3) that takes all else at its start."""
        return Stage(t, t, t + h, h, x, v, x, before, t, x, v)
