"""Kept results: attributes of every frame that play by Blender's own means, and the overlay."""

import os
import subprocess
import sys

import bpy
import numpy as np
import pytest
from blender_scenes import bake, cache_folder, evaluated, failure, left
from thin_shell.addon.bake import catalogue, store
from thin_shell.addon.bake.job import Job
from thin_shell.addon.bake.order import Order
from thin_shell.addon.cache import fields, sidecar, stream

NAMES = ("strain", "stress", "bending", "contact", "velocity")
MODIFIER = "Thin Shell Results"


@pytest.fixture
def kept(sheet):
    for name in NAMES:
        setattr(sheet.thin_shell, f"keep_{name}", True)
    return sheet


def attribute(obj, frame, name):
    """A result of the evaluated mesh at a frame, per vertex."""
    bpy.context.scene.frame_set(frame)
    found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.attributes[name]
    width = 3 if found.data_type == "FLOAT_VECTOR" else 1
    flat = np.empty(width * len(found.data), dtype=np.float32)
    found.data.foreach_get("vector" if width == 3 else "value", flat)
    return flat.reshape(-1, 3) if width == 3 else flat


def check_every_frame(obj):
    for name in NAMES[:-1]:
        for frame in (1, 4, 6):
            wanted = fields.read_sample(cache_folder() / f"Sheet.{name}.field", frame - 1)
            assert np.array_equal(attribute(obj, frame, f"thin_shell_{name}"), wanted), (name, frame)
    assert np.abs(attribute(obj, 6, "thin_shell_strain")).max() > 0
    matrix = np.array(obj.matrix_world)[:3, :3]
    moved = (evaluated(obj, 6) - evaluated(obj, 4)) * 12
    assert np.abs(attribute(obj, 5, "velocity") @ matrix.T - moved).max() < 1e-4 * np.abs(moved).max()


@pytest.mark.parametrize("target", ["PC2", "SHAPE_KEYS", "ALEMBIC"])
def test_every_frame_has_its_own_attributes(kept, target):
    kept.rotation_euler, kept.scale = (0.3, 0.0, 0.2), (2.0, 1.0, 1.0)
    kept.thin_shell.cache_target = target
    kept.modifiers.new("Fine", "SUBSURF")
    kept.modifiers["Fine"].show_viewport = False
    bake()
    check_every_frame(kept)
    assert [m.name for m in kept.modifiers][-2:] == [MODIFIER, "Fine"]


def test_attributes_play_in_a_blender_without_the_add_on(kept, tmp_path):
    bake()
    wanted = attribute(kept, 5, "thin_shell_stress")
    bpy.ops.wm.save_mainfile()
    np.save(tmp_path / "wanted.npy", wanted)
    script = f"""
import bpy, numpy as np, os
bpy.ops.wm.open_mainfile(filepath={str(bpy.data.filepath)!r})
assert not hasattr(bpy.types.Object, "thin_shell")
bpy.context.scene.frame_set(5)
found = bpy.data.objects["Sheet"].evaluated_get(bpy.context.evaluated_depsgraph_get()).data
flat = np.empty(len(found.vertices), dtype=np.float32)
found.attributes["thin_shell_stress"].data.foreach_get("value", flat)
assert np.array_equal(flat, np.load({str(tmp_path / "wanted.npy")!r}))
print("the same", flush=True)
os._exit(0)
"""
    done = subprocess.run((sys.executable, "-c", script), capture_output=True, text=True)
    assert "the same" in done.stdout, done.stdout + done.stderr


def test_carriers_come_and_go_with_the_bake(kept):
    bake()
    assert len(list(cache_folder().glob("Sheet.results*.pc2"))) == 3
    bake()
    assert [m.name for m in kept.modifiers] == ["Thin Shell", MODIFIER]
    assert len(bpy.data.node_groups) == 1 and len(bpy.data.objects) == 4
    kept.modifiers.remove(kept.modifiers[MODIFIER])
    assert bpy.ops.thin_shell.result_attributes() == {"FINISHED"}
    check_every_frame(kept)
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    assert MODIFIER not in kept.modifiers and left() == []
    kept.thin_shell.keep_strain = True
    bpy.ops.outliner.orphans_purge(do_recursive=True)
    assert [o.name for o in bpy.data.objects] == ["Sheet"] and len(bpy.data.node_groups) == 0


def test_nothing_kept_is_said(sheet):
    bake()
    assert MODIFIER not in sheet.modifiers
    assert "tick some under Results" in failure(bpy.ops.thin_shell.result_attributes)


def test_a_damaged_field_is_said_and_the_bake_stays(kept):
    bake()
    (cache_folder() / "Sheet.strain.field").write_bytes(b"nonsense")
    assert "bake again" in failure(bpy.ops.thin_shell.result_attributes)
    assert kept.thin_shell.baked_complete


def test_results_can_be_shown(kept):
    from thin_shell.addon import overlay

    bake()
    kept.thin_shell.show_result = "strain"
    positions, faces, colours = overlay.coloured(kept, 6)
    assert positions.shape == (49, 3) and colours.shape == (49, 4) and faces.max() == 48


def stopped(obj, after):
    """A bake that was stopped after that frame."""
    job = Job(Order(bpy.context.scene.name, (obj.name,), 6))
    for report in job.run():
        job.stop = report.stage == "Frame" and report.frame >= after


def test_a_short_field_is_said_on_resume_and_never_filled(kept):
    """As a power cut leaves it: fewer frames than the positions have."""
    bake()
    whole = (cache_folder() / "Sheet.strain.field").read_bytes()
    bpy.ops.thin_shell.delete_bake()
    stopped(kept, 4)
    path = cache_folder() / "Sheet.strain.field"
    with open(path, "r+b") as file:
        file.truncate(12 + 12 + 2 * 4 * 49)
    said = failure(bpy.ops.thin_shell.bake, mode="RESUME")
    assert "Sheet.strain.field.part holds 2 frames" in said and "start a new bake" in said, said
    assert all(place.stat().st_size <= 12 + 12 + 2 * 4 * 49 for place in cache_folder().glob("Sheet.strain.field*"))
    bake()
    assert (cache_folder() / "Sheet.strain.field").read_bytes() == whole


def test_a_short_field_shortens_what_is_attached(kept):
    stopped(kept, 4)
    (found,) = catalogue.of(kept)
    found.info.moving = False
    for path in (found.paths.pc2, *(found.paths.field(name) for name in NAMES)):
        path.rename(found.paths.part_of(path))
    sidecar.write(found.paths.part_sidecar, found.info)
    found.paths.sidecar.unlink()
    with open(found.paths.part_of(found.paths.field("strain")), "r+b") as file:
        file.truncate(12 + 12 + 2 * 4 * 49)
    (found,) = catalogue.of(kept)
    assert found.unfinished and found.frames == 2
    assert bpy.ops.thin_shell.attach(name="Sheet", unfinished=True) == {"FINISHED"}
    assert kept.thin_shell.baked_samples == 2
    assert [fields.counted(found.paths.field(name))[2] for name in NAMES] == [2] * len(NAMES)


def test_a_checkpoint_syncs_fields_before_it_says_so(kept, monkeypatch):
    """What the sidecar counts is on the disk, in every file."""
    monkeypatch.setattr(store, "CHECKPOINT_SECONDS", -1.0)
    synced = []
    monkeypatch.setattr(stream, "sync", lambda file: synced.append(os.fstat(file.fileno()).st_ino))
    write = sidecar.write
    rounds = []

    def noted(path, info):
        if path.name.endswith(".part.json") and info.samples > 1 and not info.moving:
            rounds.append({each.name for each in path.parent.iterdir() if each.stat().st_ino in synced})
            synced.clear()
        write(path, info)

    monkeypatch.setattr(sidecar, "write", noted)
    stopped(kept, 4)
    wanted = {"Sheet.pc2.part", *(f"Sheet.{name}.field.part" for name in NAMES)}
    assert len(rounds) >= 3 and all(wanted <= names for names in rounds), rounds
