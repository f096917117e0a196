"""One owner of a running object: bakes, Live and Real Time, saves, undo and edits at any moment, in any window."""

import errno
import os
import time
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from blender_scenes import bake, cache_folder, evaluated, failure, make_grid
from thin_shell.addon import cli, live
from thin_shell.addon.bake import catalogue, inputs, owners, session
from thin_shell.addon.bake.order import Order
from thin_shell.addon.bake.status import status
from thin_shell.addon.cache import playback, preview, sidecar
from thin_shell.addon.operators.bake import THIN_SHELL_OT_bake as Operator
from thin_shell.addon.operators.bake import budget, work
from thin_shell.addon.realtime import player

LAST = 12


class Window:
    """The modal bake without a window: ticks of one iteration each."""

    def __init__(self, *names, last=LAST, monkeypatch=None):
        self.said, self.events = [], SimpleNamespace(type="TIMER", value="NOTHING")
        self.operator = SimpleNamespace(report=lambda *each: self.said.append(each), _timer=None)
        for name in ("_end", "_leave"):
            setattr(self.operator, name, getattr(Operator, name).__get__(self.operator))
        manager = SimpleNamespace(
            progress_update=lambda v: None, progress_end=lambda: None, windows=[], event_timer_remove=None
        )
        self.context = SimpleNamespace(
            window_manager=manager, workspace=SimpleNamespace(status_text_set=lambda text: None)
        )
        order = Order(bpy.context.scene.name, names or ("Sheet",), last)
        session.current = session.Session([order], window=True)
        self.run = session.current
        monkeypatch.setattr("thin_shell.addon.operators.bake.work", lambda run, _seconds: run.advance(0.0))

    def tick(self, kind="TIMER", value="NOTHING"):
        """One event; whether the bake goes on."""
        answer = Operator.modal(self.operator, self.context, SimpleNamespace(type=kind, value=value))
        return answer in ({"RUNNING_MODAL"}, {"PASS_THROUGH"})

    def to(self, frame):
        while self.run.shown.frame < frame or self.run.shown.stage != "Frame":
            assert self.tick(), self.said

    def end(self):
        while self.tick():
            pass
        return [(next(iter(level)), text) for level, text in self.said]


@pytest.fixture
def window(monkeypatch):
    def start(*names, last=LAST):
        return Window(*names, last=last, monkeypatch=monkeypatch)

    yield start
    if session.current is not None:
        session.current.abandon()
    session.current = None


def wanted(obj, frames):
    """World positions of these frames of an undisturbed bake, which is deleted again."""
    obj.thin_shell.frame_end = LAST
    bake()
    found = {frame: evaluated(obj, frame) for frame in frames}
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    assert bpy.ops.thin_shell.empty_trash() == {"FINISHED"}
    bpy.context.scene.frame_set(1)
    return found


def same(obj, found):
    return all(np.abs(evaluated(obj, frame) - x).max() < 1e-5 for frame, x in found.items())


# Live and Real Time


@pytest.mark.parametrize("way", ["button", "command"])
def test_a_bake_takes_a_shell_from_live(sheet, way, window):
    scene = bpy.context.scene
    assert bpy.ops.thin_shell.live() == {"FINISHED"}
    for frame in (2, 3):
        scene.frame_set(frame)
    if way == "button":
        bake()
    else:
        assert cli.command(["bake"]) == 0
    assert live.current is None
    for frame in range(1, 7):
        scene.frame_set(frame)
    # What was Stop Live is Live again, which leaves a bake alone.
    assert "Delete Bake first" in failure(bpy.ops.thin_shell.live)
    info = sidecar.read(cache_folder() / "Sheet.json")
    assert info.complete and info.samples == 6 and sheet.thin_shell.baked_complete
    assert status(sheet, scene, fresh=True).kind == "BAKED"
    assert not list(cache_folder().glob("*.part"))


def test_a_bake_takes_a_shell_from_real_time(sheet, window):
    sheet.thin_shell_realtime.motion = "MODAL"
    assert bpy.ops.thin_shell.realtime() == {"FINISHED"}
    bake()
    assert player.current is None
    playing = playback.playing_points(sheet)
    assert playing == cache_folder() / "Sheet.pc2"
    for _ in range(2):
        bpy.ops.wm.save_mainfile()
    assert playback.playing_points(sheet) == playing and sheet.modifiers["Thin Shell"].show_viewport
    assert "Delete Bake first" in failure(bpy.ops.thin_shell.realtime)


def test_a_mode_shown_ends_where_live_begins(sheet):
    assert bpy.ops.thin_shell.mode_preview() == {"FINISHED"}
    assert bpy.ops.thin_shell.live() == {"FINISHED"}
    assert player.current is None and owners.who(sheet) is live.current
    assert bpy.ops.thin_shell.live() == {"FINISHED"}
    assert owners.who(sheet) is None


def test_files_saved_while_live_plays_point_to_nothing_of_it(sheet, tmp_path):
    bpy.context.scene.frame_set(1)
    assert bpy.ops.thin_shell.live() == {"FINISHED"}
    for frame in (2, 3, 4):
        bpy.context.scene.frame_set(frame)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"), copy=True)
    bpy.ops.wm.save_mainfile()
    assert playback.playing_points(sheet).suffix == ".part" and sheet.modifiers["Thin Shell"].show_viewport
    for frame in (5, 6):
        bpy.context.scene.frame_set(frame)
    assert live.current.last == 6
    for name in ("copy.blend", "scene.blend"):
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / name))
        modifier = bpy.data.objects["Sheet"].modifiers["Thin Shell"]
        assert not modifier.filepath and not modifier.show_viewport
        assert live.current is None


def test_what_an_undo_brings_back_of_live_goes(sheet):
    bpy.context.scene.frame_set(1)
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.thin_shell.live() == {"FINISHED"}
    bpy.context.scene.frame_set(2)
    bpy.ops.ed.undo_push(message="while it plays")
    live.current.let_go()
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    modifier = bpy.data.objects["Sheet"].modifiers["Thin Shell"]
    assert not modifier.filepath and not modifier.show_viewport


def test_live_knows_its_shells_and_its_scene(sheet, blend):
    """Whatever they are called by now; the playhead of another scene is not its own."""
    scene, other = bpy.context.scene, bpy.data.scenes.new("Other")
    scene.frame_set(1)
    assert bpy.ops.thin_shell.live() == {"FINISHED"}
    scene.frame_set(3)
    for frame in (9, 1):
        other.frame_set(frame)
    assert live.current.last == 3
    sheet.name, scene.name = "Curtain", "Shot"
    scene.frame_set(4)
    assert live.current.last == 4
    bpy.ops.wm.save_as_mainfile(filepath=str(blend.parent / "copy.blend"), copy=True)
    assert bpy.ops.thin_shell.live() == {"FINISHED"}
    assert sheet.thin_shell.baked_samples == 4
    bpy.ops.wm.open_mainfile(filepath=str(blend.parent / "copy.blend"))
    modifier = bpy.data.objects["Curtain"].modifiers["Thin Shell"]
    assert not modifier.filepath and not modifier.show_viewport


def test_live_that_played_nothing_leaves_nothing(sheet):
    bpy.context.scene.frame_set(1)
    for _ in range(2):
        assert bpy.ops.thin_shell.live() == {"FINISHED"}
    assert not sheet.modifiers["Thin Shell"].filepath and list(cache_folder().iterdir()) == []


def test_live_leaves_the_frames_of_a_crash(sheet, window):
    """Part files of a bake that Blender went down with have the name that Live would write to."""
    view = window()
    view.to(5)
    held = {path.name: path.read_bytes() for path in cache_folder().iterdir()}
    view.tick("ESC", "PRESS")
    bpy.ops.thin_shell.delete_bake()
    bpy.ops.thin_shell.empty_trash()
    for name, data in held.items():
        (cache_folder() / name).write_bytes(data)
    bpy.context.scene.frame_set(1)
    assert bpy.ops.thin_shell.live() == {"FINISHED"}
    bpy.context.scene.frame_set(2)
    assert bpy.ops.thin_shell.live() == {"FINISHED"}
    frames = {each.frames: each.trashed for each in catalogue.own(sheet, catalogue.of(sheet))}
    assert frames == {2: False, 5: True}


def test_nothing_moves_while_blender_renders(sheet):
    """Rendering moves the playhead: Live and Real Time must not take that for playing."""
    scene = bpy.context.scene
    scene.render.engine, scene.render.resolution_x, scene.render.resolution_y = "BLENDER_WORKBENCH", 8, 8
    scene.frame_set(1)
    assert bpy.ops.thin_shell.live() == {"FINISHED"}
    scene.frame_set(2)
    seen = []
    bpy.app.handlers.render_init.append(lambda *_: seen.append(owners.rendering()))
    try:
        for handler in bpy.app.handlers.render_init:
            handler(scene, None)
        for frame in (3, 4, 5):
            scene.frame_set(frame)
        assert seen == [True] and live.current.last == 2
        for handler in bpy.app.handlers.render_complete:
            handler(scene, None)
    finally:
        bpy.app.handlers.render_init.pop()
    scene.frame_set(3)
    assert live.current.last == 3
    live.current.let_go()
    assert not any(handlers for handlers in (bpy.app.handlers.render_init, bpy.app.handlers.render_cancel))


# A bake under way


def test_a_bake_is_not_adjusted_afterwards(registered):
    """Registered with undo it would be Blender's last operation, which Adjust Last Operation does again."""
    assert "REGISTER" not in bpy.types.THIN_SHELL_OT_bake.bl_options
    assert "UNDO" in bpy.types.THIN_SHELL_OT_bake.bl_options


def test_saved_at_any_tick(sheet, blend, window):
    """Files saved at every tick know nothing of the bake under way; the bake is the same."""
    frames = (3, 8, LAST)
    expected = wanted(sheet, frames)
    bake()
    older = evaluated(sheet, 6)
    sheet.thin_shell.unlocked, sheet.thin_shell.wind_velocity = True, (0, 6, 0)
    bpy.context.scene.frame_set(1)
    bpy.ops.wm.save_mainfile()
    view, going, number = window(), True, 0
    while going:
        going = view.tick()
        number += 1
        if number % 7 == 0 and going:
            bpy.ops.wm.save_as_mainfile(filepath=str(blend.parent / f"at_{number}.blend"), copy=True)
    assert number > 20 and sheet.thin_shell.baked_complete
    assert not same(sheet, expected)
    new = evaluated(sheet, 6)
    for path in blend.parent.glob("at_*.blend"):
        with bpy.data.libraries.load(str(path)) as (_there, taken):
            taken.objects = ["Sheet"]
        loaded = taken.objects[0]
        assert [m.name for m in loaded.modifiers] == ["Thin Shell"], path
        assert loaded.modifiers[0].show_viewport and loaded.modifiers[0].show_render
        assert loaded.modifiers[0].filepath.endswith("Sheet.pc2")
        bpy.data.objects.remove(loaded)
    assert np.abs(new - older).max() > 1e-3


def test_the_scene_is_the_artists_between_two_ticks(sheet, window):
    """Modifiers, hiding and shape keys are as they were whenever anybody else can look."""
    sheet.modifiers.new("Subsurf", "SUBSURF").show_viewport = False
    sheet.modifiers.new("Solidify", "SOLIDIFY")
    sheet.hide_viewport = False
    view = window()
    while view.tick():
        shown = {m.name: (m.show_viewport, m.show_render) for m in sheet.modifiers if m.name != "Thin Shell Preview"}
        if view.run.shown.frame < LAST:
            assert shown == {"Thin Shell": (False, False), "Subsurf": (False, True), "Solidify": (True, True)}
    assert [m.name for m in sheet.modifiers] == ["Thin Shell", "Subsurf", "Solidify"]


def test_the_frame_under_way_is_in_the_place_of_the_mesh(sheet, window):
    """The viewport shows it; a render, and the file, what was there before."""
    expected = wanted(sheet, range(1, LAST + 1))
    view = window()
    view.to(5)
    view.tick()
    found = evaluated(sheet, bpy.context.scene.frame_current)
    assert min(np.abs(found - x).max() for x in expected.values()) < 1e-5 and np.abs(found[:, 2] - 1).max() > 0.05
    modifier = sheet.modifiers["Thin Shell Preview"]
    assert modifier.show_viewport and not modifier.show_render
    path = Path(modifier.filepath)
    assert path.is_file()
    assert not view.tick("ESC", "PRESS")
    assert "Thin Shell Preview" not in sheet.modifiers and not path.exists()


@pytest.mark.parametrize("target", ["PC2", "SHAPE_KEYS", "ALEMBIC"])
def test_baking_again_over_any_kind(sheet, window, target):
    """Two shells that have a bake of the kind: between two ticks it plays as it did, the viewport shows the new one."""
    other = make_grid("Second", location=(5, 0, 1))
    for obj in (sheet, other):
        obj.thin_shell.frame_end, obj.thin_shell.cache_target, obj.thin_shell.pin_group = 6, target, "Pin"
    other.vertex_groups.new(name="Pin").add([0, 6], 1.0, "REPLACE")
    bake(everything=True)
    older = {obj.name: evaluated(obj, 6) for obj in (sheet, other)}
    for obj in (sheet, other):
        obj.thin_shell.unlocked, obj.thin_shell.wind_velocity = True, (0, 9, 0)
    view = window("Sheet", "Second", last=6)
    seen = 0
    while view.tick():
        for obj in (sheet, other):
            keys = obj.data.shape_keys
            assert keys is None or not obj.show_only_shape_key
            kept = [m for m in obj.modifiers if m.name not in ("Thin Shell", "Thin Shell Preview")]
            assert all(m.show_viewport and m.show_render for m in kept)
            if "Thin Shell Preview" not in obj.modifiers or view.run.shown.frame >= 6:
                continue
            seen += 1
            frame = bpy.context.scene.frame_current
            shown = evaluated(obj, frame)
            obj.modifiers["Thin Shell Preview"].show_viewport = False
            below = evaluated(obj, frame)
            obj.modifiers["Thin Shell Preview"].show_viewport = True
            assert frame < 3 or np.abs(shown - below).max() > 1e-4
    assert seen > 4 and "Baked Sheet, Second to frame 6" in view.said[-1][1], view.said
    for obj in (sheet, other):
        assert "Thin Shell Preview" not in obj.modifiers and obj.thin_shell.baked_complete
        assert np.abs(evaluated(obj, 6) - older[obj.name]).max() > 1e-3


def test_a_sheet_that_tore_is_drawn_where_it_is(dome, breaking, window):
    dome.thin_shell.cache_target = "PC2"
    breaking(dome)
    view = window(dome.name, last=6)
    view.to(6 - 1)
    torn = view.run.torn()
    assert [obj.name for obj, _, _ in torn] == [dome.name]
    positions, faces = torn[0][1:]
    assert len(positions) > len(dome.data.vertices) and faces.max() < len(positions)
    # The mesh, which has other vertices, is a point meanwhile.
    assert np.ptp(evaluated(dome, bpy.context.scene.frame_current), axis=0).max() < 1e-6
    assert ("INFO", view.end()[-1][1]) and dome.thin_shell.baked_complete


@pytest.mark.parametrize("stop", ["ESC", "button"])
def test_stopped_the_playhead_stays_on_the_last_frame(sheet, window, stop):
    view = window()
    view.to(5)
    if stop == "ESC":
        assert not view.tick("ESC", "PRESS")
    else:
        assert bpy.ops.thin_shell.stop.poll()
        assert bpy.ops.thin_shell.stop() == {"FINISHED"}
        assert not view.tick()
    assert sheet.thin_shell.baked_samples >= 5 and not sheet.thin_shell.baked_complete
    assert bpy.context.scene.frame_current == sheet.thin_shell.baked_start + sheet.thin_shell.baked_samples - 1
    assert "stopped" in view.said[-1][1] and not bpy.ops.thin_shell.stop.poll()


@pytest.mark.parametrize("way", ["another scene in the window", "another name"])
def test_a_bake_stays_in_its_scene(sheet, window, way):
    """A window may show another scene by now, in which nothing of the bake is."""
    for frame, x in ((1, 0.0), (LAST, 1.0)):
        sheet.location.x = x
        sheet.keyframe_insert("location", frame=frame)
    expected = wanted(sheet, range(1, LAST + 1))
    scene, other = bpy.context.scene, bpy.data.scenes.new("Other")
    view = window()
    view.to(4)
    if way == "another name":
        scene.name = "Shot"
    else:
        bpy.context.window.scene = other
    said = view.end()
    assert other.frame_current == 1
    bpy.context.window.scene = scene
    assert said == [("INFO", said[-1][1])] and sheet.thin_shell.baked_complete
    assert same(sheet, expected)


def test_a_bake_whose_scene_is_deleted_keeps_its_frames(sheet, window):
    scene, other = bpy.context.scene, bpy.data.scenes.new("Other")
    other.collection.objects.link(sheet)
    view = window()
    view.to(4)
    bpy.data.scenes.remove(scene)
    said = view.end()
    assert said[-1][0] == "ERROR" and "the scene was deleted" in said[-1][1], said
    assert session.current is None and [each.frames >= 4 for each in catalogue.of(sheet)] == [True]


def test_a_whole_bake_goes_back_to_where_it_was_pressed(sheet, window):
    bpy.context.scene.frame_set(3)
    view = window()
    view.end()
    assert sheet.thin_shell.baked_complete and bpy.context.scene.frame_current == 3


def test_what_a_bake_uses_is_greyed_and_all_else_works(sheet, window):
    other = make_grid("Other", location=(5, 0, 1))
    view = window()
    view.to(3)
    assert view.tick("G", "PRESS") and view.tick("Z", "PRESS")
    for name in ("delete_bake", "toggle", "attach", "live", "realtime", "preset", "quick", "check", "bake"):
        operator = getattr(bpy.ops.thin_shell, name)
        bpy.context.view_layer.objects.active = sheet
        assert not operator.poll(), name
        bpy.context.view_layer.objects.active = other
        # Live and Real Time follow the playhead, which the bake moves.
        assert operator.poll() == (name not in ("live", "realtime", "bake")), name
    assert bpy.ops.thin_shell.preset(name="paper") == {"FINISHED"}
    assert other.thin_shell.preset_name == "paper"
    assert "wait for its end" in failure(bpy.ops.thin_shell.delete_bake, everything=True)
    assert bpy.ops.thin_shell.check() == {"FINISHED"}
    assert "Baked Sheet" in view.end()[-1][1]


EDITS = {
    "a setting": lambda obj: setattr(obj.thin_shell, "bend_warp", 7.0),
    "the mesh": lambda obj: setattr(obj.data.vertices[20].co, "z", 0.3),
    "the weights": lambda obj: obj.vertex_groups["Pin"].add([3], 1.0, "REPLACE"),
    "the place": lambda obj: setattr(obj.location, "x", 0.5),
    "the collider": lambda obj: setattr(bpy.data.objects["Ground"].location, "z", 0.2),
    "its friction": lambda obj: setattr(bpy.data.objects["Ground"].collision, "cloth_friction", 40.0),
    "a new field": lambda obj: bpy.ops.object.effector_add(type="WIND"),
    "gravity": lambda obj: setattr(bpy.context.scene, "gravity", (0, 0, -1)),
    "gone": lambda obj: bpy.data.objects.remove(bpy.data.objects["Ground"]),
    "a modifier": lambda obj: obj.modifiers.move(obj.modifiers.find("Cast"), 0),
}
NAMED = {
    "the collider": "Ground",
    "its friction": "Ground",
    "gone": "Ground",
    "gravity": "Sheet",
    "a new field": "Wind",
}


@pytest.mark.parametrize("edit", sorted(EDITS))
def test_an_edit_of_what_it_reads_stops_a_bake_and_is_named(sheet, window, edit):
    ground = bpy.data.objects.new("Ground", sheet.data.copy())
    bpy.context.collection.objects.link(ground)
    ground.modifiers.new("Collision", "COLLISION")
    sheet.modifiers.new("Cast", "CAST")
    expected = wanted(sheet, range(1, LAST + 1))
    view = window()
    view.to(4)
    # Scripts leave it to Blender to evaluate what they change: the next frame must not be the first to see it.
    EDITS[edit](sheet)
    said = view.end()
    assert view.run.shown.frame < LAST and said[-1][0] == "ERROR", said
    assert NAMED.get(edit, "Sheet") in said[-1][1] and "Resume goes on" in said[-1][1], said
    settings = sheet.thin_shell
    assert settings.baked and not settings.baked_complete and settings.baked_samples >= 4
    if edit not in ("the place", "a modifier", "the mesh"):
        assert same(sheet, {frame: expected[frame] for frame in range(1, settings.baked_samples + 1)})


def test_an_edit_in_edit_mode_stops_a_bake(sheet, window):
    import bmesh

    view = window()
    view.to(4)
    bpy.context.view_layer.objects.active = sheet
    bpy.ops.object.mode_set(mode="EDIT")
    frame = view.run.shown.frame
    for _ in range(5):
        assert view.tick()
    # What is in Edit Mode cannot be read; the bake waits.
    assert view.run.shown.frame == frame and "Sheet is in Edit Mode" in view.run.shown.text
    bpy.ops.object.mode_set(mode="OBJECT")
    view.to(frame + 2)
    bpy.ops.object.mode_set(mode="EDIT")
    assert view.tick()
    mesh = bmesh.from_edit_mesh(sheet.data)
    mesh.verts.ensure_lookup_table()
    mesh.verts[24].co.z += 0.2
    bmesh.update_edit_mesh(sheet.data)
    bpy.context.view_layer.update()
    said = view.end()
    assert "'Sheet' was changed" in said[-1][1], said


def test_what_it_does_not_read_may_change(sheet, window):
    other = make_grid("Other", location=(5, 0, 1))
    frames = (2, 7, LAST)
    bpy.context.view_layer.objects.active = sheet
    expected = wanted(sheet, frames)
    view = window()
    for number, change in enumerate(
        (
            lambda: setattr(other.location, "x", 7.0),
            lambda: setattr(other, "name", "Renamed"),
            lambda: setattr(sheet, "name", "Curtain"),
            lambda: bpy.context.scene.frame_set(9),
            lambda: sheet.vertex_groups.new(name="Extra").add([5], 1.0, "REPLACE"),
            lambda: setattr(sheet.thin_shell, "preset_name", "mine"),
            lambda: bpy.data.objects.remove(other),
            lambda: sheet.modifiers.new("Later", "SUBSURF"),
        )
    ):
        view.to(2 + number)
        change()
        bpy.context.view_layer.update()
    sheet.modifiers.remove(sheet.modifiers["Later"])
    said = view.end()
    assert said[-1][0] == "INFO" and sheet.thin_shell.baked_complete, said
    assert same(sheet, expected)


def test_animation_is_no_edit(sheet, window):
    """What is keyed has another value at every frame; a driver too."""
    for frame, x in ((1, 0.0), (LAST, 1.0)):
        sheet.location.x = x
        sheet.keyframe_insert("location", frame=frame)
    sheet.thin_shell.use_pressure = True
    for frame, pressure in ((1, 0.0), (LAST, 20.0)):
        sheet.thin_shell.pressure = pressure
        sheet.keyframe_insert("thin_shell.pressure", frame=frame)
    bpy.ops.object.effector_add(type="WIND")
    mover = bpy.context.object
    bpy.context.view_layer.objects.active = sheet
    mover.driver_add("location", 2).driver.expression = "frame / 10"
    sheet.parent = mover
    view = window()
    said = view.end()
    assert said[-1][0] == "INFO" and sheet.thin_shell.baked_complete, said
    for frame in (1, 6, LAST):
        bpy.context.scene.frame_set(frame)
        assert status(sheet, bpy.context.scene, fresh=True).kind != "OUTDATED", frame


def test_what_a_script_moves_with_the_playhead_is_no_edit(sheet, window):
    """Studios drive colliders and settings by handlers of their own."""
    ground = bpy.data.objects.new("Ground", sheet.data.copy())
    bpy.context.collection.objects.link(ground)
    ground.modifiers.new("Collision", "COLLISION")

    def moves(scene, *_):
        bpy.data.objects["Ground"].location.z = -1.0 + 0.05 * scene.frame_current
        bpy.data.objects["Sheet"].thin_shell.wind_velocity = (0, 0, 0.5 * scene.frame_current)

    bpy.app.handlers.frame_change_pre.append(moves)
    try:
        view = window()
        said = view.end()
        assert said[-1][0] == "INFO" and sheet.thin_shell.baked_complete, said
        view = window()
        view.to(4)
        ground.location.x = 0.5
        said = view.end()
    finally:
        bpy.app.handlers.frame_change_pre.remove(moves)
    assert said[-1][0] == "ERROR" and "'Ground' was changed" in said[-1][1], said


def test_undo_at_every_tenth_tick(sheet, window):
    """An undo of something else leaves the bake alone, of what it reads stops it; no frame is wrong, no file lost."""
    frames = range(1, LAST + 1)
    expected = wanted(sheet, frames)
    make_grid("Other", location=(5, 0, 1))
    for step in range(40):
        bpy.data.objects["Other"].location.x = 5 + step
        bpy.ops.ed.undo_push(message=f"moved {step}")
    bpy.context.view_layer.objects.active = sheet
    view, ticks, going = window(), 0, True
    while going:
        going = view.tick()
        ticks += 1
        if ticks % 10 == 0 and going:
            bpy.ops.ed.undo()
    assert ticks > 20 and "Baked Sheet" in view.said[-1][1], view.said
    obj = bpy.data.objects["Sheet"]
    assert obj.thin_shell.baked_complete and same(obj, expected)
    assert [m.name for m in obj.modifiers] == ["Thin Shell"]


def test_undo_of_what_it_reads(sheet, window):
    expected = wanted(sheet, (2, 3))
    sheet.thin_shell.wind_velocity = (0, 0, 0)
    bpy.ops.ed.undo_push(message="still")
    sheet.location.y = 0.25
    bpy.ops.ed.undo_push(message="moved")
    view = window()
    view.to(5)
    bpy.ops.ed.undo()
    said = view.end()
    assert said[-1][0] == "ERROR" and "Sheet" in said[-1][1], said
    obj = bpy.data.objects["Sheet"]
    assert obj.thin_shell.baked and obj.thin_shell.baked_samples >= 5
    found = {frame: evaluated(obj, frame) for frame in expected}
    assert all(np.abs(found[f] - expected[f]).max() < 1e-5 for f in expected)
    assert "Thin Shell Preview" not in obj.modifiers


def test_an_undo_after_the_bake_shows_nothing_of_it_under_way(sheet, window):
    bpy.ops.ed.undo_push(message="before")
    view = window()
    view.to(5)
    view.tick()
    bpy.ops.ed.undo_push(message="while it ran")
    view.end()
    bpy.ops.ed.undo_push(message="baked")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Sheet"]
    assert [m.name for m in obj.modifiers] == ["Thin Shell"]


def test_a_recovered_file_shows_nothing_of_a_bake_under_way(sheet, blend, window):
    """Autosave asks nobody: what it wrote during a bake is put right when it is opened."""
    view = window()
    view.to(5)
    view.tick()
    handlers = [bpy.app.handlers.save_pre[:], bpy.app.handlers.save_post[:]]
    for each in (bpy.app.handlers.save_pre, bpy.app.handlers.save_post):
        each.remove(next(h for h in each if h.__module__.endswith("owners")))
    bpy.ops.wm.save_as_mainfile(filepath=str(blend.parent / "recovered.blend"), copy=True)
    bpy.app.handlers.save_pre[:], bpy.app.handlers.save_post[:] = handlers
    assert not view.tick("ESC", "PRESS")
    bpy.ops.wm.open_mainfile(filepath=str(blend.parent / "recovered.blend"))
    obj = bpy.data.objects["Sheet"]
    assert [m.name for m in obj.modifiers if m.name.endswith("Preview")] == []


# Faults


class Fault(Exception):
    pass


def breaks(*_arguments, **_options):
    from thin_shell.shellcore.simulate import progress as real

    for count, step in enumerate(real(*_arguments, **_options)):
        yield step
        if step.frame is not None and count > 6:
            raise Fault("a table is upside down")


@pytest.mark.parametrize("way", ["window", "button", "command"])
def test_an_unforeseen_fault_is_told(sheet, window, way, monkeypatch, capfd):
    from thin_shell import shellcore

    monkeypatch.setattr(shellcore, "progress", breaks)
    sheet.thin_shell.frame_end = LAST
    if way == "window":
        view = window()
        said = view.end()
        assert said[-1][0] == "ERROR" and not any(level == "INFO" for level, _ in said)
        text = said[-1][1]
    elif way == "button":
        with pytest.raises(RuntimeError) as caught:
            bpy.ops.thin_shell.bake()
        text = str(caught.value)
    else:
        assert cli.command(["bake", "--no-save"]) == 1
        text = capfd.readouterr().err
    assert "a table is upside down" in text and "unforeseen" in text
    assert session.current is None and sheet.thin_shell.baked and not sheet.thin_shell.baked_complete
    assert sheet.thin_shell.baked_samples >= 2
    monkeypatch.undo()
    bake(mode="RESUME")
    assert sheet.thin_shell.baked_complete


@pytest.mark.parametrize("where", ["preview", "comparing"])
def test_a_fault_beside_the_bake_ends_it(sheet, window, where, monkeypatch):
    """Not in the simulation but in what goes on round it: nothing is left running."""

    def breaks(*_):
        raise Fault("a lamp went out")

    view = window()
    view.to(4)
    monkeypatch.setattr(*((preview.Preview, "write") if where == "preview" else (inputs.Watch, "changed")), breaks)
    said = view.end()
    assert said[-1][0] == "ERROR" and "a lamp went out" in said[-1][1] and "Resume goes on" in said[-1][1], said
    assert session.current is None and sheet.thin_shell.baked_samples >= 4 and owners.who(sheet) is None
    assert [m.name for m in sheet.modifiers] == ["Thin Shell"]


def test_a_full_disk_of_the_preview_stops_nothing(sheet, window, monkeypatch):
    """The frame under way is shown by a file in Blender's own folder, which is on another disk than the cache."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(preview.Preview, "write", full)
    said = window().end()
    assert [level for level, _ in said] == ["WARNING", "INFO"] and "cannot be shown" in said[0][1], said
    assert sheet.thin_shell.baked_complete


def test_an_unforeseen_fault_ends_live(sheet, monkeypatch, capfd):
    from thin_shell import shellcore

    monkeypatch.setattr(shellcore, "progress", breaks)
    bpy.context.scene.frame_set(1)
    bpy.ops.thin_shell.live()
    for frame in range(2, LAST):
        bpy.context.scene.frame_set(frame)
    assert "upside down" in live.current.message and not sheet.modifiers["Thin Shell"].show_viewport
    live.current.let_go()


# The share of drawing


def test_drawing_takes_little_and_stop_answers_soon():
    """`away`: what Blender took for drawing between two ticks [s]; all of it in software takes a seventh to a sixth."""
    for away in np.linspace(0.0, 1 / 6, 18):
        spent = budget(away)
        assert spent >= 0.2, "at most five times a second"
        assert away <= 0.5 * spent + 1e-12, "a bake takes at most half as long again"
        assert spent + away <= 0.5 + 1e-12, "Stop waits for half a second at most"
    # Slower than that one cannot have both.
    assert budget(0.3) == pytest.approx(0.6) and budget(2.0) == pytest.approx(4.0)


def test_a_render_pauses_a_bake(sheet, window):
    view = window()
    view.to(3)
    frame = view.run.shown.frame
    owners.render_begins()
    try:
        for _ in range(5):
            assert view.tick()
        assert view.run.shown.frame == frame
    finally:
        owners.render_ends()
    assert "Baked Sheet" in view.end()[-1][1]


def test_nothing_is_left_listening(sheet, window):
    view = window()
    view.to(3)
    assert inputs.on_update in bpy.app.handlers.depsgraph_update_post and owners.who(sheet) is not None
    view.tick("ESC", "PRESS")
    assert inputs.on_update not in bpy.app.handlers.depsgraph_update_post and owners.who(sheet) is None
    assert preview.OF_A_SESSION.fullmatch("thin_shell_bake_12_99.pc2")
    assert not preview.OF_A_SESSION.fullmatch("Sheet.pc2")


def test_only_what_takes_long_hands_back_before_it(sheet, window, monkeypatch):
    """A frame holds several short preparations: with a look at the window at each, drawing would take all the time."""
    view = window()
    monkeypatch.setattr("thin_shell.addon.operators.bake.work", lambda run, _seconds: work(run, 60.0))
    ticks = 1
    while view.tick():
        ticks += 1
        # What drawing takes is no part of what a preparation takes.
        time.sleep(2 * session.LONG if ticks < 4 else 0.0)
    assert sheet.thin_shell.baked_complete and ticks <= 5
