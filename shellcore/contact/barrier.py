"""The contact energy of one gap: a spring that stiffens.

With ĝ the gap at which force begins, a spring ½ k (ĝ − g)² down to g = ĝ/2, then a logarithm that matches value,
slope and curvature there (the two-stage activation of Offset Geometric Contact, Chen et al. 2025),

    b(g) = k ĝ² (1/8 − ¼ log(2g/ĝ)),

and from g = 0.35 ĝ on its second-order expansion. Nearly a spring, which solvers take in few iterations; twice as
stiff under load; finite everywhere, so that a solver may pass through what the bound (`bound`) will not let out.
(With the logarithm down to ĝ/10 a drape took 2.5 times as many gradients.)
"""

from __future__ import annotations

import numpy as np

from ..types import Floats

DEEP, DEEPEST = 0.5, 0.35


def barrier(gap: Floats, full: Floats, stiffness: Floats) -> tuple[Floats, Floats, Floats]:
    """Energy [J], its slope [N] and curvature [N/m] by the gap [m]; force begins at the gap `full`. Each (p,)."""
    depth = np.maximum(full - gap, 0.0)
    value = 0.5 * stiffness * depth * depth
    slope = -stiffness * depth
    curvature = np.where(depth > 0, stiffness, 0.0)
    deep = np.flatnonzero(gap < DEEP * full)
    if len(deep):
        hat = full[deep]
        least = DEEPEST * hat
        g = np.maximum(gap[deep], least)
        strength = 0.25 * stiffness[deep] * hat * hat
        below = gap[deep] - g
        bend = strength / (g * g)
        push = -strength / g
        value[deep] = strength * (0.5 - np.log(2.0 * g / hat)) + push * below + 0.5 * bend * below * below
        slope[deep] = push + bend * below
        curvature[deep] = bend
    return value, slope, curvature
