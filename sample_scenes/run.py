"""Build, bake, check, save and render scenes.

    python sample_scenes/run.py NAME …          one or more scenes
    python sample_scenes/run.py all             every scene, each in a process of its own
    python sample_scenes/run.py hero            the picture of the README, from frames of full scenes
    … --full                                    full size; its pictures are the ones kept in docs/gallery/
    … --still                                   no rendering
    … --pictures                                measure and render again what is baked already

Needs Blender as a module; `make scene NAME=…` and `make gallery` set that up. What a scene leaves behind is in
out/scenes/NAME (NAME-full): the .blend file, its caches, frames and `fact.json`. A full scene whose sources have not
changed since is not made again; one that was interrupted while its pictures were taken goes on with them, and one of
which only the photography changed is photographed again (`kit/marks.py`).
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from sample_scenes import SCENES  # noqa: E402
from sample_scenes.kit import marks  # noqa: E402
from sample_scenes.kit.card import Fact, Size  # noqa: E402

# Scene, frame, and the part of its height to show.
HERO = (
    ("poster", 13, 0.0, 1.0),
    ("flag", 36, 0.0, 0.54),
    ("crisps", 40, 0.0, 1.0),
    ("hats", 11, 0.0, 1.0),
)
"""Scenes and frames of the README's picture."""


def module(name: str) -> ModuleType:
    if name not in SCENES:
        raise SystemExit(f"there is no scene '{name}'; there are: {', '.join(SCENES)}")
    return importlib.import_module(f"sample_scenes.{name}")


def folder_of(name: str, size: Size) -> Path:
    return ROOT / "out" / "scenes" / (f"{name}-full" if size.full else name)


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

    folder, began = folder_of(name, size), time.monotonic()
    if not still and size.full and baked(name, size):
        print(f"{name}: is baked, pictures follow", flush=True)
        reopen(name, size)
        photograph(name, size)
        return bool(kept(name, size)["holds"])
    shutil.rmtree(folder, ignore_errors=True)
    mark = marks.bake(name)
    fact = bake(name, size, folder)
    bpy.ops.wm.save_mainfile(compress=True)
    seconds = {"bake": time.monotonic() - began}
    note(name, size, fact, {"mark": mark, "pictures": "", "seconds": seconds, "rendered": False})
    if not still:
        photograph(name, size)
    return fact.holds


def note(name: str, size: Size, fact: Fact, more: dict[str, Any]) -> None:
    """Say what was measured, and keep it beside the scene."""
    print(f"{name}: {'holds' if fact.holds else 'DOES NOT HOLD'}: {fact}", flush=True)
    keep(name, size, {**more, "statement": fact.statement, "holds": bool(fact.holds), "numbers": fact.numbers})


def keep(name: str, size: Size, record: dict[str, Any]) -> None:
    """Write it in one go: a run that is killed leaves the old record or the new one, never half of one."""
    path = folder_of(name, size) / "fact.json"
    path.with_suffix(".new").write_text(json.dumps(record, indent=1))
    path.with_suffix(".new").replace(path)


def photograph(name: str, size: Size) -> None:
    """Light, frame and render the scene that is open, and keep its contact sheet.

    Frames that are there stay if they were taken as they would be now.
    """
    import bpy

    from sample_scenes.kit import photography, pictures, table

    folder, began, picture = folder_of(name, size), time.monotonic(), module(name).picture(size)
    photography.set_up(picture)
    bpy.ops.wm.save_mainfile(compress=True)
    record, mark = kept(name, size), marks.pictures(name)
    if record["pictures"] != mark:
        for old in folder.glob("frame_*.png"):
            old.unlink()
    record["pictures"], record["rendered"] = mark, False
    keep(name, size, record)
    panels = pictures.render(picture, folder, *((1.0, 12) if size.full else (0.5, 6)))
    pictures.sheet(panels, sheet_path(name, size), picture.columns)
    record["seconds"]["pictures"], record["rendered"] = time.monotonic() - began, True
    keep(name, size, record)
    table.keep(name, record | {"scene": marks.scene(name)}, sheet_path(name, size).parent)
    table.write(SCENES, sheet_path(name, size).parent)


def photograph_again(name: str, size: Size) -> bool:
    """Measure and photograph once more a scene that was baked before."""
    reopen(name, size)
    fact = module(name).check(size)
    note(name, size, fact, {"mark": kept(name, size)["mark"], "pictures": "", "seconds": {}, "rendered": False})
    photograph(name, size)
    return bool(fact.holds)


def reopen(name: str, size: Size) -> None:
    """Open the file of a scene that was baked."""
    import bpy

    from sample_scenes.kit import addon

    addon.load()
    bpy.ops.wm.open_mainfile(filepath=str(folder_of(name, size) / f"{name}.blend"))


def sheet_path(name: str, size: Size) -> Path:
    return (ROOT / "docs" / "gallery" if size.full else ROOT / "out" / "gallery") / f"{name}.jpg"


def hero() -> int:
    """One picture of several scenes, from frames that are rendered already."""
    from sample_scenes.kit import pictures

    panels = [
        (folder_of(name, Size(full=True)) / f"frame_{frame:04d}.png", low, high) for name, frame, low, high in HERO
    ]
    pictures.mosaic(panels, ROOT / "docs" / "gallery" / "hero.jpg", 340)
    return 0


def kept(name: str, size: Size) -> dict[str, Any]:
    """What is known of a scene that was baked; empty where it was not, or by a version that kept less."""
    path = folder_of(name, size) / "fact.json"
    record = json.loads(path.read_text()) if path.is_file() else {}
    return record if "pictures" in record else {}


def baked(name: str, size: Size) -> bool:
    """Whether the scene was baked from the sources as they are, and its fact held."""
    record = kept(name, size)
    return bool(record and record["mark"] == marks.bake(name) and record["holds"])


def finished(name: str, size: Size) -> bool:
    """Whether there is nothing left to do for a full scene."""
    record = kept(name, size)
    taken = bool(record) and record["rendered"] and record["pictures"] == marks.pictures(name)
    return size.full and taken and baked(name, size) and sheet_path(name, size).is_file()


def gallery(size: Size, still: bool) -> int:
    """Every scene in a process of its own, so that one that fails leaves the others alone."""
    failed = []
    for name in SCENES:
        if finished(name, size):
            print(f"-- {name}: is there", flush=True)
            continue
        print(f"-- {name}", flush=True)
        words = [sys.executable, __file__, name, *(["--full"] if size.full else []), *(["--still"] if still else [])]
        if subprocess.run(words).returncode != 0:
            failed.append(name)
    for name in failed:
        print(f"-- failed: {name}", flush=True)
    return 1 if failed else 0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--still", action="store_true")
    parser.add_argument("--pictures", action="store_true")
    given = parser.parse_args(arguments)
    size = Size(given.full)
    if given.names == ["hero"]:
        return hero()
    if given.names == ["all"]:
        return gallery(size, given.still)
    if given.pictures:
        return 0 if all([photograph_again(name, size) for name in given.names]) else 1
    return 0 if all([make(name, size, given.still) for name in given.names]) else 1


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # Some versions of Blender crash while Python shuts down.
    os._exit(code)
