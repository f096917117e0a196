"""What a farm's tasks leave, to be compared; and a program that stands in for Blender."""

import json
import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OWN = frozenset({"date", "seconds", "baker", "file_id", "shell_id", "path", "blend"})
"""What two sidecars of the same bake may differ in."""


def contents(folder):
    """Every file of a variant, with what may differ between two bakes of it left out."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            raw = path.read_bytes()
            if path.suffix == ".json":
                raw = {key: value for key, value in json.loads(raw).items() if key not in OWN}
            found[str(path.relative_to(folder))] = raw
    return found


def stand_in(folder):
    """The module as a program of one word."""
    path = folder / "blender"
    words = [sys.executable, str(ROOT / "tools" / "blender_module.py")]
    path.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    path.chmod(0o755)
    return path
