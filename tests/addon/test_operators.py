"""Every operator, by the way a user presses it; Live; the command line."""

import inspect
import re
from pathlib import Path

import bpy
import numpy as np
import pytest
from blender_scenes import bake, cache_folder, evaluated, failure, left, make_grid, pin
from thin_shell import shellcore as sc
from thin_shell.addon import cli, live, presets
from thin_shell.addon.bake import session
from thin_shell.addon.bake.order import Order
from thin_shell.addon.bake.status import status
from thin_shell.addon.operators import check


def registered_operators():
    return [name for name in dir(bpy.ops.thin_shell) if not name.startswith("_")]


def test_every_operator_is_tried_and_described():
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    names = registered_operators()
    assert len(names) >= 15
    for name in names:
        rna = getattr(bpy.ops.thin_shell, name).get_rna_type()
        assert rna.name and rna.description, name
        assert re.search(rf"thin_shell\.{name}\b", tests) or name == "bake", name


def test_toggle(sheet):
    assert sheet.thin_shell.enabled and "Thin Shell" in sheet.modifiers
    bake()
    assert bpy.ops.thin_shell.toggle() == {"FINISHED"}
    assert not sheet.thin_shell.enabled and len(sheet.modifiers) == 0
    assert left() == []
    assert "press Thin Shell" in failure(bpy.ops.thin_shell.bake)


def test_quick_shell_pins_the_selection_and_lands_on_a_floor(blend):
    obj = make_grid()
    bpy.ops.thin_shell.toggle()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.data.vertices[3].select = True
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.thin_shell.quick(preset="paper", floor=True) == {"FINISHED"}
    assert obj.thin_shell.enabled and obj.thin_shell.preset_name == "paper"
    assert [v.index for v in obj.data.vertices if any(g.group == 0 for g in v.groups)] == [3]
    floor = bpy.data.objects["Floor"]
    assert floor.location.z < 0 and floor.collision.use
    bake()


def test_falls_onto_a_plane_and_a_ball(blend):
    sheet = make_grid(size=1.0, location=(0, 0, 0.3))
    bpy.ops.mesh.primitive_plane_add(size=10)
    bpy.ops.object.modifier_add(type="COLLISION")
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.2, location=(0, 0, 0))
    ball = bpy.context.object
    bpy.ops.object.modifier_add(type="COLLISION")
    bpy.context.view_layer.objects.active = sheet
    sheet.thin_shell.frame_end = 20
    bake()
    last = evaluated(sheet, 20)
    assert last[:, 2].min() > -0.01
    assert np.linalg.norm(last - np.array(ball.location), axis=1).min() > 0.15
    assert last[:, 2].max() > 0.15


def test_what_starts_in_a_floor_comes_out_of_it(blend):
    sheet = make_grid(size=1.0, location=(0, 0, -0.02))
    bpy.ops.mesh.primitive_plane_add(size=10)
    bpy.ops.object.modifier_add(type="COLLISION")
    bpy.context.object.thin_shell.collider_shape = "PLANE"
    bpy.context.view_layer.objects.active = sheet
    sheet.thin_shell.frame_end = 12
    bake()
    assert evaluated(sheet, 12)[:, 2].min() > 0.0


def test_what_cannot_come_out_of_a_wall_names_it(blend):
    sheet = make_grid(size=1.0, location=(0, 0, 0.0))
    pin(sheet, range(49))
    bpy.ops.mesh.primitive_cube_add(size=0.4)
    bpy.context.object.name = "Wall"
    bpy.ops.object.modifier_add(type="COLLISION")
    bpy.context.view_layer.objects.active = sheet
    sheet.thin_shell.frame_end = 3
    words = failure(bpy.ops.thin_shell.bake)
    assert "with Wall" in words and "move the parts apart" in words


def test_planes_may_move_but_not_turn(blend):
    sheet = make_grid(size=1.0, location=(0, 0, 0.1))
    bpy.ops.mesh.primitive_plane_add(size=10)
    floor = bpy.context.object
    bpy.ops.object.modifier_add(type="COLLISION")
    floor.thin_shell.collider_shape = "PLANE"
    for frame, z in ((1, 0.0), (6, 0.5)):
        floor.location.z = z
        floor.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    bpy.context.view_layer.objects.active = sheet
    bake()
    assert evaluated(sheet, 6)[:, 2].min() > 0.45
    for frame, angle in ((1, 0.0), (6, 0.5)):
        floor.rotation_euler.x = angle
        floor.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(1)
    assert "'Plane' turns" in failure(bpy.ops.thin_shell.bake)


def test_general_meshes_are_used(blend):
    sheet = make_grid()
    bpy.ops.mesh.primitive_monkey_add()
    bpy.ops.object.modifier_add(type="COLLISION")
    bpy.context.view_layer.objects.active = sheet
    sheet.thin_shell.frame_end = 2
    bake()


def test_presets(sheet):
    sheet.thin_shell.pin_stiffness, sheet.thin_shell.friction = 77.0, 0.9
    for name, row in sc.Material.presets().items():
        assert bpy.ops.thin_shell.preset(name=name) == {"FINISHED"}
        assert presets.shown_name(sheet.thin_shell) == name.replace("_", " ").title()
        from thin_shell.addon.bridge.material import uniform

        material = uniform(sheet.thin_shell)
        assert material.stretch == pytest.approx(row.stretch, rel=1e-6)
        assert material.bending_moduli(1)[3][0] == pytest.approx(
            sc.Material.preset(name).bending_moduli(1)[3][0], rel=1e-5
        )
    assert (sheet.thin_shell.pin_group, sheet.thin_shell.pin_stiffness) == ("Pin", 77.0)
    sheet.thin_shell.bend_warp *= 1.01
    assert presets.shown_name(sheet.thin_shell) == "Custom"
    assert "no preset" in failure(bpy.ops.thin_shell.preset, name="unknown")
    assert "installed as an extension" in failure(bpy.ops.thin_shell.preset_save, name="mine")


def test_make_real(sheet):
    assert "not baked" in failure(bpy.ops.thin_shell.make_real)
    bake()
    wanted = evaluated(sheet, 5)
    assert bpy.ops.thin_shell.make_real() == {"FINISHED"}
    made = bpy.context.object
    assert made is not sheet and len(made.modifiers) == 0
    assert np.abs(np.array([made.matrix_world @ v.co for v in made.data.vertices]) - wanted).max() < 1e-6


def test_willmore_smooth(blend):
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3)
    obj = bpy.context.object
    rng = np.random.default_rng(1)
    for v in obj.data.vertices:
        v.co *= 1 + 0.05 * rng.normal()
    before = np.std([v.co.length for v in obj.data.vertices])
    assert bpy.ops.thin_shell.willmore(steps=3) == {"FINISHED"}
    after = np.array([v.co.length for v in obj.data.vertices])
    assert np.std(after) < 0.5 * before and 0.8 < after.mean() < 1.2


def test_copy_info_and_command(sheet, capfd):
    assert bpy.ops.thin_shell.copy_info() == {"FINISHED"}
    assert bpy.ops.thin_shell.copy_command() == {"FINISHED"}
    out = capfd.readouterr().out
    assert "Thin Shell 0." in out and "numpy" in out
    assert "--command thin_shell bake --objects Sheet" in out and bpy.data.filepath in out


@pytest.mark.parametrize(
    "fault", ["zero", "manifold", "loose", "negative", "cross", "pin", "unsaved", "subsurf", "field"]
)
def test_check_names_the_fault(sheet, fault):
    def spoil_zero():
        sheet.data.vertices[8].co = sheet.data.vertices[9].co = sheet.data.vertices[1].co

    def spoil_mesh(vertices, faces):
        old = sheet.data
        mesh = bpy.data.meshes.new("Bad")
        mesh.from_pydata(vertices, [], faces)
        sheet.data = mesh
        bpy.data.meshes.remove(old)

    square = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    sheet.thin_shell.pin_group = ""
    level = "ERROR"
    if fault == "zero":
        spoil_zero()
    elif fault == "manifold":
        spoil_mesh([*square, (0, 0, 1), (1, 0, 1)], [(0, 1, 2), (0, 1, 3), (0, 1, 4), (1, 2, 5), (2, 3, 5)])
    elif fault == "loose":
        spoil_mesh([*square, (5, 5, 5)], [(0, 1, 2, 3)])
    elif fault == "negative":
        sheet.scale.x, level = -1, "WARNING"
        bpy.context.view_layer.update()
    elif fault == "cross":
        spoil_mesh([*square, (0.2, 0.5, -1), (0.8, 0.5, -1), (0.5, 0.5, 1)], [(0, 1, 2, 3), (4, 5, 6)])
        level = "WARNING"
    elif fault == "pin":
        sheet.thin_shell.pin_group = "gone"
    elif fault == "unsaved":
        sheet.thin_shell.cache_folder = "nowhere"
    elif fault == "subsurf":
        modifier = sheet.modifiers.new("S", "SUBSURF")
        modifier.levels, modifier.render_levels = 1, 2
        sheet.modifiers.move(1, 0)
    elif fault == "field":
        bpy.ops.object.effector_add(type="BOID")
        bpy.context.view_layer.objects.active = sheet
        level = "WARNING"
    if level == "ERROR":
        failure(bpy.ops.thin_shell.check)
    else:
        assert bpy.ops.thin_shell.check() == {"FINISHED"}
    assert check.last[0].level == level
    message = check.last[0].message
    words = {
        "zero": "degenerate", "manifold": "manifold", "loose": "belong to no face", "negative": "negative scale",
        "cross": "pass through", "pin": "gone", "unsaved": "cache folder", "subsurf": "make them equal",
        "field": "no effect",
    }  # fmt: skip
    assert words[fault] in message
    assert fault == "field" or "Sheet" in message
    if fault == "zero":
        # Polygons as Blender counts them, not the triangles inside.
        assert f"faces {', '.join(map(str, check.last[0].polygons[:5]))}" in message
    if fault in ("zero", "cross", "manifold"):
        assert [p.index for p in sheet.data.polygons if p.select] == check.last[0].polygons != []
    if fault == "loose":
        assert [v.index for v in sheet.data.vertices if v.select] == [4]
    check.last[:] = []


def test_check_is_content(sheet):
    assert bpy.ops.thin_shell.check() == {"FINISHED"}
    assert check.last == []
    assert all(m.show_viewport is False for m in sheet.modifiers)


def test_session_works_in_ticks_and_stops(sheet):
    run = session.Session([Order(bpy.context.scene.name, ("Sheet",), 6)])
    ticks = 0
    while not run.advance(0.0):
        ticks += 1
    assert ticks > 10 and run.error is None and run.shown.frame == 6
    assert "Baked Sheet to frame 6" in run.summary() and "ESC" in run.shown.text
    bpy.ops.thin_shell.delete_bake()
    run = session.Session([Order(bpy.context.scene.name, ("Sheet",), 6)])
    while run.shown.frame < 3:
        run.advance(0.0)
    run.stop()
    assert run.jobs[0].published and not run.jobs[0].complete
    assert sheet.thin_shell.baked and not sheet.thin_shell.baked_complete


def test_modal_through_stand_ins(sheet):
    """The modal road: ticks, all else passes through, ESC keeps frames."""
    from types import SimpleNamespace

    from thin_shell.addon.operators.bake import THIN_SHELL_OT_bake as Operator

    said = []
    fake = SimpleNamespace(report=lambda *a: said.append(a), _timer=None)
    for name in ("_end", "_leave"):
        setattr(fake, name, getattr(Operator, name).__get__(fake))
    manager = SimpleNamespace(
        progress_update=lambda v: None, progress_end=lambda: None, windows=[], event_timer_remove=None
    )
    context = SimpleNamespace(window_manager=manager, workspace=SimpleNamespace(status_text_set=said.append))
    event = lambda kind, value="PRESS": SimpleNamespace(type=kind, value=value)  # noqa: E731
    session.current = session.Session([Order(bpy.context.scene.name, ("Sheet",), 2000)])
    assert Operator.modal(fake, context, event("MIDDLEMOUSE")) == {"PASS_THROUGH"}
    assert Operator.modal(fake, context, event("Z")) == {"PASS_THROUGH"}
    while session.current.shown.frame < 4:
        assert Operator.modal(fake, context, event("TIMER")) == {"RUNNING_MODAL"}
    assert Operator.modal(fake, context, event("ESC")) == {"FINISHED"}
    assert session.current is None and sheet.thin_shell.baked_samples >= 3
    assert "stopped" in said[-2][1]


def test_a_closed_window_leaves_nothing_running(sheet):
    from types import SimpleNamespace

    from thin_shell.addon.operators.bake import THIN_SHELL_OT_bake as Operator

    session.current = run = session.Session([Order(bpy.context.scene.name, ("Sheet",), 60)])
    while run.shown.frame < 4:
        run.advance(0.0)
    Operator.cancel(SimpleNamespace(), None)
    assert session.current is None
    assert (cache_folder() / "Sheet.state.npz").is_file()
    bpy.ops.thin_shell.bake.poll()
    bake(mode="RESUME")


def test_an_excluded_collection_is_said(sheet):
    apart = bpy.data.collections.new("Apart")
    bpy.context.scene.collection.children.link(apart)
    apart.objects.link(sheet)
    bpy.context.scene.collection.objects.unlink(sheet)
    bpy.context.view_layer.layer_collection.children["Apart"].exclude = True
    assert "include its collection" in failure(bpy.ops.thin_shell.bake, everything=True)


def test_live(sheet):
    scene = bpy.context.scene
    scene.frame_set(1)
    assert bpy.ops.thin_shell.live() == {"FINISHED"}
    handlers = bpy.app.handlers.frame_change_post
    assert live.on_frame in handlers
    for frame in (2, 3, 4, 6):
        scene.frame_set(frame)
    assert live.current.last == 6
    shown = evaluated(sheet, 6)
    assert np.abs(shown[:, 2] - 1).max() > 0.05
    assert np.abs(evaluated(sheet, 1)[:, 2] - 1).max() < 1e-6
    for frame in (2, 3, 4, 5, 6):
        scene.frame_set(frame)
    assert bpy.ops.thin_shell.live() == {"FINISHED"}
    assert live.on_frame not in handlers and live.current is None
    assert sheet.thin_shell.baked and sheet.thin_shell.baked_samples == 6
    assert status(sheet, scene, fresh=True).resumable is None
    assert "Delete Bake first" in failure(bpy.ops.thin_shell.live)


def test_live_ends_with_its_file(sheet, blend):
    bpy.ops.wm.save_mainfile()
    bpy.context.scene.frame_set(1)
    bpy.ops.thin_shell.live()
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert live.current is None and live.on_frame not in bpy.app.handlers.frame_change_post


def test_live_says_what_is_wrong(sheet):
    sheet.thin_shell.pin_group = "gone"
    bpy.context.scene.frame_set(1)
    bpy.ops.thin_shell.live()
    assert "gone" in live.current.message
    bpy.ops.thin_shell.live()


def test_command_line(sheet, capfd):
    bpy.ops.wm.save_mainfile()
    assert cli.command(["bake", "--objects", "Sheet", "--start", "2", "--end", "5", "--cache", "pc2"]) == 0
    out = capfd.readouterr().out
    assert "frame 5" in out and "baked Sheet to frame 5" in out
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    sheet = bpy.data.objects["Sheet"]
    assert sheet.thin_shell.baked_samples == 4 and sheet.thin_shell.baked_start == 2
    assert cli.command(["bake", "--objects", "Nobody"]) == 1
    assert "no object 'Nobody'" in capfd.readouterr().err
    assert cli.command(["bake", "--cache", "nonsense"]) == 2
    assert cli.command([]) == 2
    sheet.thin_shell.pin_group = "gone"
    assert cli.command(["bake", "--no-save"]) == 1
    assert "gone" in capfd.readouterr().err
    for kind in ("shapekeys", "alembic"):
        sheet.thin_shell.pin_group = "Pin"
        assert cli.command(["bake", "--cache", kind]) == 0
    assert sheet.thin_shell.baked_target == "ALEMBIC"


def test_operators_are_short():
    """Bonsai's rule: an operator calls what does the work."""
    from thin_shell.addon.operators import bake as module

    for _, cls in inspect.getmembers(module, inspect.isclass):
        if issubclass(cls, bpy.types.Operator):
            for _, function in inspect.getmembers(cls, inspect.isfunction):
                assert len(inspect.getsource(function).splitlines()) <= 30


def test_pinned_live_follows_animation(sheet):
    pin(sheet, [0, 6])
    scene = bpy.context.scene
    for frame, x in ((1, 0.0), (6, 1.0)):
        sheet.location.x = x
        sheet.keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    bpy.ops.thin_shell.live()
    for frame in range(2, 7):
        scene.frame_set(frame)
    last = evaluated(sheet, 6)
    assert last[0, 0] == pytest.approx(0.0, abs=1e-4)
    assert last[6, 0] == pytest.approx(2.0, abs=1e-4)
    bpy.ops.thin_shell.live()
