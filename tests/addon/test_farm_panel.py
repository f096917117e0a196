"""The wedge in the panel: what it asks for, exporting, the table, attaching and comparing what came out."""

import json
from pathlib import Path

import bpy
import numpy as np
import pytest
from blender_scenes import cache_folder, evaluated, failure
from thin_shell.addon import cli
from thin_shell.addon.bake.status import status
from thin_shell.addon.cache import pc2
from thin_shell.addon.farm import operators
from thin_shell.addon.farm.properties import spec_of


@pytest.fixture
def wedge(sheet):
    """Two winds and two drags on a saved sheet."""
    bpy.ops.wm.save_mainfile()
    made = bpy.context.scene.thin_shell_wedge
    made.wedge_name = "gusts"
    assert bpy.ops.thin_shell.wedge_add() == bpy.ops.thin_shell.wedge_add() == {"FINISHED"}
    made.entries[0].values = "0,0,0; 9, 0, 0"
    made.entries[1].setting, made.entries[1].kind = "air_drag", "RANGE"
    made.entries[1].first, made.entries[1].last, made.entries[1].count = "0.5", "2", 2
    return made


def baked(*names):
    """Bake these variants as tasks would, of the file as it is saved."""
    bpy.ops.wm.save_mainfile()
    assert bpy.ops.thin_shell.wedge_save() == {"FINISHED"}
    path = Path(bpy.data.filepath).parent / "gusts.json"
    for name in names:
        bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
        assert cli.command(["bake", "--spec", str(path), "--variant", name]) == 0
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    cli.command(["collect", "--spec", str(path)])
    bpy.context.view_layer.objects.active = bpy.data.objects["Sheet"]
    return bpy.data.objects["Sheet"]


def test_the_panel_says_what_a_spec_says(sheet, wedge):
    assert spec_of(bpy.context.scene, sheet) == {
        "name": "gusts", "objects": ["Sheet"], "combine": "product",
        "settings": [
            {"set": "Sheet:wind_velocity", "values": ["0,0,0", "9, 0, 0"]},
            {"set": "Sheet:air_drag", "range": {"from": 0.5, "to": 2, "count": 2}},
        ],
    }  # fmt: skip
    assert bpy.ops.thin_shell.wedge_save() == {"FINISHED"}
    spec = json.loads((Path(bpy.data.filepath).parent / "gusts.json").read_text())
    assert [len(each["values"]) for each in spec["settings"]] == [4, 4]
    wedge.entries[0].setting = "wind_velocty"
    assert "did you mean wind_velocity" in failure(bpy.ops.thin_shell.wedge_save)
    assert bpy.ops.thin_shell.wedge_remove(index=0) == {"FINISHED"} and len(wedge.entries) == 1


def test_the_exported_folder_is_a_job(sheet, wedge, tmp_path):
    before = Path(bpy.data.filepath).read_bytes()
    (tmp_path / "in use").mkdir()
    (tmp_path / "in use" / "file").touch()
    assert bpy.ops.thin_shell.export_farm_job(directory=str(tmp_path / "in use")) == {"FINISHED"}
    there = {path.name for path in (tmp_path / "in use" / "gusts_job").iterdir()}
    assert there == {
        "template.yaml", "asset_references.yaml", "wedge.json", "scene.blend", "thin_shell_task.py",
        "thin_shell_bake.js",
    }  # fmt: skip
    text = (tmp_path / "in use" / "gusts_job" / "template.yaml").read_text()
    assert "gusts_04" in text and "name: Render" in text
    assert Path(bpy.data.filepath).read_bytes() == before


def test_variants_are_seen_attached_and_compared(sheet, wedge):
    obj = baked("gusts_02", "gusts_04")
    wedge = bpy.context.scene.thin_shell_wedge
    assert bpy.ops.thin_shell.wedge_look() == {"FINISHED"}
    assert [(row.number, row.baked) for row in wedge.variants] == [(1, False), (2, True), (3, False), (4, True)]
    assert wedge.variants[3].settings == "wind_velocity 9, 0, 0, air_drag 2.0"
    assert wedge.variants[3].state.startswith("6 frames")
    assert str(cache_folder() / "gusts_04" / "thumbnail.png") in operators.pictures
    assert bpy.ops.thin_shell.attach_variant(name="gusts_04") == {"FINISHED"}
    with pc2.Reader(cache_folder() / "gusts_04" / "Sheet.pc2") as reader:
        wanted = reader.sample(5).astype(float) + np.array(obj.location)
    assert np.abs(evaluated(obj, 6) - wanted).max() < 1e-5
    assert tuple(obj.thin_shell.wind_velocity) == (9, 0, 0) and obj.thin_shell.air_drag == 2
    assert status(obj, bpy.context.scene, fresh=True).kind == "BAKED"
    # It is the shell's own now: the variant stays as it is, whatever becomes of it.
    assert bpy.ops.thin_shell.delete_bake() == {"FINISHED"}
    assert (cache_folder() / "gusts_04" / "Sheet.pc2").is_file()
    assert "is not baked" in failure(bpy.ops.thin_shell.attach_variant, name="gusts_01")

    for row in wedge.variants:
        row.chosen = True
    assert bpy.ops.thin_shell.compare_variants() == {"FINISHED"}
    shown = list(bpy.data.collections[operators.COMPARED].objects)
    assert len(shown) == 2
    for each, name in zip(shown, ("gusts_02", "gusts_04"), strict=True):
        with pc2.Reader(cache_folder() / name / "Sheet.pc2") as reader:
            wanted = reader.sample(5).astype(float) + np.array(each.location)
        assert np.abs(evaluated(each, 6) - wanted).max() < 1e-5
    assert shown[1].location.x - shown[0].location.x > obj.dimensions.x
    for row in wedge.variants:
        row.chosen = False
    assert bpy.ops.thin_shell.compare_variants() == {"FINISHED"}
    assert operators.COMPARED not in bpy.data.collections


def test_a_wedge_of_nothing_says_so(sheet):
    bpy.ops.wm.save_mainfile()
    for operator in (bpy.ops.thin_shell.wedge_save, bpy.ops.thin_shell.wedge_look):
        assert "add a setting" in failure(operator)
