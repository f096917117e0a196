"""Creases, curl and plasticity: marked in Blender, felt by the core, kept through a bake."""

import bpy
import numpy as np
import pytest
from blender_scenes import bake, evaluated, failure, make_grid, pin
from thin_shell import shellcore as sc
from thin_shell.addon import compat
from thin_shell.addon.bridge import creases
from thin_shell.addon.bridge.build import build
from thin_shell.addon.bridge.mesh import edge_vertices, inputs_visible


def middle_edges(obj):
    """Edges of the sheet's middle line, x = 0, by index."""
    x = np.array([v.co.x for v in obj.data.vertices])
    return np.flatnonzero((np.abs(x[edge_vertices(obj.data)]) < 1e-6).all(axis=1)).tolist()


def select_edges(obj, edges):
    compat.select(obj.data, [], edges, sorted({v for e in edges for v in obj.data.edges[e].vertices}))


def shell_of(obj):
    with inputs_visible([obj]):
        return build(bpy.context.scene, [obj]).links[0].shell


def attribute(obj, name, kind):
    values = np.empty(len(obj.data.attributes[name].data), dtype=kind)
    obj.data.attributes[name].data.foreach_get("value", values)
    return values


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_mark_and_clear(sheet, mode):
    edges = middle_edges(sheet)
    border = [e for e in range(len(sheet.data.edges)) if e not in edges][:1]
    select_edges(sheet, edges)
    bpy.context.tool_settings.mesh_select_mode = (False, True, False)
    bpy.ops.object.mode_set(mode=mode)
    assert bpy.ops.thin_shell.mark_crease(angle=1.0, start=2, end=5) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.flatnonzero(attribute(sheet, creases.MARK, np.int32)).tolist() == edges
    assert attribute(sheet, creases.ANGLE, np.float32)[edges] == pytest.approx(1.0)
    pairs, angles, starts, ends = creases.creases(sheet, sheet.data)
    assert len(pairs) == 6 and set(angles) == {1.0} and set(starts) == {2.0} and set(ends) == {5.0}
    select_edges(sheet, edges[:2])
    bpy.ops.object.mode_set(mode=mode)
    assert bpy.ops.thin_shell.clear_crease() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(creases.creases(sheet, sheet.data)[0]) == 4
    assert bpy.ops.thin_shell.clear_crease(everything=True) == {"FINISHED"}
    assert len(creases.creases(sheet, sheet.data)[0]) == 0
    select_edges(sheet, border)
    assert "face on either side" in failure(bpy.ops.thin_shell.mark_crease)
    assert "before its start" in failure(bpy.ops.thin_shell.mark_crease, start=9, end=3)


def test_frames_become_times_and_marks_win_over_the_attribute(sheet):
    settings, scene = sheet.thin_shell, bpy.context.scene
    settings.frame_start, scene.render.fps = 3, 12
    edges = middle_edges(sheet)
    select_edges(sheet, edges[:3])
    bpy.ops.thin_shell.mark_crease(angle=-0.5, start=3, end=3)
    value = np.zeros(len(sheet.data.edges), dtype=np.float32)
    value[edges] = 0.5
    sheet.data.attributes.new("fold", "FLOAT", "EDGE").data.foreach_set("value", value)
    settings.crease_attribute, settings.crease_angle = "fold", 1.2
    settings.crease_start, settings.crease_end = 9, 15
    shell = shell_of(sheet)
    place = {tuple(pair): i for i, pair in enumerate(np.sort(shell.hinges[:, :2], axis=1).tolist())}
    pairs = [tuple(sorted(pair)) for pair in edge_vertices(sheet.data)[edges].tolist()]
    chosen = [place[pair] for pair in pairs]
    assert shell.rest_angles_at(0.0)[chosen] == pytest.approx([-0.5] * 3 + [0.0] * 3)
    assert shell.rest_angles_at(0.75)[chosen] == pytest.approx([-0.5] * 3 + [0.3] * 3)
    assert shell.rest_angles_at(1.0)[chosen] == pytest.approx([-0.5] * 3 + [0.6] * 3)
    settings.use_creases = False
    assert not shell_of(sheet).rest_angles_at(1.0).any()


def test_what_is_wrong_is_said(sheet):
    settings = sheet.thin_shell
    settings.crease_attribute = "gone"
    assert "'gone' is not on the mesh" in failure(bpy.ops.thin_shell.bake)
    sheet.data.attributes.new("here", "FLOAT", "POINT")
    settings.crease_attribute = "here"
    assert "not edges" in failure(bpy.ops.thin_shell.bake)
    settings.crease_attribute = ""
    settings.use_curl, settings.curl_axis = True, (0, 0, 0)
    assert "axis of the curl" in failure(bpy.ops.thin_shell.bake)
    settings.curl_axis, settings.curl_start, settings.curl_end = (0, 1, 0), 9, 3
    assert "ends before it starts" in failure(bpy.ops.thin_shell.bake)


def weightless(obj):
    bpy.context.scene.use_gravity = False
    obj.thin_shell.air_density = 0.0
    obj.thin_shell.damping_mass = 20.0
    obj.thin_shell.substeps = 2


def test_a_baked_crease_folds_the_sheet(blend):
    sheet = make_grid()
    weightless(sheet)
    pin(sheet, [v.index for v in sheet.data.vertices if v.co.x < 1e-6])
    sheet.thin_shell.bending = "hinge"
    sheet.thin_shell.bend_warp = sheet.thin_shell.bend_weft = 5000.0
    select_edges(sheet, middle_edges(sheet))
    bpy.ops.thin_shell.mark_crease(angle=1.0, start=1, end=4)
    sheet.thin_shell.frame_end = 20
    bake()
    end = evaluated(sheet, 20)
    edge = end[[v.index for v in sheet.data.vertices if v.co.x > 0.99]]
    # Positive folds towards the normals (+Z): the far half has turned up by one radian.
    assert np.arctan2(edge[:, 2] - 1.0, edge[:, 0]) == pytest.approx(1.0, abs=0.08)
    assert evaluated(sheet, 1)[:, 2] == pytest.approx(1.0, abs=1e-6)


def test_curl_rolls_about_the_objects_own_axis(sheet):
    weightless(sheet)
    sheet.rotation_euler = (0, 0, np.pi / 2)
    bpy.context.view_layer.update()
    settings = sheet.thin_shell
    settings.use_curl, settings.curl_axis, settings.curl_radius = True, (0, 1, 0), 1.5
    settings.curl_start, settings.curl_end = 1, 1
    shell = shell_of(sheet)
    # The object's Y is the world's −X: every fold but those along X bends, and all towards +Z.
    along = shell.rest_positions[shell.hinges[:, 1]] - shell.rest_positions[shell.hinges[:, 0]]
    angles = shell.rest_angles_at(0.0)
    across = np.abs(along[:, 1]) < 1e-6
    assert (angles[across] > 0.1).all()
    assert np.abs(angles[np.abs(along[:, 0]) < 1e-6]).max() < 1e-3


def test_yield_from_preset_and_what_reaches_the_core(sheet):
    settings = sheet.thin_shell
    for name in sc.Plasticity.presets():
        bpy.ops.thin_shell.preset(name=name)
        assert bpy.ops.thin_shell.yield_preset() == {"FINISHED"}
        known = sc.Plasticity.preset(name)
        settings.use_plasticity = True
        made = shell_of(sheet).plasticity
        assert made.yield_curvature == pytest.approx(known.yield_curvature, rel=1e-6)
        assert (made.yield_stretch is None) == (known.yield_stretch is None)
        if known.yield_stretch is not None:
            assert made.yield_stretch == pytest.approx(known.yield_stretch, rel=1e-6)
        assert made.rate is None
    settings.use_plastic_rate, settings.plastic_rate, settings.plastic_hardening = True, 3.0, 0.25
    made = shell_of(sheet).plasticity
    assert (made.rate, made.hardening) == pytest.approx((3.0, 0.25))
    settings.use_plasticity = False
    assert shell_of(sheet).plasticity is None
    bpy.ops.thin_shell.preset(name="reference")
    assert "no yield is known" in failure(bpy.ops.thin_shell.yield_preset)


def test_plastic_bend_is_kept_as_a_result(blend):
    kept = []
    for plastic in (True, False):
        obj = make_grid("P" if plastic else "E", location=(0, 3.0 * plastic, 1))
        pin(obj, [v.index for v in obj.data.vertices if v.co.x < -0.6])
        settings = obj.thin_shell
        settings.use_plasticity, settings.yield_curvature = plastic, 0.3
        settings.keep_plastic, settings.frame_end = True, 24
        bake()
        bpy.context.scene.frame_set(24)
        kept.append(attribute(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()), "thin_shell_plastic", "f4"))
    assert kept[0].max() > 0.1 and kept[1].max() == 0
    bpy.context.view_layer.objects.active = bpy.data.objects["P"]
    bpy.context.scene.frame_set(5)
    assert "Plasticity on: press Bake" in failure(bpy.ops.thin_shell.bake, mode="CONTINUE")


def test_tears_open_at_their_frame(blend):
    sheet = make_grid()
    pin(sheet, [v.index for v in sheet.data.vertices if v.co.x < -0.9])
    edges = middle_edges(sheet)
    select_edges(sheet, edges)
    assert bpy.ops.thin_shell.mark_tear(frame=4) == {"FINISHED"}
    settings = sheet.thin_shell
    settings.frame_end, settings.use_fracture_bend = 10, False
    bake()
    assert len(sheet.data.vertices) == 49, "without Fracture marks mean nothing"
    bpy.ops.thin_shell.delete_bake()
    settings.use_fracture = True
    bake()
    # The middle line is all there is: the sheet falls in two.
    assert len(sheet.data.vertices) == 49 + 7
    assert [len(evaluated(sheet, frame)) for frame in (1, 3, 10)] == [49, 49, 56]
    assert evaluated(sheet, 10)[:, 2].min() < 0.7
    frames = attribute(sheet, "thin_shell_crack_frame", np.float32)
    assert sorted(set(frames)) == [4.0, 1e6]
    assert attribute(sheet, "thin_shell_piece", np.int32).max() == 1
    assert bpy.ops.thin_shell.mark_tear.poll() is False, "the cut mesh is not the artist's"
    bpy.ops.thin_shell.delete_bake()
    assert bpy.ops.thin_shell.clear_tear(everything=True) == {"FINISHED"}
    assert not attribute(sheet, "thin_shell_tear", np.int32).any()
