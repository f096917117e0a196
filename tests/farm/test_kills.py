"""A farm whose machines go away: what it ends with is what an undisturbed one ends with, to the bit."""

import hashlib
import os
import sys
from pathlib import Path

import bpy
import pytest
from blender_scenes import make_grid, pin
from bowl_scene import drop, make_bowl
from farm_files import contents, stand_in

sys.path[:0] = [str(Path(__file__).parent)]

from killing import Farm, Task  # noqa: E402

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills by signal")
OFTEN = "from thin_shell.addon.bake import store; store.CHECKPOINT_SECONDS = -1.0"


def shot(folder, cells, frames):
    """A flag that keeps its strain, and a bowl that breaks, in one file."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    path = folder / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    drop(make_bowl(3), 13, 0.5)
    flag = make_grid("Flag", cells=cells, size=1.5, location=(5, 0, 3))
    flag.rotation_euler.x = 1.5707963
    pin(flag, range(0, (cells + 1) ** 2, cells + 1))
    flag.thin_shell.keep_strain, flag.thin_shell.frame_end = True, frames
    bpy.ops.wm.save_mainfile()
    return path


def tasks_of(blend, program, base, flags, bowls, often):
    made = []
    checkpoints = ["--python-expr", OFTEN] if often else []
    for kind, count in (("Flag", flags), ("Bowl", bowls)):
        for number in range(count):
            name = f"{kind}_{number:03d}"
            setting = f"Flag:wind_velocity={4 + 0.1 * number},2,0" if kind == "Flag" else f"Bowl:young={7000 + number}"
            words = [str(program), "-b", str(blend), *checkpoints, "--command", "thin_shell", "bake"]
            words += ["--objects", kind, "--set", setting, "--variant", name, "--cache-folder", str(base)]
            made.append(Task(name, [*words, "--threads", "1", "--no-save"], base / name, kind == "Flag"))
    return made


def trial(folder, cells, frames, flags, bowls, workers, every, often, most=10**9):
    """The same tasks on a calm farm and on one where they are killed; both have to leave the same."""
    blend, program = shot(folder, cells, frames), stand_in(folder)
    before = hashlib.sha256(blend.read_bytes()).hexdigest()
    calm = Farm(tasks_of(blend, program, folder / "calm", flags, bowls, often), workers, 0)
    wall = calm.run()
    wild = Farm(tasks_of(blend, program, folder / "wild", flags, bowls, often), workers, every, most)
    disturbed = wild.run()
    for farm in (calm, wild):
        assert not farm.failed, "\n".join(f"{each.name}: {each.said}" for each in farm.failed)
    found, wanted = contents(folder / "wild"), contents(folder / "calm")
    assert set(found) == set(wanted)
    assert [name for name in wanted if found[name] != wanted[name]] == []
    assert not [name for name in found if name.endswith((".part", ".new", ".lock", ".spool", ".npz", ".part.json"))
                and not name.endswith(".splits.npz")]  # fmt: skip
    assert sum(name.endswith(".splits.npz") for name in found) == bowls
    assert sum(name.endswith(".strain.field") for name in found) == flags
    assert hashlib.sha256(blend.read_bytes()).hexdigest() == before
    kills, late = sum(each.kills for each in wild.tasks), sum(each.late_kills for each in wild.tasks)
    longest = sorted(each.seconds for each in calm.tasks)[-flags]
    print(f"{len(wild.tasks)} tasks, {workers} workers: {wall:.0f} s calm, {disturbed:.0f} s with {kills} kills,")
    print(f"{late} of them after a checkpoint; {flags} tasks take {longest:.0f} s or more each", flush=True)
    return calm, wild


def test_killed_tasks_end_with_the_same_bytes(tmp_path):
    _, wild = trial(tmp_path, cells=24, frames=30, flags=3, bowls=3, workers=2, every=1.7, often=True, most=9)
    assert sum(each.kills for each in wild.tasks) >= 3
    assert sum(each.late_kills for each in wild.tasks) >= 1


@pytest.mark.long
def test_a_hundred_tasks_over_four_workers_killed_every_two_seconds(tmp_path):
    calm, wild = trial(tmp_path, cells=50, frames=560, flags=24, bowls=76, workers=4, every=2.0, often=False)
    assert sum(each.seconds > 30 for each in calm.tasks) >= 20
    assert sum(each.late_kills > 0 for each in wild.tasks if each.long) >= 20
