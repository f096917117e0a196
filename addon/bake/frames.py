"""Between frames: moving the playhead, what is kept of a frame, where to continue from."""

from typing import Any

import bpy
import numpy as np

from .. import compat
from ..bridge.build import Simulation
from ..bridge.units import to_world
from ..cache import pc2
from ..errors import UserError
from .store import Store, Target, face_to_vertex


def solver_options(obj: Any) -> dict[str, Any]:
    """Keywords of `sc.progress` from the panel."""
    settings = obj.thin_shell
    return {
        "substeps": settings.substeps,
        "integrator": settings.integrator,
        "beta": settings.newmark_beta,
        "gamma": settings.newmark_gamma,
        "jacobian": settings.jacobian,
        "solver": settings.solver,
        "iterations": settings.iterations or None,
        "strain_limit": settings.strain_limit / 100.0,
        "tolerance": settings.tolerance * 1e-3 or None,
    }


def show(scene_name: str, frame: int, simulation: Simulation, start: int, fps: float) -> None:
    """Move the playhead and sample what moves."""
    bpy.data.scenes[scene_name].frame_set(frame)
    for link in simulation.links:
        obj = bpy.data.objects.get(link.name)
        if obj is None or compat.session_uid(obj) != link.uid:
            raise UserError(f"'{link.name}' was deleted or renamed during the bake: bake again")
    simulation.capture((frame - start) / fps)


def kept_fields(store: Store, simulation: Simulation, frame: Any) -> list[dict[str, Any]]:
    """What each object keeps of a frame, per vertex."""
    kept = []
    offset = 0
    for target, link, part in zip(store.targets, simulation.links, frame.slices, strict=True):
        faces = link.shell.faces
        values: dict[str, Any] = {}
        for name in target.keep_fields:
            if name == "velocity":
                values[name] = frame.velocities[part]
            elif name == "contact":
                values[name] = frame.fields[name][part]
            else:
                values[name] = face_to_vertex(
                    frame.fields[name][offset : offset + len(faces)], faces, part.stop - part.start
                )
        offset += len(faces)
        kept.append(values)
    return kept


def zero_fields(target: Target, count: int) -> dict[str, Any]:
    return {name: np.zeros((count, 3) if name == "velocity" else count) for name in target.keep_fields}


def state_from_cache(
    store: Store, simulation: Simulation, scene: str, start: int, frame: int, fps: float
) -> dict[str, Any]:
    """State at a frame of a finished bake: positions as baked, velocities from the last two frames."""
    placed = []
    for shown in (frame - 1, frame):
        show(scene, shown, simulation, start, fps)
        parts = []
        for target, link in zip(store.targets, simulation.links, strict=True):
            with pc2.Reader(target.paths.part, partial=True) as reader:
                sample = reader.sample(shown - start).astype(np.float64)
            parts.append(to_world(sample, link.matrix.now, link.scale))
        placed.append(np.concatenate(parts))
    before, x = placed
    return {
        "time": (frame - start) / fps,
        "positions": x,
        "velocities": (x - before) * fps,
        "accelerations": np.zeros_like(x),
    }
