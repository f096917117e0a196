"""A wedge as an Open Job Description template: bake each variant, render in chunks, collect."""

from typing import Any

from . import FORMAT
from .wedges import Wedge

NOTICE = 60
"""How long a task that is cancelled may take to keep its frames [s]."""
MOST_NAMES = 1024
"""Values that the specification allows a task parameter that is listed."""


def template(wedge: Wedge, blend: str, frames: tuple[int, int] | None, chunk: int) -> dict[str, Any]:
    """The template. `frames`: first and last to render, None to render nothing; `chunk` of them a task."""
    steps = [_bake(wedge)]
    if frames is not None:
        steps.append(_render(wedge, frames, chunk))
    steps.append(_collect())
    return {
        "specificationVersion": "jobtemplate-2023-09",
        "name": f"Thin Shell {wedge.name}",
        "description": f"{len(wedge.variants)} variants of {blend}",
        "parameterDefinitions": _parameters(blend, frames is not None),
        "steps": steps,
    }


def _parameters(blend: str, renders: bool) -> list[dict[str, Any]]:
    """What a submitter may change, with hints for its window. Paths are below the bundle, wherever that is."""
    made = [
        _path("BlendFile", blend, "FILE", "IN", "Blender File", "The file; no task writes it"),
        _path("SpecFile", "wedge.json", "FILE", "IN", "Wedge", "Settings of the variants"),
        _path("TaskScript", "thin_shell_task.py", "FILE", "IN", "Task Script", "What runs in Blender"),
        _path("CacheFolder", "caches", "DIRECTORY", "OUT", "Cache Folder", "A folder a variant, the table, the sheet"),
        {
            "name": "BlenderExecutable",
            "type": "STRING",
            "default": "blender",
            "description": "Blender on the workers, with Thin Shell installed and enabled",
            "userInterface": {"control": "LINE_EDIT", "label": "Blender", "groupLabel": "Workers"},
        },
        {
            "name": "Threads",
            "type": "INT",
            "default": 1,
            "minValue": 1,
            "maxValue": 64,
            "description": "Threads of a bake; results are the same with any number",
            "userInterface": {"control": "SPIN_BOX", "label": "Threads", "groupLabel": "Workers"},
        },
    ]
    if renders:
        made.append(_path("RenderFolder", "renders", "DIRECTORY", "OUT", "Render Folder", "A folder a variant"))
    return made


def _path(name: str, default: str, kind: str, flow: str, label: str, about: str) -> dict[str, Any]:
    control = "CHOOSE_INPUT_FILE" if kind == "FILE" else "CHOOSE_DIRECTORY"
    return {
        "name": name,
        "type": "PATH",
        "objectType": kind,
        "dataFlow": flow,
        "default": default,
        "description": about,
        "userInterface": {"control": control, "label": label, "groupLabel": "Files"},
    }


def _script(*words: str) -> dict[str, Any]:
    """What a task runs. A cancelled one is asked first, so that it keeps its frames."""
    arguments = [
        "-b", "{{Param.BlendFile}}", "--python", "{{Param.TaskScript}}", "--", str(FORMAT), *words,
        "--spec", "{{Param.SpecFile}}", "--cache-folder", "{{Param.CacheFolder}}", "--progress", "openjd",
    ]  # fmt: skip
    cancel = {"mode": "NOTIFY_THEN_TERMINATE", "notifyPeriodInSeconds": NOTICE}
    return {"actions": {"onRun": {"command": "{{Param.BlenderExecutable}}", "args": arguments, "cancelation": cancel}}}


def _names(wedge: Wedge) -> dict[str, Any]:
    return {"name": "Variant", "type": "STRING", "range": wedge.names()}


def _bake(wedge: Wedge) -> dict[str, Any]:
    return {
        "name": "Bake",
        "description": "One task a variant; a task that is given again goes on where it was",
        "parameterSpace": {"taskParameterDefinitions": [_names(wedge)]},
        "script": _script("bake", "--variant", "{{Task.Param.Variant}}", "--threads", "{{Param.Threads}}", "--no-save"),
    }


def _render(wedge: Wedge, frames: tuple[int, int], chunk: int) -> dict[str, Any]:
    first, last = frames
    chunks = [f"{start}-{min(start + chunk - 1, last)}" for start in range(first, last + 1, chunk)]
    words = ("--variant", "{{Task.Param.Variant}}", "--frames", "{{Task.Param.Frames}}")
    return {
        "name": "Render",
        "dependencies": [{"dependsOn": "Bake"}],
        "parameterSpace": {
            "taskParameterDefinitions": [_names(wedge), {"name": "Frames", "type": "STRING", "range": chunks}]
        },
        "script": _script("render", *words, "--output", "{{Param.RenderFolder}}"),
    }


def _collect() -> dict[str, Any]:
    return {"name": "Collect", "dependencies": [{"dependsOn": "Bake"}], "script": _script("collect")}
