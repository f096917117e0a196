"""A run as plain arrays, and a run taken up from them: what makes a resumed run identical to one that went on."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cracks import Cracks
from .errors import ShellError
from .integrators import Integrator, State
from .step import StepSolver
from .system import System
from .types import Floats


def saved(state: State, integrator: Integrator, cracks: Cracks, steps: StepSolver) -> dict[str, Any]:
    """Everything that the next step depends on, besides the scene."""
    system = integrator.system
    kept = (
        system.kept()
        | cracks.kept()
        | integrator.preconditioner.kept()
        | steps.kept()
        | {
            "time": state.time,
            "positions": state.x,
            "velocities": state.v,
            "accelerations": state.a,
            "stretch_scales": np.array(system.stretch_scales),
        }
    )
    # Nothing in it is the run's own: a caller may do with it what he likes.
    return {name: part.copy(order="K") if isinstance(part, np.ndarray) else part for name, part in kept.items()}


def restored(kept: dict[str, Any], integrator: Integrator, cracks: Cracks, steps: StepSolver) -> State:
    """Take up what `saved` gave; the integrator's system becomes the one that was cut so far."""
    system = integrator.system = cracks.restore(kept, integrator.system)
    integrator.soften_contact()
    state = _state(kept, system)
    integrator.preconditioner.restore(kept, system.version, system.free)
    steps.restore(kept)
    return state


def _state(kept: dict[str, Any], system: System) -> State:
    shape = (system.vertex_count, 3)
    moment = float(kept.get("time", np.nan))
    if not (np.isfinite(moment) and moment >= 0.0):
        raise ShellError(f"resume: time must be finite and not negative, not {moment}; is it the state of a frame?")
    arrays: list[Floats] = []
    for name in ("positions", "velocities", "accelerations"):
        array = np.array(kept.get(name, ()), dtype=np.float64, order="F")
        if array.shape != shape or not np.isfinite(array).all():
            raise ShellError(f"resume: {name} must be finite with shape {shape}; is it a state of this scene?")
        arrays.append(array)
    system.restore(kept)
    if "stretch_scales" in kept:
        scales = np.atleast_1d(np.asarray(kept["stretch_scales"], dtype=np.float64))
        if scales.shape != (len(system.scene.shells),) or not ((scales > 0) & (scales <= 1)).all():
            raise ShellError("resume: stretch_scales must be one number per shell above 0 and at most 1")
        system.set_stretch_scales(scales.tolist())
    return State(moment, arrays[0], arrays[1], arrays[2])
