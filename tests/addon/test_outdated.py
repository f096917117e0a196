"""Outdated means outdated: all that is simulated counts, names do not; no redraw pays for it."""

import time

import bpy
import numpy as np
import pytest
from blender_scenes import bake, failure, make_grid
from mathutils import Matrix
from thin_shell import shellcore as sc
from thin_shell.addon.bake import inputs
from thin_shell.addon.bake import status as statuses
from thin_shell.addon.bake.status import status


def kind():
    return status(bpy.data.objects["Sheet"], bpy.context.scene, fresh=True).kind


@pytest.fixture
def rich(sheet):
    """A sheet with all that a bake can read round it."""
    settings = sheet.thin_shell
    mesh = sheet.data
    mesh.uv_layers.new(name="UVMap")
    mesh.uv_layers.new(name="Other")
    sheet.vertex_groups.new(name="Extra").add([7], 0.5, "REPLACE")
    sheet.vertex_groups.new(name="Soft").add([8, 9], 0.5, "REPLACE")
    settings.weight_bend = "Soft"
    image = bpy.data.images.new("Grain", 4, 4, float_buffer=True)
    image.pixels.foreach_set(np.tile(np.array([1, 0.5, 0, 1], dtype=np.float32), 16))
    image.pack()
    settings.axes_source, settings.axes_image, settings.axes_uv = "IMAGE", image, "UVMap"
    rest = bpy.data.objects.new("Rest", mesh.copy())
    rest.location = sheet.location
    bpy.context.collection.objects.link(rest)
    settings.rest_shape, settings.rest_object = "OBJECT", rest
    ground = bpy.data.objects.new("Ground", make_mesh())
    bpy.context.collection.objects.link(ground)
    ground.modifiers.new("Collision", "COLLISION")
    ground.modifiers.new("Wave", "WAVE").height = 0.01
    bpy.ops.object.effector_add(type="WIND", location=(0, 0, -3))
    wind = bpy.context.object
    wind.name = "Wind"
    wind.field.strength = 3.0
    wind.keyframe_insert("field.strength", frame=1)
    wind.field.strength = 5.0
    wind.keyframe_insert("field.strength", frame=6)
    holder = bpy.data.objects.new("Holder", None)
    bpy.context.collection.objects.link(holder)
    sheet.parent = holder
    hook = bpy.data.objects.new("Hook", None)
    bpy.context.collection.objects.link(hook)
    modifier = sheet.modifiers.new("Hook", "HOOK")
    modifier.object, modifier.vertex_group, modifier.strength = hook, "Extra", 0.2
    sheet.modifiers.new("Cast", "CAST").factor = 0.01
    for name in ("Hook", "Cast"):
        sheet.modifiers.move(sheet.modifiers.find(name), sheet.modifiers.find("Thin Shell"))
    sheet.modifiers.new("Subsurf", "SUBSURF")
    bystander = bpy.data.objects.new("Bystander", make_mesh())
    bystander.location.x = 9
    bpy.context.collection.objects.link(bystander)
    bpy.context.view_layer.objects.active = sheet
    sheet.select_set(True)
    bpy.context.scene.frame_set(1)
    bake()
    return sheet


def make_mesh():
    mesh = bpy.data.meshes.new("Flat")
    mesh.from_pydata([(-3, -3, -2), (3, -3, -2), (3, 3, -2), (-3, 3, -2)], [], [(0, 1, 2, 3)])
    return mesh


def put(path, value):
    """Sets a value somewhere below bpy.data; what sets it back."""
    owner, _, name = path.rpartition(".")
    target = eval_path(owner)
    before = getattr(target, name)
    before = before.copy() if hasattr(before, "copy") else before
    setattr(target, name, value)
    return lambda: setattr(eval_path(owner), name, before)


def eval_path(path):
    first, _, rest = path.partition(".")
    found = bpy.data.objects.get(first) or bpy.context.scene
    return found.path_resolve(rest) if rest else found


def weight(group, vertex, value):
    def change():
        obj = bpy.data.objects["Sheet"]
        obj.vertex_groups[group].add([vertex], value, "REPLACE")
        return lambda: obj.vertex_groups[group].remove([vertex])

    return change


def uv(layer):
    def change():
        data = bpy.data.objects["Sheet"].data.uv_layers[layer].uv[3]
        data.vector.x += 0.25
        return lambda: setattr(bpy.data.objects["Sheet"].data.uv_layers[layer].uv[3].vector, "x", data.vector.x - 0.25)

    return change


def pixels():
    image = bpy.data.images["Grain"]
    before = np.empty(64, dtype=np.float32)
    image.pixels.foreach_get(before)
    after = before.copy()
    after[0] = 0.125
    image.pixels.foreach_set(after)
    return lambda: image.pixels.foreach_set(before)


def keyframe():
    from thin_shell.addon import compat

    points = compat.curves_of(bpy.data.objects["Wind"].animation_data)[0].keyframe_points
    points[1].co.y += 1.0
    return lambda: setattr(points[1].co, "y", points[1].co.y - 1.0)


def new_collider():
    other = bpy.data.objects.new("Second", make_mesh())
    bpy.context.collection.objects.link(other)
    other.modifiers.new("Collision", "COLLISION")
    return lambda: bpy.data.objects.remove(other)


COUNTS = {
    "a vertex": lambda: put("Sheet.data.vertices[24].co", (0.01, 0.02, 0.03)),
    "a pin": weight("Pin", 24, 1.0),
    "a weight": weight("Soft", 30, 0.25),
    "the group of a modifier above": weight("Extra", 30, 0.25),
    "the map that is read": uv("UVMap"),
    "the image": pixels,
    "the rest object": lambda: put("Rest.data.vertices[24].co", (0.01, 0.02, 0.03)),
    "a modifier above": lambda: put('Sheet.modifiers["Cast"].factor', 0.3),
    "what a modifier above reads": lambda: put("Hook.location", (0, 0, 1)),
    "the place": lambda: put("Sheet.location", (0, 0, 3)),
    "the parent": lambda: put("Holder.location", (0, 0, 3)),
    "the collider": lambda: put("Ground.location", (0, 0, 1)),
    "the collider's mesh": lambda: put("Ground.data.vertices[0].co", (-3, -3, -1)),
    "the collider's modifier": lambda: put('Ground.modifiers["Wave"].height', 0.3),
    "the collider's friction": lambda: put("Ground.collision.cloth_friction", 40.0),
    "the collider's shape": lambda: put("Ground.thin_shell.collider_shape", "PLANE"),
    "a second collider": new_collider,
    "the field": lambda: put("Wind.field.flow", 2.0),
    "the field's place": lambda: put("Wind.rotation_euler", (1, 0, 0)),
    "its animation": keyframe,
    "gravity": lambda: put("scene.gravity", (0, 0, -1)),
    "units": lambda: put("scene.unit_settings.scale_length", 0.1),
    "frames a second": lambda: put("scene.render.fps", 30),
    "a setting": lambda: put("Sheet.thin_shell.friction", 0.9),
}


@pytest.mark.parametrize("what", sorted(COUNTS))
def test_what_is_simulated_counts(rich, what):
    assert kind() == "BAKED"
    back = COUNTS[what]()
    bpy.context.view_layer.update()
    assert kind() == "OUTDATED"
    back()
    bpy.context.view_layer.update()
    assert kind() == "BAKED"


IGNORED = {
    "names": lambda: [setattr(o, "name", f"{o.name} renamed") for o in bpy.data.objects if o.name != "Sheet"],
    "another group": lambda: bpy.data.objects["Sheet"].vertex_groups.new(name="New").add([3], 1.0, "REPLACE"),
    "another map": uv("Other"),
    "a bystander": lambda: put("Bystander.location", (8, 0, 0)),
    "a modifier below": lambda: put('Sheet.modifiers["Subsurf"].levels', 2),
    "how it looks": lambda: [put("Sheet.color", (1, 0, 0, 1)), put("Ground.display_type", "WIRE")],
    "the selection": lambda: [o.select_set(False) for o in bpy.data.objects],
    "a preset's name": lambda: put("Sheet.thin_shell.preset_name", "mine"),
    "another frame": lambda: bpy.context.scene.frame_set(4),
    "the mesh's name": lambda: put("Sheet.data.name", "Other"),
    "the cursor": lambda: put("scene.cursor.location", (1, 2, 3)),
    "the frame range": lambda: put("scene.frame_end", 99),
}


@pytest.mark.parametrize("what", sorted(IGNORED))
def test_what_is_not_simulated_does_not(rich, what):
    IGNORED[what]()
    bpy.context.view_layer.update()
    assert kind() == "BAKED"


def test_it_is_the_same_in_a_file_opened_again(rich, blend):
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert kind() == "BAKED"
    bpy.data.objects["Ground"].location.z = 0.5
    bpy.context.view_layer.update()
    assert kind() == "OUTDATED"


def test_what_a_file_that_was_not_saved_says(sheet, blend):
    """The sidecar knows what the bake read: attached to a mesh that was changed since it is outdated."""
    bpy.ops.wm.save_mainfile()
    bake()
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert kind() == "BAKED"
    bpy.data.objects["Sheet"].data.vertices[24].co.z = 0.4
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert kind() == "OUTDATED"


def test_saving_a_preset_changes_nothing(sheet, tmp_path, monkeypatch):
    from thin_shell.addon import presets

    monkeypatch.setattr(presets, "folder", lambda make=False: tmp_path)
    from thin_shell.addon.bake.job import Job
    from thin_shell.addon.bake.order import Order

    job = Job(Order(bpy.context.scene.name, ("Sheet",), 6))
    for report in job.run():
        job.stop = report.frame > 3
    assert bpy.ops.thin_shell.preset_save(name="mine") == {"FINISHED"}
    assert sheet.thin_shell.preset_name == "mine" and kind() == "PARTIAL"
    bake(mode="RESUME")
    assert kind() == "BAKED"


@pytest.mark.parametrize("target", ["SHAPE_KEYS", "ALEMBIC", "PC2"])
def test_a_bake_does_not_outdate_itself(sheet, target):
    sheet.thin_shell.cache_target, sheet.thin_shell.keep_strain = target, True
    bake()
    for frame in (1, 4, 6):
        bpy.context.scene.frame_set(frame)
        assert kind() == "BAKED"


def test_a_torn_bake_does_not_outdate_itself(dome, breaking):
    dome.name = "Sheet"
    breaking(dome)
    bake()
    assert kind() == "BAKED"
    dome.thin_shell.whole_mesh.vertices[3].co.z += 0.1
    assert kind() == "OUTDATED"


def test_shells_that_collide_do_not_outdate_each_other(blend):
    first, second = make_grid("Sheet"), make_grid("Second", location=(0, 0, 2))
    for obj in (first, second):
        obj.modifiers.new("Collision", "COLLISION")
    bake(everything=True)
    assert kind() == "BAKED"
    bpy.context.view_layer.objects.active = second
    second.thin_shell.friction = 0.1
    bake()
    assert kind() == "BAKED"


@pytest.mark.parametrize("bone", [False, True])
def test_an_animated_character_is_no_change(sheet, bone):
    """Poses, parents and drivers have other values at every frame."""
    armature = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", armature)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    edited = armature.edit_bones.new("Bone")
    edited.head, edited.tail = (0, 0, 0), (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    pose = rig.pose.bones["Bone"]
    for frame, x in ((1, 0.0), (6, 0.4)):
        pose.location.x = x
        pose.keyframe_insert("location", frame=frame)
    if bone:
        sheet.parent, sheet.parent_type, sheet.parent_bone = rig, "BONE", "Bone"
        sheet.matrix_parent_inverse = Matrix()
    else:
        sheet.vertex_groups.new(name="Bone").add(range(49), 1.0, "REPLACE")
        sheet.modifiers.new("Armature", "ARMATURE").object = rig
        sheet.modifiers.move(1, 0)
    bpy.context.scene.frame_set(1)
    bpy.context.view_layer.objects.active = sheet
    bake()
    for frame in (1, 3, 6):
        bpy.context.scene.frame_set(frame)
        assert kind() == "BAKED", frame
    pose.rotation_mode = "XYZ"
    pose.rotation_euler.x = 0.5
    bpy.context.view_layer.update()
    assert kind() == "OUTDATED"


def test_a_redraw_hashes_nothing(blend, monkeypatch):
    """At 100,000 vertices the state is shown in less than 5 ms; hashing is left to idle moments."""
    sheet = make_grid("Sheet", cells=316)
    sheet.vertex_groups.new(name="Pin").add(range(317), 1.0, "REPLACE")
    sheet.thin_shell.pin_group, sheet.thin_shell.frame_end = "Pin", 2
    settings = sheet.thin_shell
    scene = bpy.context.scene
    monkeypatch.setattr(sc, "progress", still)
    bake()
    assert len(sheet.data.vertices) > 100_000 and kind() == "BAKED"
    monkeypatch.setattr(inputs, "_mesh", lambda *_: pytest.fail("a mesh was read while the panel was drawn"))
    costs = []
    for number in range(7):
        sheet.data.vertices[5].co.z = 0.001 * number
        began = time.perf_counter()
        assert status(sheet, scene).kind in ("BAKED", "NONE")
        costs.append(time.perf_counter() - began)
    assert min(costs) < 0.005, costs
    monkeypatch.undo()
    assert settings.baked and kind() == "OUTDATED"


def still(scene, frames, **_):
    """A sheet that does not move, as fast as can be."""
    from cracking import Breaking
    from thin_shell.addon.cache.splits import Splits

    shell = scene.shells[0]
    plan = Splits(len(shell.start), shell.faces, np.zeros(0, int), np.zeros(0, int))
    return Breaking([plan])(scene, frames=frames, **_)


def test_panels_look_when_nothing_changes_any_more(rich, monkeypatch):
    """In a window changes are heard of, and looked at once they have come to rest."""
    assert kind() == "BAKED"
    timers = []
    monkeypatch.setattr(statuses, "bpy", stand_in(bpy, timers))
    scene = bpy.context.scene
    assert status(rich, scene).kind == "BAKED" and timers
    timers.clear()
    statuses._refresh()
    try:
        for _ in range(3):
            bpy.data.objects["Ground"].location.z += 0.1
            bpy.context.view_layer.update()
            assert statuses._refresh() == statuses.IDLE
            assert status(rich, scene).kind == "BAKED"
        assert timers
        monkeypatch.setattr(statuses, "IDLE", 0.0)
        assert statuses._refresh() is None
        assert status(rich, scene).kind == "OUTDATED"
    finally:
        inputs.unregister()
        statuses._wanted.clear()
        statuses._shown.clear()


KINDS = [item.identifier for item in bpy.types.Modifier.bl_rna.properties["type"].enum_items]


@pytest.mark.parametrize("kind_of", KINDS)
def test_every_modifier_can_be_read(sheet, kind_of):
    """Above a shell and on a collider, and twice the same."""
    ground = bpy.data.objects.new("Ground", make_mesh())
    bpy.context.collection.objects.link(ground)
    ground.modifiers.new("Collision", "COLLISION")
    before = inputs.digest(sheet, bpy.context.scene)
    made = 0
    for obj in (sheet, ground):
        modifier = obj.modifiers.new("Any", kind_of)
        if modifier is not None:
            made += 1
            obj.modifiers.move(obj.modifiers.find(modifier.name), 0)
            if kind_of == "NODES":
                modifier.node_group = nodes()
    found = []
    for _ in range(2):
        inputs.forget()
        found.append(inputs.digest(sheet, bpy.context.scene))
    assert found[0] == found[1] and (found[0] != before) == bool(made)


def nodes():
    tree = bpy.data.node_groups.new("Nodes", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Object", in_out="INPUT", socket_type="NodeSocketObject")
    first, last = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    noise, move = tree.nodes.new("ShaderNodeTexNoise"), tree.nodes.new("GeometryNodeSetPosition")
    tree.links.new(first.outputs[0], move.inputs["Geometry"])
    tree.links.new(noise.outputs[1], move.inputs["Offset"])
    tree.links.new(move.outputs[0], last.inputs[0])
    return tree


def test_nodes_above_count(sheet):
    """A number in a node, how they are joined, and where an object is that they are given."""
    tree, given = nodes(), bpy.data.objects.new("Given", None)
    bpy.context.collection.objects.link(given)
    modifier = sheet.modifiers.new("Nodes", "NODES")
    modifier.node_group = tree
    socket = next(i.identifier for i in tree.interface.items_tree if i.name == "Object")
    if bpy.app.version >= (5, 2):
        getattr(modifier.properties.inputs, socket).value = given
    else:
        modifier[socket] = given
    sheet.modifiers.move(1, 0)
    noise = next(node for node in tree.nodes if node.bl_idname == "ShaderNodeTexNoise")
    seen = [inputs.digest(sheet, bpy.context.scene)]
    noise.location.x += 100
    inputs.forget()
    assert inputs.digest(sheet, bpy.context.scene) == seen[0]

    def changed(change):
        change()
        inputs.forget()
        seen.append(inputs.digest(sheet, bpy.context.scene))
        return len(set(seen)) == len(seen)

    assert changed(lambda: setattr(noise.inputs["Scale"], "default_value", 7.0))
    assert changed(lambda: setattr(given.location, "z", 2.0))
    assert changed(lambda: tree.links.remove(tree.links[-1]))


def test_a_share_that_is_away_stalls_nothing(sheet, monkeypatch):
    """A redraw never asks the disk, and who looks for the panels asks one that hangs by a thread."""
    import os
    import threading

    bake()
    assert kind() == "BAKED"
    back = threading.Event()
    real = os.listdir

    def hangs(folder="."):
        if "thin_shell_cache" in str(folder):
            assert threading.current_thread() is not threading.main_thread(), "the share was asked by Blender itself"
            back.wait(30)
        return real(folder)

    timers = []
    monkeypatch.setattr(statuses, "bpy", stand_in(bpy, timers))
    monkeypatch.setattr(statuses, "IDLE", 0.0)
    monkeypatch.setattr(os, "listdir", hangs)
    try:
        for _ in range(3):
            began = time.perf_counter()
            assert status(sheet, bpy.context.scene).kind in ("BAKED", "MISSING")
            assert time.perf_counter() - began < 0.02
            began = time.perf_counter()
            statuses._refresh()
            assert time.perf_counter() - began < 1.0
        said = status(sheet, bpy.context.scene)
        assert said.kind == "MISSING" and "does not answer" in said.message
        back.set()
        for thread in statuses._asked.values():
            thread.join()
        monkeypatch.setattr(os, "listdir", real)
        status(sheet, bpy.context.scene)
        statuses._refresh()
        assert status(sheet, bpy.context.scene).kind == "BAKED"
    finally:
        back.set()
        inputs.unregister()
        statuses._wanted.clear()
        statuses._shown.clear()


def test_a_share_that_is_away_keeps_no_file_from_opening(sheet, monkeypatch, capfd):
    import os
    import threading

    from thin_shell.addon.bake import reattach

    second = make_grid("Second", location=(4, 0, 1))
    bpy.context.view_layer.objects.active = sheet
    bpy.ops.wm.save_mainfile()
    bake()
    back, real = threading.Event(), os.listdir

    def hangs(folder="."):
        if "thin_shell_cache" in str(folder):
            assert threading.current_thread() is not threading.main_thread(), "the share was asked by Blender itself"
            back.wait(30)
        return real(folder)

    assert second.thin_shell.enabled
    monkeypatch.setattr(reattach, "PATIENCE", 0.2)
    monkeypatch.setattr(os, "listdir", hangs)
    try:
        began = time.perf_counter()
        bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
        assert time.perf_counter() - began < 5.0 and not bpy.data.objects["Sheet"].thin_shell.baked
        assert "Sheet: the disk or share of its cache folder does not answer" in capfd.readouterr().out
    finally:
        back.set()
        monkeypatch.setattr(os, "listdir", real)
    for thread in statuses._asked.values():
        thread.join()
    obj = bpy.data.objects["Sheet"]
    assert status(obj, bpy.context.scene, fresh=True).attachable
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.thin_shell.attach() == {"FINISHED"} and kind() == "BAKED"


def stand_in(real, timers):
    """bpy with a window, as far as the status asks for it."""
    from types import SimpleNamespace

    clock = SimpleNamespace(
        is_registered=lambda function: function in timers,
        register=lambda function, first_interval: timers.append(function),
    )
    return SimpleNamespace(
        data=real.data,
        app=SimpleNamespace(background=False, timers=clock),
        context=SimpleNamespace(scene=real.context.scene, window_manager=SimpleNamespace(windows=[])),
    )


def test_a_setting_that_is_keyed_does_not_outdate(sheet):
    settings = sheet.thin_shell
    for frame, wind in ((1, (0, 0, 0)), (6, (0, 4, 0))):
        settings.wind_velocity = wind
        sheet.keyframe_insert("thin_shell.wind_velocity", frame=frame)
    bake()
    for frame in (1, 3, 6):
        bpy.context.scene.frame_set(frame)
        assert kind() == "BAKED", frame
    sheet.keyframe_insert("thin_shell.wind_velocity", frame=4)
    assert kind() == "OUTDATED"
    assert "keyframe" not in failure(bpy.ops.thin_shell.live)
