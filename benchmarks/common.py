"""What benchmarks share: timing in one run, meshes, results as JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import diags_array, eye_array, kron
from scipy.sparse.linalg import splu

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


# What a frame and vertex of the reference sheet took where SuperLU took UNIT_FACTOR for the work of `unit` [s].
UNIT, UNIT_FACTOR = 7.9e-6, 40e-3


def unit() -> float:
    """CPU seconds a frame and vertex that count as one, here and now: scaled by one SuperLU factor and ten solutions of
    three right-hand sides of the five-point matrix of a 120 × 120 grid + 0.1 I, best of seven."""
    line = diags_array([-np.ones(119), 2.0 * np.ones(120), -np.ones(119)], offsets=[-1, 0, 1])
    one = eye_array(120)
    matrix = (kron(line, one) + kron(one, line) + 0.1 * eye_array(14_400)).tocsc()
    right = np.ones((14_400, 3))
    best = np.inf
    for _ in range(7):
        began = time.process_time()
        factor = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        for _ in range(10):
            factor.solve(right)
        best = min(best, time.process_time() - began)
    return UNIT * best / UNIT_FACTOR


def options(text: str, accuracy: str | None = None) -> dict[str, Any]:
    """Options of `simulate` from "substeps=4,integrator=newmark" or JSON, and `accuracy`: a name or a number."""
    found: dict[str, Any] = json.loads(text) if text.startswith("{") else {}
    if accuracy is not None:
        found["accuracy"] = accuracy if accuracy.isalpha() else float(accuracy)
    if text.startswith("{"):
        return found
    for name, _, value in (part.partition("=") for part in text.split(",") if part):
        try:
            found[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            found[name.strip()] = value
    return found


def write(name: str, result: Any) -> Path:
    """Keep a result as out/<name>.json."""
    OUT.mkdir(exist_ok=True)
    path = OUT / f"{name}.json"
    path.write_text(json.dumps(result, indent=1))
    print(f"wrote {path.relative_to(ROOT)}")
    return path
