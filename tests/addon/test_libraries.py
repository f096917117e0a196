"""Linked and overridden: what an override keeps, two libraries with the same names, what takes part in a view layer."""

import os
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from blender_scenes import bake, cache_folder, evaluated, failure, make_grid
from characters import new_shot, overridden, save_character, shown
from thin_shell.addon import cli
from thin_shell.addon.bake.location import may_write, paths_of
from thin_shell.addon.bake.status import status
from thin_shell.addon.bridge.build import build
from thin_shell.addon.bridge.mesh import inputs_visible
from thin_shell.addon.operators import check
from thin_shell.addon.properties import TABLES
from thin_shell.addon.realtime.properties import CLASSES

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def library(tmp_path):
    path = tmp_path / "library.blend"
    save_character(path)
    return path


def reopened(name="Garment"):
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects[name, None]
    bpy.context.view_layer.objects.active = obj
    return obj


def simulation(*objects):
    with inputs_visible(objects):
        return build(bpy.context.scene, list(objects))


def test_every_property_is_overridable():
    owner = bpy.types.Object.bl_rna.properties
    groups = [bpy.types.Object.bl_rna.properties["thin_shell"].fixed_type, *(c.bl_rna for c in CLASSES)]
    assert owner["thin_shell"].is_overridable and owner["thin_shell_realtime"].is_overridable
    for group in groups:
        for rna in group.properties:
            assert rna.is_overridable or rna.identifier in ("rna_type", "name"), (group.identifier, rna.identifier)
    assert {name for table in TABLES for name in table} < set(groups[0].properties.keys())


@pytest.mark.parametrize("editable", [True, False], ids=["editable", "of the hierarchy"])
def test_an_override_keeps_its_settings_and_bake(library, tmp_path, editable):
    garment = new_shot(tmp_path / "shot.blend", library, 0.5, editable)
    settings = garment.thin_shell
    settings.bend_warp, settings.curl_length, settings.contact_distance, settings.axes_source = 0.7, 40.0, 3.0, "VECTOR"
    settings.wind_velocity, settings.use_pressure = (1, 2, 3), True
    garment.thin_shell_realtime.mode_count = 17
    handle = garment.thin_shell_realtime.handles.add()
    handle.name, handle.stiffness, handle.target = "Mine", 5.0, bpy.data.objects["Body", None]
    bake()
    wanted = evaluated(garment, 6)
    bpy.ops.wm.save_mainfile()
    reopened()
    # Blender compares with the library anew whenever it saves.
    bpy.ops.wm.save_mainfile()
    garment = reopened()
    settings = garment.thin_shell
    assert (settings.bend_warp, settings.curl_radius) == pytest.approx((0.7, 0.04))
    assert (settings.contact_distance, settings.axes_source, settings.use_pressure) == (3.0, "VECTOR", True)
    assert tuple(settings.wind_velocity) == (1, 2, 3)
    realtime = garment.thin_shell_realtime
    assert realtime.mode_count == 17
    assert [(h.name, h.stiffness, h.target.name) for h in realtime.handles] == [("Mine", 5.0, "Body")]
    assert settings.baked and settings.baked_complete and settings.baked_samples == 6
    assert [m.name for m in garment.modifiers] == ["Armature", "Thin Shell"]
    assert np.abs(evaluated(garment, 6) - wanted).max() == 0.0
    assert status(garment, bpy.context.scene, fresh=True).kind == "BAKED"


def test_a_shell_that_the_library_knows_nothing_of(tmp_path):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6)
    bpy.context.object.name = "Plain"
    hero = bpy.data.collections.new("Hero")
    hero.objects.link(bpy.context.object)
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.name = "Rig"
    hero.objects.link(bpy.context.object)
    bpy.context.scene.collection.children.link(hero)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "plain.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot2.blend"))
    garment, _ = overridden(tmp_path / "plain.blend")
    bpy.context.view_layer.objects.active = garment
    assert bpy.ops.thin_shell.toggle() == {"FINISHED"}
    garment.thin_shell.frame_end = 4
    bake()
    wanted = evaluated(garment, 4)
    bpy.ops.wm.save_mainfile()
    reopened("Plain")
    bpy.ops.wm.save_mainfile()
    garment = reopened("Plain")
    assert garment.thin_shell.enabled and garment.thin_shell.baked
    assert not garment.thin_shell.use_outer_thickness
    assert np.abs(evaluated(garment, 4) - wanted).max() == 0.0


def test_bodies_of_two_libraries_are_two(tmp_path):
    for folder, lift in (("a", 0.0), ("b", 2.0)):
        (tmp_path / folder).mkdir()
        save_character(tmp_path / folder / "library.blend", lift=lift)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scene = bpy.context.scene
    for folder in ("a", "b"):
        with bpy.data.libraries.load(str(tmp_path / folder / "library.blend"), link=True) as (_, wanted):
            wanted.objects = ["Body", "Rig"]
        for obj in wanted.objects:
            scene.collection.objects.link(obj)
    bodies = [obj for obj in scene.objects if obj.name == "Body"]
    assert len(bodies) == 2 and bodies[0].library != bodies[1].library
    sheet = make_grid(size=1.0, location=(0, 0, 3.5))
    surfaces = simulation(sheet).scene.colliders
    middles = sorted(float(each.place(0.0)[:, 2].mean()) for each in surfaces)
    assert middles[1] - middles[0] == pytest.approx(2.0, abs=1e-5)
    # The one of the other library below is not the one that the sheet comes to lie on.
    sheet.thin_shell.frame_end = 20
    bake()
    over = np.linalg.norm(evaluated(sheet, 20) - np.array([0, 0, 2.5]), axis=1)
    assert over.min() > 0.29
    local = bpy.data.objects.new("Body", None)
    scene.collection.objects.link(local)
    assert local.name == "Body"
    assert sorted(float(e.place(0.0)[:, 2].mean()) for e in simulation(sheet).scene.colliders) == pytest.approx(middles)


def test_fields_of_two_libraries_are_two(tmp_path):
    for folder, strength in (("a", 100.0), ("b", 300.0)):
        (tmp_path / folder).mkdir()
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.ops.object.effector_add(type="FORCE")
        bpy.context.object.name, bpy.context.object.field.strength = "Push", strength
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / folder / "library.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    for folder in ("a", "b"):
        with bpy.data.libraries.load(str(tmp_path / folder / "library.blend"), link=True) as (_, wanted):
            wanted.objects = ["Push"]
        bpy.context.scene.collection.objects.link(wanted.objects[0])
    sheet = make_grid()
    area = np.full((49, 3), (0, 0, 0.01))
    x = sheet_positions(sheet)

    def pushed():
        return np.linalg.norm(simulation(sheet).scene.forces[0].force(0.0, x, np.zeros_like(x), area), axis=1)

    assert pushed() == pytest.approx(np.full(49, 0.02 * 400 * 0.01), rel=1e-4)
    weak = next(obj for obj in bpy.context.scene.objects if obj.name == "Push" and obj.field.strength == 100.0)
    sheet.thin_shell.field_collection = bpy.data.collections.new("Only this")
    sheet.thin_shell.field_collection.objects.link(weak)
    assert pushed() == pytest.approx(np.full(49, 0.02 * 100 * 0.01), rel=1e-4)


def sheet_positions(sheet):
    return np.array([sheet.matrix_world @ v.co for v in sheet.data.vertices])


def out_of_sight(obj, way):
    """Put an object where the view layer does not evaluate it, or hides it only."""
    layer = bpy.context.view_layer
    apart = bpy.data.collections.new("Apart")
    inner = bpy.data.collections.new("Inner")
    bpy.context.scene.collection.children.link(apart)
    apart.children.link(inner)
    inner.objects.link(obj)
    for other in list(obj.users_collection):
        if other != inner:
            other.objects.unlink(obj)
    if way == "excluded":
        layer.layer_collection.children["Apart"].exclude = True
    elif way == "disabled":
        apart.hide_viewport = True
    elif way == "eye of the collection":
        layer.layer_collection.children["Apart"].hide_viewport = True
    elif way == "eye":
        obj.hide_set(True)
    layer.update()


OUT, HIDDEN = ("excluded", "disabled"), ("eye", "eye of the collection")


@pytest.mark.parametrize("way", OUT + HIDDEN)
@pytest.mark.parametrize("chosen", [False, True], ids=["all", "collection"])
def test_colliders_that_nobody_evaluates_do_not_collide(blend, way, chosen):
    sheet = make_grid(size=1.0, location=(0, 0, 0.5))
    sheet.thin_shell.frame_end = 12
    bpy.ops.mesh.primitive_plane_add(size=10)
    floor = bpy.context.object
    floor.modifiers.new("Collision", "COLLISION")
    for frame, z in ((1, 0.0), (12, 0.4)):
        floor.location.z = z
        floor.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    if chosen:
        sheet.thin_shell.collision_collection = bpy.data.collections.new("These")
        sheet.thin_shell.collision_collection.objects.link(floor)
    out_of_sight(floor, way)
    if chosen:
        sheet.thin_shell.collision_collection.objects.link(floor)
    bpy.context.view_layer.objects.active = sheet
    bake()
    lowest = evaluated(sheet, 12)[:, 2].min()
    if way in HIDDEN:
        # It moved up while it was hidden.
        assert lowest > 0.39
    else:
        assert lowest < 0.0
        assert bpy.ops.thin_shell.check() == {"FINISHED"}
        assert any("'Plane' has no effect" in issue.message for issue in check.last)


@pytest.mark.parametrize("way", OUT + HIDDEN)
def test_fields_that_nobody_evaluates_do_not_act(blend, way):
    sheet = make_grid(size=1.0)
    sheet.thin_shell.field_gravity = 0.0
    bpy.ops.object.effector_add(type="FORCE", location=(0, 0, 0))
    source = bpy.context.object
    source.field.strength = 200.0
    out_of_sight(source, way)
    bpy.context.view_layer.objects.active = sheet
    bake()
    moved = np.abs(evaluated(sheet, 6)[:, 2] - 1).max()
    if way in HIDDEN:
        assert moved > 0.01
    else:
        assert moved < 1e-5
        assert bpy.ops.thin_shell.check() == {"FINISHED"}
        assert any("the force field 'Field' has no effect" in i.message.replace("Force", "Field") for i in check.last)


@pytest.mark.parametrize("way", OUT)
def test_handles_that_nobody_evaluates_are_said(blend, way):
    sheet = make_grid()
    empty = bpy.data.objects.new("Grip", None)
    bpy.context.scene.collection.objects.link(empty)
    handle = sheet.thin_shell_realtime.handles.add()
    sheet.vertex_groups.new(name="Tip").add([48], 1.0, "REPLACE")
    handle.name, handle.target, handle.group = "Handle", empty, "Tip"
    sheet.thin_shell_realtime.motion = "MODAL"
    out_of_sight(empty, way)
    bpy.context.view_layer.objects.active = sheet
    assert "'Grip', which is in no collection" in failure(bpy.ops.thin_shell.bake)
    assert "'Grip', which is in no collection" in failure(bpy.ops.thin_shell.realtime)


def test_a_linked_mesh_takes_no_shape_keys(library, tmp_path):
    garment = new_shot(tmp_path / "shot.blend", library, 0.5)
    garment.modifiers["Armature"].show_viewport = garment.modifiers["Armature"].show_render = False
    garment.thin_shell.cache_target = "SHAPE_KEYS"
    for words in (failure(bpy.ops.thin_shell.bake), failure(bpy.ops.thin_shell.check)):
        assert "linked from library.blend" in words and "point cache" in words
    bpy.ops.wm.save_mainfile()
    assert cli.command(["bake", "--no-save"]) == 1
    assert cli.command(["bake", "--no-save", "--cache", "pc2"]) == 0


# A render farm: no extension of ours, the file as it was saved.
RENDERS = """
import bpy, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from characters import shown
assert not hasattr(bpy.types.Object, "thin_shell")
bpy.ops.wm.open_mainfile(filepath=sys.argv[2])
scene, seen = bpy.context.scene, {}
scene.render.engine, scene.render.filepath = "CYCLES", sys.argv[3] + ".frames/"
scene.cycles.samples, scene.render.resolution_x, scene.render.resolution_y = 1, 8, 8
camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
scene.collection.objects.link(camera)
scene.camera = camera

def keep(scene, depsgraph):
    assert depsgraph.mode == "RENDER"
    found = bpy.data.objects["Garment", None].evaluated_get(depsgraph)
    flat = np.empty(3 * len(found.data.vertices), dtype=np.float32)
    found.data.vertices.foreach_get("co", flat)
    matrix = np.array(found.matrix_world)
    seen[str(scene.frame_current)] = flat.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]

bpy.app.handlers.frame_change_post.append(keep)
bpy.ops.render.render(animation=True)
np.savez(sys.argv[3], **seen)
import os
sys.stdout.flush()
os._exit(0)
"""


def rendered(folder, blend, out):
    """World positions of the garment at each frame as a Blender without the add-on renders it."""
    script = folder / "renders.py"
    script.write_text(RENDERS)
    arguments = (sys.executable, str(script), str(ROOT / "tests"), str(blend), str(out))
    done = subprocess.run(arguments, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""})
    assert done.returncode == 0, done.stdout + done.stderr
    with np.load(out.with_name(out.name + ".npz")) as found:
        return {int(frame): found[frame] for frame in found.files}


def test_two_shots_of_an_overridden_character(library, tmp_path):
    """Baked by button and by command, saved, closed, rendered by a Blender without the add-on: the same vertices."""
    wanted = {}
    for name, lift in (("one", 0.5), ("two", -0.3)):
        garment = new_shot(tmp_path / f"{name}.blend", library, lift)
        if name == "one":
            bake()
            bpy.ops.wm.save_mainfile()
        else:
            bpy.ops.wm.save_mainfile()
            assert cli.command(["bake"]) == 0
            garment = bpy.data.objects["Garment", None]
        wanted[name] = {frame: shown(garment, frame) for frame in range(1, 7)}
        # The pins went with the bone, the rest hangs behind.
        moved = wanted[name][6] - wanted[name][1]
        assert moved[[0, 8], 2] == pytest.approx([lift, lift], abs=1e-4)
        assert abs(moved[40, 2] - lift) > 0.01
    assert np.abs(wanted["one"][6] - wanted["two"][6]).max() > 0.5
    assert len(list(cache_folder().glob("*.pc2"))) == 2
    for name, frames in wanted.items():
        found = rendered(tmp_path, tmp_path / f"{name}.blend", tmp_path / name)
        assert sorted(found) == [1, 2, 3, 4, 5, 6]
        for frame, x in frames.items():
            assert np.abs(found[frame] - x).max() == 0.0, (name, frame)


def test_two_of_one_character_in_a_shot(library, tmp_path):
    """Both come with the shell id of their library."""
    first = new_shot(tmp_path / "shot.blend", library, 0.5)
    second, _ = overridden(library)
    second.thin_shell.frame_end = 6
    second.thin_shell.wind_velocity = (0, 5, 0)
    wanted = {}
    for obj in (first, second):
        bpy.context.view_layer.objects.active = obj
        bake()
        wanted[obj.name] = evaluated(obj, 6)
    assert len(wanted) == 2
    bpy.ops.wm.save_mainfile()
    for _ in range(2):
        for name, x in wanted.items():
            obj = reopened(name)
            assert np.abs(evaluated(obj, 6) - x).max() == 0.0 and may_write(obj, paths_of(obj))
        bpy.ops.wm.save_mainfile()
    gone, stays = wanted
    bpy.context.view_layer.objects.active = bpy.data.objects[gone, None]
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    assert np.abs(evaluated(bpy.data.objects[stays, None], 6) - wanted[stays]).max() == 0.0


@pytest.mark.parametrize("folder", ["//thin_shell_cache", "absolute"])
def test_a_bake_of_the_library_is_the_librarys(library, tmp_path, folder):
    """A character that is baked where it is made comes to the shot with that bake, for reading."""
    caches = tmp_path / "caches" if folder == "absolute" else library.parent / "thin_shell_cache"
    garment = bpy.data.objects["Garment"]
    garment.thin_shell.frame_end = 6
    garment.thin_shell.cache_folder = str(caches) if folder == "absolute" else folder
    bake()
    bpy.ops.wm.save_mainfile()
    before = {path.name: path.read_bytes() for path in caches.iterdir()}
    (tmp_path / "shots").mkdir()
    garment = new_shot(tmp_path / "shots" / "shot.blend", library, 0.5)
    bake()
    wanted = evaluated(garment, 6)
    bpy.ops.wm.save_mainfile()
    garment = reopened()
    assert np.abs(evaluated(garment, 6) - wanted).max() == 0.0
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    after = {path.name: path.read_bytes() for path in caches.iterdir() if path.is_file()}
    assert {name: after.get(name) for name in before} == before


def test_an_override_follows_its_library(library, tmp_path):
    """What the shot does not set comes from the library, also later."""
    garment = new_shot(tmp_path / "shot.blend", library, 0.5)
    garment.thin_shell.bend_warp = 0.7
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(library))
    settings = bpy.data.objects["Garment"].thin_shell
    settings.bend_warp, settings.bend_weft = 0.2, 0.3
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    settings = bpy.data.objects["Garment", None].thin_shell
    assert (settings.bend_warp, settings.bend_weft) == pytest.approx((0.7, 0.3))
