"""Gravity, wind and force fields of a scene, for the shells that are simulated together."""

from typing import Any

import bpy
import numpy as np

from ... import shellcore as sc
from .. import compat
from ..errors import UserError
from ..properties.forces import FIELD_TYPES
from .fields import Field, FieldForces, Numbers, Share, Weight, WindSpeed
from .lookup import known, order, taking_part
from .motion import Sampler
from .units import gravity, metres_per_unit

FAR = 1e30
"""Past everything; infinities have no mean."""


def acting(scene: Any, objects: list[Any], shells: list[sc.Shell], sampler: Sampler, depsgraph: Any) -> dict[str, Any]:
    """Keywords `gravity`, `wind` and `forces` of the core's Scene."""
    settings = [obj.thin_shell for obj in objects]
    counts = [len(shell.rest_positions) for shell in shells]
    fields = [_field(scene, source, objects, counts, sampler, depsgraph) for source in field_objects(scene, objects)]
    forces: list[Any] = []
    owners = [known(obj) for obj in objects]

    def sample(graph: Any) -> Any:
        shares = np.array([owner.get().thin_shell.field_gravity for owner in owners])
        return shares[:, None] * gravity(graph.scene_eval)

    pulls = sampler.track(sample, depsgraph)
    pull: Any = np.zeros(3)
    differ = len({each.field_gravity for each in settings}) > 1
    if differ or (len(objects) > 1 and any(_moves(obj, "field_gravity") for obj in objects)):
        forces.append(Weight([shell.mass for shell in shells], pulls))
    else:

        def pull(t: float) -> Any:
            return pulls.at(t)[0]

    others = [field for field in fields if field.kind != "WIND"]
    if others:
        forces.append(FieldForces(others))
    winds = [field for field in fields if field.kind == "WIND"]
    return {"gravity": pull, "wind": _wind(objects, counts, winds, sampler, depsgraph), "forces": forces}


def _moves(obj: Any, name: str) -> bool:
    """Whether one of our settings is animated."""
    return f"thin_shell.{name}" in compat.animated_paths(obj)


def field_objects(scene: Any, shells: list[Any]) -> list[Any]:
    """Objects whose force field acts on at least one of the shells, in the order of their names."""
    there = taking_part(bpy.context.view_layer)
    return [obj for obj in chosen_fields(scene, shells) if compat.session_uid(obj) in there]


def chosen_fields(scene: Any, shells: list[Any]) -> list[Any]:
    """Objects whose force field is set to act on the shells, also where they are in no collection that takes part."""
    found = []
    for obj in scene.objects:
        if obj.field is None or obj.field.type not in FIELD_TYPES or obj.hide_viewport:
            continue
        if any(_reaches(shell, obj) for shell in shells):
            found.append(obj)
    return sorted(found, key=order)


def unsupported_fields(scene: Any) -> list[Any]:
    """Objects with a force field that has no meaning for shells."""
    return [o for o in scene.objects if o.field is not None and o.field.type not in (*FIELD_TYPES, "NONE")]


def _reaches(shell: Any, source: Any) -> bool:
    collection = shell.thin_shell.field_collection
    return source != shell and (collection is None or _holds(collection, source))


def _holds(collection: Any, source: Any) -> bool:
    return any(obj == source for obj in collection.all_objects)


def _field(scene: Any, source: Any, objects: list[Any], counts: list[int], sampler: Sampler, depsgraph: Any) -> Field:
    given, scale, itself = source.field, metres_per_unit(scene), known(source)
    kind = str(given.type)

    def place(graph: Any) -> Any:
        matrix = np.array(itself.evaluated(graph).matrix_world, dtype=np.float64)
        matrix[:3, 3] *= scale
        return matrix

    def numbers(graph: Any) -> Any:
        return np.array(_numbers(itself.evaluated(graph).field, scale))

    owners, reached = [known(obj) for obj in objects], [_reaches(obj, source) for obj in objects]

    def shares(_graph: Any) -> Any:
        now = [owner.get().thin_shell for owner in owners]
        return np.array([each.field_all * getattr(each, f"field_{kind.lower()}") for each in now]) * reached

    return Field(
        kind=kind,
        place=sampler.track(place, depsgraph),
        numbers=sampler.track(numbers, depsgraph),
        share=Share(sampler.track(shares, depsgraph), counts),
        shape=given.falloff_type,
        side=given.z_direction,
        seed=int(given.seed),
        gravitation=bool(given.use_gravity_falloff),
    )


def _numbers(given: Any, scale: float) -> Numbers:
    """A field's panel as it is now; a limit that is off is one that nothing reaches."""
    angle = 1.0 if given.falloff_type == "CONE" else scale
    return Numbers(
        strength=given.strength,
        flow=given.flow,
        noise=given.noise,
        size=given.size * scale,
        linear_drag=given.linear_drag,
        quadratic_drag=given.quadratic_drag,
        power=given.falloff_power,
        least=given.distance_min * scale if given.use_min_distance else 0.0,
        most=given.distance_max * scale if given.use_max_distance else FAR,
        radial_power=given.radial_falloff,
        radial_least=given.radial_min * angle if given.use_radial_min else 0.0,
        radial_most=given.radial_max * angle if given.use_radial_max else FAR,
    )


def _wind(
    objects: list[Any], counts: list[int], fields: list[Field], sampler: Sampler, depsgraph: Any
) -> sc.Wind | None:
    settings = [obj.thin_shell for obj in objects]
    for name, label in (("air_lift", "Lift"), ("air_density", "Air Density"), ("air_drag", "Drag")):
        values = {getattr(each, name) for each in settings}
        if len(values) > 1:
            names = ", ".join(obj.name for obj in objects)
            raise UserError(
                f"{label} in Forces differs among shells that are simulated together ({names}): make it equal"
            )
    first = settings[0]
    if first.air_density <= 0 or first.air_drag <= 0:
        return None
    owners = [known(obj) for obj in objects]

    def velocities(_graph: Any) -> Any:
        return np.array([list(owner.get().thin_shell.wind_velocity) for owner in owners])

    own = Share(sampler.track(velocities, depsgraph), counts)
    speed = WindSpeed(own, fields, first.air_density)
    return sc.Wind(velocity=speed, drag=first.air_drag, lift=first.air_lift, density=first.air_density)
