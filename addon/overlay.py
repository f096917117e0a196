"""Drawing on the surface in the viewport: warp directions, and results as colours."""

from typing import Any

import bpy
import numpy as np

from .. import shellcore as sc
from . import checksums, compat
from .bake import session
from .bridge.axes import face_axes
from .bridge.mesh import MeshArrays, read
from .bridge.pattern import shown_axes
from .cache import pc2, playback
from .cache.files import CacheError
from .colours import ramp
from .errors import UserError
from .operators.results import frame_values

_handle: Any = None
_batches: dict[tuple[Any, ...], Any] = {}
_ended: Any = None
"""The last bake that had ended when something was drawn: the next one writes other frames to the same files."""
# Drawn this much nearer, in depths of the view, so that the surface beneath does not shine through.
NEARER = 2e-4
# More lines than this are a carpet.
MOST_LINES = 700
BAKING_COLOUR = (1.0, 0.62, 0.25)
AXIS_COLOUR = (1.0, 0.55, 0.1, 1.0)


def surface(obj: Any, frame: int) -> tuple[MeshArrays, Any]:
    """Triangles of the object's own mesh and its positions at a frame, in object space."""
    arrays = read(obj.data)
    positions = arrays.positions
    path = playback.playing_points(obj) if obj.thin_shell.baked else None
    if path is not None:
        try:
            with pc2.Reader(path) as reader:
                if reader.header.points == len(positions):
                    index = min(max(frame - obj.thin_shell.baked_start, 0), reader.header.samples - 1)
                    positions = reader.sample(index).astype(np.float64)
        except CacheError:
            pass  # the panel says what is wrong with the file; here the mesh stands in
    return arrays, positions


def axis_lines(obj: Any, frame: int) -> Any:
    """Ends of lines along the warp, (2k, 3), in object space: one a face, fewer and longer on a fine mesh."""
    arrays, positions = surface(obj, frame)
    axes, strength = face_axes(obj, obj.data, arrays, positions, np.eye(4))
    if axes is None:
        axes = shown_axes(obj, arrays, positions)
    # A choice without order: every so manieth face would draw the mesh's own rows.
    chosen = np.random.default_rng(1).permutation(len(axes))[:MOST_LINES]
    every = len(axes) / len(chosen)
    axes, strength = axes[chosen], None if strength is None else strength[chosen]
    a, b, c = (positions[arrays.faces[chosen, j]] for j in range(3))
    centre, normal = (a + b + c) / 3, np.cross(b - a, c - a)
    double_area = np.linalg.norm(normal, axis=1, keepdims=True)
    half = 0.5 * obj.thin_shell.show_axes_length * np.sqrt(every * double_area)
    if strength is not None:
        half *= strength[:, None]
    unit = axes / np.maximum(np.linalg.norm(axes, axis=1, keepdims=True), 1e-300)
    lift = 0.02 * normal / np.sqrt(np.maximum(double_area, 1e-300))
    return np.stack([centre - half * unit + lift, centre + half * unit + lift], axis=1).reshape(-1, 3)


def coloured(obj: Any, frame: int) -> tuple[Any, Any, Any]:
    """Positions (n, 3), triangles (m, 3) and colours (n, 4) of the shown result."""
    settings = obj.thin_shell
    arrays, positions = surface(obj, frame)
    values = frame_values(obj, settings.show_result, frame)
    if len(values) != len(positions):
        raise UserError(f"{obj.name}: modifiers above Thin Shell change the number of vertices")
    size = np.linalg.norm(values, axis=1) if values.ndim == 2 else values
    return (
        positions,
        arrays.faces,
        ramp(size, settings.result_range, signed=settings.show_result in ("strain", "stress")),
    )


def draw_begins() -> None:
    """Forget what was made for a bake that another one has replaced."""
    global _ended
    if session.finished is not _ended:
        _ended = session.finished
        _batches.clear()


def draw() -> None:
    """Called by Blender for every 3D view."""
    context: Any = bpy.context
    frame = context.scene.frame_current
    draw_begins()
    if session.current is not None:
        for obj, positions, faces in session.current.torn():
            _draw_baking(obj, positions, faces)
    for obj in context.visible_objects:
        if session.current is not None and session.current.bakes(obj):
            continue
        if obj.type != "MESH" or not obj.thin_shell.enabled or obj.mode != "OBJECT":
            continue
        try:
            if obj.thin_shell.show_axes:
                _draw(obj, _batch(obj, frame, "axes"), lines=True)
            if obj.thin_shell.show_result != "NONE" and obj.thin_shell.baked:
                _draw(obj, _batch(obj, frame, "result"), lines=False)
        except (UserError, CacheError, sc.ShellError):
            continue  # Check and the panel say what is wrong; a view must go on drawing


def shaded(positions: Any, faces: Any) -> Any:
    """Colours (n, 4) of a surface lit from above the viewer's left shoulder, in object space."""
    a, b, c = (positions[faces[:, j]] for j in range(3))
    normals = np.zeros_like(positions)
    for axis, part in enumerate(np.cross(b - a, c - a).T):
        normals[:, axis] = np.bincount(faces.ravel(), weights=np.repeat(part, 3), minlength=len(positions))
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    light = np.abs(normals @ np.array([0.36, -0.48, 0.8]))
    return np.column_stack([np.outer(0.4 + 0.55 * light, BAKING_COLOUR), np.ones(len(positions))])


def _draw_baking(obj: Any, positions: Any, faces: Any) -> None:
    """The last finished frame of a shell that is being baked and has other vertices than its mesh."""
    from gpu_extras.batch import batch_for_shader

    shader = _gpu().shader.from_builtin("SMOOTH_COLOR")
    arrays = {"pos": positions.astype(np.float32), "color": shaded(positions, faces).astype(np.float32)}
    _draw(obj, (shader, batch_for_shader(shader, "TRIS", arrays, indices=faces.astype(np.int32))), lines=False)


def _batch(obj: Any, frame: int, kind: str) -> Any:
    """The lines or triangles, made anew only when something they show has changed."""
    from gpu_extras.batch import batch_for_shader

    settings = obj.thin_shell
    key: tuple[Any, ...] = (kind, compat.session_uid(obj), frame, checksums.of_mesh(obj.data, settings.axes_uv))
    key += (settings.baked_start, settings.baked_samples, playback.playing_points(obj))
    if kind == "axes":
        key += (settings.axes_source, settings.axes_uv, settings.axes_angle, tuple(settings.axes_vector))
        key += (settings.show_axes_length, settings.axes_encoding)
        if settings.axes_source == "IMAGE" and settings.axes_image is not None:
            key += (compat.session_uid(settings.axes_image), checksums.of_image(settings.axes_image))
    else:
        key += (settings.show_result, settings.result_range)
    if key in _batches:
        return _batches[key]
    if len(_batches) > 32:
        _batches.clear()
    if kind == "axes":
        shader = _gpu().shader.from_builtin(compat.uniform_colour_shader())
        made = batch_for_shader(shader, "LINES", {"pos": axis_lines(obj, frame).astype(np.float32)})
    else:
        shader = _gpu().shader.from_builtin("SMOOTH_COLOR")
        positions, faces, colours = coloured(obj, frame)
        made = batch_for_shader(
            shader,
            "TRIS",
            {"pos": positions.astype(np.float32), "color": colours.astype(np.float32)},
            indices=faces.astype(np.int32),
        )
    _batches[key] = shader, made
    return _batches[key]


def _gpu() -> Any:
    """Only a Blender with a window has it."""
    import gpu

    return gpu


def _draw(obj: Any, made: Any, lines: bool) -> None:
    gpu = _gpu()
    shader, batch = made
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.line_width_set(1.5)
    with gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
        nearer = gpu.matrix.get_projection_matrix()
        nearer[2] -= NEARER * nearer[3]
        gpu.matrix.load_projection_matrix(nearer)
        gpu.matrix.multiply_matrix(obj.matrix_world)
        shader.bind()
        if lines:
            shader.uniform_float("color", AXIS_COLOUR)
        batch.draw(shader)
    gpu.state.depth_test_set("NONE")
    gpu.state.line_width_set(1.0)


def register() -> None:
    global _handle
    if not bpy.app.background:
        _handle = bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW")


def unregister() -> None:
    global _handle
    if _handle is not None:
        bpy.types.SpaceView3D.draw_handler_remove(_handle, "WINDOW")
        _handle = None
    _batches.clear()
    checksums.forget()
