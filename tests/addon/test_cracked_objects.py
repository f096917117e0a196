"""What an artist does with a baked shell that broke: bake again, duplicate, undo, reload, make real."""

import bpy
import pytest
from blender_scenes import bake, evaluated
from cracking import Breaking, random_splits
from rich_mesh import everything
from thin_shell import shellcore
from thin_shell.addon.bake.job import Job
from thin_shell.addon.bake.order import Order
from thin_shell.addon.bake.status import status
from thin_shell.addon.bridge.mesh import WELD_MODIFIER, read
from thin_shell.addon.cache import cracks
from thin_shell.addon.errors import UserError


def test_a_duplicate_bakes_apart(dome, breaking):
    breaking(dome)
    whole = dome.data
    bake()
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    bake()
    assert copy.data != dome.data and copy.thin_shell.whole_mesh != whole == dome.thin_shell.whole_mesh
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    assert copy.mode == "OBJECT" and copy.data != whole and everything(copy.data) == everything(whole)
    assert len(evaluated(dome, 6)) == len(dome.data.vertices)


def test_baking_again_starts_from_the_whole_mesh(dome, breaking, monkeypatch):
    first = breaking(dome)
    whole = dome.data
    bake()
    assert len(dome.data.vertices) == first.plans[0].total
    dome.thin_shell.unlocked = True
    second = Breaking([random_splits(read(whole).faces, len(whole.vertices), 2, 0.05, seed=9)])
    monkeypatch.setattr(shellcore, "progress", second)
    # Stopped: the older whole result and its mesh stay.
    job = Job(Order(bpy.context.scene.name, ("Dome",), 6))
    for report in job.run():
        job.stop = report.frame > 2
    assert not job.published and len(dome.data.vertices) == first.plans[0].total
    assert len(evaluated(dome, 1)) == len(whole.vertices)
    bake(mode="RESUME")
    assert len(dome.data.vertices) == second.plans[0].total and dome.thin_shell.whole_mesh == whole
    assert len(bpy.data.meshes) == 2


def test_undo_redo_save_and_reload(dome, breaking):
    core = breaking(dome)
    total, count = core.plans[0].total, core.plans[0].originals
    before = everything(dome.data)
    bpy.ops.ed.undo_push(message="before")
    bake()
    bpy.ops.ed.undo_push(message="baked")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Dome"]
    assert len(obj.data.vertices) == count and not obj.thin_shell.baked and WELD_MODIFIER not in obj.modifiers
    bpy.ops.ed.redo()
    obj = bpy.data.objects["Dome"]
    assert len(obj.data.vertices) == total and obj.thin_shell.baked
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects["Dome"]
    assert len(evaluated(obj, 6)) == core.plans[0].alive(5)
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    assert everything(obj.data) == before


def test_make_real_is_the_frames_own_mesh(dome, breaking):
    plan = breaking(dome).plans[0]
    bake()
    bpy.context.scene.frame_set(3)
    for smooth in (True, False):
        dome.thin_shell.weld_seams = smooth
        bpy.context.view_layer.objects.active = dome
        assert bpy.ops.thin_shell.make_real() == {"FINISHED"}
        made = bpy.context.object
        assert len(made.data.vertices) == plan.alive(2)
        assert [g.name for g in made.vertex_groups] == ["Left", "Right"] and not made.modifiers
        assert "CORNER FLOAT2" in made.data.attributes and len(made.data.materials) == 2
        assert dome.thin_shell.weld_seams is smooth


def test_what_cannot_break_is_said_before_the_bake(dome, breaking):
    breaking(dome)
    dome.modifiers.new("Mirror", "MIRROR")
    dome.modifiers.move(1, 0)
    from thin_shell.addon.bridge import yielding

    arrays = read(dome.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)
    with pytest.raises(UserError, match="apply it, drag it below"):
        yielding.check_breakable(dome, dome.evaluated_get(bpy.context.evaluated_depsgraph_get()).data, arrays)


def test_a_point_cache_of_another_mesh_is_said(dome, breaking):
    breaking(dome)
    bake()
    cracks.take_off(dome)
    state = status(dome, bpy.context.scene, fresh=True)
    assert state.kind == "BROKEN" and "points" in state.message
