"""The gap: the distance of a sheet's middle from planes, balls and meshes alike."""

import bpy
import numpy as np
import pytest
from blender_scenes import bake, evaluated, make_grid
from thin_shell.addon.preflight import results

CAN = {"radius": 0.033, "depth": 0.115}


def collider(shape, top=0.0):
    """Something with its surface at `top` that a can may stand on."""
    if shape == "SPHERE":
        bpy.ops.mesh.primitive_uv_sphere_add(segments=64, ring_count=32, radius=100.0, location=(0, 0, top - 100.0))
    elif shape == "BOX":
        bpy.ops.mesh.primitive_cube_add(size=0.4, location=(0, 0, top - 0.2))
    else:
        bpy.ops.mesh.primitive_plane_add(size=1.0, location=(0, 0, top))
    obj = bpy.context.object
    obj.modifiers.new("Collision", "COLLISION")
    obj.thin_shell.collider_shape = "MESH" if shape == "BOX" else shape if shape != "OPEN" else "MESH"
    return obj


def can(height, new=True):
    """The wall of a drinks can, its lower rim at `height` [m]."""
    bpy.ops.mesh.primitive_cylinder_add(vertices=20, end_fill_type="NOTHING", **CAN)
    obj = bpy.context.object
    obj.name = "Can"
    obj.location.z = height + CAN["depth"] / 2
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(number_cuts=1)
    bpy.ops.object.mode_set(mode="OBJECT")
    if new:
        assert bpy.ops.thin_shell.toggle() == {"FINISHED"}
    assert bpy.ops.thin_shell.preset(name="can_wall") == {"FINISHED"}
    obj.thin_shell.frame_start, obj.thin_shell.frame_end, obj.thin_shell.damping_mass = 1, 16, 2.0
    return obj


def stands_at(obj):
    """Height of the lower rim in the last frame [mm], and how much it still moves."""
    bpy.context.view_layer.objects.active = obj
    bake()
    last, before = (evaluated(obj, frame)[:, 2].min() for frame in (16, 15))
    assert abs(last - before) < 2e-5
    return 1e3 * last


@pytest.mark.parametrize("shape", ["PLANE", "SPHERE", "BOX", "OPEN"])
@pytest.mark.parametrize("gap", [0.0, 2.0])
def test_a_can_rests_where_the_panel_says(blend, shape, gap):
    collider(shape)
    obj = can(0.003)
    obj.thin_shell.contact_distance = gap
    assert obj.thin_shell.bl_rna.properties["contact_distance"].name == "Gap"
    wanted = gap or obj.thin_shell.thickness
    # Without a gap a mesh as coarse as this keeps a two-hundredth of its edges, 0.18 mm, where its thickness is 0.1.
    assert stands_at(obj) == pytest.approx(wanted, abs=0.05 if gap else 0.1)


def test_a_file_of_before_keeps_outer_thickness(blend):
    """10 mm of a collider's default and half the sheet's own."""
    floor = collider("BOX")
    floor.collision.thickness_outer = 0.02
    obj = can(0.013)
    assert not obj.thin_shell.use_outer_thickness
    obj.thin_shell.property_unset("use_outer_thickness")
    assert obj.thin_shell.use_outer_thickness
    assert stands_at(obj) == pytest.approx(10.0 + obj.thin_shell.thickness / 2, abs=0.2)


def test_new_shells_leave_outer_thickness_alone_but_in_a_file_that_keeps_it(blend):
    first = make_grid("First")
    assert not first.thin_shell.use_outer_thickness
    second = make_grid("Second")
    assert not second.thin_shell.use_outer_thickness
    first.thin_shell.property_unset("use_outer_thickness")
    assert make_grid("Third").thin_shell.use_outer_thickness
    # Pressed again, as by Quick Shell, it stays what it was.
    assert bpy.ops.thin_shell.quick(preset="paper") == {"FINISHED"}
    first.thin_shell.enabled = True
    assert first.thin_shell.use_outer_thickness


def test_a_duplicate_keeps_the_rule_of_its_original(blend):
    sheet = make_grid()
    bpy.ops.object.duplicate()
    assert not bpy.context.object.thin_shell.use_outer_thickness and bpy.context.object != sheet


def test_sheets_of_different_thickness_do_not_float(blend):
    floor = collider("BOX")
    assert floor is not None
    thin = make_grid("Thin", cells=4, size=0.1, location=(-0.1, 0, 0.004))
    thick = make_grid("Thick", cells=4, size=0.1, location=(0.1, 0, 0.004))
    thin.thin_shell.thickness, thick.thin_shell.thickness = 0.2, 2.0
    for obj in (thin, thick):
        obj.thin_shell.frame_end = 16
    bake(everything=True)
    assert 1e3 * evaluated(thin, 16)[:, 2].max() < 0.5
    assert 0.9 < 1e3 * evaluated(thick, 16)[:, 2].min() < 2.2


@pytest.mark.parametrize("shape", ["PLANE", "SPHERE", "BOX", "OPEN"])
@pytest.mark.parametrize(("height", "told"), [(0.0015, True), (0.0021, False), (0.01, False)])
def test_check_warns_of_a_start_inside_the_gap(blend, shape, height, told):
    collider(shape)
    obj = can(height)
    obj.thin_shell.contact_distance = 2.0
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.thin_shell.check() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    messages = [issue.message for issue in results.found() if "than the Gap" in issue.message]
    assert len(messages) == told
    if told:
        assert "Can: 40 vertices start nearer to" in messages[0] and ("by 0.5 mm" in messages[0] or shape == "SPHERE")


@pytest.mark.parametrize("scale", [0.01, 1000.0])
def test_a_gap_is_metres_at_any_unit_scale(blend, scale):
    bpy.context.scene.unit_settings.scale_length = scale
    bpy.context.scene.gravity = (0, 0, -9.81 / scale)
    sheet = make_grid(cells=4, size=0.1 / scale, location=(0, 0, 0.005 / scale))
    sheet.thin_shell.contact_distance, sheet.thin_shell.frame_end = 2.0, 12
    bpy.ops.mesh.primitive_plane_add(size=1.0 / scale)
    bpy.context.object.modifiers.new("Collision", "COLLISION")
    bpy.context.view_layer.objects.active = sheet
    bake()
    assert 1e3 * scale * evaluated(sheet, 12)[:, 2] == pytest.approx(np.full(25, 2.0), abs=0.1)
