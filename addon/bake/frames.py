"""Between frames: moving the playhead, what is kept of a frame, where to continue from."""

from typing import Any

import bpy
import numpy as np

from ...shellcore.dynamics.step_size import share_of
from ...shellcore.stretch_cap import STRAIN_LIMIT
from .. import compat
from ..bridge.build import Link, Simulation
from ..bridge.mesh import inputs_visible
from ..bridge.units import to_world
from ..cache import pc2
from ..errors import UserError
from ..properties.model import steps_by_quality
from .store import Share, Store, Target, face_to_vertex

# Results the core gives per vertex; the others are per face.
PER_VERTEX = ("contact",)


def solver_options(obj: Any) -> dict[str, Any]:
    """Keywords of `sc.progress` from the panel."""
    settings = obj.thin_shell
    custom = settings.quality == "CUSTOM"
    return {
        "substeps": None if steps_by_quality(settings) else settings.substeps,
        "accuracy": settings.accuracy / 100.0 if custom else settings.quality.lower(),
        "integrator": settings.integrator,
        "beta": settings.newmark_beta,
        "gamma": settings.newmark_gamma,
        "jacobian": settings.jacobian,
        "solver": settings.solver,
        "iterations": settings.iterations or None,
        "strain_limit": settings.strain_limit / 100.0,
        "tolerance": settings.tolerance * 1e-3 or None,
    }


def live_options(obj: Any) -> dict[str, Any]:
    """Those of a quick look: few iterations a step, or few steps where Quality says how many."""
    settings, options = obj.thin_shell, solver_options(obj)
    if steps_by_quality(settings):
        # A limit of iterations would make it one step a frame, and that one unsound where sheets touch.
        options["accuracy"] = max(share_of(options["accuracy"]), share_of("draft"))
        # Stiff sheets at their true stretch take as many steps for a draft as for a bake.
        options["strain_limit"] = max(options["strain_limit"], STRAIN_LIMIT)
    else:
        options["iterations"] = settings.live_iterations
    return options


def show(scene: Any, frame: int, simulation: Simulation, start: int, fps: float) -> None:
    """Move the playhead and sample what moves; afterwards the objects are as their artist has them."""
    objects = [shown(link) for link in simulation.links]
    with inputs_visible(objects):
        scene.frame_set(frame)
        for link in simulation.links:
            shown(link)
        simulation.capture((frame - start) / fps)


def shown(link: Link) -> Any:
    """The object of a link, as it is now."""
    every: Any = bpy.data.objects
    obj = next((each for each in every if compat.session_uid(each) == link.uid), None)
    if obj is None:
        raise UserError(f"'{link.name}' was deleted or renamed during the bake: bake again", object=link.name)
    return obj


def shares(store: Store, simulation: Simulation, frame: Any) -> list[Share]:
    """What each object keeps of a frame, per vertex."""
    made = []
    row = before = 0
    for i, (target, link, part) in enumerate(zip(store.targets, simulation.links, frame.slices, strict=True)):
        # A subdivision shell is shown where its surface is, through the points it was modelled by.
        positions = frame.positions[part] if link.shell.loop is None else link.shell.limit(frame.control(i))
        rows = slice(row, row + len(link.shell.faces))
        faces = frame.faces[rows] - part.start
        # Copies come after the shell's own vertices, and their parents are numbered as in the frame before.
        parents = frame.parent[part][target.points :] - before
        values: dict[str, Any] = {}
        for name in target.info.fields:
            if name == "velocity":
                values[name] = frame.velocities[part]
                continue
            whole = frame.fields[name]
            if name in PER_VERTEX:
                values[name] = whole[part]
            else:
                values[name] = face_to_vertex(whole[rows], faces, part.stop - part.start)
        made.append(Share(positions, faces, parents, values))
        row, before = rows.stop, before + target.points
    return made


def first_share(target: Target, link: Link) -> Share:
    """The sheet before anything happened."""
    count = len(link.shell.start)
    zero = {name: np.zeros((count, 3) if name == "velocity" else count) for name in target.info.fields}
    return Share(link.shell.limit(link.shell.start), link.shell.faces, np.zeros(0, dtype=np.int64), zero)


def state_from_cache(
    store: Store, simulation: Simulation, scene: Any, start: int, frame: int, fps: float
) -> dict[str, Any]:
    """State at a frame of a finished bake: positions as baked, velocities from the last two frames."""
    for link in simulation.links:
        if link.shell.loop is not None:
            raise UserError(
                f"{link.name}: a cache does not hold all of a Subdivision shell's state: bake from the start",
                object=link.name,
            )
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
