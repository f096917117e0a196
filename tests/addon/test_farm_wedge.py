"""Wedges: what a spec makes, and baking them here by workers of their own."""

import csv
import hashlib
import json
import os
import zlib
from pathlib import Path

import bpy
import numpy as np
import pytest
from blender_scenes import cache_folder
from farm_files import stand_in
from thin_shell.addon import cli
from thin_shell.addon.farm import picture, wedges
from thin_shell.addon.farm.codes import ArgumentError


def made(spec, folder=Path(".")):
    return [each.row() for each in wedges.counted_out(spec, folder).variants]


WIND = {"set": "Flag:wind_velocity", "values": [[1, 0, 0], [2.5, 0, 0]]}
DRAG = {"set": "air_drag", "range": {"from": 0.1, "to": 0.3, "count": 3}}


def test_every_value_with_every_other():
    found = made({"settings": [WIND, DRAG]})
    assert [(row["Flag:wind_velocity"], row["air_drag"]) for row in found] == [
        (wind, drag) for wind in ("1,0,0", "2.5,0,0") for drag in ("0.1", "0.2", "0.3")
    ]


def test_side_by_side_needs_as_many_of_each():
    two = {"set": "air_drag", "values": [0.5, 1]}
    assert made({"combine": "side by side", "settings": [WIND, two]}) == [
        {"Flag:wind_velocity": "1,0,0", "air_drag": "0.5"}, {"Flag:wind_velocity": "2.5,0,0", "air_drag": "1"},
    ]  # fmt: skip
    with pytest.raises(ArgumentError, match="they have 2, 3"):
        made({"combine": "side by side", "settings": [WIND, DRAG]})


def test_a_table_s_columns_stay_together(tmp_path):
    (tmp_path / "materials.csv").write_text('air_drag,"Flag:wind_velocity"\n1,"1,0,0"\n\n2,"0,2,0"\n')
    found = made({"settings": [{"csv": "materials.csv"}, {"set": "substeps", "values": [1, 2]}]}, tmp_path)
    assert len(found) == 4
    assert found[2] == {"air_drag": "2", "Flag:wind_velocity": "0,2,0", "substeps": "1"}


def test_ranges_of_vectors_and_whole_numbers():
    vectors = {"set": "wind_velocity", "range": {"from": [0, 0, 0], "to": [4, 0, 1], "count": 3}}
    assert [row["wind_velocity"] for row in made({"settings": [vectors]})] == [
        "0.0,0.0,0.0",
        "2.0,0.0,0.5",
        "4.0,0.0,1.0",
    ]
    steps = {"set": "substeps", "range": {"from": 1, "to": 5, "count": 3}}
    assert [row["substeps"] for row in made({"settings": [steps]})] == ["1", "3", "5"]


def test_names_sort_as_numbers_do():
    many = {"set": "air_drag", "range": {"from": 0, "to": 1, "count": 120}}
    names = wedges.counted_out({"name": "gusts", "settings": [many]}, Path(".")).names()
    assert names[0] == "gusts_001" and names == sorted(names) and len(set(names)) == 120


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({}, "no settings"),
        ({"settings": [WIND], "combin": "product"}, "did you mean combine"),
        ({"settings": [WIND], "combine": "sum"}, "product"),
        ({"settings": [WIND, WIND]}, "set twice"),
        ({"settings": [{"set": "a", "values": []}]}, "no values"),
        ({"settings": [{"set": "a"}]}, "one of"),
        ({"settings": [{"values": [1]}]}, "says in 'set'"),
        ({"settings": [{"set": "a", "range": {"from": 1, "to": 2}}]}, "'count'"),
        ({"settings": [{"set": "a", "range": {"from": 1, "to": 2, "count": 999}}] * 3}, "at most"),
        ({"settings": [WIND], "start": 1.5}, "whole number"),
        ({"settings": [WIND], "objects": "Flag"}, "list of names"),
        ({"settings": [WIND], "name": "../x"}, "no name"),
    ],
)
def test_a_spec_that_says_nothing_is_refused(spec, says):
    with pytest.raises(ArgumentError, match=says):
        made(spec)


def test_a_picture_shows_what_is_nearest():
    """A sheet above another hides it, and what is nearer to the camera is in front."""
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    up, down = np.array([[0, 1, 2], [0, 2, 3]]), np.array([[0, 2, 1], [0, 3, 2]])
    frame = picture.bounds(square)
    alone = picture.draw([(square, up)], frame, 80, 60)
    hidden = picture.draw([(square - [0, 0, 0.01], down), (square, up)], frame, 80, 60)
    centre = slice(25, 35), slice(35, 45)
    assert (alone[centre] == hidden[centre]).all() and (alone[centre] != picture.GROUND).any()
    under = picture.draw([(square, down)], frame, 80, 60)
    assert (under[centre][..., 0] > under[centre][..., 2]).all(), "the other side has the other colour"


def test_a_png_holds_the_pixels(tmp_path):
    image = np.random.default_rng(1).integers(0, 256, (7, 5, 3), dtype=np.uint8)
    picture.save(tmp_path / "x.png", image)
    shown = bpy.data.images.load(str(tmp_path / "x.png"))
    shown.colorspace_settings.name = "Non-Color"
    pixels = np.round(np.array(shown.pixels[:]).reshape(7, 5, 4)[::-1, :, :3] * 255).astype(np.uint8)
    assert (pixels == image).all() and zlib.crc32((tmp_path / "x.png").read_bytes())


@pytest.fixture
def program(tmp_path):
    """What stands in for Blender, as one word."""
    return stand_in(tmp_path)


@pytest.fixture
def gusts(sheet):
    """A wedge of four beside a saved file; its path."""
    sheet.name = "Flag"
    sheet.thin_shell.keep_strain = True
    bpy.ops.wm.save_mainfile()
    spec = {
        "name": "gusts", "end": 4, "combine": "product",
        "settings": [
            {"set": "Flag:wind_velocity", "values": [[0, 0, 0], [9, 0, 0]]},
            {"set": "air_drag", "range": {"from": 0.5, "to": 2, "count": 2}},
        ],
    }  # fmt: skip
    path = Path(bpy.data.filepath).parent / "gusts.json"
    path.write_text(json.dumps(spec))
    return path


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.skipif(os.name != "posix", reason="the stand-in for Blender is a shell script")
def test_a_wedge_is_baked_by_workers_and_collected(gusts, program, capfd):
    before = hashlib.sha256(Path(bpy.data.filepath).read_bytes()).hexdigest()
    words = ["wedge", "--spec", str(gusts), "--workers", "2", "--blender", str(program)]
    assert cli.command(words) == 0
    assert "4 of 4" in capfd.readouterr().out
    folder = cache_folder()
    rows = rows_of(folder / "gusts.csv")
    assert list(rows[0])[:4] == ["number", "variant", "Flag:wind_velocity", "air_drag"]
    assert [row["number"] for row in rows] == ["1", "2", "3", "4"] and {row["frames"] for row in rows} == {"4"}
    centres = [float(row["centre_x_m"]) for row in rows]
    assert abs(centres[0]) < 1e-6 and centres[3] > centres[2] > 1e-4, "wind moves it, and more with more drag"
    assert all(float(row["strain_max"]) > 0 and float(row["moved_max_m"]) > 0 for row in rows)
    for number in range(1, 5):
        there = sorted(each.name for each in (folder / f"gusts_{number:02d}").iterdir())
        assert there == ["Flag.json", "Flag.pc2", "Flag.results0.pc2", "Flag.strain.field", "thumbnail.png"]
    sheet = bpy.data.images.load(str(folder / "gusts.png"))
    assert tuple(sheet.size) == (2 * 240 + 12, 2 * 180 + 12)
    assert hashlib.sha256(Path(bpy.data.filepath).read_bytes()).hexdigest() == before
    # Given again everything is found done.
    stamp = (folder / "gusts_01" / "Flag.pc2").stat().st_mtime_ns
    assert cli.command(words) == 0
    assert (folder / "gusts_01" / "Flag.pc2").stat().st_mtime_ns == stamp


def test_a_wedge_that_cannot_be_set_is_refused_before_the_first_bake(gusts, program, capfd):
    spec = json.loads(gusts.read_text())
    spec["settings"][1] = {"set": "air_drag", "values": [1, 99]}
    gusts.write_text(json.dumps(spec))
    assert cli.command(["wedge", "--spec", str(gusts), "--blender", str(program)]) == 2
    assert "air_drag must lie between" in capfd.readouterr().err
    assert not cache_folder().exists()


def test_collect_says_which_are_missing_and_shows_the_rest(gusts, capfd):
    assert cli.command(["bake", "--spec", str(gusts), "--variant", "3"]) == 0
    assert cli.command(["collect", "--spec", str(gusts)]) == 1
    assert "gusts_01, gusts_02, gusts_04: not baked to the end" in capfd.readouterr().err
    rows = rows_of(cache_folder() / "gusts.csv")
    assert [bool(row["frames"]) for row in rows] == [False, False, True, False]
    assert cli.command(["bake", "--spec", str(gusts), "--variant", "gusts_3"]) == 2
    assert "did you mean gusts_0" in capfd.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="the stand-in for Blender is a shell script")
def test_a_worker_that_fails_is_told_of(gusts, tmp_path, capfd):
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho 'no such library' >&2\nexit 1\n")
    broken.chmod(0o755)
    assert cli.command(["wedge", "--spec", str(gusts), "--blender", str(broken)]) == 1
    error = capfd.readouterr().err
    assert "gusts_01: no such library" in error and "4 of 4 variants failed" in error
    assert cli.command(["wedge", "--spec", str(gusts), "--blender", str(tmp_path / "none")]) == 5
