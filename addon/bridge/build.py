"""From objects to one `Scene` of the core, and back from its frames to object space."""

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ... import shellcore as sc
from ...shellcore.errors import listed
from .. import compat
from ..errors import UserError
from . import creases
from . import mesh as meshes
from .axes import face_axes
from .colliders import colliders
from .forces import acting
from .gap import given, missing
from .lookup import known
from .material import weighted
from .motion import Sampler, Track
from .pattern import corner_pattern, pattern_axes
from .units import Clock, frames_per_second, matrix_of, metres_per_unit, to_object, to_world
from .weights import group_weights
from .yielding import fracture, plasticity, seams

# Pins at least this heavy hold exactly; weights are painted in single precision.
EXACT = 0.9995


@dataclass
class Link:
    """One object's share of a simulation."""

    name: str
    uid: int
    shell: sc.Shell
    arrays: meshes.MeshArrays
    matrix: Track
    """World matrix, (4, 4), sampled every frame."""
    scale: float

    def local(self, positions: Any) -> Any:
        """World positions [m] in the object's space of the last sample, (n, 3)."""
        return to_object(positions, self.matrix.now, self.scale)


@dataclass
class Simulation:
    """What the core simulates and how it maps back to objects."""

    scene: sc.Scene
    links: list[Link]
    sampler: Sampler

    def capture(self, time: float) -> None:
        """Sample everything that moves from the scene as it is evaluated now; `time` [s] from the start."""
        self.sampler.capture(time, bpy.context.evaluated_depsgraph_get())


def build(
    scene: Any, objects: list[Any], breaking: bool = True, still_pins: bool = False, start: int | None = None
) -> Simulation:
    """The simulation of the objects, with the scene standing at the first frame and inputs visible.

    `breaking`: False leaves fracture out, for what cannot show another mesh. `still_pins`: pins hold where they are,
    whatever the mesh does later. `start`: the frame that is time 0, where it is not the shells' own.
    """
    depsgraph = bpy.context.evaluated_depsgraph_get()
    sampler, scale, fps = Sampler(), metres_per_unit(scene), frames_per_second(scene)
    links, attachments = [], []
    for obj in objects:
        clock = Clock(obj.thin_shell.frame_start if start is None else start, fps)
        link = _link(obj, depsgraph, sampler, scale, clock, breaking, still_pins)
        links.append(link)
        attachments += _seams(obj, link, clock, sampler, depsgraph)
    shells = [link.shell for link in links]
    gap = given(objects[0].thin_shell)
    surfaces = colliders(scene, objects, missing(shells, gap), sampler, depsgraph, scale)
    forces = acting(scene, objects, shells, sampler, depsgraph)
    touching = any(obj.thin_shell.self_contact for obj in objects)
    made = sc.Scene(
        shells,
        colliders=surfaces,
        attachments=attachments,
        self_contact=touching,
        contact_distance=gap,
        # What starts a little in a floor or a body comes out of it, as artists expect.
        intersections="untangle",
        **forces,
    )
    return Simulation(made, links, sampler)


def _link(
    obj: Any, depsgraph: Any, sampler: Sampler, scale: float, clock: Clock, breaking: bool, still_pins: bool
) -> Link:
    name, settings, itself = obj.name, obj.thin_shell, known(obj)
    found = itself.evaluated(depsgraph)
    mesh = found.data
    arrays = meshes.read(mesh, one_way=settings.bending == "subdivision")
    matrix = sampler.track(lambda graph: matrix_of(itself.evaluated(graph)), depsgraph)
    start = to_world(arrays.positions, matrix.now, scale)
    rest = _rest_positions(obj, depsgraph, start, matrix.now, scale)
    pattern = corner_pattern(obj, mesh, arrays, start)
    if pattern is None:
        axes, strength = face_axes(obj, mesh, arrays, rest, matrix.now)
    else:
        axes, strength = pattern_axes(obj, mesh, arrays, pattern, start, matrix.now)
    try:
        if settings.bending == "subdivision":
            # What was modelled is the surface; the shell is built from the control mesh whose surface that is.
            start, rest = sc.fit_control(start, arrays.faces), sc.fit_control(rest, arrays.faces)
        shell = sc.Shell(
            rest,
            arrays.faces,
            weighted(obj, mesh, arrays, strength),
            bending=settings.bending,
            membrane=settings.membrane,
            axes=axes,
            rest_angles=settings.rest_angles,
            damping=sc.Damping(
                mass=settings.damping_mass,
                stiffness=settings.damping_stiffness,
                hinge=settings.damping_hinge,
                viscosity=settings.damping_viscosity,
            ),
            pressure=_pressure(obj, sampler, depsgraph),
            plasticity=plasticity(obj),
            fracture=fracture(obj, mesh, arrays) if breaking else None,
            self_contact=settings.self_contact,
            friction=_friction(obj, sampler, depsgraph),
            start=start,
            hinge_fit=settings.hinge_fit,
            rest_uv=pattern,
        )
        creases.apply(obj, mesh, shell, matrix.now, clock)
        if breaking:
            seams(obj, mesh, shell, clock)
    except sc.ShellError as error:
        raise located(error, name, arrays) from None
    _pin(obj, mesh, shell, sampler, depsgraph, scale, still_pins)
    return Link(name, compat.session_uid(obj), shell, arrays, matrix, scale)


def _pressure(obj: Any, sampler: Sampler, depsgraph: Any) -> Any:
    """[Pa] as a function of time [s], or None where it is off."""
    if not obj.thin_shell.use_pressure:
        return None
    itself = known(obj)
    track = sampler.track(lambda _graph: np.array(itself.get().thin_shell.pressure), depsgraph)
    return lambda t: float(track.at(t))


def _friction(obj: Any, sampler: Sampler, depsgraph: Any) -> Any:
    """Coulomb's coefficient as a function of time [s]."""
    itself = known(obj)
    track = sampler.track(lambda _graph: np.array(itself.get().thin_shell.friction), depsgraph)
    return lambda t: float(track.at(t))


def _stiffness(obj: Any, name: str, made: Any, sampler: Sampler, depsgraph: Any) -> Any:
    """What is `made` of a setting that is a stiffness, as a function of time [s] where that is animated: where it is
    not, solvers make more of a number."""
    if f"thin_shell.{name}" not in compat.animated_paths(obj):
        return made(getattr(obj.thin_shell, name))
    itself = known(obj)
    return sampler.track(lambda _graph: np.array(made(getattr(itself.get().thin_shell, name))), depsgraph).at


def located(error: sc.ShellError, name: str, arrays: meshes.MeshArrays) -> UserError:
    """The core's complaint with the object's name and the polygons of its mesh instead of triangles."""
    polygons = sorted({int(arrays.polygons[f]) for f in error.faces if f < len(arrays.polygons)})
    said = str(error).replace(listed(error.faces), listed(polygons)) if error.faces else str(error)
    return UserError(f"{name}: {said}", object=name, polygons=polygons, edges=error.edges, vertices=error.vertices)


def _rest_positions(obj: Any, depsgraph: Any, start: Any, matrix: Any, scale: float) -> Any:
    settings = obj.thin_shell
    if settings.rest_shape == "KEY":
        keys = obj.data.shape_keys
        key = keys.key_blocks.get(settings.rest_key) if keys else None
        if key is None:
            raise UserError(
                f"{obj.name}: there is no shape key '{settings.rest_key}' for the rest shape: choose one in Shape",
                object=obj.name,
            )
        flat = np.empty(3 * len(key.data), dtype=np.float32)
        key.data.foreach_get("co", flat)
        rest = to_world(flat.reshape(-1, 3).astype(np.float64), matrix, scale)
    elif settings.rest_shape == "OBJECT":
        other = settings.rest_object
        if other is None:
            raise UserError(
                f"{obj.name}: the rest shape comes from an object, but none is chosen in Shape", object=obj.name
            )
        found = other.evaluated_get(depsgraph)
        rest = to_world(meshes.vertex_positions(found.data), np.array(found.matrix_world, dtype=np.float64), scale)
    else:
        return start
    if len(rest) != len(start):
        raise UserError(
            f"{obj.name}: the rest shape has {len(rest)} vertices, the mesh {len(start)}: they must be the same mesh "
            "(check the modifiers above Thin Shell)",
            object=obj.name,
        )
    return rest


def _pin(obj: Any, mesh: Any, shell: sc.Shell, sampler: Sampler, depsgraph: Any, scale: float, still: bool) -> None:
    settings, name, itself = obj.thin_shell, obj.name, known(obj)
    if not settings.pin_group:
        return
    weights = group_weights(obj, mesh, settings.pin_group)
    if weights is None:
        raise UserError(
            f"{name}: there is no vertex group '{settings.pin_group}' to pin: choose one in Shape or clear the field",
            object=name,
        )

    def targets(chosen: Any) -> Any:
        if still:
            return None

        def sample(graph: Any) -> Any:
            now = itself.evaluated(graph)
            return to_world(meshes.vertex_positions(now.data)[chosen], matrix_of(now), scale)

        return sampler.track(sample, depsgraph).at

    exact = np.flatnonzero(weights >= EXACT)
    if len(exact):
        shell.pin(exact, targets=targets(exact))
    soft = np.flatnonzero((weights > 0) & (weights < EXACT))
    if len(soft) == 0:
        return
    share = weights[soft]
    # Modes are those of one stiffness.
    strength = settings.pin_stiffness * share
    if not still:
        strength = _stiffness(obj, "pin_stiffness", lambda value: value * share, sampler, depsgraph)
    if callable(strength) or settings.pin_stiffness > 0:
        shell.pin(soft, targets=targets(soft), stiffness=strength)


def _seams(obj: Any, link: Link, clock: Clock, sampler: Sampler, depsgraph: Any) -> list[sc.Attach]:
    """Ties along edges without a face, where sewing is on."""
    edges = link.arrays.loose_edges
    if not obj.thin_shell.use_sewing or len(edges) == 0:
        return []
    settings = obj.thin_shell
    release = clock.time(settings.seam_release) if settings.use_seam_release else None
    # Zero stands for the sheet's own, as in the core.
    own = float(np.max(link.shell.material.stretch[0]))
    stiffness = _stiffness(obj, "sewing_stiffness", lambda value: value or own, sampler, depsgraph)
    return [sc.Attach(link.shell, edges[:, 0], link.shell, edges[:, 1], stiffness=stiffness, release=release)]
