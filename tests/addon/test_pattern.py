"""Rest Shape: From UV. The map is read as a pattern in metres, checked, baked, and told when it changes."""

import bpy
import numpy as np
import pytest
from blender_scenes import bake, evaluated, failure
from thin_shell.addon import overlay
from thin_shell.addon.bake import fingerprint
from thin_shell.addon.bake.status import status
from thin_shell.addon.bridge import mesh as meshes
from thin_shell.addon.bridge.build import build
from thin_shell.addon.preflight import look_over


def unwrapped(obj, change=lambda uv: uv, name="Pattern"):
    """A UV map of a flat sheet: its own x and y in metres, changed."""
    layer = obj.data.uv_layers.new(name=name)
    corners = np.array([loop.vertex_index for loop in obj.data.loops])
    uv = change(meshes.vertex_positions(obj.data)[corners][:, :2])
    layer.uv.foreach_set("vector", uv.astype(np.float32).ravel())
    obj.data.update()
    return layer


@pytest.fixture
def cloth(sheet):
    settings = sheet.thin_shell
    settings.rest_shape, settings.rest_uv, settings.rest_uv_size = "UV", "Pattern", "SCALE"
    return sheet


def shell_of(obj):
    with meshes.inputs_visible([obj]):
        return build(bpy.context.scene, [obj]).links[0].shell


def warnings_of(obj):
    return look_over(bpy.context.scene, [obj])


def test_scale_and_fit(cloth):
    unwrapped(cloth, lambda uv: 0.25 * uv + 3.0)
    cloth.thin_shell.rest_uv_scale = 8.0
    shell = shell_of(cloth)
    assert shell.areas.sum() == pytest.approx(16.0, rel=1e-5)
    assert shell.rest.off(2.0 * shell.start, shell.faces) < 1e-4
    cloth.thin_shell.rest_uv_size = "AREA"
    assert shell_of(cloth).areas.sum() == pytest.approx(4.0, rel=1e-5)
    # World units, and the object's own size, are the mesh's; the pattern follows its area.
    cloth.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    assert shell_of(cloth).areas.sum() == pytest.approx(16.0, rel=1e-5)
    assert not shell.rest_angles_at(0.0).any()


def test_the_active_map_serves_where_none_is_named(cloth):
    unwrapped(cloth)
    cloth.thin_shell.rest_uv = ""
    assert shell_of(cloth).areas.sum() == pytest.approx(4.0, rel=1e-5)


def test_a_smaller_pattern_shrinks_the_sheet(cloth):
    unwrapped(cloth, lambda uv: uv * [0.9, 1.0])
    settings = cloth.thin_shell
    settings.pin_group, settings.field_gravity, settings.damping_mass, settings.frame_end = "", 0.0, 20.0, 30
    bake()
    x = evaluated(cloth, 30)
    assert np.ptp(x[:, 0]) == pytest.approx(1.8, rel=0.01)
    assert np.ptp(x[:, 1]) == pytest.approx(2.0, rel=0.01)


def test_warp_runs_along_u_and_turns_in_the_pattern(cloth):
    """A piece laid across: U runs along the sheet's y."""
    unwrapped(cloth, lambda uv: uv[:, ::-1] * [1.0, -1.0])
    shell = shell_of(cloth)
    assert np.abs(shell.axes[:, 1]) == pytest.approx(1.0, abs=1e-5)
    lines = overlay.axis_lines(cloth, 1).reshape(-1, 2, 3)
    along = lines[:, 1] - lines[:, 0]
    assert np.abs(along[:, 1]) == pytest.approx(np.linalg.norm(along, axis=1), rel=1e-4)
    settings = cloth.thin_shell
    settings.axes_source, settings.axes_uv, settings.axes_angle = "UV", "Pattern", np.radians(30.0)
    assert np.abs(shell_of(cloth).rest.axes) == pytest.approx(
        np.tile([np.cos(np.radians(30.0)), 0.5, 0.0], (72, 1)), abs=1e-4
    )
    settings.axes_source, settings.axes_vector = "VECTOR", (1.0, 0.0, 0.0)
    assert np.abs(shell_of(cloth).rest.axes[:, 1]) == pytest.approx(1.0, abs=1e-4)


def test_what_is_wrong_is_named(cloth):
    assert "Rest Shape From UV needs the UV map 'Pattern'" in failure(bpy.ops.thin_shell.bake)
    layer = unwrapped(cloth)
    corners = list(cloth.data.polygons[8].loop_indices)
    kept = [tuple(layer.uv[i].vector) for i in corners]
    for i in corners:
        layer.uv[i].vector = kept[0]
    found = warnings_of(cloth)
    assert [issue.level for issue in found] == ["ERROR"] and "faces 8 have no area in the UV map" in found[0].message
    assert found[0].polygons == [8]
    for i, uv in zip(corners, kept, strict=True):
        layer.uv[i].vector = uv
    assert not warnings_of(cloth)
    cloth.thin_shell.bending = "subdivision"
    assert "choose another Bending" in warnings_of(cloth)[0].message


def test_check_warns_of_unequal_seams_and_of_size(cloth):
    layer = unwrapped(cloth)
    # The right half becomes an island whose sides on the seam are longer by a fifth.
    for polygon in cloth.data.polygons:
        if polygon.center.x > 0:
            for i in polygon.loop_indices:
                u, v = layer.uv[i].vector
                layer.uv[i].vector = (u + 5.0, 1.2 * v)
    found = warnings_of(cloth)
    assert [issue.level for issue in found] == ["WARNING"]
    assert "6 seam edges are not as long on both sides" in found[0].message and "gather" in found[0].message
    assert len(found[0].edges) == 6
    for loop in layer.uv:
        u, v = loop.vector
        loop.vector = (0.5 * u, 0.5 * v)
    assert any("times as large as its UV pattern" in issue.message for issue in warnings_of(cloth))
    cloth.thin_shell.rest_uv_size = "AREA"
    assert not any("times as large" in issue.message for issue in warnings_of(cloth))


def test_a_changed_map_outdates_a_bake(cloth):
    layer = unwrapped(cloth)
    bake()

    def kind():
        return status(cloth, bpy.context.scene, fresh=True).kind

    before = kind()
    layer.uv[5].vector = (0.7, 0.7)
    cloth.data.update()
    bpy.context.view_layer.update()
    assert before == "BAKED" and kind() == "OUTDATED"
    bake()
    assert kind() == before
    cloth.thin_shell.rest_uv_scale = 2.0
    assert kind() == "OUTDATED"


def test_settings_of_patterns_count_only_where_there_is_one(sheet):
    scene = bpy.context.scene
    before = fingerprint.of_settings(sheet, scene)
    sheet.thin_shell.rest_uv_scale, sheet.thin_shell.rest_uv_size = 3.0, "SCALE"
    assert fingerprint.of_settings(sheet, scene) == before
    sheet.thin_shell.rest_shape = "UV"
    with_pattern = fingerprint.of_settings(sheet, scene)
    sheet.thin_shell.rest_uv_scale = 4.0
    assert len({before, with_pattern, fingerprint.of_settings(sheet, scene)}) == 3
