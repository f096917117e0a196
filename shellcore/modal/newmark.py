"""One step in time of many modes that know nothing of each other, and how each of them dies out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..energies.hinge import hinge_angles
from ..shell import Shell
from ..types import Floats

# Modes are followed in time where they turn by less than this phase [rad] a step; faster ones are damped, and
# settle at once beyond the second.
FOLLOWED, LOST = 1.0, 3.0
# How far the average over a step leans to its end, without handles and with them. A handle that moves at will leaves a
# velocity that changes sign every step, by −(1 − lean)/lean: it must die out.
AVERAGE, HELD = 0.5, 0.55


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
    """What a unit of force held over the step moves each amplitude by."""
    least: float
    """Smallest lean of any mode."""

    @staticmethod
    def of(h: float, square: Floats, decay: Floats, least: float = AVERAGE) -> Rule:
        """For eigenvalues ω² and decays c, each (m,). `least`: ½ keeps energy, 1 is backward Euler."""
        lean = least + (1.0 - least) * np.clip((h * np.sqrt(square) - FOLLOWED) / (LOST - FOLLOWED), 0.0, 1.0)
        push = h / (1.0 + lean * h * (decay + lean * h * square))
        keep = push / h * (1.0 - (1.0 - lean) * h * (decay + lean * h * square))
        after = lean * h
        return Rule(h, keep, push * square, push, h - after, after, after * push, least)


def decays(shell: Shell, shapes: Floats, square: Floats) -> Floats:
    """Decay c [1/s] of each mode, (m,): Rayleigh's ξ + ζω², and what hinges dissipate in its shape (3, n, m)."""
    damping = shell.damping
    decay: Floats = damping.mass + (damping.stiffness + damping.viscosity) * square
    if damping.hinge == 0.0 or len(shell.hinges) == 0:
        return decay
    x, hinges = shell.rest_positions, shell.hinges
    length = np.linalg.norm(shell.rest.hinge_edges, axis=1)
    for i in range(len(decay)):
        shape = shapes[:, :, i].T
        step = 1e-5 * float(length.min()) / max(float(np.abs(shape).max()), 1e-300)
        rate = (hinge_angles(x + step * shape, hinges) - hinge_angles(x - step * shape, hinges)) / (2.0 * step)
        decay[i] += damping.hinge * float(length @ rate**2)
    return decay
