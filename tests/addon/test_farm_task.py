"""A bake as a task of a farm: it never writes the .blend, knows its variant, and may be given as often as one likes."""

import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from blender_scenes import bake, cache_folder, make_grid
from crashing import Touches
from farm_files import contents
from thin_shell.addon import cli
from thin_shell.addon.bake import store
from thin_shell.addon.cache import pc2, sidecar

ROOT = Path(__file__).resolve().parents[2]


def saved():
    bpy.ops.wm.save_mainfile()
    path = Path(bpy.data.filepath)
    return path, hashlib.sha256(path.read_bytes()).hexdigest()


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def task(*arguments):
    """A task in a file opened for it; its exit code."""
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    return cli.command(["bake", *arguments])


def last_of(folder, name="Sheet"):
    with pc2.Reader(folder / f"{name}.pc2") as reader:
        return reader.sample(reader.header.samples - 1)


def test_a_variant_is_baked_beside_the_file_s_own_and_the_file_stays(sheet):
    bake()
    path, before = saved()
    own = (cache_folder() / "Sheet.pc2").read_bytes()
    assert task("--set", "Sheet:wind_velocity=8,0,0", "--variant", "windy") == 0
    assert task("--set", "wind_velocity=-8,0,0", "--variant", "other way", "--no-save") == 0
    assert digest(path) == before and (cache_folder() / "Sheet.pc2").read_bytes() == own
    windy, other = cache_folder() / "windy", cache_folder() / "other way"
    assert last_of(windy)[:, 0].mean() > last_of(other)[:, 0].mean() + 1e-3
    info = sidecar.read(windy / "Sheet.json")
    assert (info.variant, info.settings["wind_velocity"], info.complete) == ("windy", [8.0, 0.0, 0.0], True)
    assert info.seconds > 0 and info.baker == ""
    assert sorted(each.name for each in windy.iterdir()) == ["Sheet.json", "Sheet.pc2"]


def test_given_again_it_finds_itself_done_and_changed_it_bakes_anew(sheet, capfd):
    saved()
    assert task("--set", "wind_velocity=3,0,0", "--variant", "a") == 0
    there = contents(cache_folder() / "a")
    when = os.stat(cache_folder() / "a" / "Sheet.pc2").st_mtime_ns
    capfd.readouterr()
    assert task("--set", "wind_velocity=3,0,0", "--variant", "a") == 0
    assert "is baked already" in capfd.readouterr().out
    assert os.stat(cache_folder() / "a" / "Sheet.pc2").st_mtime_ns == when
    assert task("--set", "wind_velocity=9,0,0", "--variant", "a") == 0
    changed = contents(cache_folder() / "a")
    assert changed["Sheet.pc2"] != there["Sheet.pc2"] and set(changed) == set(there)
    assert task("--set", "wind_velocity=3,0,0", "--variant", "a") == 0
    assert contents(cache_folder() / "a") == there


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--set", "Shet:wind_velocity=1,0,0"], "did you mean Sheet"),
        (["--set", "wind_velocty=1,0,0"], "did you mean wind_velocity"),
        (["--set", "wind_velocity=1,0"], "3 numbers"),
        (["--set", "wind_velocity=1,0,nan"], "must lie between"),
        (["--set", "bending=cubics"], "did you mean cubic"),
        (["--set", "air_drag=-1"], "between 0 and 20"),
        (["--set", "use_curl=perhaps"], "true or false"),
        (["--set", "substeps=1.5"], "a whole number"),
        (["--set", "enabled=false"], "no setting 'enabled'"),
        (["--set", "field_collection=Nobody"], "no collection 'Nobody'"),
        (["--set", "wind_velocity"], "sets nothing"),
        (["--objects", "Sheeet"], "did you mean Sheet"),
        (["--cache", "shapekeys"], "shape keys live in the .blend"),
        (["--resume"], "leave --resume out"),
        (["--variant", "../up"], "no name for a variant"),
        (["--variant", "trash"], "no name for a variant"),
        (["--threads", "none"], "--threads"),
        (["--spec", "nowhere.json"], "cannot be read"),
    ],
)
def test_what_is_not_there_is_a_wrong_argument_said_in_a_line(sheet, capfd, arguments, says):
    path, before = saved()
    assert task("--variant", "a", *arguments) == 2
    error = capfd.readouterr().err
    assert says in error and "Traceback" not in error
    assert not list(cache_folder().rglob("*.pc2*")) and digest(path) == before


def test_a_setting_without_a_variant_would_take_the_files_of_the_file_itself(sheet, capfd):
    saved()
    assert task("--set", "wind_velocity=1,0,0") == 2
    assert "give --variant" in capfd.readouterr().err


def test_names_with_dots_and_colons_enums_flags_angles_and_pointers(blend):
    odd = make_grid("Flag.001: a=b", location=(0, 0, 3))
    make_grid("Flag_001_ a_b", location=(9, 0, 3))
    air = bpy.data.collections.new("Air.one")
    bpy.context.scene.collection.children.link(air)
    saved()
    settings = [
        "Flag.001: a=b:wind_velocity=(4, 0, 0)", "Flag.001: a=b:bending=hinge", "membrane=Springs",
        "Flag.001: a=b:use_curl=yes", "crease_angle=45deg", "field_collection=Air.one", "keep_strain=on",
    ]  # fmt: skip
    assert odd.thin_shell.membrane != "springs"
    words = [word for text in settings for word in ("--set", text)]
    assert task(*words, "--variant", "a", "--end", "3") == 0
    sidecars = [sidecar.read(path) for path in (cache_folder() / "a").glob("*.json")]
    infos = {info.object: info for info in sidecars}
    assert set(infos) == {"Flag.001: a=b", "Flag_001_ a_b"}
    used = infos["Flag.001: a=b"].settings
    assert used["wind_velocity"] == [4.0, 0.0, 0.0] and used["bending"] == "hinge" and used["use_curl"] is True
    assert used["crease_angle"] == pytest.approx(np.pi / 4) and used["field_collection"] == "Air.one"
    assert "wind_velocity" not in infos["Flag_001_ a_b"].settings
    assert all(info.settings["membrane"] == "springs" and info.fields == ["strain"] for info in sidecars)


def test_an_animated_setting_is_refused(sheet, capfd):
    sheet.thin_shell.keyframe_insert("wind_velocity", frame=1)
    saved()
    assert task("--set", "wind_velocity=1,0,0", "--variant", "a") == 2
    assert "is animated" in capfd.readouterr().err


def test_progress_as_json_is_a_line_an_event(sheet, capfd):
    saved()
    capfd.readouterr()
    assert task("--variant", "a", "--progress", "json") == 0
    events = [json.loads(line) for line in capfd.readouterr().out.splitlines() if line.startswith("{")]
    assert all(each["variant"] == "a" and each["task"] == "bake" for each in events)
    frames = [each for each in events if each["event"] == "frame"]
    assert frames and all(0 <= each["share"] <= 1 and each["last"] == 6 for each in frames)
    assert events[-1]["event"] == "done" and events[-1]["baked"] is True
    assert task("--variant", "a", "--progress", "openjd", "--set", "wind_velocity=2,0,0") == 0
    assert "openjd_progress: " in capfd.readouterr().out


def killed_at(blend, touch, *arguments, env=()):
    """A task in a process of its own that goes down at a chosen touch of its files."""
    script = blend.parent / "victim.py"
    script.write_text(
        f"""
import sys
sys.path[:0] = [{str(ROOT / "tools")!r}, {str(ROOT / "tests")!r}]
import os, signal, bpy, blender_module
blender_module.load()
from crashing import Touches
from farm_files import contents
from thin_shell.addon import cli
from thin_shell.addon.bake import store
store.CHECKPOINT_SECONDS = -1.0
bpy.ops.wm.open_mainfile(filepath={str(blend)!r})
def die(_touches, half):
    if half is not None:
        half()
    os.kill(os.getpid(), signal.SIGKILL)
with Touches({touch}, die):
    code = cli.command(["bake", *{list(arguments)!r}])
os._exit(code)
"""
    )
    return subprocess.run((sys.executable, str(script)), capture_output=True, text=True)


@pytest.mark.skipif(os.name != "posix", reason="kills by signal")
def test_a_task_killed_at_any_touch_of_its_files_ends_with_the_same_bytes(sheet, monkeypatch):
    monkeypatch.setattr(store, "CHECKPOINT_SECONDS", -1.0)
    sheet.thin_shell.keep_strain = True
    path, before = saved()
    words = ("--set", "wind_velocity=5,0,0", "--variant", "a", "--end", "4")
    with Touches() as counted:
        assert task(*words, "--cache-folder", "//calm") == 0
    wanted = contents(path.parent / "calm" / "a")
    assert counted.count > 20
    moments = np.linspace(2, counted.count, 5).astype(int)
    for number, moment in enumerate(moments):
        where = f"//killed{number}"
        done = killed_at(path, moment, *words, "--cache-folder", where)
        assert done.returncode == -signal.SIGKILL, done.stdout + done.stderr
        assert task(*words, "--cache-folder", where) == 0
        found = contents(path.parent / where[2:] / "a")
        assert set(found) == set(wanted), moment
        assert found == wanted, moment
    assert digest(path) == before


def test_a_stopped_task_goes_on_from_its_checkpoint(sheet, monkeypatch, capfd):
    from thin_shell.addon.farm import task as tasks

    saved()
    words = ("--set", "wind_velocity=5,0,0", "--variant", "a")
    assert task(*words, "--cache-folder", "//calm") == 0
    real, began = tasks.run_to_end, []

    def asked(job, every):
        for report in real(job, every):
            began.append((job.order.mode, report.frame))
            if report.stage == "Frame" and report.frame == 3 and job.order.mode == "new":
                os.kill(os.getpid(), signal.SIGTERM)
            yield report

    monkeypatch.setattr(tasks, "run_to_end", asked)
    assert task(*words) == 6
    assert "stopped at frame 3" in capfd.readouterr().err
    began.clear()
    assert task(*words) == 0
    assert all(mode == "resume" for mode, _ in began) and any(frame == 4 for _, frame in began)
    assert contents(cache_folder() / "a") == contents(Path(bpy.data.filepath).parent / "calm" / "a")


def test_two_tasks_never_write_one_file(sheet, capfd):
    from thin_shell.addon.farm import locks

    saved()
    held = cache_folder() / "a" / "Sheet.lock"
    held.parent.mkdir(parents=True)
    # A process of its own: locks do not keep a process from itself.
    code = (
        "import fcntl, os, sys\n"
        f"f = os.open({str(held)!r}, os.O_RDWR | os.O_CREAT)\n"
        "fcntl.lockf(f, fcntl.LOCK_EX)\nos.write(f, b'host:1')\nprint('held', flush=True)\nsys.stdin.read()\n"
    )
    with subprocess.Popen((sys.executable, "-c", code), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        assert task("--variant", "a") == 4
        assert "is being baked by host:1" in capfd.readouterr().err
        assert task("--variant", "b") == 0
        other.kill()
    assert task("--variant", "a") == 0
    assert not held.exists()
    with locks.one(held):
        assert held.exists()
    assert not held.exists()


def test_a_full_disk_has_a_code_and_says_what_to_do(sheet, capfd):
    saved()

    def full(_touches, _half):
        raise OSError(errno.ENOSPC, "No space left on device")

    with Touches(12, full):
        assert task("--variant", "a") == 3
    error = capfd.readouterr().err
    assert "the disk is full: free some space" in error and error.count("error:") == 1
    assert task("--variant", "a") == 0
    assert task("--variant", "b") == 0
    a, b = contents(cache_folder() / "a"), contents(cache_folder() / "b")
    assert set(a) == set(b) and a["Sheet.pc2"] == b["Sheet.pc2"]


def test_a_file_moved_to_another_machine_knows_its_variants(sheet, tmp_path, capfd):
    """The old place is there or not: a worker may see both."""
    path, _ = saved()
    assert task("--variant", "a") == 0
    wanted = contents(cache_folder() / "a")
    for keep in (True, False):
        place = tmp_path / f"moved {keep}"
        shutil.copytree(path.parent, place, ignore=shutil.ignore_patterns("moved*"))
        if not keep:
            path.unlink()
        bpy.ops.wm.open_mainfile(filepath=str(place / path.name))
        capfd.readouterr()
        assert cli.command(["bake", "--variant", "a"]) == 0
        assert "is baked already" in capfd.readouterr().out
        assert contents(place / "thin_shell_cache" / "a")["Sheet.pc2"] == wanted["Sheet.pc2"]


def test_another_file_s_bake_in_the_same_folder_is_not_touched(sheet, tmp_path, capfd):
    saved()
    shared = tmp_path / "shared"
    assert task("--variant", "a", "--cache-folder", str(shared)) == 0
    there = contents(shared)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "another.blend"))
    make_grid()
    bpy.context.object.thin_shell.frame_end = 3
    bpy.ops.wm.save_mainfile()
    assert task("--variant", "a", "--cache-folder", str(shared)) == 3
    assert "is the bake of another file or shell" in capfd.readouterr().err
    assert contents(shared) == there


def test_shells_of_a_variant_may_be_tasks_of_their_own(sheet):
    """Another shell of the file is in the scene all the same: what touches is not torn apart by --objects."""
    make_grid("Other", location=(5, 0, 1)).thin_shell.substeps = 2
    saved()
    assert task("--variant", "a", "--objects", "Other", "--end", "3") == 0
    assert sorted(each.name for each in (cache_folder() / "a").iterdir()) == ["Other.json", "Other.pc2"]
    assert task("--variant", "a", "--objects", "Sheet", "--end", "3") == 0
    assert {each.stem for each in (cache_folder() / "a").iterdir()} == {"Other", "Sheet"}
