"""Lines and colours on the surface follow what they are drawn from: the mesh, its UVs, the axis image, the bake."""

import bpy
import numpy as np
import pytest
from blender_scenes import bake, evaluated, make_grid
from thin_shell.addon import checksums, overlay
from thin_shell.addon.bake import session


class Gpu:
    """Stands in for Blender's shaders, which only a window has."""

    shader = None

    @staticmethod
    def from_builtin(name):
        return name


@pytest.fixture
def drawn(monkeypatch):
    """The points of the lines, or the colours, as the view would draw them now."""
    import gpu_extras.batch

    Gpu.shader = Gpu
    monkeypatch.setattr(overlay, "_gpu", lambda: Gpu)
    monkeypatch.setattr(gpu_extras.batch, "batch_for_shader", lambda shader, kind, arrays, indices=None: arrays)
    overlay._batches.clear()

    def look(obj, kind="axes", frame=1):
        checksums._images.clear()
        overlay.draw_begins()
        return overlay._batch(obj, frame, kind)[1]["pos" if kind == "axes" else "color"]

    return look


@pytest.fixture
def sheet(blend):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, location=(0, 0, 1))
    obj = bpy.context.object
    bpy.ops.thin_shell.toggle()
    obj.thin_shell.show_axes = True
    return obj


def moved(obj):
    yield
    obj.data.vertices[10].co.z += 0.5


def unwrapped_anew(obj):
    obj.thin_shell.axes_source = "UV"
    yield
    layer = obj.data.uv_layers.active.uv
    for corner in layer:
        corner.vector = (-corner.vector[1], corner.vector[0])


def painted(obj):
    bpy.ops.thin_shell.paint_axes(pattern="UNIFORM", size=16)
    yield
    image = obj.thin_shell.axes_image
    pixels = np.array(image.pixels[:]).reshape(-1, 4)
    pixels[:, :2] = 1.0 - pixels[:, :2]
    image.pixels.foreach_set(pixels.ravel().astype(np.float32))


def turned_faces(obj):
    yield
    for polygon in obj.data.polygons:
        polygon.flip()


@pytest.mark.parametrize("change", [moved, unwrapped_anew, painted, turned_faces])
def test_axes_follow(sheet, drawn, change):
    steps = change(sheet)
    next(steps)
    before = drawn(sheet)
    assert drawn(sheet) is before
    next(steps, None)
    after = drawn(sheet)
    assert before.shape == after.shape and np.abs(after - before).max() > 1e-3
    assert drawn(sheet) is after


def test_sculpting_is_followed(sheet, drawn):
    before = drawn(sheet)
    bpy.ops.object.mode_set(mode="SCULPT")
    sheet.data.vertices[10].co.z += 0.5
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.abs(drawn(sheet) - before).max() > 1e-3


def test_colours_of_the_next_bake_are_its_own(blend, drawn):
    sheet = make_grid()
    sheet.thin_shell.keep_velocity, sheet.thin_shell.show_result, sheet.thin_shell.result_range = True, "velocity", 1.0
    sheet.thin_shell.frame_end = 5
    bake()
    before = drawn(sheet, "result", 5)
    assert drawn(sheet, "result", 5) is before
    sheet.thin_shell.field_gravity = 0.0
    bake()
    assert np.abs(evaluated(sheet, 5)[:, 2] - 1.0).max() < 1e-6
    assert np.abs(drawn(sheet, "result", 5) - before).max() > 0.1


def test_an_image_is_not_read_at_every_redraw(sheet, monkeypatch):
    bpy.ops.thin_shell.paint_axes(pattern="UNIFORM", size=16)
    image = sheet.thin_shell.axes_image
    now = [100.0]
    monkeypatch.setattr(checksums.time, "monotonic", lambda: now[0])
    checksums._images.clear()
    before = checksums.of_image(image)
    image.pixels[0] = 0.123
    assert checksums.of_image(image) == before
    now[0] += checksums.LOOK_SECONDS
    assert checksums.of_image(image) != before


def test_nothing_is_kept_of_the_bake_before(sheet):
    overlay._batches["some"] = 1
    session.finished = session.Session([])
    overlay.draw_begins()
    assert overlay._batches == {}
    session.finished = None
    overlay.draw_begins()
