"""What benchmarks share: timing in one run, meshes, results as JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
for folder in (ROOT, ROOT / "tests"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

OUT = ROOT / "out"
PICTURES = ROOT / "docs" / "pictures"


def milliseconds(call: Any, repeats: int = 7, seconds: float = 0.05) -> float:
    """Best time of a call [ms]: the least of several batches, each at least `seconds` long in all."""
    call()
    began = time.perf_counter()
    call()
    once = max(time.perf_counter() - began, 1e-7)
    batch = max(1, round(seconds / once / repeats))
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        for _ in range(batch):
            call()
        best = min(best, (time.perf_counter() - began) / batch)
    return 1e3 * best


def write(name: str, result: Any) -> Path:
    """Keep a result as out/<name>.json."""
    OUT.mkdir(exist_ok=True)
    path = OUT / f"{name}.json"
    path.write_text(json.dumps(result, indent=1))
    print(f"wrote {path.relative_to(ROOT)}")
    return path
