"""Fracture settings as the core gets them: thresholds, grain, painted toughness, seams that let go."""

import bpy
import numpy as np
import pytest
from blender_scenes import evaluated, failure, make_grid, pin
from thin_shell.addon import compat
from thin_shell.addon.bridge import yielding
from thin_shell.addon.bridge.build import build
from thin_shell.addon.bridge.mesh import inputs_visible, read


@pytest.fixture
def brittle(blend):
    obj = make_grid()
    obj.thin_shell.use_fracture = True
    return obj


def made(obj):
    with inputs_visible([obj]):
        return build(bpy.context.scene, [obj])


def law(obj):
    return made(obj).links[0].shell.fracture


def test_thresholds_reach_the_core(brittle):
    settings = brittle.thin_shell
    settings.fracture_along, settings.fracture_across = 12.0, 34.0
    assert law(brittle).curvature == pytest.approx((12.0, 34.0))
    assert law(brittle).stretch is None
    settings.use_fracture_stretch, settings.fracture_stretch = True, 7.5
    assert law(brittle).stretch == pytest.approx((0.075, 0.075))
    settings.use_fracture_bend = False
    assert min(law(brittle).curvature) > 1e20
    settings.use_fracture = False
    assert law(brittle) is None


def test_toughness_by_vertex_group_and_attribute(brittle):
    settings = brittle.thin_shell
    group = brittle.vertex_groups.new(name="Tough")
    group.add(range(20), 1.0, "REPLACE")
    group.add([30], 0.5, "REPLACE")
    settings.toughness_source, settings.toughness_weight, settings.toughness_low = "WEIGHT", "Tough", 0.2
    wanted = np.full(49, 0.2)
    wanted[:20], wanted[30] = 1.0, 0.6
    assert law(brittle).toughness == pytest.approx(wanted)
    values = np.linspace(0, 1, 49).astype(np.float32)
    brittle.data.attributes.new("painted", "FLOAT", "POINT").data.foreach_set("value", values)
    settings.toughness_weight = "painted"
    assert law(brittle).toughness == pytest.approx(0.2 + 0.8 * values, rel=1e-5)
    brittle.data.attributes.new("faces", "FLOAT", "FACE").data.foreach_set("value", np.ones(36, dtype=np.float32))
    settings.toughness_weight = "faces"
    assert law(brittle).toughness == pytest.approx(1.0)
    settings.toughness_weight = "gone"
    assert "choose one in Fracture" in failure(bpy.ops.thin_shell.bake)
    settings.toughness_weight = ""
    assert "none is chosen" in failure(bpy.ops.thin_shell.bake)


def test_toughness_by_image(brittle):
    """Black on the left half, white on the right: each vertex has the mean of its corners."""
    settings, mesh = brittle.thin_shell, brittle.data
    settings.toughness_source = "IMAGE"
    assert "set to Image" in failure(bpy.ops.thin_shell.bake)
    image = bpy.data.images.new("Cracks", 8, 8, float_buffer=True)
    colours = np.zeros((8, 8, 4), dtype=np.float32)
    colours[:, 4:] = 1.0
    image.pixels.foreach_set(colours.ravel())
    settings.toughness_image, settings.toughness_low = image, 0.25
    assert "UV map" in failure(bpy.ops.thin_shell.bake)
    corners = np.array([loop.vertex_index for loop in mesh.loops])
    x = np.array([v.co for v in mesh.vertices])
    uv = 0.5 + 0.49 * x[corners, :2]
    mesh.uv_layers.new(name="Map").uv.foreach_set("vector", uv.astype(np.float32).ravel())
    factor = law(brittle).toughness
    assert factor[x[:, 0] < -0.1] == pytest.approx(0.25) and factor[x[:, 0] > 0.1] == pytest.approx(1.0)


def test_sewing_seams_let_go_at_their_frame(brittle):
    mesh, settings = brittle.data, brittle.thin_shell
    mesh.edges.add(1)
    mesh.edges[len(mesh.edges) - 1].vertices = (0, 48)
    mesh.update()
    settings.use_sewing = True
    settings.frame_start = 3
    assert np.isinf(made(brittle).scene.attachments[0].release).all()
    settings.use_seam_release, settings.seam_release = True, 15
    assert made(brittle).scene.attachments[0].release == pytest.approx(0.5)


def test_it_breaks_where_it_is_painted_weak(brittle):
    """A sheet held at both ends sags; of all its folds only the weak line in the middle gives."""
    settings = brittle.thin_shell
    pin(brittle, [v.index for v in brittle.data.vertices if abs(v.co.x) > 0.99])
    group = brittle.vertex_groups.new(name="Tough")
    weak = [v.index for v in brittle.data.vertices if abs(v.co.x) < 1e-6]
    group.add([v for v in range(49) if v not in weak], 1.0, "REPLACE")
    settings.toughness_source, settings.toughness_weight, settings.toughness_low = "WEIGHT", "Tough", 1e-5
    settings.fracture_along = settings.fracture_across = 1e3
    settings.frame_end = 12
    assert bpy.ops.thin_shell.bake() == {"FINISHED"}
    assert len(brittle.data.vertices) == 49 + 7
    assert len(evaluated(brittle, 1)) == 49 and len(evaluated(brittle, 12)) == 56
    piece = np.empty(56, dtype=np.int32)
    brittle.data.attributes["thin_shell_piece"].data.foreach_get("value", piece)
    assert sorted(np.bincount(piece)) == [28, 28]


def test_check_names_what_cannot_break(brittle):
    brittle.modifiers.new("Mirror", "MIRROR")
    brittle.modifiers.move(1, 0)
    assert "drag it below" in failure(bpy.ops.thin_shell.bake)
    brittle.modifiers.remove(brittle.modifiers["Mirror"])
    brittle.thin_shell.bending = "subdivision"
    assert "cannot come apart" in failure(bpy.ops.thin_shell.bake)


def test_marks_on_other_modes(brittle):
    compat.select(brittle.data, [], [], [])
    assert "face on either side" in failure(bpy.ops.thin_shell.mark_tear)
    arrays = read(brittle.data)
    assert yielding.toughness(brittle, brittle.data, arrays) is None
