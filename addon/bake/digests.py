"""Data-blocks as short hashes of what a bake reads of them: no names, no selection, nothing that only shows.

What keyframes or drivers move counts by these, not by its value, which differs from frame to frame.
"""

import hashlib
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from .. import checksums, compat
from ..bridge.mesh import corner_edges, corner_vertices, edge_vertices, polygon_starts
from ..bridge.weights import group_weights

PLACING = (
    "location", "rotation_mode", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale",
    "delta_location", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale",
    "matrix_parent_inverse", "parent_type", "parent_bone", "parent_vertices", "track_axis", "up_axis",
)  # fmt: skip
# What is only seen, and what Blender computes.
UNREAD = {
    "rna_type", "name", "type", "is_active", "is_valid", "is_override_data", "active", "mute_ui", "show_expanded",
    "show_in_editmode", "show_on_cage", "show_render", "use_pin_to_last", "use_apply_on_spline", "execution_time",
    "persistent_uid", "error_location", "error_rotation", "point_cache", "panels", "bakes", "node_warnings",
    "show_group_selector", "show_manage_panel",
}  # fmt: skip
# Of nodes: how they lie on the sheet, too.
LAYOUT = UNREAD | {
    "location", "location_absolute", "width", "height", "dimensions", "color", "use_custom_color", "select", "label",
    "hide", "parent", "warning_propagation", "show_options", "show_preview", "show_texture", "internal_links",
    "bl_description", "bl_icon", "bl_idname", "bl_label", "bl_static_type", "bl_width_default", "bl_width_max",
    "bl_width_min", "bl_height_default", "bl_height_max", "bl_height_min",
}  # fmt: skip
SHOWN_ONLY = ("color", "hide_", "show_", "display", "empty_display", "visible_", "lock_", "pass_index")
DEEPEST = 4


class Reader:
    """Hashes the blocks it is asked for, and calls `meet(block, whole)` for each one that these refer to.

    `whole`: more than where it is counts.
    """

    def __init__(self, meet: Callable[[Any, bool], None]) -> None:
        self._meet = meet

    def place(self, obj: Any) -> list[Any]:
        """Where an object is, by its own means and its parent's and constraints'."""
        moved = compat.animated_paths(obj)
        parts: list[Any] = [[n, plain(getattr(obj, n))] for n in PLACING if hasattr(obj, n) and n not in moved]
        if obj.parent is not None:
            self._meet(obj.parent, obj.parent_type not in ("OBJECT", "BONE"))
        for each in obj.constraints:
            parts.append(self.settings(each, moved, f'constraints["{each.name}"].'))
        if obj.pose is not None:
            for bone in obj.pose.bones:
                start = f'pose.bones["{bone.name}"].'
                own = [[n, plain(getattr(bone, n))] for n in PLACING[:6] if start + n not in moved]
                parts += [own, *(self.settings(c, moved, f'{start}constraints["{c.name}"].') for c in bone.constraints)]
            parts += [[plain(b.matrix_local), b.name] for b in obj.data.bones]
        return [parts, self.animation(obj)]

    def settings(self, block: Any, moved: Collection[str] = (), path: str = "", depth: int = 0) -> list[Any]:
        """Every setting of a modifier, constraint, node or the like."""
        made: list[Any] = [block.bl_rna.identifier]
        unread = LAYOUT if hasattr(block, "bl_static_type") else UNREAD
        for prop in block.bl_rna.properties:
            name = prop.identifier
            if (
                name in unread
                or name.startswith("open_")
                or path + name in moved
                or (prop.is_readonly and prop.type not in ("POINTER", "COLLECTION"))
            ):
                continue
            value = getattr(block, name, None)
            if prop.type == "POINTER":
                if value is not None and hasattr(value, "session_uid"):
                    made.append([name, self._block(value)])
                elif value is not None and depth < DEEPEST:
                    made.append([name, self.settings(value, moved, f"{path}{name}.", depth + 1)])
            elif prop.type == "COLLECTION":
                if (
                    prop.is_readonly
                    and depth < DEEPEST
                    and name in ("inputs", "points", "curves", "elements", "targets")
                ):
                    made.append([name, [self.settings(each, moved, path, depth + 1) for each in value]])
            else:
                made.append([name, plain(value)])
        try:
            for key in sorted(block.keys()):
                value = block[key]
                if hasattr(value, "session_uid"):
                    made.append([key, self._block(value)])
                elif f'{path[:-1]}["{key}"]' not in moved:
                    made.append([key, plain(value)])
        except (TypeError, AttributeError):
            pass  # most have no properties of their own
        return made

    def _block(self, block: Any) -> Any:
        if block.bl_rna.identifier.endswith("NodeTree"):
            return self.nodes(block)
        self._meet(block, True)
        return None

    def nodes(self, tree: Any, depth: int = 0) -> list[Any]:
        """Nodes with their settings, and how they are joined."""
        if depth > DEEPEST:
            return []
        order = {node.name: number for number, node in enumerate(tree.nodes)}
        made: list[Any] = [[node.bl_idname, self.settings(node)] for node in tree.nodes]
        made += [self.nodes(n.node_tree, depth + 1) for n in tree.nodes if getattr(n, "node_tree", None) is not None]
        for link in tree.links:
            made.append([order[link.from_node.name], link.from_socket.identifier,
                         order[link.to_node.name], link.to_socket.identifier])  # fmt: skip
        return [made, self.animation(tree)]

    def animation(self, block: Any, only: Callable[[str], bool] = lambda _path: True) -> list[Any]:
        """Keyframes and drivers that move what counts, and what the drivers read."""
        data, made = block.animation_data, []
        if data is None:
            return []
        strips = [strip for track in data.nla_tracks if not track.mute for strip in track.strips]
        for strip in strips:
            made.append([plain(getattr(strip, n)) for n in (
                "frame_start", "frame_end", "action_frame_start", "action_frame_end", "blend_type", "influence",
                "repeat", "scale", "mute", "use_reverse",
            )])  # fmt: skip
        users = [data, *strips] if data.use_nla else [data]
        for curve in [c for user in users for c in compat.curves_of(user)]:
            if only(curve.data_path) and not curve.data_path.startswith(SHOWN_ONLY):
                made.append(_curve(curve))
        for curve in data.drivers:
            if only(curve.data_path) and not curve.data_path.startswith(SHOWN_ONLY):
                made.append([_curve(curve), self._driver(curve.driver)])
        return made

    def _driver(self, driver: Any) -> list[Any]:
        made: list[Any] = [driver.type, driver.expression]
        for variable in driver.variables:
            made.append([variable.name, variable.type])
            for target in variable.targets:
                made.append([target.data_path, target.transform_type, target.transform_space, target.bone_target])
                if target.id is None:
                    continue
                if target.id.bl_rna.identifier == "Object":
                    self._meet(target.id, False)
                if variable.type == "SINGLE_PROP" and target.data_path not in compat.animated_paths(target.id):
                    made.append(_resolved(target.id, target.data_path))
        return made


def _resolved(block: Any, path: str) -> Any:
    try:
        return plain(block.path_resolve(path))
    except (ValueError, TypeError):
        return None


def _curve(curve: Any) -> list[Any]:
    points = curve.keyframe_points
    parts = []
    for name in ("co", "handle_left", "handle_right"):
        flat = np.empty(2 * len(points), dtype=np.float32)
        points.foreach_get(name, flat)
        parts.append(array(flat))
    kinds = [point.interpolation for point in points]
    more = [[m.type, [plain(getattr(m, p.identifier)) for p in m.bl_rna.properties
            if not p.is_readonly and p.type in ("FLOAT", "INT", "ENUM", "BOOLEAN") and p.identifier not in UNREAD]]
            for m in curve.modifiers]  # fmt: skip
    return [curve.data_path, curve.array_index, curve.extrapolation, curve.mute, parts, kinds, more]


def mesh(data: Any, named: Collection[str], groups: Any, uvs: Collection[str]) -> list[Any]:
    """Where its vertices are and how they are joined, and of its groups, attributes and UV maps those that are `named`.

    `groups`: the object whose vertex groups these are. An empty name among the `uvs` is the active map.
    """
    positions = np.empty(3 * len(data.vertices), dtype=np.float32)
    data.vertices.foreach_get("co", positions)
    made: list[Any] = [array(positions), array(corner_vertices(data)), array(polygon_starts(data))]
    loose = np.ones(len(data.edges), dtype=bool)
    loose[corner_edges(data)] = False
    made.append(array(edge_vertices(data)[loose]))
    for name in sorted(named):
        weights = group_weights(groups, data, name) if groups is not None else None
        if weights is not None:
            made.append(array(weights))
        attribute = data.attributes.get(name)
        if attribute is not None:
            made.append(_attribute(attribute))
    # Creases and seams that our own marks keep.
    made += [[a.name, _attribute(a)] for a in data.attributes if a.name.startswith("thin_shell_")]
    for name in sorted(uvs):
        layer = data.uv_layers.get(name) if name else data.uv_layers.active
        if layer is not None:
            flat = np.empty(2 * len(layer.uv), dtype=np.float32)
            layer.uv.foreach_get("vector", flat)
            made.append(array(flat))
    return made


ATTRIBUTES = {
    "FLOAT": ("value", np.float32, 1), "INT": ("value", np.int32, 1), "BOOLEAN": ("value", bool, 1),
    "FLOAT_VECTOR": ("vector", np.float32, 3), "FLOAT2": ("vector", np.float32, 2),
    "FLOAT_COLOR": ("color", np.float32, 4), "BYTE_COLOR": ("color", np.float32, 4),
}  # fmt: skip


def _attribute(attribute: Any) -> Any:
    name, kind, width = ATTRIBUTES.get(attribute.data_type, ("", bool, 0))
    if not width:
        return None
    flat = np.empty(width * len(attribute.data), dtype=kind)
    attribute.data.foreach_get(name, flat)
    return array(flat)


def keys(data: Any, own: Collection[str]) -> list[Any]:
    """Shape keys of these names, and what moves them."""
    if data.shape_keys is None or not own:
        return []
    moved, made = compat.animated_paths(data.shape_keys), []
    for key in data.shape_keys.key_blocks:
        if key.name in own:
            flat = np.empty(3 * len(key.data), dtype=np.float32)
            key.data.foreach_get("co", flat)
            value = None if f'key_blocks["{key.name}"].value' in moved else plain(key.value)
            made.append([array(flat), value, key.mute, plain(key.slider_min), plain(key.slider_max), key.vertex_group])
    return made


def points(data: Any) -> list[Any]:
    """Control points of a curve or lattice."""
    made = []
    for spline in getattr(data, "splines", ()):
        for each in (spline.points, spline.bezier_points):
            made.append([plain(point.co) for point in each])
    made += [plain(point.co_deform) for point in getattr(data, "points", ())]
    return made


def image(block: Any) -> Any:
    """Pixels, as they were a moment ago."""
    return [list(block.size), checksums.of_image(block), block.colorspace_settings.name]


def array(values: Any) -> str:
    return hashlib.blake2b(np.ascontiguousarray(values).tobytes(), digest_size=16).hexdigest()


def plain(value: Any) -> Any:
    """A number, word, or list of these."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return float(np.float32(value))
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    try:
        return [plain(part) for part in value]
    except TypeError:
        return None
