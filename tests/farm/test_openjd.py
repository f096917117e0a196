"""Bundles for Open Job Description, checked and run by its own command line, Blender as a module standing in."""

import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
import yaml
from blender_scenes import make_grid, pin
from farm_files import contents, stand_in
from hypothesis import given
from hypothesis import strategies as st
from thin_shell.addon import cli
from thin_shell.addon.farm import yaml as ours

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="the stand-in for Blender is a shell script")

WORDS = st.text() | st.sampled_from(
    ["no", "~", "1e3", "0x1", "a: b", "- a", "#", "", "null", "{{Param.A}}", "1-2", "é"]
)


@given(
    st.recursive(
        WORDS | st.integers(-(10**9), 10**9) | st.booleans(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
        max_leaves=12,
    )
)
def test_yaml_is_read_as_it_was_meant(value):
    # What JSON writes as two halves of a pair YAML does not read; Blender's names have none.
    if "\\ud" not in json.dumps(value):
        assert yaml.safe_load(ours.text(value)) == value


@pytest.fixture
def job(tmp_path):
    """A bundle of three variants with a picture that the file reads, its first home gone; and a Blender to run it."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    home = tmp_path / "home"
    (home / "textures").mkdir(parents=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(home / "shot.blend"))
    flag = make_grid("Flag")
    pin(flag, range(0, 49, 7))
    flag.thin_shell.frame_end = 4
    flag.thin_shell.keep_strain = True
    picture = bpy.data.images.new("Weave", 4, 4)
    picture.filepath_raw, picture.file_format = str(home / "textures" / "weave.png"), "PNG"
    picture.save()
    picture.use_fake_user = True
    scene = bpy.context.scene
    scene.render.engine, scene.cycles.samples, scene.cycles.device = "CYCLES", 1, "CPU"
    scene.render.film_transparent = True
    scene.render.resolution_x = scene.render.resolution_y = 24
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location = (0, 0, 8)
    scene.collection.objects.link(camera)
    scene.camera = camera
    bpy.ops.wm.save_mainfile()
    spec = {"name": "gusts", "settings": [{"set": "Flag:wind_velocity", "values": [[0, 0, 1], [3, 0, 1], [6, 0, 1]]}]}
    (home / "gusts.json").write_text(json.dumps(spec))
    words = ["bundle", "--spec", str(home / "gusts.json"), "--to", str(home / "bundle")]
    assert cli.command([*words, "--render", "1-4", "--chunk", "3"]) == 0
    assert bpy.data.images["Weave"].filepath == str(home / "textures" / "weave.png"), "the open file stays as it is"
    assert cli.command(words) == 2, "never into a folder that holds something"
    shutil.move(home / "bundle", tmp_path / "another user's folder")
    shutil.rmtree(home)
    return tmp_path / "another user's folder", stand_in(tmp_path)


def openjd(bundle, program, step, *arguments, **environment):
    """A process of `openjd run` on a step."""
    words = [sys.executable, "-m", "openjd", "run", str(bundle / "template.yaml"), "--step", step]
    words += ["-p", f"BlenderExecutable={program}", "--no-run-dependencies", *arguments]
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **environment}
    )


def ended(process):
    said = process.communicate()[0]
    return process.returncode, said


def test_the_template_is_what_the_specification_asks(job):
    bundle, _ = job
    words = (sys.executable, "-m", "openjd", "check", str(bundle / "template.yaml"))
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    template = yaml.safe_load((bundle / "template.yaml").read_text())
    paths = [each for each in template["parameterDefinitions"] if each["type"] == "PATH"]
    assert len(paths) == 5 and not any(os.path.isabs(each["default"]) for each in paths)
    assert all(each["userInterface"]["label"] for each in template["parameterDefinitions"])
    steps = {each["name"]: each for each in template["steps"]}
    assert steps["Render"]["dependencies"] == steps["Collect"]["dependencies"] == [{"dependsOn": "Bake"}]
    frames = steps["Render"]["parameterSpace"]["taskParameterDefinitions"][1]
    assert frames == {"name": "Frames", "type": "STRING", "range": ["1-3", "4-4"]}


def test_a_moved_bundle_runs_by_two_side_by_side(job, tmp_path):
    bundle, program = job
    assert (bundle / "assets" / "weave.png").is_file()
    bpy.ops.wm.open_mainfile(filepath=str(bundle / "shot.blend"))
    assert bpy.data.images["Weave"].filepath.replace("\\", "/") == "//assets/weave.png"
    before = hashlib.sha256((bundle / "shot.blend").read_bytes()).hexdigest()
    (tmp_path / "user").mkdir()
    user = {"HOME": str(tmp_path / "user"), "USER": "another"}
    tasks = [["gusts_01", "gusts_03"], ["gusts_02"]]
    shared = [json.dumps([{"Variant": name} for name in names]) for names in tasks]
    for code, said in map(ended, [openjd(bundle, program, "Bake", "--tasks", each, **user) for each in shared]):
        assert code == 0, said
        assert "openjd_status" in said
    pair = [{"Variant": "gusts_02", "Frames": "1-3"}, {"Variant": "gusts_03", "Frames": "4-4"}]
    for process in [openjd(bundle, program, "Render", "--tasks", json.dumps([each]), **user) for each in pair]:
        code, said = ended(process)
        assert code == 0, said
    code, said = ended(openjd(bundle, program, "Collect", **user))
    assert code == 0, said
    with open(bundle / "caches" / "gusts.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["variant"] for row in rows] == ["gusts_01", "gusts_02", "gusts_03"]
    assert float(rows[2]["centre_x_m"]) > float(rows[0]["centre_x_m"]) + 1e-4
    there = set(contents(bundle / "caches"))
    assert {"gusts.png", "gusts_01/thumbnail.png", "gusts_01/Flag.pc2", "gusts_03/Flag.json"} <= there
    renders = sorted(str(path.relative_to(bundle / "renders")) for path in (bundle / "renders").rglob("*.png"))
    assert renders == ["gusts_02/0001.png", "gusts_02/0002.png", "gusts_02/0003.png", "gusts_03/0004.png"]
    shown = bpy.data.images.load(str(bundle / "renders" / "gusts_02" / "0003.png"))
    assert np.ptp(np.array(shown.pixels[:]).reshape(-1, 4)[:, 3]) > 0.5, "there is a flag before nothing"
    assert hashlib.sha256((bundle / "shot.blend").read_bytes()).hexdigest() == before


@pytest.mark.parametrize(
    ("given_words", "environment", "code", "says"),
    [
        (["BlendFile=none.blend"], {}, None, "none.blend"),
        (["SpecFile=none.json"], {}, 2, "none.json cannot be read"),
        ([], {"THIN_SHELL_ABSENT": "1"}, 5, "install the extension there"),
        ([], {"THIN_SHELL_OLD": "1"}, 5, "is older than the job: install the version"),
        ([], {"THIN_SHELL_FULL": "1"}, 3, "free some space"),
        (["Threads=0"], {}, None, "Threads"),
    ],
)
def test_what_goes_wrong_has_a_code_and_a_line(job, tmp_path, given_words, environment, code, says):
    bundle, program = job
    # What a worker may lack: the extension, a new one, room on its disk.
    room = '[ -z "$THIN_SHELL_FULL" ] || ulimit -f 4'
    program.write_text(program.read_text().replace("exec ", f"{room}\nexec "))
    if "THIN_SHELL_OLD" in environment:
        script = bundle / "thin_shell_task.py"
        hide = "import sys\nsys.modules['thin_shell.addon.farm'] = None\n"
        body = script.read_text()
        script.write_text(body.replace("import importlib\nimport sys\n", f"import importlib\n{hide}"))
    words = [word for each in given_words for word in ("-p", each)]
    result, said = ended(openjd(bundle, program, "Bake", *words, "--maximum-tasks", "1", **environment))
    assert result != 0 and says in said
    if code is not None:
        assert "Traceback" not in said
        assert f"exited with code: {code}" in said, said
        lines = [line for line in said.splitlines() if "Thin Shell: error:" in line]
        assert len(lines) == 1 and says in lines[0]


def test_the_demo(tmp_path):
    words = ("--to", str(tmp_path / "demo"), "--frames", "6", "--cells", "8", "--pair-only")
    done = subprocess.run(
        (sys.executable, str(ROOT / "tools" / "farm_demo.py"), *words), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "two side by side" in done.stdout
    assert len(list((tmp_path / "demo" / "two").glob("flags_*/Flag.pc2"))) == 6
    assert (tmp_path / "demo" / "two" / "flags.png").is_file()
