"""Real time in Blender: shells follow the playhead and their handles, and bake as everything else does."""

import bpy
import numpy as np
import pytest
import thin_shell
from blender_scenes import bake, cache_folder, evaluated, failure, make_grid, pin
from mathutils import Matrix
from thin_shell.addon.realtime import player


@pytest.fixture
def leaf(blend):
    """A stiff strip of 6 × 6 cells, clamped at x = -1 (two rows), that moves in its modes; frames 1 to 6."""
    obj = make_grid("Leaf")
    pin(obj, [7 * row + column for row in range(7) for column in (0, 1)])
    settings = obj.thin_shell
    settings.material_source, settings.young, settings.thickness = "SOLID", 100.0, 20.0
    settings.air_density = 0.0
    obj.thin_shell_realtime.motion, obj.thin_shell_realtime.mode_count = "MODAL", 12
    yield obj
    player.turn_off()


def select(obj, vertices):
    for vertex in obj.data.vertices:
        vertex.select = vertex.index in vertices


def add_handle(obj, vertices, **options):
    """A handle; its empty."""
    bpy.context.view_layer.objects.active = obj
    select(obj, vertices)
    assert bpy.ops.thin_shell.handle_add(**options) == {"FINISHED"}
    return obj.thin_shell_realtime.handles[-1].target


def move(obj, frames):
    """Keyframes {frame: matrix}; linear."""
    for frame, matrix in frames.items():
        obj.matrix_world = matrix
        obj.keyframe_insert("location", frame=frame)
        obj.keyframe_insert("rotation_euler", frame=frame)


def play(first=1, last=6):
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)


def shown(obj):
    """World positions as the viewport has them now."""
    found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(found.data.vertices), dtype=np.float32)
    found.data.vertices.foreach_get("co", flat)
    matrix = np.array(found.matrix_world)
    return flat.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]


TIP = [6, 13, 20, 27, 34, 41, 48]


def test_playing_bends_the_shell_and_leaves_the_mesh_alone(leaf):
    rest, mesh = evaluated(leaf, 1), np.array([v.co[:] for v in leaf.data.vertices])
    assert bpy.ops.thin_shell.realtime() == {"FINISHED"}
    play()
    bent = shown(leaf)
    assert bent[TIP, 2].max() < rest[TIP, 2].min() - 1e-3
    assert np.abs(bent[::7] - rest[::7]).max() < 1e-6
    assert np.array_equal(mesh, np.array([v.co[:] for v in leaf.data.vertices]))
    assert bpy.ops.thin_shell.realtime() == {"FINISHED"}
    assert np.abs(evaluated(leaf, 6) - rest).max() < 1e-6 and player.current is None


def test_what_plays_is_what_bakes(leaf):
    handle = add_handle(leaf, TIP, kind="POSITION")
    place = handle.matrix_world.copy()
    move(handle, {1: place, 6: Matrix.Translation((0, 0, 0.3)) @ place})
    assert bpy.ops.thin_shell.realtime() == {"FINISHED"}
    play()
    live = shown(leaf)
    player.turn_off()
    bake()
    assert np.abs(evaluated(leaf, 6) - live).max() < 1e-6


@pytest.mark.parametrize("target", ["PC2", "SHAPE_KEYS", "ALEMBIC"])
def test_a_bake_plays_from_every_cache(leaf, target):
    bake()
    wanted = evaluated(leaf, 5)
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    leaf.thin_shell.cache_target = target
    bake()
    assert np.abs(evaluated(leaf, 5) - wanted).max() < 2e-6
    assert wanted[TIP, 2].max() < 0.99


@pytest.mark.parametrize("kind", ["POSITION", "ORIENTATION", "BOTH", "RIGID"])
def test_handles_follow_place_and_axes(leaf, kind):
    patch = sorted([*TIP, *(v - 1 for v in TIP)])
    rest = evaluated(leaf, 1)
    leaf.thin_shell_realtime.mode_count = 40
    handle = add_handle(leaf, patch, kind=kind)
    place = handle.matrix_world.copy()
    # Up and a little back: a strip does not stretch.
    move(handle, {1: place, 4: Matrix.Translation((-0.02, 0, 0.2)) @ place @ Matrix.Rotation(0.2, 4, "Y")})
    leaf.thin_shell.frame_end = 30
    bpy.context.scene.use_gravity = False
    # Stiff and damped enough to have come to rest by then.
    leaf.thin_shell.young, leaf.thin_shell.damping_mass = 10000.0, 20.0
    bake()
    x = evaluated(leaf, 30)
    lifted = (x - rest)[patch].mean(axis=0)
    if kind != "ORIENTATION":
        assert np.abs(lifted - [-0.02, 0, 0.2]).max() < 2e-3
    if kind == "RIGID":
        moved = np.array(handle.matrix_world @ place.inverted())
        assert np.abs(x[patch] - (rest[patch] @ moved[:3, :3].T + moved[:3, 3])).max() < 1e-2
    rows = x.reshape(7, 7, 3)
    slope = np.arctan2(rows[:, 6, 2] - rows[:, 5, 2], rows[:, 6, 0] - rows[:, 5, 0]).mean()
    # Lifted only, the strip points up, the way it bends.
    assert slope > 0.1 if kind == "POSITION" else abs(slope + 0.2) < 0.1, slope
    assert np.abs(x[::7] - rest[::7]).max() < 1e-6


def test_dragging_an_empty_moves_the_shell_at_once(leaf):
    bpy.context.scene.use_gravity = False
    handle = add_handle(leaf, TIP, kind="POSITION")
    assert bpy.ops.thin_shell.realtime() == {"FINISHED"}
    before = shown(leaf)
    for _ in range(6):
        handle.location.z += 0.05
        bpy.context.view_layer.update()
    lifted = shown(leaf)
    assert lifted[TIP, 2].mean() > before[TIP, 2].mean() + 0.2
    same = shown(leaf)
    bpy.context.view_layer.update()
    assert np.array_equal(shown(leaf), same), "nothing was dragged"


def test_a_handle_rests_where_it_is_told(leaf):
    bpy.context.scene.use_gravity = False
    rest = evaluated(leaf, 1)
    handle = add_handle(leaf, TIP)
    handle.location = (3.0, 1.0, 2.0)
    bpy.context.view_layer.update()
    assert bpy.ops.thin_shell.handle_rest() == {"FINISHED"}
    bake()
    assert np.abs(evaluated(leaf, 6) - rest).max() < 1e-5
    leaf.thin_shell_realtime.handles[0].target = None
    assert "has an object" in failure(bpy.ops.thin_shell.handle_rest)


def test_a_stiffness_makes_a_spring_of_a_handle(leaf):
    bpy.context.scene.use_gravity = False
    results = []
    for stiffness in (0.0, 2.0):
        handle = add_handle(leaf, TIP, kind="POSITION", stiffness=stiffness)
        place = handle.matrix_world.copy()
        move(handle, {1: place, 3: Matrix.Translation((0, 0, 0.2)) @ place})
        bake()
        results.append(evaluated(leaf, 6)[TIP, 2].mean())
        assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
        assert bpy.ops.thin_shell.handle_remove() == {"FINISHED"}
    assert results[0] > 1.19 and 1.0 < results[1] < results[0] - 0.02


def test_a_moving_parent_drives_the_shell(leaf):
    bpy.context.scene.use_gravity = False
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.collection.objects.link(parent)
    leaf.parent = parent
    move(parent, {1: Matrix(), 4: Matrix.Translation((0, 0, 0.5))})
    bake()
    x = evaluated(leaf, 4)
    assert np.abs(x[::7, 2] - 1.5).max() < 1e-5, "held vertices go with the parent"
    assert x[TIP, 2].mean() < 1.49, "the tip lags behind"


def test_undo_and_redo_while_it_plays(leaf):
    handle = add_handle(leaf, TIP)
    bpy.ops.ed.undo_push(message="ready")
    assert bpy.ops.thin_shell.realtime() == {"FINISHED"}
    handle = bpy.data.objects[handle.name]
    handle.location.z += 0.2
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="dragged")
    bpy.ops.ed.undo()
    assert player.current is not None and "Leaf" in bpy.data.objects
    play()
    again = bpy.data.objects["Leaf"]
    assert shown(again)[TIP, 2].mean() < 1.2
    bpy.ops.ed.redo()
    play(1, 3)
    assert np.isfinite(shown(bpy.data.objects["Leaf"])).all()


def test_a_saved_file_knows_nothing_of_the_session(leaf):
    assert bpy.ops.thin_shell.realtime() == {"FINISHED"}
    play(1, 3)
    bpy.ops.wm.save_mainfile()
    assert leaf.modifiers["Thin Shell"].show_viewport, "it plays on after saving"
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    assert player.current is None
    modifier = bpy.data.objects["Leaf"].modifiers["Thin Shell"]
    assert not modifier.filepath and not modifier.show_viewport
    assert not bpy.app.handlers.depsgraph_update_post


def test_deleted_shells_and_handles_end_in_a_message(leaf):
    handle = add_handle(leaf, TIP)
    assert bpy.ops.thin_shell.realtime() == {"FINISHED"}
    bpy.data.objects.remove(handle)
    play(1, 3)
    assert player.current is None and "deleted or renamed" in player.stopped
    assert "has no object" in failure(bpy.ops.thin_shell.realtime)
    assert "has no object" in failure(bpy.ops.thin_shell.bake)
    assert bpy.ops.thin_shell.handle_remove() == {"FINISHED"}
    assert bpy.ops.thin_shell.realtime() == {"FINISHED"}
    bpy.data.objects.remove(leaf)
    play(1, 3)
    assert player.current is None


def test_what_cannot_move_in_real_time_is_said(leaf):
    select(leaf, [])
    assert "select the vertices" in failure(bpy.ops.thin_shell.handle_add)
    leaf.thin_shell.rest_shape = "OBJECT"
    other = make_grid("Other", size=1.9)
    leaf.thin_shell.rest_object = other
    bpy.context.view_layer.objects.active = leaf
    assert "As at Start" in failure(bpy.ops.thin_shell.realtime)
    leaf.thin_shell.rest_shape = "START"
    leaf.data.vertices[24].co.z += 0.4
    leaf.thin_shell.rest_angles = "flat"
    message = failure(bpy.ops.thin_shell.realtime)
    assert "not in equilibrium" in message and "set Motion to Full" in message
    assert "set Motion to Full" in failure(bpy.ops.thin_shell.bake)
    leaf.thin_shell_realtime.motion = "FULL"
    assert "set Motion to Real Time" in failure(bpy.ops.thin_shell.realtime)


def test_check_and_live_know_of_real_time(leaf):
    handle = add_handle(leaf, TIP)
    bpy.data.objects.remove(handle)
    ground = bpy.data.objects.new("Ground", leaf.data.copy())
    bpy.context.collection.objects.link(ground)
    ground.modifiers.new("Collision", "COLLISION")
    bpy.context.view_layer.objects.active = leaf
    from thin_shell.addon import preflight

    said = [issue.message for issue in preflight.look_over(bpy.context.scene, [leaf])]
    assert any("has no object to follow" in text for text in said)
    assert any("colliders have no effect" in text for text in said)
    assert "use the Real Time button" in failure(bpy.ops.thin_shell.live)


def test_baked_shells_are_left_alone(leaf):
    bake()
    assert "Delete Bake first" in failure(bpy.ops.thin_shell.realtime)
    assert "press Bake" in failure(bpy.ops.thin_shell.bake, mode="CONTINUE")
    leaf.thin_shell_realtime.mode_count = 3
    from thin_shell.addon.bake import status

    assert status.status(leaf, bpy.context.scene, fresh=True).kind == "OUTDATED"


def test_modes_are_listed_and_shown(leaf):
    assert bpy.ops.thin_shell.modes() == {"FINISHED"}
    settings = leaf.thin_shell_realtime
    heard = [mode.frequency for mode in settings.modes]
    assert len(heard) == 12 and heard == sorted(heard) and heard[0] > 0
    rest = evaluated(leaf, 1)
    settings.mode_index, settings.preview_size, settings.preview_frames = 0, 0.1, 8
    assert bpy.ops.thin_shell.mode_preview() == {"FINISHED"}
    bpy.context.scene.frame_set(3)
    up = shown(leaf)
    size = np.linalg.norm(np.ptp(rest, axis=0))
    assert 0.09 * size < np.abs(up - rest).max() < 0.11 * size
    bpy.context.scene.frame_set(7)
    assert np.abs((shown(leaf) - rest) + (up - rest))[:, 2].max() < 1e-4
    assert bpy.ops.thin_shell.mode_preview() == {"FINISHED"}
    assert np.abs(evaluated(leaf, 3) - rest).max() < 1e-6


def test_from_the_command_line(leaf, capfd):
    from thin_shell.addon import cli

    bpy.ops.wm.save_mainfile()
    assert cli.command(["bake", "--end", "4"]) == 0
    assert "baked Leaf to frame 4" in capfd.readouterr().out
    assert (cache_folder() / "Leaf.pc2").is_file()


def test_results_of_a_modal_bake_are_kept(leaf):
    leaf.thin_shell.keep_bending = leaf.thin_shell.keep_velocity = True
    bake()
    found = leaf.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.attributes
    assert "thin_shell_bending" in found and "velocity" in found


def test_free_shells_fall(leaf):
    leaf.thin_shell.pin_group = ""
    bake()
    fallen = 1.0 - evaluated(leaf, 6)[:, 2].mean()
    assert abs(fallen - 0.5 * 9.81 * (5 / 24) ** 2) < 0.02


def test_it_registers_twice():
    thin_shell.unregister()
    assert not hasattr(bpy.types.Object, "thin_shell_realtime")
    thin_shell.register()
    assert hasattr(bpy.types.Object, "thin_shell_realtime")
