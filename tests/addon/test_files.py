"""What users do to files: save and reload, Save As, move, lose a cache, lock a folder, fill a disk."""

import os
import resource
import shutil
import signal

import bpy
import numpy as np
import pytest
from blender_scenes import bake, cache_folder, evaluated, failure, make_grid, pin
from thin_shell.addon.bake.job import Job
from thin_shell.addon.bake.order import Order
from thin_shell.addon.bake.status import status


def test_save_and_reload(sheet, blend):
    bake()
    before = evaluated(sheet, 6)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    obj = bpy.data.objects["Sheet"]
    assert obj.thin_shell.enabled and obj.thin_shell.pin_group == "Pin"
    assert status(obj, bpy.context.scene, fresh=True).kind == "BAKED"
    assert np.abs(evaluated(obj, 6) - before).max() < 1e-7


def test_plays_without_the_extension(sheet, blend, registered):
    bake()
    before = evaluated(sheet, 6)
    bpy.ops.wm.save_mainfile()
    registered.unregister()
    try:
        bpy.ops.wm.open_mainfile(filepath=str(blend))
        assert np.abs(evaluated(bpy.data.objects["Sheet"], 6) - before).max() < 1e-7
        bpy.ops.wm.save_mainfile()
    finally:
        registered.register()
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    assert bpy.data.objects["Sheet"].thin_shell.baked


def test_save_as_elsewhere_still_plays_and_bakes_apart(sheet, tmp_path):
    bake()
    before, original = evaluated(sheet, 6), cache_folder() / "Sheet.pc2"
    data = original.read_bytes()
    (tmp_path / "other").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other" / "copy.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "other" / "copy.blend"))
    obj = bpy.data.objects["Sheet"]
    assert np.abs(evaluated(obj, 6) - before).max() < 1e-7
    obj.thin_shell.wind_velocity = (0, 9, 0)
    bpy.context.view_layer.objects.active = obj
    bake()
    assert original.read_bytes() == data
    assert (tmp_path / "other" / "thin_shell_cache" / "Sheet.pc2").is_file()


def test_save_as_beside_never_overwrites_the_firsts_cache(sheet, tmp_path):
    bake()
    bpy.ops.wm.save_mainfile()
    data = (cache_folder() / "Sheet.pc2").read_bytes()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "version2.blend"))
    sheet = bpy.data.objects["Sheet"]
    sheet.thin_shell.wind_velocity = (0, 9, 0)
    bake()
    assert (cache_folder() / "Sheet.pc2").read_bytes() == data
    assert sheet.thin_shell.cache_name == "Sheet-2"
    bpy.ops.thin_shell.delete_bake()
    assert (cache_folder() / "Sheet.pc2").read_bytes() == data


def test_moved_with_its_folder(sheet, tmp_path):
    bake()
    before = evaluated(sheet, 6)
    bpy.ops.wm.save_mainfile()
    (tmp_path / "moved").mkdir()
    shutil.move(tmp_path / "scene.blend", tmp_path / "moved" / "scene.blend")
    shutil.move(tmp_path / "thin_shell_cache", tmp_path / "moved" / "thin_shell_cache")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "moved" / "scene.blend"))
    obj = bpy.data.objects["Sheet"]
    assert np.abs(evaluated(obj, 6) - before).max() < 1e-7
    assert status(obj, bpy.context.scene, fresh=True).kind == "BAKED"


def test_missing_cache_is_said(sheet):
    bake()
    (cache_folder() / "Sheet.pc2").unlink()
    state = status(sheet, bpy.context.scene, fresh=True)
    assert state.kind == "MISSING" and "bake again" in state.message
    bake()
    assert status(sheet, bpy.context.scene, fresh=True).kind == "BAKED"


def test_missing_keys_and_alembic_are_said(sheet):
    sheet.thin_shell.cache_target = "ALEMBIC"
    bake()
    assert status(sheet, bpy.context.scene, fresh=True).kind == "BAKED"
    (cache_folder() / "Sheet.abc").unlink()
    assert "Sheet.abc is missing" in status(sheet, bpy.context.scene, fresh=True).message
    sheet.thin_shell.cache_target = "SHAPE_KEYS"
    bake()
    assert status(sheet, bpy.context.scene, fresh=True).kind == "BAKED"
    sheet.shape_key_clear()
    assert status(sheet, bpy.context.scene, fresh=True).kind == "MISSING"


def test_unsaved_file_is_said(blend):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    make_grid()
    assert "save it" in failure(bpy.ops.thin_shell.bake)
    assert "save the file first" in failure(bpy.ops.thin_shell.copy_command)


def test_absolute_folder_needs_no_saved_file(blend, tmp_path):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    obj = make_grid()
    obj.thin_shell.frame_end = 3
    obj.thin_shell.cache_folder = str(tmp_path / "caches")
    bake()
    assert (tmp_path / "caches" / "Sheet.pc2").is_file()
    obj.thin_shell.cache_folder = "relative/path"
    assert "neither absolute nor relative" in failure(bpy.ops.thin_shell.bake)


def test_folder_in_the_way(sheet, tmp_path):
    (tmp_path / "thin_shell_cache").write_text("a file")
    assert "a file of that name is in the way" in failure(bpy.ops.thin_shell.bake)
    assert (tmp_path / "thin_shell_cache").read_text() == "a file"


def test_locked_folder(sheet, tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents:
        if parent.owner() == "root" and os.geteuid() == 0 and len(parent.parts) > 2:
            parent.chmod(parent.stat().st_mode | 0o055)
    folder.chmod(0o555)
    sheet.thin_shell.cache_folder = str(folder)
    was_root = os.geteuid() == 0
    if was_root:
        os.seteuid(65534)
    try:
        message = failure(bpy.ops.thin_shell.bake)
    finally:
        if was_root:
            os.seteuid(0)
    assert "cannot be written" in message and "permission" in message
    assert list(folder.iterdir()) == []


@pytest.fixture
def small_disk():
    """Files may not grow past a size, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def limit(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))

    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def test_full_disk_keeps_frames_and_resumes(blend, small_disk):
    sheet = make_grid(cells=20)
    pin(sheet, [0, 20])
    frame_bytes = 12 * 21 * 21
    order = Order(bpy.context.scene.name, (sheet.name,), 6)
    small_disk(32 + int(3.5 * frame_bytes))
    job = Job(order)
    for _ in job.run():
        pass
    small_disk(resource.RLIM_INFINITY)
    assert "free some space" in str(job.error)
    assert job.done == 3
    # The state that resumes was too large for that disk as well: the bake starts again, and the frames so far play.
    assert evaluated(sheet, 3).shape == (441, 3)
    again = Job(order)
    for _ in again.run():
        pass
    assert again.error is None and again.complete


def test_full_disk_keeps_the_older_result(sheet, small_disk):
    bake()
    before = (cache_folder() / "Sheet.pc2").read_bytes()
    small_disk(32 + 12 * 49 * 2)
    sheet.thin_shell.bend_warp = 2.0
    job = Job(Order(bpy.context.scene.name, (sheet.name,), 6))
    for _ in job.run():
        pass
    small_disk(resource.RLIM_INFINITY)
    assert job.error is not None
    assert (cache_folder() / "Sheet.pc2").read_bytes() == before
    assert evaluated(sheet, 6).shape == (49, 3)
