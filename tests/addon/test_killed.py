"""Blender killed while it bakes a shell that breaks: what is on the disk is sound, and Resume goes on the same."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import bpy
import pytest
from blender_scenes import bake, cache_folder
from bowl_scene import drop, make_bowl
from thin_shell.addon.bake.status import status
from thin_shell.addon.cache import pc2

ROOT = Path(__file__).resolve().parents[2]
LAST = 13

# Bakes until it is killed, in the chosen moment of the chosen frame; every frame is a checkpoint.
VICTIM = """
import importlib.util, os, signal, sys
root, blend, moment, frame = sys.argv[1:4] + [int(sys.argv[4])]
spec = importlib.util.spec_from_file_location("thin_shell", root + "/__init__.py", submodule_search_locations=[root])
package = importlib.util.module_from_spec(spec)
sys.modules["thin_shell"] = package
spec.loader.exec_module(package)
import bpy
package.register()
bpy.ops.wm.open_mainfile(filepath=blend)
from thin_shell.addon.bake import store
from thin_shell.addon.cache import files, sidecar, stream

store.CHECKPOINT_SECONDS = -1.0

def die():
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

def nth(function, number, instead):
    # `function`, but `instead` of it the call of that number.
    count = 0
    def counted(*arguments):
        nonlocal count
        count += 1
        return instead(*arguments) if count == number else function(*arguments)
    return counted

put, replace = stream.Stream._put, files.replace

def half(self, data):
    put(self, data[: len(data) // 2])
    os.fsync(self._file.fileno())
    die()

def without_state(number):
    # Dies before the state of that number is in place.
    counted = nth(replace, number, lambda *_: die())
    return lambda one, other: (counted if other.name.endswith("state.npz") else replace)(one, other)

if moment == "within a frame's record":
    # The header and the first sample are written before the first frame.
    stream.Stream._put = nth(put, frame + 1, half)
elif moment == "before the state is in place":
    files.replace = without_state(frame - 1)
elif moment == "between state and sidecar":
    # The first is written before the first frame.
    store.sidecar.write = nth(sidecar.write, frame, lambda *_: die())
elif moment == "while the result is made":
    store.Target._write = nth(store.Target._write, frame, lambda *_: die())
bpy.context.view_layer.objects.active = bpy.data.objects["Bowl"]
bpy.ops.thin_shell.bake()
os._exit(3)
"""


@pytest.mark.parametrize(
    ("moment", "frame", "left"),
    [
        ("within a frame's record", 10, 9),
        ("before the state is in place", 11, 10),
        ("between state and sidecar", 2, None),
        ("between state and sidecar", 11, 10),
        ("while the result is made", 7, LAST),
    ],
)
def test_a_killed_bake_goes_on_the_same(blend, moment, frame, left):
    obj = make_bowl(3)
    drop(obj, LAST, 0.5)
    bpy.ops.wm.save_mainfile()
    bake()
    expected = (cache_folder() / "Bowl.pc2").read_bytes()
    broken = len(obj.data.vertices)
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    script = blend.parent / "victim.py"
    script.write_text(VICTIM)
    arguments = (str(script), str(ROOT), str(blend), moment, str(frame))
    done = subprocess.run((sys.executable, *arguments), capture_output=True, text=True)
    killed = -signal.SIGKILL if os.name == "posix" else signal.SIGTERM
    assert done.returncode == killed, done.stdout + done.stderr
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    obj = bpy.data.objects["Bowl"]
    bpy.context.view_layer.objects.active = obj
    # The file is as it was saved, and no half-made result is in place.
    assert len(obj.data.vertices) == 91 and not (cache_folder() / "Bowl.pc2").exists()
    found = status(obj, bpy.context.scene, fresh=True)
    assert found.kind == "NONE" and found.resumable == left
    bake(mode="NEW" if left is None else "RESUME")
    assert (cache_folder() / "Bowl.pc2").read_bytes() == expected
    with pc2.Reader(cache_folder() / "Bowl.pc2") as reader:
        assert (reader.header.points, reader.header.samples) == (broken, LAST)
    assert len(obj.data.vertices) == broken and status(obj, bpy.context.scene, fresh=True).kind == "BAKED"
    left_over = {path.name for path in cache_folder().iterdir()}
    assert not any(name.endswith((".part", ".spool", ".new")) for name in left_over)
