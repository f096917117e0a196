"""Build, bake, check, save and render scenes.

    python sample_scenes/run.py NAME …          one or more scenes
    python sample_scenes/run.py all             every scene, each in a process of its own, then the table
    … --full                                    full size; its pictures are the ones kept in docs/gallery/
    … --still                                   no rendering

Needs Blender as a module; `make scene NAME=…` and `make gallery` set that up. What a scene leaves behind is in
out/scenes/NAME (NAME-full): the .blend file, its caches, frames and `fact.json`. A full scene whose sources have not
changed since is not made again.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from sample_scenes import SCENES  # noqa: E402
from sample_scenes.kit.card import Fact, Size  # noqa: E402


def module(name: str) -> ModuleType:
    if name not in SCENES:
        raise SystemExit(f"there is no scene '{name}'; there are: {', '.join(SCENES)}")
    return importlib.import_module(f"sample_scenes.{name}")


def folder_of(name: str, size: Size) -> Path:
    return ROOT / "out" / "scenes" / (f"{name}-full" if size.full else name)


def source_mark(name: str) -> str:
    """Changes when the scene or what all scenes share changes."""
    home = ROOT / "sample_scenes"
    texts = [home / f"{name}.py", *sorted((home / "kit").glob("*.py"))]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in texts)).hexdigest()


def bake(name: str, size: Size, folder: Path) -> Fact:
    """Build the scene in an empty file, bake it, measure its fact."""
    from sample_scenes.kit import objects

    made = module(name)
    folder.mkdir(parents=True, exist_ok=True)
    objects.empty_scene(str(folder / f"{name}.blend"), 2)
    made.build(size)
    getattr(made, "bake", lambda _size: objects.bake())(size)
    fact: Fact = made.check(size)
    return fact


def make(name: str, size: Size, still: bool) -> bool:
    """One scene from nothing to its contact sheet; whether its fact holds."""
    import bpy

    from sample_scenes.kit import pictures, studio

    folder, began = folder_of(name, size), time.monotonic()
    mark, record = source_mark(name), folder / "fact.json"
    shutil.rmtree(folder, ignore_errors=True)
    fact = bake(name, size, folder)
    baked = time.monotonic() - began
    print(f"{name}: {'holds' if fact.holds else 'DOES NOT HOLD'}: {fact} ({baked:.0f} s)", flush=True)
    if not still:
        picture = module(name).picture(size)
        studio.set_up(picture)
        bpy.ops.wm.save_mainfile(compress=True)
        panels = pictures.render(picture, folder, *((1.0, 32) if size.full else (0.5, 12)))
        pictures.sheet(panels, sheet_path(name, size))
    record.write_text(
        json.dumps(
            {"mark": mark, "statement": fact.statement, "holds": fact.holds, "numbers": fact.numbers}
            | {"seconds": {"bake": baked, "all": time.monotonic() - began}, "rendered": not still},
            indent=1,
        )
    )
    return fact.holds


def sheet_path(name: str, size: Size) -> Path:
    return (ROOT / "docs" / "gallery" if size.full else ROOT / "out" / "gallery") / f"{name}.jpg"


def finished(name: str, size: Size) -> bool:
    record = folder_of(name, size) / "fact.json"
    if not (size.full and record.is_file() and sheet_path(name, size).is_file()):
        return False
    kept = json.loads(record.read_text())
    return bool(kept["mark"] == source_mark(name) and kept["holds"] and kept["rendered"])


def gallery(size: Size, still: bool) -> int:
    """Every scene in a process of its own, so that one that fails leaves the others alone; then the table."""
    failed = []
    for name in SCENES:
        if finished(name, size):
            print(f"-- {name}: is there", flush=True)
            continue
        print(f"-- {name}", flush=True)
        words = [sys.executable, __file__, name, *(["--full"] if size.full else []), *(["--still"] if still else [])]
        if subprocess.run(words).returncode != 0:
            failed.append(name)
    if not still:
        from sample_scenes.kit import table

        table.write(SCENES, lambda name: folder_of(name, size) / "fact.json", sheet_path(SCENES[0], size).parent)
    for name in failed:
        print(f"-- failed: {name}", flush=True)
    return 1 if failed else 0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--still", action="store_true")
    given = parser.parse_args(arguments)
    size = Size(given.full)
    if given.names == ["all"]:
        return gallery(size, given.still)
    return 0 if all([make(name, size, given.still) for name in given.names]) else 1


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # Some versions of Blender crash while Python shuts down.
    os._exit(code)
