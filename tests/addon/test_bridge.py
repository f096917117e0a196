"""From objects to the core: geometry, transforms, units, modifiers, pins, rest shapes, weights, axes."""

import math

import bpy
import numpy as np
import pytest
from blender_scenes import bake, evaluated, failure, make_grid, pin
from thin_shell.addon.bridge import mesh as meshes
from thin_shell.addon.bridge.build import build
from thin_shell.addon.bridge.triangulate import triangles


def simulation(*objects):
    with meshes.inputs_visible(objects):
        return build(bpy.context.scene, list(objects))


def test_quads_are_cut_alternately(sheet):
    arrays = meshes.read(sheet.data)
    faces = arrays.faces.reshape(36, 2, 3)
    diagonal = np.array([sorted(set(a) & set(b)) for a, b in faces.tolist()])
    rising = diagonal[:, 1] - diagonal[:, 0] == 8
    grid = rising.reshape(6, 6)
    assert (grid[:, 1:] != grid[:, :-1]).all() and (grid[1:] != grid[:-1]).all()


def test_long_quads_are_cut_along_the_shorter_diagonal():
    x = np.array([[0, 0, 0], [1, 0, 0], [1.6, 1, 0], [0.6, 1, 0]], dtype=float)
    faces, _, _ = triangles(x, np.arange(4), np.array([0]), np.array([4]), (np.zeros((0, 3), int), np.zeros(0, int)))
    assert sorted(set(faces[0]) & set(faces[1])) == [1, 3]


def test_polygons_are_covered_once_and_left_alone(blend):
    bpy.ops.mesh.primitive_circle_add(vertices=7, fill_type="NGON")
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.extrude_region_move(TRANSFORM_OT_translate={"value": (0, 0, 1)})
    bpy.ops.object.mode_set(mode="OBJECT")
    obj = bpy.context.object
    before = [tuple(p.vertices) for p in obj.data.polygons]
    arrays = meshes.read(obj.data)
    corners = arrays.positions[arrays.faces]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    for polygon in obj.data.polygons:
        assert area[arrays.polygons == polygon.index].sum() == pytest.approx(polygon.area, rel=1e-5)
    bpy.ops.thin_shell.toggle()
    obj.thin_shell.frame_end = 2
    bake()
    assert [tuple(p.vertices) for p in obj.data.polygons] == before


def test_a_hundred_thousand_vertices_quickly(blend):
    import time

    bpy.ops.mesh.primitive_grid_add(x_subdivisions=316, y_subdivisions=316)
    mesh = bpy.context.object.data
    began = time.thread_time()
    arrays = meshes.read(mesh)
    took = time.thread_time() - began
    print(f"{len(arrays.positions)} vertices read in {took:.3f} s")
    assert len(arrays.positions) > 100_000 and took < 0.3


def test_transform_and_units(sheet):
    scene = bpy.context.scene
    sheet.location, sheet.scale, sheet.rotation_euler = (1, 2, 3), (2, 0.5, 1), (0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    scene.unit_settings.scale_length = 0.1
    made = simulation(sheet)
    wanted = np.array([sheet.matrix_world @ v.co for v in sheet.data.vertices]) * 0.1
    assert np.abs(made.links[0].shell.start - wanted).max() < 1e-6
    back = made.links[0].local(made.links[0].shell.start)
    assert np.abs(back - meshes.vertex_positions(sheet.data)).max() < 1e-6
    assert made.scene.gravity_at(0.0)[2] == pytest.approx(-0.981)
    scene.unit_settings.system = "NONE"
    assert simulation(sheet).scene.gravity_at(0.0)[2] == pytest.approx(-9.81)
    scene.use_gravity = False
    assert simulation(sheet).scene.gravity_at(0.0)[2] == 0


def fall(obj, scale=1.0):
    """How far a free sheet falls in vacuum by the last frame [m]."""
    obj.thin_shell.air_density, obj.thin_shell.pin_group = 0.0, ""
    bake()
    return (evaluated(obj, 1)[:, 2] - evaluated(obj, 6)[:, 2]).mean() * scale


def euler_fall(fps, steps, g=9.81):
    h = 1 / fps
    return 0.5 * g * (steps * h) * (steps * h + h)


def test_falls_in_seconds_not_frames(sheet):
    render = bpy.context.scene.render
    assert fall(sheet) == pytest.approx(euler_fall(24, 5), rel=1e-4)
    render.fps, render.fps_base = 60, 1.001
    assert fall(sheet) == pytest.approx(euler_fall(60 / 1.001, 5), rel=1e-4)


def test_falls_in_metres_at_any_unit_scale(sheet):
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.01
    scene.gravity = (0, 0, -981)
    assert fall(sheet, 0.01) == pytest.approx(euler_fall(24, 5), rel=1e-4)


def test_non_uniform_scale_and_parent_play_back_in_place(sheet):
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.collection.objects.link(parent)
    parent.location, parent.rotation_euler = (1, 1, 0), (0.2, 0.0, 0.5)
    sheet.parent, sheet.scale = parent, (2.0, 0.5, 3.0)
    sheet.thin_shell.self_contact = False
    bpy.context.view_layer.update()
    start = np.array([sheet.matrix_world @ v.co for v in sheet.data.vertices])
    for frame, x in ((1, 1.0), (6, 4.0)):
        parent.location.x = x
        parent.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    bake()
    assert np.abs(evaluated(sheet, 1) - start).max() < 1e-5
    last = evaluated(sheet, 6)
    # Pins ride on the parent; the rest moves in the world by itself.
    assert np.abs(last[[0, 6], 0] - start[[0, 6], 0] - 3.0).max() < 1e-4
    assert np.ptp(last[:, 0] - start[:, 0]) > 0.01


def test_pins_follow_an_armature(sheet):
    armature = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", armature)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.edit_bones.new("Bone")
    bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    sheet.vertex_groups.new(name="Bone").add(list(range(49)), 1.0, "REPLACE")
    sheet.modifiers.new("Armature", "ARMATURE").object = rig
    sheet.modifiers.remove(sheet.modifiers["Thin Shell"])
    posed = rig.pose.bones["Bone"]
    for frame, lift in ((1, 0.0), (6, 0.5)):
        posed.location = (0, lift, 0)
        posed.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    bpy.context.view_layer.objects.active = sheet
    bake()
    assert [m.name for m in sheet.modifiers] == ["Armature", "Thin Shell"]
    moved = evaluated(sheet, 6)[[0, 6], 2] - evaluated(sheet, 1)[[0, 6], 2]
    assert moved == pytest.approx([0.5, 0.5], abs=1e-5)
    assert evaluated(sheet, 6)[24, 2] < 1.3


def test_soft_pins_and_missing_group(sheet):
    pin(sheet, [24], 0.5)
    sheet.thin_shell.pin_stiffness = 100.0
    shell = simulation(sheet).links[0].shell
    assert [p.stiffness is None for p in shell.pins] == [True, False]
    assert shell.pins[1].stiffness[0] == pytest.approx(50.0)
    sheet.thin_shell.pin_group = "nothing"
    assert "no vertex group 'nothing'" in failure(bpy.ops.thin_shell.bake)


def test_modifiers_before_and_after(sheet):
    sheet.modifiers.new("After", "SUBSURF")
    before = sheet.modifiers.new("Before", "SUBSURF")
    before.subdivision_type, before.levels, before.render_levels = "SIMPLE", 1, 1
    sheet.modifiers.move(2, 0)
    assert [m.name for m in sheet.modifiers] == ["Before", "Thin Shell", "After"]
    sheet.thin_shell.frame_end = 3
    bake()
    assert len(evaluated(sheet, 3)) == 25 * 25
    assert sheet.thin_shell.baked_samples == 3
    assert all(m.show_viewport for m in sheet.modifiers)
    bpy.ops.thin_shell.delete_bake()
    sheet.thin_shell.cache_target = "SHAPE_KEYS"
    assert "apply those, or bake to a point cache" in failure(bpy.ops.thin_shell.bake)


def test_solidify_after_keeps_working(sheet):
    sheet.modifiers.new("Solidify", "SOLIDIFY")
    bake()
    assert len(evaluated(sheet, 6)) == 98


def test_edits_under_way_are_baked(sheet):
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=(0, 0, 2))
    bake()
    assert sheet.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert evaluated(sheet, 1)[0, 2] == pytest.approx(3.0)


def test_hidden_object_bakes_and_stays_hidden(sheet):
    sheet.hide_viewport = True
    bake(everything=True)
    assert sheet.hide_viewport
    sheet.hide_viewport = False
    assert np.abs(evaluated(sheet, 6)[:, 2] - 1).max() > 0.05
    sheet.hide_set(True)
    bake(everything=True)
    assert sheet.hide_get()


def test_linked_mesh_data(sheet):
    other = bpy.data.objects.new("Other", sheet.data)
    bpy.context.collection.objects.link(other)
    other.location = (5, 0, 1)
    bake()
    assert np.abs(evaluated(other, 6)[:, 2] - 1).max() < 1e-6
    sheet.thin_shell.cache_target = "SHAPE_KEYS"
    assert "single user" in failure(bpy.ops.thin_shell.bake)


def test_object_linked_from_a_library(sheet, blend, tmp_path):
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "user.blend"))
    with bpy.data.libraries.load(str(blend), link=True) as (_, wanted):
        wanted.objects = ["Sheet"]
    obj = bpy.data.objects["Sheet"]
    bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    assert "library override" in failure(bpy.ops.thin_shell.bake)


def test_own_shape_keys_are_not_destroyed(sheet):
    sheet.shape_key_add(name="Basis")
    sheet.shape_key_add(name="Mine")
    sheet.thin_shell.cache_target = "SHAPE_KEYS"
    assert "shape keys of its own" in failure(bpy.ops.thin_shell.bake)
    assert [k.name for k in sheet.data.shape_keys.key_blocks] == ["Basis", "Mine"]


def test_rest_shape_from_key_and_object(sheet):
    sheet.shape_key_add(name="Basis")
    key = sheet.shape_key_add(name="Small", from_mix=False)
    for point in key.data:
        point.co *= 0.5
    key.value = 0.0
    sheet.thin_shell.rest_shape, sheet.thin_shell.rest_key = "KEY", "Small"
    shell = simulation(sheet).links[0].shell
    assert shell.areas.sum() == pytest.approx(1.0, rel=1e-5)
    assert np.ptp(shell.start[:, 0]) == pytest.approx(2.0)
    sheet.thin_shell.rest_key = "gone"
    assert "no shape key 'gone'" in failure(bpy.ops.thin_shell.bake)
    other = make_grid("Rest", size=1.5, location=(9, 9, 9))
    other.thin_shell.enabled = False
    sheet.thin_shell.rest_shape, sheet.thin_shell.rest_object = "OBJECT", other
    assert simulation(sheet).links[0].shell.areas.sum() == pytest.approx(2.25, rel=1e-5)
    sheet.thin_shell.rest_object = make_grid("Wrong", cells=3)
    bpy.context.view_layer.objects.active = sheet
    assert "the rest shape has 16 vertices, the mesh 49" in failure(bpy.ops.thin_shell.bake)


def test_sewing(blend):
    x = [(i, j, 0.0) for j in (0, 1, 1.5, 2.5) for i in (0, 1)]
    mesh = bpy.data.meshes.new("Two")
    mesh.from_pydata(x, [(2, 4), (3, 5)], [(0, 1, 3, 2), (4, 5, 7, 6)])
    obj = bpy.data.objects.new("Two", mesh)
    bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.thin_shell.toggle()
    obj.thin_shell.use_sewing, obj.thin_shell.field_gravity, obj.thin_shell.frame_end = True, 0.0, 20
    assert len(simulation(obj).scene.attachments) == 1
    bake()
    last = evaluated(obj, 20)
    assert np.linalg.norm(last[2] - last[4]) < 0.1


def test_pressure_and_solid(sheet):
    settings = sheet.thin_shell
    settings.use_pressure, settings.pressure, settings.material_source = True, 12.0, "SOLID"
    shell = simulation(sheet).links[0].shell
    assert shell.pressure_at(0) == 12.0
    assert shell.material.stretch[0] == pytest.approx(5e9 * 3e-4 / (1 - 0.09), rel=1e-4)


@pytest.mark.parametrize("kind", ["GROUP", "POINT", "FACE", "CORNER", "COLOUR"])
def test_property_weights(sheet, kind):
    left = np.array([v.co.x < -0.1 for v in sheet.data.vertices])
    if kind == "GROUP":
        sheet.vertex_groups.new(name="w").add([int(i) for i in np.flatnonzero(left)], 1.0, "REPLACE")
    elif kind == "COLOUR":
        made = sheet.data.attributes.new("w", "FLOAT_COLOR", "POINT")
        made.data.foreach_set("color", np.repeat(left.astype(np.float32), 4))
    else:
        made = sheet.data.attributes.new("w", "FLOAT", kind)
        if kind == "POINT":
            values = left
        elif kind == "FACE":
            values = np.array([left[list(p.vertices)].mean() for p in sheet.data.polygons])
        else:
            values = np.array([left[loop.vertex_index] for loop in sheet.data.loops])
        made.data.foreach_set("value", values.astype(np.float32))
    settings = sheet.thin_shell
    settings.weight_bend, settings.weight_bend_low = "w", 0.01
    bend = simulation(sheet).links[0].shell.material.bend[0]
    assert bend.max() == pytest.approx(5e-5, rel=1e-4) and bend.min() == pytest.approx(5e-7, rel=1e-3)
    settings.weight_thickness, settings.weight_thickness_low = "w", 0.5
    material = simulation(sheet).links[0].shell.material
    assert material.bend[0].min() == pytest.approx(5e-7 / 8, rel=1e-3)
    assert material.areal_density.min() == pytest.approx(0.075, rel=1e-3)
    settings.weight_shear = "absent"
    assert "no vertex group or attribute" in failure(bpy.ops.thin_shell.bake)


def add_uv(obj, mirrored=False, turn=0.0):
    layer = obj.data.uv_layers.new(name="UVMap")
    c, s = math.cos(turn), math.sin(turn)
    for loop, uv in zip(obj.data.loops, layer.uv, strict=True):
        co = obj.data.vertices[loop.vertex_index].co
        u, v = (c * co.x + s * co.y) / 4 + 0.5, (-s * co.x + c * co.y) / 4 + 0.5
        uv.vector = (1 - u if mirrored else u, v)


def test_axes_from_uv_and_vector(sheet):
    settings = sheet.thin_shell
    settings.axes_source = "UV"
    assert "unwrap it" in failure(bpy.ops.thin_shell.bake)
    add_uv(sheet, turn=0.3)
    axes = simulation(sheet).links[0].shell.axes
    assert np.abs(np.abs(axes @ [math.cos(0.3), math.sin(0.3), 0]) - 1).max() < 1e-5
    settings.axes_angle = math.pi / 2
    axes = simulation(sheet).links[0].shell.axes
    assert np.abs(axes @ [math.cos(0.3), math.sin(0.3), 0]).max() < 1e-5
    settings.axes_source, settings.axes_vector = "VECTOR", (0, 1, 0)
    assert np.abs(np.abs(simulation(sheet).links[0].shell.axes[:, 1]) - 1).max() < 1e-6
    settings.axes_vector = (0, 0, 0)
    assert "direction in Material Axes is zero" in failure(bpy.ops.thin_shell.bake)


@pytest.mark.parametrize("mirrored", [False, True])
def test_axes_from_an_image(sheet, mirrored):
    add_uv(sheet, mirrored)
    assert bpy.ops.thin_shell.paint_axes(pattern="UNIFORM", angle=0.5, size=32) == {"FINISHED"}
    axes = simulation(sheet).links[0].shell.axes
    # φ turns from U towards V: on a mirrored island U runs backwards, so the direction is mirrored too.
    wanted = np.array([-math.cos(0.5) if mirrored else math.cos(0.5), math.sin(0.5), 0.0])
    assert np.abs(np.abs(axes @ wanted) - 1).max() < 1e-3
    assert bpy.ops.thin_shell.paint_axes(pattern="RADIAL", size=64) == {"FINISHED"}
    link = simulation(sheet).links[0]
    centre = link.shell.rest_positions[link.shell.faces].mean(axis=1)
    radial = centre * [1, 1, 0] / np.linalg.norm(centre * [1, 1, 0], axis=1, keepdims=True)
    assert np.median(np.abs((link.shell.axes * radial).sum(axis=1))) > 0.98


def test_example_images_load(sheet):
    add_uv(sheet)
    for example in ("RADIAL", "HERRINGBONE"):
        assert bpy.ops.thin_shell.example_axes(example=example) == {"FINISHED"}
        image = sheet.thin_shell.axes_image
        assert tuple(image.size) == (64, 64) and image.colorspace_settings.name == "Non-Color"
        simulation(sheet)
    sheet.thin_shell.axes_encoding = "HUE"
    simulation(sheet)


def test_broken_image_is_said(sheet, tmp_path):
    add_uv(sheet)
    sheet.thin_shell.axes_source = "IMAGE"
    assert "none is chosen" in failure(bpy.ops.thin_shell.bake)
    for name, content in (
        ("cut.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ("text.png", b"no image at all"),
        ("none.png", None),
    ):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        image = bpy.data.images.new(name, 8, 8)
        image.source, image.filepath = "FILE", str(path)
        image.reload()
        sheet.thin_shell.axes_image = image
        assert "cannot be read" in failure(bpy.ops.thin_shell.bake), name


def test_axis_lines_for_the_overlay(sheet):
    from thin_shell.addon import overlay

    for source in ("NONE", "UV"):
        if source == "UV":
            add_uv(sheet)
        sheet.thin_shell.axes_source = source
        lines = overlay.axis_lines(sheet, 1).reshape(-1, 2, 3)
        assert len(lines) == 72
        along = lines[:, 1] - lines[:, 0]
        assert np.abs(along[:, 1:]).max() < 1e-5 and along[:, 0].min() > 0.05


def test_several_shells_keep_their_own_frames(blend):
    first, second = make_grid("A"), make_grid("B", cells=4, location=(4, 0, 2))
    for obj in (first, second):
        pin(obj, [0])
    second.thin_shell.field_gravity = 0.0
    bake(everything=True)
    assert np.abs(evaluated(second, 6)[:, 2] - 2).max() < 1e-5
    assert np.abs(evaluated(first, 6)[:, 2] - 1).max() > 0.05
