"""Stands in for the Blender program where only the module is installed: the part of its command line that farms use.

    python tools/blender_module.py -b FILE --command thin_shell bake …
    python tools/blender_module.py -b FILE --python SCRIPT -- …
    python tools/blender_module.py -b FILE --python-expr CODE -o OUTPUT -f 1..4

Thin Shell is loaded from this checkout, as Blender loads an extension. THIN_SHELL_ABSENT=1 leaves it out.
"""

from __future__ import annotations

import importlib.util
import os
import runpy
import sys
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parent.parent


def load():
    spec = importlib.util.spec_from_file_location(
        "thin_shell", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["thin_shell"] = module
    spec.loader.exec_module(module)
    module.register()


def render(frames: range) -> None:
    """Render frames to where the output path says; its # stand for the number."""
    settings = bpy.context.scene.render
    base, width = settings.filepath.rstrip("#"), max(settings.filepath.count("#"), 4)
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        settings.filepath = f"{base}{frame:0{width}d}"
        bpy.ops.render.render(write_still=True)


def main(words: list[str]) -> int:
    if os.environ.get("THIN_SHELL_ABSENT") != "1":
        load()
    sys.argv = ["blender", *words]
    ahead = list(words)
    while ahead:
        word = ahead.pop(0)
        if word == "--":
            break
        if word == "--command":
            name = ahead.pop(0)
            if name != "thin_shell" or "thin_shell" not in sys.modules:
                print(f"Unrecognized command: {name}", file=sys.stderr)
                return 1
            from thin_shell.addon import cli

            return cli.command(ahead)
        if word == "--python":
            runpy.run_path(ahead.pop(0), run_name="__main__")
        elif word == "--python-expr":
            exec(compile(ahead.pop(0), "<expression>", "exec"), {"__name__": "__main__"})
        elif word in ("-o", "--render-output"):
            bpy.context.scene.render.filepath = ahead.pop(0)
        elif word in ("-F", "--render-format"):
            bpy.context.scene.render.image_settings.file_format = ahead.pop(0)
        elif word in ("-f", "--render-frame"):
            first, _, last = ahead.pop(0).partition("..")
            render(range(int(first), int(last or first) + 1))
        elif word in ("-b", "--background", "--factory-startup"):
            continue
        elif word == "--python-exit-code":
            ahead.pop(0)
        elif word.startswith("-"):
            print(f"{word} is not known to the stand-in for Blender", file=sys.stderr)
            return 1
        else:
            bpy.ops.wm.open_mainfile(filepath=os.path.abspath(word))
    return 0


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    sys.stdout.flush()
    sys.stderr.flush()
    # Some versions crash while Python shuts down.
    os._exit(code)
