"""A run as plain arrays, and a run taken up from them: what makes a resumed run identical to one that went on."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from .checks import floats, number
from .cracks import Cracks
from .dynamics.step_solver import StageSolver
from .errors import ShellError
from .integrators import Integrator, State
from .scene import Scene
from .step import StepSolver
from .system import System
from .types import Floats, Ints

# Rest areas that differ by no more than this share are those of one shell, read from a file in single precision.
SAME_AREA = 1e-5


def saved(state: State, integrator: Integrator, cracks: Cracks, steps: StepSolver | StageSolver) -> dict[str, Any]:
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
            "scene_mark": _mark(cracks.scene),
            "scene_areas": _areas(cracks.scene),
        }
    )
    # Nothing in it is the run's own: a caller may do with it what he likes.
    return {name: part.copy(order="K") if isinstance(part, np.ndarray) else part for name, part in kept.items()}


def restored(kept: dict[str, Any], integrator: Integrator, cracks: Cracks, steps: StepSolver | StageSolver) -> State:
    """Take up what `saved` gave; the integrator's system becomes the one that was cut so far."""
    _check_scene(kept, cracks.scene)
    system = integrator.system = cracks.restore(kept, integrator.system)
    integrator.soften_contact()
    state = _state(kept, system)
    integrator.preconditioner.restore(kept, system.version, system.free)
    steps.restore(kept)
    return state


def _mark(scene: Scene) -> Ints:
    """A number (1,) that scenes share only if their shells have the same faces."""
    digest = hashlib.sha256()
    for shell in scene.shells:
        digest.update(f"{len(shell.rest_positions)} ".encode() + np.ascontiguousarray(shell.faces).tobytes())
    return np.frombuffer(digest.digest()[:8], dtype="<i8").astype(np.int64)


def _areas(scene: Scene) -> Floats:
    """Rest area of each shell [m²], (shells,)."""
    return np.array([float(shell.areas.sum()) for shell in scene.shells])


def _check_scene(kept: dict[str, Any], scene: Scene) -> None:
    """Raise for the state of another scene; states that do not say of which are taken."""
    if "scene_mark" in kept and not np.array_equal(np.atleast_1d(np.asarray(kept["scene_mark"])), _mark(scene)):
        raise ShellError("resume: the state is that of another scene, whose shells have other faces")
    if "scene_areas" not in kept:
        return
    before, now = np.atleast_1d(np.asarray(kept["scene_areas"])), _areas(scene)
    if before.shape != now.shape or not np.allclose(before, now, rtol=SAME_AREA, atol=0.0):
        raise ShellError("resume: the state is that of another scene, whose shells have another size at rest")


def _state(kept: dict[str, Any], system: System) -> State:
    shape = (system.vertex_count, 3)
    meant = "finite and not negative; is it the state of a frame? It"
    moment = number(kept.get("time"), "resume: time", meant, lambda given: 0.0 <= given < np.inf)
    arrays: list[Floats] = []
    for name in ("positions", "velocities", "accelerations"):
        array = np.asfortranarray(floats(kept.get(name, ()), f"resume: {name}", f"numbers of shape {shape}"))
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
