"""Gravity, wind and force fields of a scene, for the shells that are simulated together."""

from typing import Any

import numpy as np

from ... import shellcore as sc
from ..errors import UserError
from ..properties.forces import FIELD_TYPES
from .falloff import Falloff
from .fields import Field, FieldForces, Weight, WindSpeed
from .motion import Sampler, evaluated
from .units import gravity, metres_per_unit


def acting(scene: Any, objects: list[Any], shells: list[sc.Shell], sampler: Sampler, depsgraph: Any) -> dict[str, Any]:
    """Keywords `gravity`, `wind` and `forces` of the core's Scene."""
    settings = [obj.thin_shell for obj in objects]
    counts = [len(shell.rest_positions) for shell in shells]
    fields = [_field(scene, source, settings, counts, sampler, depsgraph) for source in field_objects(scene, objects)]
    forces: list[Any] = []
    pull = gravity(scene)
    shares = np.array([each.field_gravity for each in settings])
    if len(set(shares.tolist())) > 1:
        mass = np.concatenate([shell.mass * share for shell, share in zip(shells, shares, strict=True)])
        forces.append(Weight(mass, pull))
        pull = np.zeros(3)
    else:
        pull = pull * shares[0]
    others = [field for field in fields if field.kind != "WIND"]
    if others:
        forces.append(FieldForces(others))
    return {"gravity": pull, "wind": _wind(objects, counts, [f for f in fields if f.kind == "WIND"]), "forces": forces}


def field_objects(scene: Any, shells: list[Any]) -> list[Any]:
    """Objects whose force field acts on at least one of the shells, in the order of their names."""
    found = []
    for obj in scene.objects:
        if obj.field is None or obj.field.type not in FIELD_TYPES or obj.hide_viewport:
            continue
        if any(_reaches(shell, obj) for shell in shells):
            found.append(obj)
    return sorted(found, key=lambda obj: obj.name)


def unsupported_fields(scene: Any) -> list[Any]:
    """Objects with a force field that has no meaning for shells."""
    return [o for o in scene.objects if o.field is not None and o.field.type not in (*FIELD_TYPES, "NONE")]


def _reaches(shell: Any, source: Any) -> bool:
    collection = shell.thin_shell.field_collection
    return source is not shell and (collection is None or source.name in collection.all_objects)


def _field(scene: Any, source: Any, settings: list[Any], counts: list[int], sampler: Sampler, depsgraph: Any) -> Field:
    given, scale, name = source.field, metres_per_unit(scene), source.name
    kind = str(given.type)

    def place(graph: Any) -> Any:
        found = evaluated(name, graph)
        matrix = np.array(found.matrix_world, dtype=np.float64)
        matrix[:3, 3] *= scale
        return np.concatenate([matrix.ravel(), [found.field.strength, found.field.flow]])

    per_shell = [
        each.field_all * getattr(each, f"field_{kind.lower()}")
        if each.field_collection is None or name in each.field_collection.all_objects
        else 0.0
        for each in settings
    ]
    return Field(
        kind=kind,
        place=sampler.track(place, depsgraph),
        falloff=_falloff(given, scale),
        weights=np.repeat(per_shell, counts),
        size=given.size * scale,
        seed=int(given.seed),
        noise=given.noise,
        linear_drag=given.linear_drag,
        quadratic_drag=given.quadratic_drag,
        gravitation=bool(given.use_gravity_falloff),
    )


def _falloff(given: Any, scale: float) -> Falloff:
    angle = 1.0 if given.falloff_type == "CONE" else scale
    return Falloff(
        shape=given.falloff_type,
        power=given.falloff_power,
        least=given.distance_min * scale if given.use_min_distance else None,
        most=given.distance_max * scale if given.use_max_distance else None,
        radial_power=given.radial_falloff,
        radial_least=given.radial_min * angle if given.use_radial_min else None,
        radial_most=given.radial_max * angle if given.use_radial_max else None,
        side=given.z_direction,
    )


def _wind(objects: list[Any], counts: list[int], fields: list[Field]) -> sc.Wind | None:
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
    steady = np.repeat([list(each.wind_velocity) for each in settings], counts, axis=0)
    speed = WindSpeed(steady, fields, first.air_density)
    return sc.Wind(velocity=speed, drag=first.air_drag, lift=first.air_lift, density=first.air_density)
