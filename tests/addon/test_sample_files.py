"""The .blend files kept for artists, saved by Blender 4.2: every version opens them, small and ready to bake."""

from pathlib import Path

import bpy
import numpy as np
import pytest
from blender_scenes import evaluated

FILES = sorted((Path(__file__).resolve().parents[2] / "sample_scenes" / "blends").glob("*.blend"))


def opened(path, folder):
    copy = folder / path.name
    copy.write_bytes(path.read_bytes())
    bpy.ops.wm.open_mainfile(filepath=str(copy))
    return [obj for obj in bpy.context.scene.objects if obj.type == "MESH" and obj.thin_shell.enabled]


def test_there_are_eight():
    assert len(FILES) == 8


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_opens_with_its_shells_and_is_small(path, tmp_path):
    shells = opened(path, tmp_path)
    assert shells and not any(obj.thin_shell.baked for obj in shells)
    assert bpy.context.scene.camera is not None
    assert path.stat().st_size < 300_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_press_of_bake_moves_it(path, tmp_path):
    shells = opened(path, tmp_path)
    for obj in shells:
        obj.thin_shell.frame_end = 3
    assert bpy.ops.thin_shell.bake(everything=True) == {"FINISHED"}
    for obj in shells:
        before, after = (evaluated(obj, frame) for frame in (1, 3))
        assert np.isfinite(after).all() and abs(after - before).max() > 1e-3
