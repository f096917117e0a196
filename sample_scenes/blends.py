"""Keep the most telling scenes as small .blend files: to open, press Bake All Shells, and watch.

python sample_scenes/blends.py [NAME …] (make blends)

Saved by the Blender this runs in, which is 4.2 in `make blends`: later versions open its files, not the other way
round. Each holds the scene at reduced size with lights and camera, nothing baked.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

KEPT = ("beams", "hats", "drape", "flag", "cylinders", "four_flags", "poncho", "crisps")
FOLDER = ROOT / "sample_scenes" / "blends"
LARGEST = 300_000


def keep(name: str, folder: Path = FOLDER) -> Path:
    """Build a scene, light it as its first frame stands, save it compressed."""
    import bpy

    from sample_scenes.kit import objects, photography
    from sample_scenes.kit.card import Size
    from sample_scenes.run import module

    size = Size(full=False)
    with tempfile.TemporaryDirectory() as place:
        objects.empty_scene(str(Path(place) / f"{name}.blend"), 2)
        made = module(name)
        made.build(size)
        photography.set_up(made.picture(size))
        photography.engine(64)
        _note(made.__doc__)
        objects.active(objects.shells()[0])
        bpy.context.scene.frame_set(1)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.blend"
        # Blender would keep the old one beside it.
        path.unlink(missing_ok=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True, copy=True)
    if path.stat().st_size > LARGEST:
        raise SystemExit(f"{path.name} has {path.stat().st_size} bytes, more than {LARGEST}")
    return path


def _note(text: str) -> None:
    """What to see, as a text block of the file."""
    import bpy

    bpy.data.texts.new("Read me").write(f"{text}\nPhysics tab > Thin Shell > Cache > Bake All Shells, then play.\n")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or KEPT:
        print(keep(chosen).relative_to(ROOT), flush=True)
    sys.stdout.flush()
    os._exit(0)
