"""One step in time of many modes that know nothing of each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..types import Floats

# Modes are followed in time where they turn by less than this phase [rad] a step; faster ones are damped, and
# settle at once beyond the second.
FOLLOWED, LOST = 1.0, 3.0


@dataclass(frozen=True)
class Rule:
    """One step of h [s] for every mode: v' = keep v − pull q + push f, q' = q + before v + after v', each (m,).

    Newmark's average acceleration (β = ¼, γ = ½) for modes the step can follow; the average leans to its end (backward
    Euler) for faster ones, which would ring for ever.
    """

    step: float
    keep: Floats
    pull: Floats
    push: Floats
    before: Floats
    after: Floats
    compliance: Floats
    """What a handle's force [N] held over the step moves each amplitude by: that of backward Euler."""

    @staticmethod
    def of(h: float, square: Floats, decay: Floats) -> Rule:
        lean = 0.5 + 0.5 * np.clip((h * np.sqrt(square) - FOLLOWED) / (LOST - FOLLOWED), 0.0, 1.0)
        push = h / (1.0 + lean * h * (decay + lean * h * square))
        keep = push / h * (1.0 - (1.0 - lean) * h * (decay + lean * h * square))
        compliance = h * h / (1.0 + h * decay + h * h * square)
        return Rule(h, keep, push * square, push, (1.0 - lean) * h, lean * h, compliance)
