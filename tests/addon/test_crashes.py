"""Kill -9, a full disk and a folder that goes away at random moments of a bake: what was finished is found again.

A few moments of each kind by default; THIN_SHELL_MOMENTS says how many.
"""

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from blender_scenes import bake, cache_folder, evaluated, make_grid, pin
from crashing import Touches, go_away, hang, hesitate
from thin_shell.addon.bake import catalogue, store
from thin_shell.addon.bake.job import Job
from thin_shell.addon.bake.order import Order

ROOT = Path(__file__).resolve().parents[2]
MOMENTS = int(os.environ.get("THIN_SHELL_MOMENTS", "3"))
LAST = 8
KINDS = ("plain", "kept", "torn")


def shell(kind):
    """A small sheet: as it is, with kept results, or one that tears as it falls onto a ball's pole."""
    obj = make_grid("Sheet", cells=5, size=0.5)
    pin(obj, [0, 5] if kind != "torn" else [0, 5, 30, 35])
    settings = obj.thin_shell
    settings.frame_end = LAST
    settings.keep_strain = settings.keep_velocity = kind == "kept"
    if kind == "torn":
        settings.use_fracture, settings.use_fracture_bend = True, False
        settings.use_fracture_stretch, settings.fracture_stretch = True, 0.02
        settings.strain_limit, settings.wind_velocity = 0.0, (0, 0, 40)
    return obj


def shapes(obj, count):
    return [evaluated(obj, frame) for frame in range(1, count + 1)]


def same(obj, wanted):
    found = shapes(obj, len(wanted))
    return all(a.shape == b.shape and np.abs(a - b).max() < 1e-6 for a, b in zip(found, wanted, strict=True))


class Trial:
    """A saved file with a shell, an older whole result of it or none, and what a bake without faults gives."""

    def __init__(self, kind, random):
        self.older = None
        obj = shell(kind)
        obj.thin_shell.cache_target = random.choice(("PC2", "SHAPE_KEYS"))
        bpy.ops.wm.save_mainfile()
        with Touches() as touches:
            bake()
        self.touches = touches.count
        self.wanted, self.points = shapes(obj, LAST), len(obj.data.vertices)
        self.sizes = sorted(path.stat().st_size for path in cache_folder().iterdir())
        if random.random() < 0.5:
            obj.thin_shell.bend_warp *= 20
            bake()
            self.older = shapes(obj, LAST)
            bpy.ops.wm.save_mainfile()
            obj.thin_shell.bend_warp /= 20
            bpy.ops.wm.save_mainfile()
        else:
            bpy.ops.thin_shell.delete_bake()
            bpy.ops.thin_shell.empty_trash()
            bpy.ops.wm.save_mainfile()

    def reopen(self):
        bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
        obj = bpy.data.objects["Sheet"]
        bpy.context.view_layer.objects.active = obj
        return obj

    def check(self, finished):
        """After the fault: an older whole result plays, and what was finished plays or attaches in one press."""
        obj = self.reopen()
        found = [each for each in catalogue.own(obj, catalogue.of(obj)) if not each.trashed]
        new = [each for each in found if each.unfinished or self.older is None or not self._is_older(obj, each)]
        if self.older is not None and all(each.unfinished for each in new):
            assert obj.thin_shell.baked and same(obj, self.older)
        # Before its second frame a bake shows nothing that an older one, which plays on, does not show too.
        if finished < 2 and (not new or self.older is not None):
            return
        frames = min(finished, LAST)
        # The first frame of both is the sheet at rest.
        plays_older = self.older is not None and same(obj, self.older)
        if plays_older or not (obj.thin_shell.baked and same(obj, self.wanted[: max(frames, 1)])):
            assert new, [path.name for path in cache_folder().iterdir()]
            best = new[0]
            answer = bpy.ops.thin_shell.attach(name=best.paths.name, unfinished=best.unfinished)
            assert answer == {"FINISHED"}
        assert obj.thin_shell.baked_samples >= frames, (obj.thin_shell.baked_samples, frames)
        assert same(obj, self.wanted[: obj.thin_shell.baked_samples])
        # And it goes on to its end, or is there already.
        bake(mode="RESUME" if not obj.thin_shell.baked_complete else "NEW")
        assert same(obj, self.wanted) and len(obj.data.vertices) == self.points
        bpy.ops.thin_shell.delete_bake()

    def _is_older(self, obj, found):
        with_older = found.info.settings.get("bend_warp")
        return with_older is not None and abs(with_older - obj.thin_shell.bend_warp) > 1e-9


def moments(kind):
    """Seeds, spread over the kinds of shell."""
    return [(seed, KINDS[seed % len(KINDS)]) for seed in range(MOMENTS)]


@pytest.mark.parametrize(("seed", "kind"), moments("kill"))
def test_killed(blend, seed, kind):
    chance = random.Random(seed)
    trial = Trial(kind, chance)
    log = blend.parent / "frames.txt"
    at, checkpoint = chance.randint(1, trial.touches), chance.choice((-1.0, 0.02, 10.0))
    script = ROOT / "tests" / "crashing.py"
    arguments = (str(script), str(ROOT), str(blend), "Sheet", str(at), str(checkpoint), str(log))
    done = subprocess.run((sys.executable, *arguments), capture_output=True, text=True)
    finished = len(log.read_text().splitlines()) if log.exists() else 0
    killed = -signal.SIGKILL if os.name == "posix" else signal.SIGTERM
    # With fewer checkpoints there are fewer moments: then it came to its end.
    assert done.returncode in (killed, 3), done.stdout + done.stderr
    trial.check(finished)


def run_with(obj, around):
    """A bake with a fault in it; how many frames were finished, and what was said."""
    finished = 0
    job = Job(Order(bpy.context.scene.name, (obj.name,), LAST, obj.thin_shell.cache_target))
    for report in around(job.run()):
        finished = max(finished, report.frame if report.stage == "Frame" else 0)
    return finished, job.error


@pytest.mark.parametrize(("seed", "kind"), moments("full"))
def test_full_disk(blend, seed, kind, monkeypatch):
    chance = random.Random(100 + seed)
    monkeypatch.setattr(store, "CHECKPOINT_SECONDS", chance.choice((-1.0, 10.0)))
    trial = Trial(kind, chance)
    obj = trial.reopen()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def full(reports):
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (chance.randint(900, trial.sizes[-1] + 200), before[1]))
            yield from reports
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handler)

    finished, error = run_with(obj, full)
    assert error is None or "free some space" in str(error), error
    trial.check(finished)


@pytest.mark.parametrize(("seed", "kind"), moments("away"))
def test_a_folder_that_goes_away(blend, seed, kind, monkeypatch):
    chance = random.Random(200 + seed)
    monkeypatch.setattr(store, "CHECKPOINT_SECONDS", chance.choice((-1.0, 10.0)))
    trial = Trial(kind, chance)
    obj = trial.reopen()
    fault = (None, go_away, hang, hesitate)[(seed + chance.randrange(2)) % 4]
    elsewhere = blend.parent / "elsewhere"

    def move(_touches, _half):
        if cache_folder().is_dir():
            os.rename(cache_folder(), elsewhere)

    at = chance.randint(1, trial.touches)
    with Touches(at, fault or move) as touches:
        finished, error = run_with(obj, lambda reports: reports)
        touches.away = 0
    if fault in (go_away, hang) and touches.count >= at:
        assert "resume" in str(error), error
    if fault is hesitate:
        assert error is None, error
    if elsewhere.is_dir():
        if cache_folder().is_dir():
            for path in elsewhere.iterdir():
                if not (cache_folder() / path.name).exists():
                    shutil.move(path, cache_folder() / path.name)
        else:
            os.rename(elsewhere, cache_folder())
    trial.check(finished)


def test_a_small_disk_that_stays_full(blend, tmp_path):
    """A disk of its own, too small: what is finished attaches though there is no room for a line of text."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)], capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        obj = make_grid("Sheet", cells=20, size=0.5)
        pin(obj, [0, 20])
        obj.thin_shell.cache_folder = str(disk / "cache")
        obj.thin_shell.frame_end = 30
        bpy.ops.wm.save_mainfile()
        job = Job(Order(bpy.context.scene.name, ("Sheet",), 30))
        for _ in job.run():
            pass
        assert "free some space" in str(job.error) and job.done > 5
        wanted = shapes(obj, job.done)
        assert obj.thin_shell.baked_samples == job.done
        with open(disk / "cache" / "filler", "wb", buffering=0) as filler:
            try:
                while filler.write(b"0" * 64):
                    pass
            except OSError:
                pass
        bpy.ops.wm.open_mainfile(filepath=str(blend))
        obj = bpy.data.objects["Sheet"]
        assert obj.thin_shell.baked and same(obj, wanted)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
