"""A folder that a farm runs: the template, the .blend, what it reads, the wedge, and the script of its tasks.

Everything is named relative to the folder, so it may be moved and belong to anybody.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy

from ..cache.files import CacheError, reason, write_whole
from . import openjd, yaml
from .codes import ArgumentError
from .wedges import Wedge

ENGINES = Path(__file__).parent / "engines"
ASSETS = "assets"
READ = ("images", "sounds", "fonts", "volumes", "movieclips", "cache_files")
"""Data-blocks that read files; each has a `filepath`."""

MANY_FILES = ("SEQUENCE", "TILED")


def export(wedge: Wedge, folder: Path, render: tuple[int, int] | None, chunk: int) -> list[str]:
    """Write the bundle into a new or empty folder; notes for the user. The open file stays as it is."""
    if len(wedge.variants) > openjd.MOST_NAMES:
        raise ArgumentError(f"a job has at most {openjd.MOST_NAMES} variants, and '{wedge.name}' {len(wedge.variants)}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ArgumentError(f"{folder} is not empty: choose a new folder for the bundle")
    except OSError as error:
        raise CacheError(f"the bundle cannot be written to {folder}: {reason(error)}") from None
    blend = Path(bpy.data.filepath).name
    notes: list[str] = []
    with _beside(folder, notes):
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / blend), copy=True, relative_remap=True, check_existing=False)
    write_whole(folder / "wedge.json", (json.dumps(spec_of(wedge), indent=1) + "\n").encode())
    for name in ("thin_shell_task.py", "thin_shell_bake.js"):
        write_whole(folder / name, (ENGINES / name).read_bytes())
    write_whole(folder / "template.yaml", yaml.text(openjd.template(wedge, blend, render, chunk)).encode())
    assets = [ASSETS] if (folder / ASSETS).is_dir() else []
    references = {"assetReferences": {"inputs": {"filenames": [], "directories": assets}}}
    write_whole(folder / "asset_references.yaml", yaml.text(references).encode())
    for library in bpy.data.libraries:
        notes.append(
            f"{Path(bpy.path.abspath(library.filepath)).name} is linked and stays where it is: workers need it there, "
            "or make its objects local"
        )
    return notes


def spec_of(wedge: Wedge) -> dict[str, Any]:
    """The wedge counted out, so that it needs no tables beside it."""
    rows = [each.row() for each in wedge.variants]
    found = {
        "name": wedge.name, "objects": list(wedge.objects), "start": wedge.start, "end": wedge.end,
        "combine": "side by side",
        "settings": [{"set": key, "values": [row[key] for row in rows]} for key in wedge.columns],
    }  # fmt: skip
    return {key: value for key, value in found.items() if value is not None}


@contextmanager
def _beside(folder: Path, notes: list[str]) -> Iterator[None]:
    """Within it data-blocks read copies of their files that lie in the bundle."""
    before: list[tuple[Any, str]] = []
    names: set[str] = set()
    try:
        for kind in READ:
            for block in getattr(bpy.data, kind):
                source = _source(block)
                if source is None:
                    continue
                if getattr(block, "source", "") in MANY_FILES or getattr(block, "is_sequence", False):
                    notes.append(f"{block.name} is many files and stays where it is: workers need it there, or pack it")
                    continue
                if not source.is_file():
                    notes.append(f"{block.name} reads {source.name}, which is not there: it will be missing on workers")
                    continue
                (folder / ASSETS).mkdir(exist_ok=True)
                name = _free(source.name, names)
                shutil.copyfile(source, folder / ASSETS / name)
                before.append((block, block.filepath))
                # Relative to the open file: saving elsewhere makes it relative to the copy.
                block.filepath = bpy.path.relpath(str(folder / ASSETS / name))
        yield
    except OSError as error:
        raise CacheError(f"the bundle cannot be written to {folder}: {reason(error)}") from None
    finally:
        for block, path in before:
            block.filepath = path


def _source(block: Any) -> Path | None:
    """The file that a data-block reads; None where it reads none, or has it inside, or is linked."""
    if block.library is not None or getattr(block, "packed_file", None) is not None:
        return None
    if not block.filepath or block.filepath == "<builtin>":
        return None
    return Path(bpy.path.abspath(block.filepath))


def _free(name: str, taken: set[str]) -> str:
    stem, number = name, 1
    while name.casefold() in taken:
        number += 1
        name = f"{number}_{stem}"
    taken.add(name.casefold())
    return name
