"""Bakes: three targets read back, stopped and resumed, and everything users do to files and objects in between."""

import json

import bpy
import numpy as np
import pytest
from blender_scenes import bake, cache_folder, evaluated, failure, left, make_grid, pin
from thin_shell import shellcore as sc
from thin_shell.addon.bake import fingerprint
from thin_shell.addon.bake.frames import solver_options
from thin_shell.addon.bake.job import Job
from thin_shell.addon.bake.order import Order
from thin_shell.addon.bake.status import status
from thin_shell.addon.bridge.build import build
from thin_shell.addon.bridge.mesh import MODIFIER
from thin_shell.addon.cache import pc2, sidecar

SIZE = 2.0


def order(obj, **options):
    return Order(bpy.context.scene.name, (obj.name,), obj.thin_shell.frame_end, **options)


def finish(job):
    for _ in job.run():
        pass
    assert job.error is None, job.error
    return job


def core_result(obj, frames=5):
    """The same sheet straight through the core: positions of every frame [m]."""
    made = build(bpy.context.scene, [obj])
    options = solver_options(obj)
    return [frame.positions for frame in sc.simulate(made.scene, frames=frames, fps=24, **options)]


@pytest.mark.parametrize("target", ["PC2", "SHAPE_KEYS", "ALEMBIC"])
def test_reads_back_what_the_core_made(sheet, target):
    sheet.thin_shell.cache_target = target
    wanted = core_result(sheet)
    bake()
    assert sheet.thin_shell.baked_target == target
    assert np.abs(evaluated(sheet, 1)[:, 2] - 1.0).max() < 1e-6 * SIZE
    for frame in range(2, 7):
        assert np.abs(evaluated(sheet, frame) - wanted[frame - 2]).max() < 1e-6 * SIZE


def test_subdivision_bakes_its_surface_through_the_mesh(sheet):
    sheet.thin_shell.bending = "subdivision"
    modelled = evaluated(sheet, 1)
    made = build(bpy.context.scene, [sheet])
    shell = made.scene.shells[0]
    inner = np.ones(len(modelled), dtype=bool)
    inner[shell.mesh.boundary_vertices] = False
    assert (shell.loop.mesh.valence[: len(modelled)][inner] == 6).all()
    wanted = [shell.limit(f.control()) for f in sc.simulate(made.scene, frames=5, fps=24, **solver_options(sheet))]
    bake()
    assert np.abs(evaluated(sheet, 1) - modelled).max() < 1e-6 * SIZE
    for frame in range(2, 7):
        assert np.abs(evaluated(sheet, frame) - wanted[frame - 2]).max() < 1e-6 * SIZE


@pytest.mark.parametrize("target", ["PC2", "SHAPE_KEYS", "ALEMBIC"])
def test_targets_replace_each_other_and_go(sheet, target):
    rest = evaluated(sheet, 1)
    for each in ("PC2", target, "PC2", target):
        sheet.thin_shell.cache_target = each
        bake()
        assert np.abs(evaluated(sheet, 6) - rest).max() > 0.1
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    assert sheet.data.shape_keys is None
    assert [m.name for m in sheet.modifiers] == [MODIFIER]
    assert np.abs(evaluated(sheet, 6) - rest).max() < 1e-6
    assert left() == []


@pytest.mark.parametrize("stop_at", [1, 3, 5])
def test_stopped_and_resumed_equals_uninterrupted(sheet, stop_at):
    whole = finish(Job(order(sheet)))
    assert whole.complete
    expected = (cache_folder() / "Sheet.pc2").read_bytes()
    bpy.ops.thin_shell.delete_bake()
    job = Job(order(sheet))
    for report in job.run():
        if report.frame > stop_at and report.stage == "Solving":
            job.stop = True
    assert job.error is None and not job.complete and job.published
    assert job.done == stop_at or job.done == stop_at + 1
    assert status(sheet, bpy.context.scene, fresh=True).kind == "PARTIAL"
    assert evaluated(sheet, 6).shape == (49, 3)
    resumed = finish(Job(order(sheet, mode="resume")))
    assert resumed.complete
    assert (cache_folder() / "Sheet.pc2").read_bytes() == expected
    assert status(sheet, bpy.context.scene, fresh=True).kind == "BAKED"


def test_closing_the_generator_keeps_frames_and_puts_the_scene_back(sheet):
    bpy.context.scene.frame_set(3)
    sheet.modifiers.new("Subsurf", "SUBSURF")
    job = Job(order(sheet))
    steps = job.run()
    for report in steps:
        if report.frame == 4:
            break
    steps.close()
    assert bpy.context.scene.frame_current == 3
    assert sheet.modifiers["Subsurf"].show_viewport
    assert (cache_folder() / "Sheet.state.npz").is_file()
    finish(Job(order(sheet, mode="resume")))


def test_stopping_keeps_an_older_whole_result(sheet):
    bake()
    before = (cache_folder() / "Sheet.pc2").read_bytes()
    sheet.thin_shell.bend_warp = 1.0
    job = Job(order(sheet))
    for report in job.run():
        job.stop = report.frame > 2
    assert (cache_folder() / "Sheet.pc2").read_bytes() == before
    state = status(sheet, bpy.context.scene, fresh=True)
    assert state.kind == "OUTDATED" and state.resumable is not None
    finish(Job(order(sheet, mode="resume")))
    assert (cache_folder() / "Sheet.pc2").read_bytes() != before
    assert status(sheet, bpy.context.scene, fresh=True).kind == "BAKED"


def test_resume_refuses_changed_settings(sheet):
    job = Job(order(sheet))
    for report in job.run():
        job.stop = report.frame > 3
    sheet.thin_shell.bend_warp = 3.0
    again = Job(order(sheet, mode="resume"))
    for _ in again.run():
        pass
    assert "Continue from Frame" in str(again.error)


def test_continue_from_a_frame_with_changed_settings(sheet):
    sheet.thin_shell.tolerance = 1e-4
    bake()
    before = [evaluated(sheet, f) for f in range(1, 7)]
    same = finish(Job(order(sheet, mode="continue", from_frame=3)))
    assert same.complete
    assert max(np.abs(evaluated(sheet, f) - before[f - 1]).max() for f in range(1, 7)) < 1e-3
    sheet.thin_shell.wind_velocity = (0, 8, 0)
    bpy.context.scene.frame_set(3)
    bake(mode="CONTINUE")
    for frame in (1, 2, 3):
        assert np.abs(evaluated(sheet, frame) - before[frame - 1]).max() < 1e-6
    assert np.abs(evaluated(sheet, 6) - before[5]).max() > 0.01
    bpy.context.scene.frame_set(1)
    assert "go to a baked frame" in failure(bpy.ops.thin_shell.bake, mode="CONTINUE")


def test_a_blender_without_alembic_is_said(sheet, monkeypatch):
    from thin_shell.addon import compat

    monkeypatch.setattr(compat, "alembic_available", lambda: False)
    sheet.thin_shell.cache_target = "ALEMBIC"
    assert "built without Alembic" in failure(bpy.ops.thin_shell.bake)


def test_calculate_to_frame(sheet):
    bpy.context.scene.frame_set(4)
    bake(mode="TO_FRAME")
    assert sidecar.read(cache_folder() / "Sheet.json").last_frame == 4
    assert bpy.context.scene.frame_current == 4


def test_undo_and_redo(sheet):
    bpy.ops.ed.undo_push(message="before")
    bake()
    bpy.ops.ed.undo_push(message="baked")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Sheet"]
    assert not obj.thin_shell.baked
    assert np.abs(evaluated(obj, 6)[:, 2] - 1.0).max() < 1e-6
    bpy.ops.ed.redo()
    obj = bpy.data.objects["Sheet"]
    assert obj.thin_shell.baked
    assert np.abs(evaluated(obj, 6)[:, 2] - 1.0).max() > 0.05


def test_undo_during_a_bake_ends_in_words(sheet):
    bpy.ops.ed.undo_push(message="one")
    job = Job(order(sheet))
    steps = job.run()
    for report in steps:
        if report.frame == 3:
            break
    bpy.data.objects.remove(bpy.data.objects["Sheet"])
    for _ in steps:
        pass
    assert "deleted or renamed" in str(job.error)


def test_duplicate_bakes_apart(sheet):
    bake()
    original = (cache_folder() / "Sheet.pc2").read_bytes()
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    assert copy is not sheet and copy.thin_shell.baked
    assert np.abs(evaluated(copy, 6) - evaluated(sheet, 6)).max() < 1e-6
    copy.thin_shell.wind_velocity = (0, 10, 0)
    bake()
    assert copy.thin_shell.cache_name != sheet.thin_shell.cache_name
    assert (cache_folder() / "Sheet.pc2").read_bytes() == original
    assert np.abs(evaluated(copy, 6) - evaluated(sheet, 6)).max() > 1e-3


def test_deleting_a_duplicates_bake_leaves_the_original(sheet):
    bake()
    bpy.ops.object.duplicate()
    bpy.ops.thin_shell.delete_bake()
    assert not bpy.context.object.thin_shell.baked
    assert (cache_folder() / "Sheet.pc2").is_file()
    bpy.data.objects.remove(bpy.context.object)
    assert np.abs(evaluated(sheet, 6)[:, 2] - 1).max() > 0.05


def test_rename_keeps_the_bake(sheet):
    bake()
    sheet.name = "Something/else: new"
    assert status(sheet, bpy.context.scene, fresh=True).kind == "BAKED"
    bake()
    assert [p.name for p in cache_folder().glob("*.pc2")] == ["Sheet.pc2"]


def test_outdated_is_recognised(sheet):
    bake()
    scene = bpy.context.scene
    for change, back in (("bend_warp", 9.0), ("pin_group", ""), ("rest_angles", "flat")):
        before = getattr(sheet.thin_shell, change)
        setattr(sheet.thin_shell, change, back)
        assert status(sheet, scene, fresh=True).kind == "OUTDATED", change
        setattr(sheet.thin_shell, change, before)
    assert status(sheet, scene, fresh=True).kind == "BAKED"
    scene.render.fps = 30
    assert status(sheet, scene, fresh=True).kind == "OUTDATED"
    scene.render.fps = 24
    sheet.thin_shell.show_axes = True
    assert status(sheet, scene, fresh=True).kind == "BAKED"
    assert fingerprint.of_settings(sheet, scene) == sheet.thin_shell.baked_settings


def test_bake_all_and_delete_all(blend):
    first, second, third = (make_grid(name, location=(3 * i, 0, 1)) for i, name in enumerate(("A", "B", "C")))
    for obj in (first, second, third):
        pin(obj, [0, 6])
    third.thin_shell.substeps = 2
    bake(everything=True)
    assert sidecar.read(cache_folder() / "A.json").group == ["A", "B"]
    assert sidecar.read(cache_folder() / "C.json").group == ["C"]
    assert np.abs((evaluated(first, 6) - evaluated(second, 6))[:, 1:]).max() < 1e-4
    assert bpy.ops.thin_shell.delete_bake(everything=True) == {"FINISHED"}
    assert left() == []


def test_sidecar_says_what_was_baked(sheet):
    bake()
    data = json.loads((cache_folder() / "Sheet.json").read_text())
    assert data["complete"] and data["points"] == 49 and data["samples"] == 6 and data["blend"] == "scene.blend"
    assert data["blender"] == bpy.app.version_string
    with pc2.Reader(cache_folder() / "Sheet.pc2") as reader:
        assert reader.header.samples == 6
