"""How stiff a flat sheet's membrane must be so that nobody sees it stretch.

Paper is ten thousand times stiffer than its weight asks for: at its true stiffness a hanging sheet strains by 1e-6, and
all that buys is a harder problem for the solver. With the stretch lowered until the loads strain it by a stated
limit, bending untouched, it moves the same (`docs/theory/solver.md`, measured). Curved shells are left alone: there
stretch against bending decides how they buckle and dent. Loads that grow later are followed: before every frame the
sheets that were softened for less are stiffened again, never the other way.
"""

from __future__ import annotations

import numpy as np

from .scene import Scene
from .shell import PLANE, Shell
from .types import Floats

# Strain that loads may cause in a capped sheet.
STRAIN_LIMIT = 1e-3
# Moving sheets pull harder than hanging ones.
DYNAMIC = 3.0
# Loads may grow by this factor before a sheet is stiffened, and it gets this much in reserve: new matrices cost time.
GROWN, RESERVE = 1.5, 1.5


def stretch_scale(
    scene: Scene,
    shell: Shell,
    limit: float,
    t: float = 0.0,
    x: Floats | None = None,
    forces: Floats | None = None,
) -> float:
    """Factor (at most 1) on a shell's membrane stiffness that keeps strain under `limit`; 1 for curved shells.

    For the loads at t [s], with the shell's vertices at x [m], (n, 3), and what the scene's forces do [N], (n, 3).
    """
    angles = shell.rest_angles_at(0.0)
    curved = shell.rest_angles_move or (len(angles) and float(np.abs(angles).max()) > PLANE)
    yields = shell.plasticity is not None and shell.plasticity.yield_stretch is not None
    if yields or (shell.fracture is not None and shell.fracture.stretch is not None):
        return 1.0  # a softer membrane would strain its way past the limit
    # A sheet that starts strained, or rolled up, was given its stiffness for a reason.
    if limit <= 0.0 or curved or float(np.abs(shell.shape_angles).max(initial=0.0)) > PLANE:
        return 1.0
    if shell.rest.corners is not None and shell.rest.off(shell.start, shell.faces) > limit:
        return 1.0
    load = _load_per_area(scene, shell, t, shell.start if x is None else x, forces)
    tension = load * float(np.linalg.norm(np.ptp(shell.rest_positions, axis=0)))
    stiffest = max(float(np.max(a)) for a in shell.material.stretch)
    if tension == 0.0:
        return 1.0
    return min(1.0, DYNAMIC * tension / (limit * stiffest))


def _load_per_area(scene: Scene, shell: Shell, t: float, x: Floats, forces: Floats | None) -> float:
    """Weight, loads, pressure, wind and further forces on a shell [Pa] at t [s]."""
    area = float(shell.areas.sum())
    total = float(shell.mass.sum()) * float(np.linalg.norm(scene.gravity_at(t))) / area
    total += sum(_size(load.at(t)) for load in shell.loads) / area
    total += abs(shell.pressure_at(t))
    if scene.wind is not None:
        air = scene.wind.at(t, x)
        total += 0.5 * scene.wind.density * scene.wind.drag * float((air**2).sum(axis=1).max())
    if forces is not None:
        total += _size(forces) / area
    return total


def _size(forces: Floats) -> float:
    return float(np.sqrt((forces**2).sum(axis=1)).sum())
