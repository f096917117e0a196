"""Where a farm stops scaling: tasks measured here, farms of 1 to 1000 workers simulated.

    .venv-bpy-4.2/bin/python benchmarks/farm_scaling.py [--simulate: with what was measured before]

Measured: processor seconds of a Blender that starts and opens the file, of the bake of each of twelve flags, and what
one reads and writes. Simulated: a queue that hands tasks to idle workers one after another, machines that bake at the
measured pace, a share that all write to, and what collects at the end on one machine. Writes docs/farm_scaling.json.
"""

from __future__ import annotations

import heapq
import json
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests")]

HAND_OUT = 0.05
"""A queue gives out a task every so many seconds; Flamenco and OpenJD's schedulers answer tens of times a second."""
SHARE = 500e6
"""What the shared storage takes and gives, all workers together [bytes/s]: one good server on 10 Gbit/s, half used."""
LENGTHS = (1, 30)
"""Bakes so many times as long as measured: a preview, and a shot."""
TASKS = (100, 1000, 10000)
WORKERS = (1, 10, 100, 1000)


@dataclass
class Measured:
    start: float
    """Processor seconds until the file is open."""
    bakes: list[float]
    """Processor seconds of each bake, without the start."""
    read: int
    """Bytes of the file and of Blender's module that a start reads, the module from the worker's own disk."""
    written: int
    collect: float
    """Processor seconds that collecting takes, a variant."""


def measure(count: int = 12) -> Measured:
    import farm_demo
    from farm_files import stand_in

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        program = stand_in(folder)
        blend = folder / "flag.blend"
        build = f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); import farm_demo; "
        farm_demo.run(program, "-b", "--python-expr", f"{build}farm_demo.build({str(blend)!r}, 30, 48)")
        wedge = folder / "wedge.json"
        winds = {"set": "Flag:wind_velocity", "range": {"from": [2, 1, 0], "to": [8, 2, 0], "count": count}}
        wedge.write_text(json.dumps({"name": "flags", "settings": [winds]}))
        start = min(seconds(program, "-b", str(blend), "--python-expr", "pass") for _ in range(3))
        task = ("-b", str(blend), "--command", "thin_shell")
        given = ("--spec", str(wedge), "--cache-folder", str(folder / "caches"))
        words = [(*task, "bake", *given, "--variant", str(n), "--threads", "1") for n in range(1, count + 1)]
        bakes = [seconds(program, *each) - start for each in words]
        collect = (seconds(program, *task, "collect", *given) - start) / count
        written = sum(path.stat().st_size for path in (folder / "caches").rglob("*") if path.is_file()) // count
        return Measured(start, bakes, blend.stat().st_size, written, collect)


def seconds(*words: str | Path) -> float:
    """Processor seconds of a process: what its wall time is on a machine with nothing else to do."""
    quiet = {**os.environ, **{f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}}
    process = subprocess.Popen([str(w) for w in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=quiet)
    said = process.stderr.read() if process.stderr else b""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(said.decode())
    return used.ru_utime + used.ru_stime


@dataclass
class Farm:
    wall: float
    """[s] until the table is there."""
    efficiency: float
    """Share of the workers' time that is spent baking."""
    limit: str
    """What takes most of the rest."""


def simulate(found: Measured, tasks: int, workers: int, length: float, seed: int = 1) -> Farm:
    """Tasks in the order of their numbers, to whoever is idle; the queue and the share serve one after another."""
    chance = random.Random(seed)
    work = [chance.choice(found.bakes) * length for _ in range(tasks)]
    waited = {"the queue": 0.0, "starting Blender": found.start * tasks, "the share": 0.0, "the last tasks": 0.0}
    # One disk for all: a bake's bytes come after those of whoever was there before.
    size = (found.read + found.written * length) / SHARE
    queue_free = share_free = 0.0
    idle, ahead = [], list(reversed(work))
    moments = [(0.0, worker, True) for worker in range(workers)]
    while moments:
        now, worker, is_idle = heapq.heappop(moments)
        if not is_idle:
            done = share_free = max(share_free, now) + size
            waited["the share"] += done - now
            heapq.heappush(moments, (done, worker, True))
        elif ahead:
            given = queue_free = max(now, queue_free) + HAND_OUT
            waited["the queue"] += given - now
            heapq.heappush(moments, (given + found.start + ahead.pop(), worker, False))
        else:
            idle.append(now)
    baked = max(idle)
    waited["the last tasks"] = sum(baked - each for each in idle)
    wall = baked + found.start + found.collect * tasks
    waited["collecting"] = (wall - baked) * workers
    efficiency = sum(work) / (workers * wall)
    return Farm(wall, efficiency, max(waited, key=lambda name: waited[name]))


def main() -> int:
    kept = ROOT / "docs" / "farm_scaling.json"
    again = "--simulate" in sys.argv
    found = Measured(**json.loads(kept.read_text())["measured"]) if again else measure()
    rows = [
        {"length": length, "tasks": tasks, "workers": workers, **vars(simulate(found, tasks, workers, length))}
        for length in LENGTHS
        for tasks in TASKS
        for workers in WORKERS
    ]
    kept.write_text(json.dumps({"measured": vars(found), "farms": rows}, indent=1) + "\n")
    print(json.dumps(vars(found)))
    print(
        "| a bake takes | tasks | workers | until the table is there | workers baking | what takes most of the rest |"
    )
    print("|---|---|---|---|---|---|")
    mean = sum(found.bakes) / len(found.bakes)
    for row in rows:
        print(
            f"| {mean * row['length']:.0f} s | {row['tasks']} | {row['workers']} | {row['wall']:.0f} s | "
            f"{100 * row['efficiency']:.0f} % | {row['limit']} |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
