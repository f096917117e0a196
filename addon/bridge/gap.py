"""The gap: how far a sheet's mid-surface stays from whatever it meets.

Between two sheets the core keeps half a distance for each. A collider has no half of its own, so it is given what is
missing: planes and balls grow by it, meshes have it as their thickness.
"""

from typing import Any

import numpy as np

from ... import shellcore as sc
from ...shellcore.contact.bodies import half_distance

MILLI = 1e-3


def given(settings: Any) -> float | None:
    """The panel's gap [m], or None where it is the sheet's thickness."""
    return settings.contact_distance * MILLI or None


def own_half(shell: sc.Shell, gap: float | None) -> float:
    """What the core keeps a shell's mid-surface from a collider without thickness [m]."""
    return float(half_distance(shell, gap).mean())


def missing(shells: list[sc.Shell], gap: float | None) -> float:
    """What colliders add [m]; of sheets whose thickness differs, the one that needs least decides: none floats."""
    wanted = [float(np.mean(shell.material.thickness)) if gap is None else gap for shell in shells]
    return max(0.0, min(want - own_half(shell, gap) for want, shell in zip(wanted, shells, strict=True)))
