"""Whatever is done in whatever order, by random: what an object is said to play it plays, and nothing is left running.

A few orders by default; THIN_SHELL_ORDERS says how many.
"""

import os
import random

import bpy
import numpy as np
import pytest
from blender_scenes import evaluated, make_grid, pin
from thin_shell.addon import live
from thin_shell.addon.bake import catalogue, owners, session
from thin_shell.addon.bake.job import Job
from thin_shell.addon.bake.order import Order
from thin_shell.addon.bake.status import status
from thin_shell.addon.cache import pc2, playback

ORDERS = int(os.environ.get("THIN_SHELL_ORDERS", "8"))
LENGTH = 40
LAST = 6
NAMES = ("Sheet", "sheet", "Cloth", "Cloth.001", "Cloth.part")


def shells():
    return [obj for obj in bpy.context.scene.objects if obj.type == "MESH" and obj.thin_shell.enabled]


def choose(chance):
    """A shell that is selected and active; a new one where there is none."""
    found = shells()
    if not found:
        made = make_grid("Sheet", cells=3)
        bpy.ops.ed.undo_push(message="made")
        return made
    obj = chance.choice(found)
    for other in bpy.context.view_layer.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj
    return obj


def pressed(operator, **options):
    """Refusals are answers; faults are not."""
    try:
        return operator(**options)
    except RuntimeError as error:
        assert "Traceback" not in str(error) and "unforeseen" not in str(error), error
        return None


def stop(obj, frame):
    job = Job(Order(bpy.context.scene.name, (obj.name,), LAST, obj.thin_shell.cache_target))
    for report in job.run():
        job.stop = report.stage == "Frame" and report.frame >= frame
    assert "unforeseen" not in str(job.error), job.error


def attach(obj, chance):
    found = catalogue.of(obj)
    if found:
        each = chance.choice(found)
        place = str(each.paths.folder) if each.trashed else ""
        target = chance.choice(("AUTO", "PC2", "SHAPE_KEYS"))
        options = {"name": each.paths.name, "unfinished": each.unfinished, "trash": place, "target": target}
        pressed(bpy.ops.thin_shell.attach, **options)


def play_live():
    if pressed(bpy.ops.thin_shell.live):
        for frame in (1, 2, 3):
            bpy.context.scene.frame_set(frame)
        pressed(bpy.ops.thin_shell.live)
        if live.current is not None:
            pressed(bpy.ops.thin_shell.live)


def remove(obj):
    if len(shells()) > 2:
        bpy.data.objects.remove(obj)


def duplicate():
    if len(shells()) < 5:
        pressed(bpy.ops.object.duplicate)


def act(chance, folder):
    """One thing that an artist does, by random; its name."""
    obj, press = choose(chance), bpy.ops.thin_shell
    deeds = {
        "bake": lambda: pressed(press.bake),
        "bake all": lambda: pressed(press.bake, everything=True),
        "stop": lambda: stop(obj, chance.randint(2, 4)),
        "resume": lambda: pressed(press.bake, mode="RESUME"),
        "delete": lambda: pressed(press.delete_bake),
        "undo": lambda: pressed(bpy.ops.ed.undo),
        "undo again": lambda: pressed(bpy.ops.ed.undo),
        "redo": lambda: pressed(bpy.ops.ed.redo),
        "save": lambda: bpy.ops.wm.save_mainfile(),
        "save as": lambda: bpy.ops.wm.save_as_mainfile(filepath=str(folder / chance.choice(("a.blend", "b.blend")))),
        "reopen": lambda: bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath),
        "duplicate": duplicate,
        "rename": lambda: setattr(obj, "name", chance.choice(NAMES)),
        "remove": lambda: remove(obj),
        "attach": lambda: attach(obj, chance),
        "another kind": lambda: setattr(obj.thin_shell, "cache_target", chance.choice(("PC2", "SHAPE_KEYS"))),
        "wind": lambda: setattr(obj.thin_shell, "wind_velocity", (0, chance.choice((0, 3, 9)), 0)),
        "unlock": lambda: setattr(obj.thin_shell, "unlocked", True),
        "live": play_live,
        "clean up": lambda: pressed(press.clean_caches),
        "no shell": lambda: pressed(press.toggle),
    }
    name = chance.choice(sorted(deeds))
    told = f"{name} ({obj.name})"
    deeds[name]()
    if name not in ("undo", "undo again", "redo"):
        bpy.ops.ed.undo_push(message=name)
    return told


def check():
    assert session.current is None and live.current is None
    for obj in shells():
        modifier = obj.modifiers.get("Thin Shell")
        assert owners.who(obj) is None and "Thin Shell Preview" not in obj.modifiers
        assert modifier is None or not modifier.filepath.endswith(".part")
        settings = obj.thin_shell
        if not settings.baked:
            continue
        state = status(obj, bpy.context.scene, fresh=True)
        assert state.kind not in ("MISSING", "BROKEN"), (obj.name, state)
        if settings.baked_target == "PC2":
            with pc2.Reader(playback.playing_points(obj)) as reader:
                samples = reader.header.samples
                local = reader.sample(samples - 1).astype(float)
            shown = evaluated(obj, settings.baked_start + samples - 1)
            place = np.array(obj.matrix_world)
            assert np.abs(shown - (local @ place[:3, :3].T + place[:3, 3])).max() < 1e-5, obj.name
    bpy.context.scene.frame_set(1)


@pytest.mark.parametrize("seed", range(ORDERS))
def test_any_order(blend, tmp_path, seed):
    chance = random.Random(seed)
    for name in ("Sheet", "Cloth"):
        obj = make_grid(name, cells=3)
        pin(obj, [0, 3])
        obj.thin_shell.frame_end = LAST
    bpy.ops.wm.save_mainfile()
    bpy.ops.ed.undo_push(message="begun")
    done = []
    for _ in range(LENGTH):
        done.append(act(chance, tmp_path))
        try:
            check()
        except AssertionError as error:
            raise AssertionError(f"after {', '.join(done[-10:])}: {error}") from None
