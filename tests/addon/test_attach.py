"""Bakes that the file knows nothing of are found again and attached: by themselves, in one press, or by command."""

import shutil

import bpy
import numpy as np
import pytest
from blender_scenes import bake, cache_folder, evaluated, failure, left, make_grid, pin
from thin_shell.addon import cli
from thin_shell.addon.bake import catalogue
from thin_shell.addon.bake.job import Job
from thin_shell.addon.bake.order import Order
from thin_shell.addon.bake.status import status
from thin_shell.addon.cache import state


def reopen(name="Sheet"):
    """Open the file as it was saved last."""
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects[name]
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    return obj


def run(obj, stop_after=None, last=6, target="PC2"):
    job = Job(Order(bpy.context.scene.name, (obj.name,), last, target))
    for report in job.run():
        if stop_after and report.stage == "Frame" and report.frame >= stop_after:
            job.stop = True
    return job


def kind(obj):
    return status(obj, bpy.context.scene, fresh=True).kind


def shapes(obj, last=6):
    return [evaluated(obj, frame) for frame in range(1, last + 1)]


def same(obj, wanted):
    found = [evaluated(obj, frame) for frame in range(1, len(wanted) + 1)]
    return all(a.shape == b.shape and np.abs(a - b).max() < 1e-6 for a, b in zip(found, wanted, strict=True))


def test_a_bake_of_an_unsaved_file_attaches_when_it_is_opened(sheet):
    bpy.ops.wm.save_mainfile()
    bake()
    wanted = shapes(sheet)
    obj = reopen()
    assert obj.thin_shell.baked and kind(obj) == "BAKED" and same(obj, wanted)
    bake()
    assert left() == ["Sheet.json", "Sheet.pc2"]


def test_a_bake_stopped_by_esc_attaches_and_resumes(sheet):
    bpy.ops.wm.save_mainfile()
    run(sheet)
    expected = (cache_folder() / "Sheet.pc2").read_bytes()
    bpy.ops.thin_shell.delete_bake()
    bpy.ops.wm.save_mainfile()
    assert run(sheet, stop_after=3).published
    wanted = shapes(sheet, 3)
    obj = reopen()
    assert kind(obj) == "PARTIAL" and same(obj, wanted)
    assert status(obj, bpy.context.scene, fresh=True).resumable == 3
    bake(mode="RESUME")
    assert (cache_folder() / "Sheet.pc2").read_bytes() == expected and obj.thin_shell.cache_name == "Sheet"


@pytest.mark.parametrize("why", ["a setting", "played by Live", "no state", "another state"])
def test_a_refused_resume_leaves_what_plays(sheet, why):
    """Whatever it was that Resume could not go on with."""
    if why == "played by Live":
        bpy.context.scene.frame_set(1)
        bpy.ops.thin_shell.live()
        for frame in (2, 3):
            bpy.context.scene.frame_set(frame)
        bpy.ops.thin_shell.live()
    else:
        run(sheet, stop_after=3)
    wanted, before = shapes(sheet, 3), left()
    path = cache_folder() / "Sheet.state.npz"
    if why == "a setting":
        sheet.thin_shell.bend_warp *= 3
    elif why == "another state":
        solver, frame, _ = state.load(path)
        state.save(path, solver, frame, "of another bake")
    elif why == "no state":
        path.write_bytes(b"nonsense")
    assert failure(bpy.ops.thin_shell.bake, mode="RESUME")
    assert left() == before and sheet.thin_shell.baked and same(sheet, wanted)
    assert kind(sheet) == ("OUTDATED" if why == "a setting" else "PARTIAL")


def test_a_bake_that_was_deleted_and_not_saved_plays_again(sheet):
    """The file says that it is baked: closing without saving takes the deletion back."""
    bake()
    bpy.ops.wm.save_mainfile()
    wanted = shapes(sheet)
    bpy.ops.thin_shell.delete_bake()
    assert left() == []
    obj = reopen()
    assert kind(obj) == "BAKED" and same(obj, wanted) and left() == ["Sheet.json", "Sheet.pc2"]


def test_frames_of_a_bake_that_failed_are_attached_at_once(sheet, monkeypatch):
    from thin_shell.addon.bake.store import Target
    from thin_shell.addon.cache.files import CacheError

    append = Target.append

    def fails(self, local, share):
        if self.info.samples == 4:
            raise CacheError("the disk burns")
        append(self, local, share)

    monkeypatch.setattr(Target, "append", fails)
    assert "burns" in failure(bpy.ops.thin_shell.bake)
    assert sheet.thin_shell.baked and kind(sheet) == "PARTIAL" and sheet.thin_shell.baked_samples == 4
    assert np.abs(evaluated(sheet, 4)[:, 2] - 1).max() > 0.02


@pytest.mark.parametrize("target", ["pc2", "shapekeys", "alembic"])
def test_results_of_a_command_that_did_not_save(sheet, target):
    bpy.ops.wm.save_mainfile()
    assert cli.command(["bake", "--no-save", "--cache", target]) == 0
    wanted = shapes(sheet)
    obj = reopen()
    assert obj.thin_shell.baked and same(obj, wanted)
    assert cli.command(["attach", "--objects", "Sheet"]) == 0
    obj = reopen()
    assert obj.thin_shell.baked_target == cli.TARGETS[target] and same(obj, wanted)
    assert (obj.data.shape_keys is not None) == (target == "shapekeys")


@pytest.mark.parametrize("target", ["PC2", "SHAPE_KEYS", "ALEMBIC"])
def test_attach_turns_a_bake_into_any_kind(sheet, target):
    bake()
    wanted = shapes(sheet)
    assert bpy.ops.thin_shell.attach(target=target) == {"FINISHED"}
    assert sheet.thin_shell.baked_target == target and kind(sheet) == "BAKED" and same(sheet, wanted)
    assert bpy.ops.thin_shell.attach(target="PC2") == {"FINISHED"}
    assert sheet.data.shape_keys is None and same(sheet, wanted)


def test_a_torn_mesh_attaches_with_its_cracks_for_good(dome, breaking):
    breaking(dome)
    bpy.ops.wm.save_mainfile()
    bake()
    wanted, total = shapes(dome), len(dome.data.vertices)
    obj = reopen("Dome")
    assert len(obj.data.vertices) == total and kind(obj) == "BAKED" and same(obj, wanted)
    obj.thin_shell.cache_target = "SHAPE_KEYS"
    assert bpy.ops.thin_shell.attach(target="SHAPE_KEYS") == {"FINISHED"}
    assert len(obj.data.shape_keys.key_blocks) == 7
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    assert len(obj.data.vertices) < total and left() == []


def test_a_torn_bake_to_shape_keys_goes_on_and_is_baked_again(dome, breaking):
    """The torn mesh is in the object's place then, and the whole one is the object's alone all the same."""
    breaking(dome)
    dome.thin_shell.cache_target = "SHAPE_KEYS"
    bpy.ops.wm.save_mainfile()
    assert run(dome, stop_after=4, target="SHAPE_KEYS").published
    obj = reopen("Dome")
    assert kind(obj) == "PARTIAL" and len(obj.data.vertices) > len(obj.thin_shell.whole_mesh.vertices)
    for mode in ("RESUME", "NEW"):
        bake(mode=mode)
        assert obj.thin_shell.baked_complete and len(obj.data.shape_keys.key_blocks) == 7
    other = bpy.data.objects.new("Other", obj.thin_shell.whole_mesh)
    bpy.context.collection.objects.link(other)
    assert "shared by 2 users" in failure(bpy.ops.thin_shell.bake)


def test_a_torn_bake_of_another_mesh_is_refused(dome, breaking):
    breaking(dome)
    bpy.ops.wm.save_mainfile()
    bake()
    obj = reopen("Dome")
    bpy.ops.thin_shell.delete_bake()
    mesh = bpy.data.meshes.new("Other")
    count = len(obj.data.vertices)
    mesh.from_pydata([(i, 0, 0) for i in range(count - 1)] + [(0, 1, 0)], [], [(0, 1, count - 1)])
    obj.data = mesh
    assert "another mesh" in failure(bpy.ops.thin_shell.attach)
    assert obj.data == mesh and not obj.thin_shell.baked


def test_a_bake_of_another_mesh_is_refused(sheet):
    bpy.ops.wm.save_mainfile()
    bake()
    bpy.ops.thin_shell.delete_bake()
    sheet.data.vertices.add(1)
    assert "another mesh" in failure(bpy.ops.thin_shell.attach) and not sheet.thin_shell.baked


@pytest.mark.parametrize("above", ["CAST", "SUBSURF"])
def test_a_bake_of_another_mesh_is_refused_below_modifiers(sheet, above):
    bake()
    bpy.ops.wm.save_mainfile()
    other = make_grid("Other", cells=3)
    other.modifiers.new("Above", above)
    other.modifiers.move(1, 0)
    count = {"CAST": 16, "SUBSURF": 49}[above]
    if above == "SUBSURF":
        # Three cells halved are those six: as many vertices play as were baked.
        assert bpy.ops.thin_shell.attach(name="Sheet") == {"FINISHED"}
        assert len(evaluated(other, 3)) == count
        return
    assert f"the mesh {count} after the modifiers" in failure(bpy.ops.thin_shell.attach, name="Sheet")
    assert not other.thin_shell.baked


def test_anyone_may_attach_for_reading(sheet):
    sheet.thin_shell.keep_strain = True
    bake()
    wanted, before = shapes(sheet), (cache_folder() / "Sheet.pc2").read_bytes()
    other = make_grid("Other")
    assert bpy.ops.thin_shell.attach(name="Sheet") == {"FINISHED"}
    assert other.thin_shell.baked and same(other, wanted)
    bpy.ops.thin_shell.delete_bake()
    assert (cache_folder() / "Sheet.pc2").read_bytes() == before
    assert bpy.ops.thin_shell.attach(name="Sheet") == {"FINISHED"}
    pin(other, [0, 6])
    other.thin_shell.wind_velocity = (0, 9, 0)
    bake()
    assert (cache_folder() / "Sheet.pc2").read_bytes() == before and other.thin_shell.cache_name == "Other"


def test_anyone_may_attach_what_never_finished(sheet, blend, tmp_path):
    bake()
    sheet.thin_shell.bend_warp = 1.0
    run(sheet, stop_after=4)  # waits beside the whole one
    before = {path.name: path.read_bytes() for path in cache_folder().iterdir()}
    other = make_grid("Other")
    assert bpy.ops.thin_shell.attach(name="Sheet", unfinished=True) == {"FINISHED"}
    assert other.thin_shell.cache_name == "Other" and kind(other) == "OUTDATED"  # it is not pinned
    assert other.thin_shell.baked_samples == 4 and not other.thin_shell.baked_complete
    after = {path.name: path.read_bytes() for path in cache_folder().iterdir()}
    assert {name: after.get(name) for name in before} == before


def test_the_list_says_what_is_there(sheet, capfd):
    bake()
    (found,) = catalogue.of(sheet)
    assert catalogue.settings_told(found) == "pin group Pin"
    sheet.thin_shell.preset_name, sheet.thin_shell.wind_velocity = "paper", (0, 1, 0)
    bake()
    (found,) = catalogue.of(sheet)
    assert found.frames == 6 and found.bytes > 6 * 12 * 49 and catalogue.own(sheet, [found])
    assert "6 frames" in catalogue.told(found) and "kB" in catalogue.told(found)
    assert "paper" in catalogue.settings_told(found) and "wind velocity" in catalogue.settings_told(found)
    bpy.ops.wm.save_mainfile()
    assert cli.command(["caches"]) == 0
    assert "Sheet\town bake of Sheet\t6 frames" in capfd.readouterr().out


def test_an_undone_delete_plays_again(sheet):
    bpy.ops.ed.undo_push(message="before")
    bake()
    wanted = shapes(sheet)
    bpy.ops.ed.undo_push(message="baked")
    bpy.ops.thin_shell.delete_bake()
    bpy.ops.ed.undo_push(message="deleted")
    assert left() == []
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Sheet"]
    assert kind(obj) == "BAKED" and same(obj, wanted) and left() == ["Sheet.json", "Sheet.pc2"]


def test_an_undone_second_bake_shows_what_is_on_the_disk(dome, breaking, monkeypatch):
    from cracking import Breaking, random_splits
    from thin_shell import shellcore
    from thin_shell.addon.bridge.mesh import read

    breaking(dome)
    whole = dome.data
    bake()
    bpy.ops.ed.undo_push(message="baked")
    second = Breaking([random_splits(read(whole).faces, len(whole.vertices), 2, 0.05, seed=9)])
    monkeypatch.setattr(shellcore, "progress", second)
    bake()
    wanted, total = shapes(dome), second.plans[0].total
    bpy.ops.ed.undo_push(message="baked again")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Dome"]
    assert len(obj.data.vertices) == total and kind(obj) == "BAKED" and same(obj, wanted)


def test_the_trash_is_emptied_by_the_next_finished_bake_or_on_request(sheet):
    bake()
    first = (cache_folder() / "Sheet.pc2").read_bytes()
    bpy.ops.thin_shell.delete_bake()
    trash = cache_folder() / "trash"
    assert [path.read_bytes() for path in trash.rglob("*.pc2")] == [first]
    run(sheet, stop_after=3)
    assert list(trash.rglob("*.pc2"))
    bake()
    assert not trash.exists()
    bpy.ops.thin_shell.delete_bake()
    bpy.ops.wm.save_mainfile()
    obj = reopen()
    assert not obj.thin_shell.baked and kind(obj) == "NONE"  # deleted is deleted
    assert bpy.ops.thin_shell.attach() == {"FINISHED"} and obj.thin_shell.baked  # but not lost
    bpy.ops.thin_shell.delete_bake()
    assert bpy.ops.thin_shell.empty_trash() == {"FINISHED"} and not trash.exists()


def test_a_stopped_bake_keeps_more_frames_of_an_older_one(sheet):
    run(sheet, stop_after=5)
    wanted = shapes(sheet, 5)
    sheet.thin_shell.bend_warp = 1.0
    run(sheet, stop_after=2)
    assert sheet.thin_shell.baked_samples == 2
    (old,) = [each for each in catalogue.of(sheet) if each.trashed]
    assert bpy.ops.thin_shell.attach(name="Sheet", trash=str(old.paths.folder)) == {"FINISHED"}
    assert sheet.thin_shell.baked_samples == 5 and same(sheet, wanted)


def test_cleaning_takes_what_is_nobodys(sheet, blend, tmp_path):
    bake()
    orphan = make_grid("Orphan")
    pin(orphan, [0, 6])
    bake()
    bpy.ops.wm.save_mainfile()
    (tmp_path / "other").mkdir()
    shutil.copy(blend, tmp_path / "other.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "other.blend"))
    obj = bpy.data.objects["Sheet"]
    bpy.context.view_layer.objects.active = obj
    obj.thin_shell.wind_velocity = (0, 1, 0)
    bake()
    assert obj.thin_shell.cache_name == "Sheet-2"
    bpy.data.objects.remove(bpy.data.objects["Orphan"])
    # "Orphan" is still of the first file, which is there.
    assert bpy.ops.thin_shell.clean_caches() == {"FINISHED"}
    assert {"Orphan.pc2", "Sheet.pc2", "Sheet-2.pc2"} <= set(left())
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    bpy.data.objects.remove(bpy.data.objects["Orphan"])
    bpy.context.view_layer.objects.active = bpy.data.objects["Sheet"]
    assert bpy.ops.thin_shell.clean_caches() == {"FINISHED"}
    assert "Orphan.pc2" not in left() and {"Sheet.pc2", "Sheet-2.pc2"} <= set(left())
    assert bpy.ops.thin_shell.empty_trash() == {"FINISHED"}
    assert list((cache_folder() / "trash").rglob("Orphan.pc2"))
    assert bpy.ops.thin_shell.empty_trash(everything=True) == {"FINISHED"}
    assert not (cache_folder() / "trash").exists()


def test_cleaning_leaves_what_plays_whatever_it_is_called(sheet, blend, tmp_path):
    """A copy plays the bake of its original, also when that is gone and a bake of its own was refused."""
    bake()
    wanted = shapes(sheet)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"))
    blend.unlink()
    sheet.thin_shell.pin_group = "nobody"
    assert "no vertex group" in failure(bpy.ops.thin_shell.bake)
    sheet.thin_shell.pin_group = "Pin"
    assert sheet.thin_shell.cache_name == "Sheet" and same(sheet, wanted)
    sheet.thin_shell.cache_name = "Elsewhere"  # as a refused bake of before would have it
    assert bpy.ops.thin_shell.clean_caches() == {"FINISHED"}
    assert {"Sheet.json", "Sheet.pc2"} <= set(left()) and same(sheet, wanted)


def test_two_shells_of_one_safe_name(blend):
    """Both are new, and neither has a name yet when the other gets one."""
    made = [make_grid(name) for name in ("a/b", "a:b")]
    for number, obj in enumerate(made):
        pin(obj, [0, 6])
        obj.thin_shell.wind_velocity, obj.thin_shell.frame_end = (0, 3.0 * number, 0), 6
    bake(everything=True)
    assert sorted(obj.thin_shell.cache_name for obj in made) == ["a_b", "a_b-2"]
    assert np.abs(evaluated(made[0], 6) - evaluated(made[1], 6)).max() > 1e-3


def test_deleting_asks_in_a_window_only(sheet):
    from types import SimpleNamespace

    from thin_shell.addon.operators import cache, setup

    bake()
    asked = []
    manager = SimpleNamespace(invoke_confirm=lambda *a, **k: asked.append(k["message"]) or {"RUNNING_MODAL"})
    context = SimpleNamespace(window=object(), window_manager=manager, object=sheet, scene=bpy.context.scene)
    background, cache.in_background = cache.in_background, lambda: False
    try:
        for operator, options in (
            (cache.THIN_SHELL_OT_delete_bake, {"everything": False}),
            (cache.THIN_SHELL_OT_delete_bake, {"everything": True}),
            (setup.THIN_SHELL_OT_toggle, {}),
            (cache.THIN_SHELL_OT_empty_trash, {"everything": True}),
            (cache.THIN_SHELL_OT_clean_caches, {}),
        ):
            fake = SimpleNamespace(bl_label=operator.bl_label, **options)
            fake.chosen = lambda context, o=operator, f=fake: o.chosen(f, context)
            assert operator.invoke(fake, context, None) == {"RUNNING_MODAL"}
    finally:
        cache.in_background = background
    assert len(asked) == 5 and "the bake of Sheet" in asked[0] and sheet.thin_shell.baked
    assert left() == ["Sheet.json", "Sheet.pc2"]


def test_a_bake_under_way_elsewhere_is_left_alone(sheet, monkeypatch):
    import socket
    import subprocess
    import sys

    from thin_shell.addon.cache import sidecar

    bake()
    sheet.thin_shell.bend_warp = 1.0
    run(sheet, stop_after=4)
    part = cache_folder() / "Sheet.part.json"
    info = sidecar.read(part)
    assert info.baker == ""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        info.baker = f"{socket.gethostname()}:{other.pid}"
        sidecar.write(part, info)
        assert "another Blender" in failure(bpy.ops.thin_shell.attach, name="Sheet", unfinished=True)
        assert "another Blender" in failure(bpy.ops.thin_shell.bake)
        assert "another Blender" in failure(bpy.ops.thin_shell.bake, mode="RESUME")
        other.stdin.close()
    assert bpy.ops.thin_shell.attach(name="Sheet", unfinished=True) == {"FINISHED"}
