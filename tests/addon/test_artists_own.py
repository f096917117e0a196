"""What the artist added, set or stood in is as it was after a bake and after it is deleted."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from blender_scenes import bake, evaluated, failure, make_grid
from thin_shell.addon import compat
from thin_shell.addon.bake import session
from thin_shell.addon.errors import UserError
from thin_shell.addon.operators import modes


def key_names(obj):
    return [key.name for key in obj.data.shape_keys.key_blocks]


@pytest.fixture
def keyed(sheet):
    """A bake to shape keys to which the artist then added a key of his own; its shape."""
    sheet.thin_shell.cache_target = "SHAPE_KEYS"
    bake()
    bpy.context.scene.frame_set(3)
    smile = sheet.shape_key_add(name="Smile", from_mix=False)
    shape = np.random.default_rng(1).normal(size=(49, 3)).astype(np.float32)
    smile.data.foreach_set("co", shape.ravel())
    return sheet, shape


@pytest.mark.parametrize("way", ["delete", "bake", "toggle"])
def test_a_key_added_after_the_bake_stays(keyed, way):
    sheet, shape = keyed
    rest = np.array([v.co for v in sheet.data.vertices]) + np.array(sheet.location)
    if way == "bake":
        sheet.thin_shell.cache_target = "PC2"
        bake()
    else:
        assert {"delete": bpy.ops.thin_shell.delete_bake, "toggle": bpy.ops.thin_shell.toggle}[way]() == {"FINISHED"}
        assert np.abs(evaluated(sheet, 6) - rest).max() < 1e-6
    assert key_names(sheet) == ["Basis", "Smile"]
    kept = np.empty(3 * 49, dtype=np.float32)
    sheet.data.shape_keys.key_blocks["Smile"].data.foreach_get("co", kept)
    assert np.array_equal(kept.reshape(-1, 3), shape)
    assert sheet.data.shape_keys.use_relative and sheet.data.shape_keys.animation_data.drivers.values() == []
    sheet.data.shape_keys.key_blocks["Smile"].value = 1.0
    if way != "bake":
        assert np.abs(evaluated(sheet, 6) - np.array(sheet.location) - shape).max() < 1e-5


def test_a_renamed_key_is_the_artists(keyed):
    sheet, _ = keyed
    sheet.data.shape_keys.key_blocks["frame 4"].name = "Wave"
    bpy.ops.thin_shell.delete_bake()
    assert key_names(sheet) == ["Basis", "Wave", "Smile"]


def test_a_new_bake_to_keys_names_the_key_and_leaves_it(keyed):
    sheet, _ = keyed
    before = key_names(sheet)
    words = failure(bpy.ops.thin_shell.bake)
    assert "Smile" in words and "frame 3" not in words
    assert key_names(sheet) == before and sheet.thin_shell.baked


def test_a_key_added_after_the_bake_never_plays(keyed):
    sheet, _ = keyed
    last = evaluated(sheet, 6)
    assert np.abs(last - evaluated(sheet, 1)).max() > 0.1
    for frame in (7, 8, 12, 60):
        assert np.array_equal(evaluated(sheet, frame), last)
    assert np.array_equal(evaluated(sheet, -3), evaluated(sheet, 1))


def test_alembic_leaves_modifiers_as_they_are(sheet):
    shown = {}
    for viewport in (True, False):
        for render in (True, False):
            modifier = sheet.modifiers.new(f"{viewport} {render}", "SUBSURF")
            modifier.show_viewport, modifier.show_render = shown[modifier.name] = viewport, render
    sheet.thin_shell.cache_target = "ALEMBIC"
    bake()
    found = {m.name: (m.show_viewport, m.show_render) for m in sheet.modifiers if m.type == "SUBSURF"}
    assert found == shown


HIDES = {
    "eye": lambda obj: obj.hide_set(True),
    "monitor": lambda obj: setattr(obj, "hide_viewport", True),
    "unselectable": lambda obj: setattr(obj, "hide_select", True),
    "collection": lambda obj: setattr(obj.users_collection[0], "hide_viewport", True),
    "collection eye": lambda obj: setattr(
        bpy.context.view_layer.layer_collection.children[obj.users_collection[0].name], "hide_viewport", True
    ),
}


@pytest.mark.parametrize("way", HIDES)
def test_a_hidden_shell_bakes_to_a_full_alembic_file(blend, way):
    place = bpy.data.collections.new("Sheets")
    bpy.context.scene.collection.children.link(place)
    bpy.context.view_layer.active_layer_collection = bpy.context.view_layer.layer_collection.children["Sheets"]
    sheet, other = make_grid(), make_grid("Other")
    bpy.data.objects.remove(other)
    bpy.context.view_layer.objects.active = sheet
    sheet.thin_shell.frame_end = 5
    bake()
    wanted = evaluated(sheet, 5)
    sheet.thin_shell.cache_target = "ALEMBIC"
    HIDES[way](sheet)
    bpy.context.scene.frame_set(2)
    scenes, selected = len(bpy.data.scenes), sheet.select_get()
    bake(everything=True)
    assert (len(bpy.data.scenes), sheet.select_get(), bpy.context.scene.frame_current) == (scenes, selected, 2)
    assert sheet.thin_shell.baked_target == "ALEMBIC"
    assert (sheet.hide_get(), sheet.hide_viewport, sheet.hide_select) == tuple(
        way == each for each in ("eye", "monitor", "unselectable")
    )
    sheet.hide_set(False)
    sheet.hide_viewport = place.hide_viewport = False
    bpy.context.view_layer.layer_collection.children["Sheets"].hide_viewport = False
    assert np.abs(evaluated(sheet, 5) - wanted).max() < 1e-6


MODES = ["EDIT", "WEIGHT_PAINT", "SCULPT"]


def stop_at_frame_3(monkeypatch):
    """As ESC does it, in a bake that runs without a window."""
    advance = session.Session.advance

    def stopping(self, seconds):
        while not advance(self, 0.0):
            if self.shown.frame >= 3:
                self.stop()
                return True
        return True

    monkeypatch.setattr(session.Session, "advance", stopping)


@pytest.mark.parametrize("end", ["whole", "stopped", "fault at once", "fault later", "no order"])
@pytest.mark.parametrize("mode", MODES)
def test_a_bake_comes_back_to_the_mode(sheet, mode, end, monkeypatch):
    bpy.ops.object.mode_set(mode=mode)
    if end == "stopped":
        stop_at_frame_3(monkeypatch)
    if end == "fault at once":
        sheet.thin_shell.pin_group = "gone"
    if end == "fault later":
        monkeypatch.setattr("thin_shell.addon.bake.job.shares", lambda *_: (_ for _ in ()).throw(UserError("no")))
    if end in ("whole", "stopped"):
        bake()
        assert sheet.thin_shell.baked and sheet.thin_shell.baked_complete == (end == "whole")
    else:
        failure(bpy.ops.thin_shell.bake, mode="CONTINUE" if end == "no order" else "NEW")
    assert sheet.mode == mode and bpy.context.view_layer.objects.active == sheet


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("press", ["delete_bake", "check", "toggle"])
def test_other_buttons_come_back_too(sheet, mode, press):
    bake()
    bpy.ops.object.mode_set(mode=mode)
    assert getattr(bpy.ops.thin_shell, press)() == {"FINISHED"}
    assert sheet.mode == mode


def test_pose_mode_of_an_armature_comes_back(sheet):
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    bpy.ops.object.mode_set(mode="POSE")
    bake(everything=True)
    assert (rig.mode, sheet.mode, bpy.context.view_layer.objects.active) == ("POSE", "OBJECT", rig)


def test_who_has_gone_elsewhere_stays_there(sheet):
    """In a window other objects may be worked on while it bakes."""
    other = make_grid("Other")
    bpy.context.view_layer.objects.active = sheet
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    place = modes.leave_edit_mode(bpy.context)
    bpy.context.view_layer.objects.active = other
    place.back()
    assert (sheet.mode, other.mode, bpy.context.object) == ("OBJECT", "OBJECT", other)
    bpy.data.objects.remove(sheet)
    place.back()
    assert other.mode == "OBJECT"


def select_vertices(obj, chosen):
    bpy.ops.object.mode_set(mode="OBJECT")
    compat.select(obj.data, [], [], sorted(chosen))


def select_edge(obj, ends):
    bpy.ops.object.mode_set(mode="OBJECT")
    edge = next(e.index for e in obj.data.edges if set(e.vertices) == ends)
    compat.select(obj.data, [], [edge], sorted(ends))


def test_quick_shell_leaves_groups_of_the_same_name(sheet):
    before = [group.weight for vertex in sheet.data.vertices for group in vertex.groups]
    select_vertices(sheet, {3})
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.thin_shell.quick(preset="paper") == {"FINISHED"}
    assert [group.weight for v in sheet.data.vertices for group in v.groups if group.group == 0] == before
    pinned = sheet.vertex_groups[sheet.thin_shell.pin_group]
    assert [v.index for v in sheet.data.vertices if any(g.group == pinned.index for g in v.groups)] == [3]


def test_quick_shell_changes_nothing_where_one_object_is_locked(sheet):
    bake()
    other = make_grid("Other")
    bpy.ops.thin_shell.toggle()
    sheet.select_set(True)
    assert "Sheet is baked" in failure(bpy.ops.thin_shell.quick, preset="paper", floor=True)
    assert (
        not other.thin_shell.enabled and sheet.thin_shell.preset_name == "reference" and "Floor" not in bpy.data.objects
    )
    sheet.thin_shell.unlocked = True
    sheet.thin_shell.frame_end = 4
    assert bpy.ops.thin_shell.quick(preset="paper") == {"FINISHED"}
    assert other.thin_shell.enabled and sheet.thin_shell.preset_name == "paper" and sheet.thin_shell.frame_end == 4


@pytest.mark.parametrize(
    "press", [("preset", {"name": "paper"}), ("yield_preset", {}), ("paint_axes", {}), ("example_axes", {})]
)
def test_a_locked_bake_takes_no_settings(sheet, press):
    name, options = press
    if name == "yield_preset":
        bpy.ops.thin_shell.preset(name="paper")
    bake()
    said = []
    pressed = SimpleNamespace(report=lambda *words: said.append(words), execute=lambda context: {"FINISHED"})
    operator = next(
        c for c in bpy.types.Operator.__subclasses__() if getattr(c, "bl_idname", "") == f"thin_shell.{name}"
    )
    assert operator.invoke(pressed, bpy.context, None) == {"CANCELLED"}
    assert "Edit Settings" in said[0][1]
    sheet.thin_shell.unlocked = True
    assert operator.invoke(pressed, bpy.context, None) == {"FINISHED"}
    assert getattr(bpy.ops.thin_shell, name)(**options) == {"FINISHED"}


def test_creases_are_off_until_an_edge_is_marked(blend):
    sheet = make_grid()
    assert not sheet.thin_shell.use_creases
    select_edge(sheet, {24, 25})
    assert bpy.ops.thin_shell.mark_crease() == {"FINISHED"}
    assert sheet.thin_shell.use_creases
    bpy.ops.thin_shell.toggle()
    sheet.thin_shell.use_creases = False
    bpy.ops.thin_shell.toggle()
    assert not sheet.thin_shell.use_creases


def test_naming_an_attribute_folds_by_it(sheet):
    sheet.thin_shell.crease_attribute = "crease_edge"
    assert sheet.thin_shell.use_creases
    sheet.thin_shell.use_creases = False
    sheet.thin_shell.crease_attribute = ""
    assert not sheet.thin_shell.use_creases


def test_marks_made_before_there_was_a_shell_fold(blend):
    sheet = make_grid()
    bpy.ops.thin_shell.toggle()
    sheet.thin_shell.property_unset("use_creases")
    select_edge(sheet, {24, 25})
    assert bpy.ops.thin_shell.mark_crease() == {"FINISHED"}
    assert bpy.ops.thin_shell.quick(preset="paper") == {"FINISHED"}
    assert sheet.thin_shell.use_creases


def test_shells_of_kept_files_fold_as_they_did(blend):
    """Files of 0.1.0 say nothing about creases where they are on."""
    sheet = make_grid()
    sheet.thin_shell.property_unset("use_creases")
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    assert bpy.data.objects["Sheet"].thin_shell.use_creases
