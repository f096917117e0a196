"""What a bake was made from, as short hashes: settings alone (cheap, for the panel) and everything (at the bake)."""

import hashlib
import json
from typing import Any

import numpy as np

from ..bridge.build import Simulation
from ..bridge.mesh import whole_mesh
from ..bridge.units import frames_per_second, gravity, metres_per_unit
from ..properties import physics_names
from ..realtime.properties import summary


def of_settings(obj: Any, scene: Any) -> str:
    """Settings that change the result, the scene's units and gravity, and the size of the mesh."""
    settings = obj.thin_shell
    values: dict[str, Any] = {name: _plain(getattr(settings, name)) for name in physics_names()}
    values["realtime"] = summary(obj)
    values["frame_start"] = settings.frame_start
    values["scene"] = [frames_per_second(scene), metres_per_unit(scene), *(float(g) for g in gravity(scene))]
    mesh = whole_mesh(obj)
    values["mesh"] = [len(mesh.vertices), len(mesh.edges), len(mesh.polygons)]
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:32]


def of_simulation(simulation: Simulation, settings_hashes: list[str]) -> str:
    """Settings and every array the simulation starts from."""
    digest = hashlib.sha256("".join(settings_hashes).encode())
    for link in simulation.links:
        shell = link.shell
        for array in (shell.rest_positions, shell.start, shell.faces, shell.axes, link.matrix.now):
            digest.update(np.ascontiguousarray(array).tobytes())
        for pin in shell.pins:
            digest.update(pin.vertices.tobytes())
    return digest.hexdigest()[:32]


def _plain(value: Any) -> Any:
    if isinstance(value, (bool, int, float, str)):
        return value
    if value is None or hasattr(value, "name_full"):
        return None if value is None else value.name_full
    return [float(part) for part in value]
