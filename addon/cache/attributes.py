"""Kept results as mesh attributes of every frame, by Blender's own means, so that they play without this add-on.

The numbers of a vertex travel as the position of a vertex of a carrier: an object in no scene, with a Mesh Cache
modifier and a PC2 file of its own. Geometry nodes below the shell's cache read carriers into named attributes.
"""

from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..bridge.mesh import ALEMBIC_MODIFIER, MODIFIER, RESULTS_MODIFIER
from . import fields, pc2, playback
from .files import CacheError
from .paths import CachePaths
from .sidecar import Sidecar

# Renderers look for this name to blur motion by; everything else carries ours.
VELOCITY = "velocity"


def label(name: str) -> str:
    """What the attribute of a result is called."""
    return VELOCITY if name == VELOCITY else f"thin_shell_{name}"


def carried(names: list[str]) -> list[list[str]]:
    """Results by carrier: three numbers fit into a position, a velocity fills one."""
    numbers = [name for name in names if name != VELOCITY]
    groups = [numbers[i : i + 3] for i in range(0, len(numbers), 3)]
    return groups + ([[VELOCITY]] if VELOCITY in names else [])


def write(paths: CachePaths, info: Sidecar) -> list[Path]:
    """The carriers' point caches, from the fields and positions of a bake."""
    made = []
    for number, group in enumerate(carried(info.fields)):
        made.append(paths.carrier(number))
        if _is_fresh(paths, group, made[-1]):
            continue  # tasks that render at once read the same one
        writer = pc2.Writer(paths.carrier(number), info.points, info.start)
        try:
            with pc2.Reader(paths.pc2) as positions:
                for index in range(info.samples):
                    moving = group == [VELOCITY]
                    writer.append(_velocity(positions, index, info.fps) if moving else _packed(paths, group, index))
            writer.publish()
        finally:
            writer.close()
    return made


def _is_fresh(paths: CachePaths, group: list[str], carrier: Path) -> bool:
    """Whether a carrier was written after what it is made of."""
    sources = [paths.pc2, *(paths.field(name) for name in group if name != VELOCITY)]
    try:
        return carrier.stat().st_mtime_ns > max(path.stat().st_mtime_ns for path in sources)
    except OSError:
        return False


def _packed(paths: CachePaths, group: list[str], index: int) -> Any:
    columns = [fields.read_sample(paths.field(name), index) for name in group]
    return np.column_stack(columns + [np.zeros_like(columns[0])] * (3 - len(columns)))


def _velocity(positions: pc2.Reader, index: int, fps: float) -> Any:
    """Speed of the vertices in the object's own space [units/s]: what a shutter sees, the object's motion left out."""
    before, after = max(index - 1, 0), min(index + 1, positions.header.samples - 1)
    return (positions.sample(after) - positions.sample(before)) * (fps / max(after - before, 1))


def attach(obj: Any, paths: CachePaths, info: Sidecar) -> None:
    """Give the object the attributes of its kept results, every frame."""
    playback.detach_results(obj)
    if not info.fields:
        return
    if info.samples == 0:
        raise CacheError(f"the bake '{paths.name}' has no frames: bake again")
    files = write(paths, info)
    trees: Any = bpy.data.node_groups
    tree = trees.new(f"Thin Shell Results {obj.name}", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    flow = tree.nodes.new("NodeGroupInput").outputs[0]
    for number, (path, group) in enumerate(zip(files, carried(info.fields), strict=True)):
        carrier = _carrier(f"{obj.name} results {number + 1}", path, info)
        flow = _stored(tree, flow, carrier, group, -220 * number)
    end = tree.nodes.new("NodeGroupOutput")
    end.location = (1200, 0)
    tree.links.new(flow, end.inputs[0])
    modifier = obj.modifiers.new(RESULTS_MODIFIER, "NODES")
    modifier.node_group = tree
    last = max(obj.modifiers.find(name) for name in (MODIFIER, ALEMBIC_MODIFIER))
    obj.modifiers.move(obj.modifiers.find(modifier.name), last + 1)


def _carrier(name: str, path: Path, info: Sidecar) -> Any:
    """An object in no scene whose vertices go where the file says."""
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(info.points)
    obj = bpy.data.objects.new(name, mesh)
    playback.play_points(obj, path, info.start)
    return obj


def _stored(tree: Any, flow: Any, carrier: Any, group: list[str], height: float) -> Any:
    """Nodes that store what a carrier carries; the geometry behind them."""
    source = tree.nodes.new("GeometryNodeObjectInfo")
    source.inputs["Object"].default_value = carrier
    sample = tree.nodes.new("GeometryNodeSampleIndex")
    sample.data_type, sample.domain = "FLOAT_VECTOR", "POINT"
    tree.links.new(source.outputs["Geometry"], sample.inputs["Geometry"])
    tree.links.new(tree.nodes.new("GeometryNodeInputPosition").outputs[0], _value(sample.inputs))
    tree.links.new(tree.nodes.new("GeometryNodeInputIndex").outputs[0], sample.inputs["Index"])
    values = [_value(sample.outputs)]
    if group != [VELOCITY]:
        split = tree.nodes.new("ShaderNodeSeparateXYZ")
        tree.links.new(values[0], split.inputs[0])
        split.location = (400, height)
        values = list(split.outputs)
    source.location, sample.location = (0, height), (200, height)
    for place, (name, value) in enumerate(zip(group, values, strict=False)):
        store = tree.nodes.new("GeometryNodeStoreNamedAttribute")
        store.data_type, store.domain = ("FLOAT_VECTOR" if name == VELOCITY else "FLOAT"), "POINT"
        store.inputs["Name"].default_value = label(name)
        store.location = (600 + 180 * place, height)
        tree.links.new(flow, store.inputs["Geometry"])
        tree.links.new(value, _value(store.inputs))
        flow = store.outputs[0]
    return flow


def _value(sockets: Any) -> Any:
    """The socket of the chosen type; 4.2 has one for every type and enables one."""
    return next(socket for socket in sockets if socket.name == "Value" and socket.enabled)
