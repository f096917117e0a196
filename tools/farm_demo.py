"""`make farm-demo`: a wedge of six flags, exported as an Open Job Description bundle and run by two `openjd run`.

Inside Blender as a module. Nothing is asked of the network. Ends with the wall time of two side by side and of one.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests")]

from farm_files import stand_in  # noqa: E402

WINDS = [[2, 1, 0], [4, 2, 0], [8, 2, 0]]
DRAGS = [0.6, 1.4]


def main(arguments: list[str]) -> int:
    options = argparse.ArgumentParser(prog="make farm-demo")
    options.add_argument("--to", type=Path, default=ROOT / "out" / "farm", help="folder of the demo, made anew")
    options.add_argument("--frames", type=int, default=48)
    options.add_argument("--cells", type=int, default=30, help="squares along the flag")
    options.add_argument("--pair-only", action="store_true", help="do not run it by one process for comparison")
    chosen = options.parse_args(arguments)
    folder = chosen.to.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program = stand_in(folder)
    bundle = export(folder, program, chosen.cells, chosen.frames)
    print(f"bundle: {bundle}", flush=True)
    check(bundle)
    names = [f"flags_{number:02d}" for number in range(1, len(WINDS) * len(DRAGS) + 1)]

    began = time.monotonic()
    pair = [openjd_run(bundle, program, folder / "two", names[start::2]) for start in (0, 1)]
    codes = [process.wait() for process in pair]
    two = time.monotonic() - began
    if any(codes):
        print(f"openjd run ended with {codes}: see {folder}/two/*.log", file=sys.stderr)
        return 1
    collect = openjd_run(bundle, program, folder / "two", None).wait()
    rows = table(folder / "two" / "flags.csv")
    if collect or [row["variant"] for row in rows if row["frames"] == str(chosen.frames)] != names:
        print("not every variant was baked and collected", file=sys.stderr)
        return 1
    for row in rows:
        print(f"{row['variant']}: wind {row['Flag:wind_velocity']}, drag {row['air_drag']}, seconds {row['seconds']}")
    print(f"table and contact sheet: {folder / 'two'}/flags.csv, flags.png")
    print(f"two side by side: {two:.1f} s", flush=True)
    if not chosen.pair_only:
        began = time.monotonic()
        if openjd_run(bundle, program, folder / "one", names).wait():
            return 1
        one = time.monotonic() - began
        same = all(
            (folder / "one" / name / "Flag.pc2").read_bytes() == (folder / "two" / name / "Flag.pc2").read_bytes()
            for name in names
        )
        print(f"one process: {one:.1f} s, {one / two:.2f} times as long; the same bytes: {'yes' if same else 'NO'}")
        return 0 if same else 1
    return 0


def export(folder: Path, program: Path, cells: int, frames: int) -> Path:
    """The bundle of a flag on a pole and its wedge."""
    scene = folder / "scene" / "flag.blend"
    scene.parent.mkdir()
    build = f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); import farm_demo; "
    run(program, "-b", "--python-expr", f"{build}farm_demo.build({str(scene)!r}, {cells}, {frames})")
    spec = {
        "name": "flags",
        "settings": [{"set": "Flag:wind_velocity", "values": WINDS}, {"set": "air_drag", "values": DRAGS}],
    }
    (scene.parent / "wedge.json").write_text(json.dumps(spec, indent=1))
    words = ("bundle", "--spec", str(scene.parent / "wedge.json"), "--to", str(folder / "bundle"))
    run(program, "-b", str(scene), "--command", "thin_shell", *words)
    return folder / "bundle"


def build(path: str, cells: int, frames: int) -> None:
    """A flag of one metre and a half, held at the pole."""
    import bpy
    from blender_scenes import make_grid, pin

    bpy.ops.wm.read_factory_settings(use_empty=True)
    obj = make_grid("Flag", cells=cells, size=1.5)
    obj.rotation_euler.x = 1.5707963
    pin(obj, range(0, (cells + 1) ** 2, cells + 1))
    obj.thin_shell.frame_end = frames
    bpy.context.scene.frame_end = frames
    bpy.ops.wm.save_as_mainfile(filepath=path)


def check(bundle: Path) -> None:
    run(sys.executable, "-m", "openjd", "check", str(bundle / "template.yaml"))


def openjd_run(bundle: Path, program: Path, caches: Path, names: list[str] | None) -> subprocess.Popen[bytes]:
    """`openjd run` of these bake tasks, or of what collects; what it says goes to a file beside the caches."""
    caches.mkdir(parents=True, exist_ok=True)
    tasks = ["--tasks", json.dumps([{"Variant": name} for name in names])] if names is not None else []
    step = ["--step", "Bake" if names is not None else "Collect", "--no-run-dependencies", *tasks]
    given = ["-p", f"BlenderExecutable={program}", "-p", f"CacheFolder={caches}"]
    words = [sys.executable, "-m", "openjd", "run", str(bundle / "template.yaml"), *step, *given]
    with open(caches / f"{names[0] if names else 'collect'}.log", "wb") as log:
        return subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, env=quiet())


def quiet() -> dict[str, str]:
    """One thread a process: two of them share the machine."""
    return {**os.environ, **{f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}}


def run(*words: str | Path) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def table(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
