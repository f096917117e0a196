"""What a bake was made from, as short hashes: settings alone (cheap, for the panel) and everything (at the bake)."""

import hashlib
import json
from typing import Any

import numpy as np

from .. import compat
from ..bridge.build import Simulation
from ..bridge.mesh import whole_mesh
from ..bridge.units import frames_per_second, gravity, metres_per_unit
from ..properties import physics_names
from ..properties.model import steps_by_quality
from ..properties.shape import PATTERN
from ..realtime.properties import summary

SINCE_FIRST_VERSION = PATTERN | {"quality", "accuracy", "use_outer_thickness"}
"""Settings of which the hashes of 0.1.0 know nothing."""


def of_settings(obj: Any, scene: Any) -> str:
    """Settings that change the result, the scene's units and gravity, and the size of the mesh: cheap, for the panel.

    What they point to is hashed by what it holds (`inputs`), what is animated by its keyframes; names do not count.
    """
    settings, moved = obj.thin_shell, compat.animated_paths(obj)
    rna = settings.bl_rna.properties
    # Bakes from before there were patterns stay what they are.
    unused = frozenset() if settings.rest_shape == "UV" else PATTERN
    values: dict[str, Any] = {
        name: plain(getattr(settings, name))
        for name in physics_names()
        if name not in unused
        and rna[name].type != "POINTER"
        and name != "preset_name"
        and f"thin_shell.{name}" not in moved
    }
    if not steps_by_quality(settings):
        # They say nothing then, and bakes of before know nothing of them.
        values = {name: value for name, value in values.items() if name not in ("quality", "accuracy")}
    values["realtime"] = summary(obj)
    values["frame_start"] = settings.frame_start
    still = [] if compat.animated_paths(scene) & {"gravity", "use_gravity"} else [float(g) for g in gravity(scene)]
    values["scene"] = [frames_per_second(scene), metres_per_unit(scene), *still]
    mesh = whole_mesh(obj)
    values["mesh"] = [len(mesh.vertices), len(mesh.edges), len(mesh.polygons)]
    return _hash(values)


def fits(obj: Any, scene: Any, made_from: str) -> bool:
    """Whether a bake made from settings of this hash has those that the object has now."""
    return made_from == of_settings(obj, scene) or made_from == _of_first_version(obj, scene)


def _of_first_version(obj: Any, scene: Any) -> str | None:
    """What 0.1.0 would have called these settings; None where it had no such shells."""
    settings = obj.thin_shell
    if not settings.use_outer_thickness:
        return None
    values = {name: plain(getattr(settings, name)) for name in physics_names() if name not in SINCE_FIRST_VERSION}
    values["realtime"] = summary(obj)
    values["frame_start"] = settings.frame_start
    values["scene"] = [frames_per_second(scene), metres_per_unit(scene), *(float(g) for g in gravity(scene))]
    mesh = whole_mesh(obj)
    values["mesh"] = [len(mesh.vertices), len(mesh.edges), len(mesh.polygons)]
    return _hash(values)


def _hash(values: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:32]


def of_simulation(simulation: Simulation, settings_hashes: list[str]) -> str:
    """Settings and every array the simulation starts from."""
    digest = hashlib.sha256("".join(settings_hashes).encode())
    for link in simulation.links:
        shell = link.shell
        pattern = () if shell.rest.pattern is None else (shell.rest.pattern,)
        for array in (shell.rest_positions, shell.start, shell.faces, shell.axes, link.matrix.now, *pattern):
            digest.update(np.ascontiguousarray(array).tobytes())
        for pin in shell.pins:
            digest.update(pin.vertices.tobytes())
    return digest.hexdigest()[:32]


def plain(value: Any) -> Any:
    if isinstance(value, (bool, int, float, str)):
        return value
    if value is None or hasattr(value, "name_full"):
        return None if value is None else value.name_full
    return [float(part) for part in value]
