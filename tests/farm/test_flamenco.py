"""The job type for Flamenco: its settings, and the tasks that `compileJob` makes, under stubs of the Manager's side."""

import json
import os
import re
import subprocess
from pathlib import Path

import bpy
import pytest
import quickjs
from blender_scenes import make_grid
from farm_files import contents, stand_in

SCRIPT = Path(__file__).resolve().parents[2] / "addon" / "farm" / "engines" / "thin_shell_bake.js"

# What Flamenco's Manager gives a job type; see its manual, Job Types.
STUBS = r"""
const tasks = [];
function print() {}
const author = {
    Task: function (name, type) {
        return {
            name: name, type: type, commands: [], dependencies: [],
            addCommand: function (each) { this.commands.push(each); },
            addDependency: function (each) { this.dependencies.push(each.name); }
        };
    },
    Command: function (name, parameters) { return { name: name, parameters: parameters }; }
};
function frameChunker(text, size) {
    const frames = [];
    text.split(",").forEach((part) => {
        const ends = part.trim().split("-").map(Number);
        for (var frame = ends[0]; frame <= ends[ends.length - 1]; frame++) { frames.push(frame); }
    });
    const chunks = [];
    for (var i = 0; i < frames.length; i += size) {
        const last = frames[Math.min(i + size, frames.length) - 1];
        chunks.push(frames[i] === last ? "" + last : frames[i] + "-" + last);
    }
    return chunks;
}
"""
GIVEN = {
    "spec": "/share/job/wedge.json", "variants": "1-2, 5", "cache_folder": "/share/caches", "threads": 2,
    "render": True, "frames": "1-24", "chunk_size": 10, "render_folder": "/share/renders",
    "blendfile": "/share/job/shot.blend", "format": "PNG",
}  # fmt: skip


def compiled(**given):
    context = quickjs.Context()
    context.eval(STUBS + SCRIPT.read_text())
    job = json.dumps({"settings": {**GIVEN, **given}})
    context.eval(f"const job = {job}; job.addTask = (each) => tasks.push(each); compileJob(job);")
    return json.loads(context.eval("JSON.stringify(tasks)"))


def test_settings_are_what_flamenco_takes():
    context = quickjs.Context()
    context.eval(STUBS + SCRIPT.read_text())
    job_type = json.loads(context.eval("JSON.stringify(JOB_TYPE)"))
    settings = {each["key"]: each for each in job_type["settings"]}
    assert set(settings) == set(GIVEN) and job_type["label"] == "Thin Shell Bake"
    assert {each["type"] for each in settings.values()} == {"string", "int32", "bool"}
    assert {each["visible"] for each in settings.values()} == {"submission", "web"}
    assert all(each["description"] for each in settings.values())
    assert settings["spec"]["subtype"] == "file_path" and settings["cache_folder"]["subtype"] == "dir_path"


def test_bakes_come_before_their_own_renders_and_all_before_what_collects():
    tasks = {each["name"]: each for each in compiled()}
    chunks = ["1-10", "11-20", "21-24"]
    assert list(tasks) == [
        *(name for n in "125" for name in (f"bake-{n}", *(f"render-{n}-{chunk}" for chunk in chunks))), "collect",
    ]  # fmt: skip
    assert all(tasks[f"bake-{n}"]["dependencies"] == [] for n in "125")
    assert all(tasks[f"render-{n}-{chunk}"]["dependencies"] == [f"bake-{n}"] for n in "125" for chunk in chunks)
    assert tasks["collect"]["dependencies"] == ["bake-1", "bake-2", "bake-5"]
    assert all(each["type"] == "blender" for each in tasks.values())


def test_commands_are_the_built_in_one_with_our_script():
    tasks = {each["name"]: each for each in compiled()}
    (bake,), (render,) = tasks["bake-5"]["commands"], tasks["render-5-11-20"]["commands"]
    assert bake["name"] == render["name"] == "blender-render"
    assert bake["parameters"]["exe"] == "{blender}" and bake["parameters"]["blendfile"] == "/share/job/shot.blend"
    last = ["--spec", "/share/job/wedge.json", "--cache-folder", "/share/caches"]
    assert bake["parameters"]["args"] == [
        "--python", "/share/job/thin_shell_task.py", "--", "1", "bake", "--variant", "5", "--threads", "2", "--no-save",
        *last,
    ]  # fmt: skip
    assert render["parameters"]["args"] == [
        "--python", "/share/job/thin_shell_task.py", "--render-output", "/share/renders/5/######", "--render-format",
        "PNG", "--render-frame", "11..20", "--", "1", "show", "--variant", "5", *last,
    ]  # fmt: skip


def test_rendering_may_be_left_out():
    assert [each["name"] for each in compiled(render=False)] == ["bake-1", "bake-2", "bake-5", "collect"]


def test_nothing_newer_than_its_engine_is_used():
    """ES5.1 with `const` and arrows."""
    code = re.sub(r"//[^\n]*", "", SCRIPT.read_text())
    code = re.sub(r'"[^"\n]*"', '""', code)
    for newer in (r"`", r"\blet\b", r"\bclass\b", r"\.\.\.", r"\bof\b", r"\basync\b", r"\bimport\b", r"\?\?", r"\?\."):
        assert not re.search(newer, code), newer
    assert code.isascii()


@pytest.mark.skipif(os.name != "posix", reason="the stand-in for Blender is a shell script")
def test_the_commands_run_in_blender(tmp_path):
    """As a worker runs them: exe, exeArgs, argsBefore, blendfile, args."""
    from thin_shell.addon import cli

    bpy.ops.wm.read_factory_settings(use_empty=True)
    blend = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    make_grid("Flag").thin_shell.frame_end = 3
    scene = bpy.context.scene
    scene.render.engine, scene.cycles.samples, scene.cycles.device = "CYCLES", 1, "CPU"
    scene.render.resolution_x = scene.render.resolution_y = 16
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location.z = 8
    scene.collection.objects.link(camera)
    scene.camera = camera
    bpy.ops.wm.save_mainfile()
    (tmp_path / "w.json").write_text('{"settings": [{"set": "air_drag", "values": [1, 2]}]}')
    assert cli.command(["bundle", "--spec", str(tmp_path / "w.json"), "--to", str(tmp_path / "job")]) == 0
    given = {
        "spec": str(tmp_path / "job" / "wedge.json"), "variants": "1-2", "frames": "1-3", "chunk_size": 2,
        "cache_folder": str(tmp_path / "caches"), "render_folder": str(tmp_path / "renders"),
        "blendfile": str(tmp_path / "job" / "shot.blend"),
    }  # fmt: skip
    program = stand_in(tmp_path)
    for each in compiled(**given):
        (command,) = each["commands"]
        words = [str(program), "-b", command["parameters"]["blendfile"], *command["parameters"]["args"]]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, f"{each['name']}: {done.stdout}{done.stderr}"
    there = contents(tmp_path / "caches")
    assert {"w_01/Flag.pc2", "w_02/Flag.pc2", "w.csv", "w.png"} <= set(there)
    assert len(list((tmp_path / "renders").rglob("*.png"))) == 6
