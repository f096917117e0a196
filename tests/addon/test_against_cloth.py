"""A guard: bakes must not become slower against Blender's own Cloth. Ratios of one run only, never seconds."""

import json
import sys
from pathlib import Path

import bpy
import pytest

ROOT = Path(__file__).resolve().parents[2]
RECORDED = json.loads((ROOT / "docs" / "against_cloth.json").read_text())
# Cloth has two speeds on one machine, for minutes at a time, and machines differ (docs/against_cloth.md): guarded are
# the ratios on the slower of two machines, not those of the last run. Older versions of Cloth were not measured.
pytestmark = pytest.mark.skipif(bpy.app.version < (5, 2), reason="ratios are recorded with Blender 5.2")


def ratio(case, vertices):
    sys.path[:0] = [str(ROOT / "benchmarks")]
    try:
        from against_cloth import measured
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    return measured(case, "regular", vertices, repeats=3)["ratio"]


@pytest.mark.parametrize("case", ["pinned", "flag"])
def test_no_slower_than_recorded(case):
    recorded = RECORDED[f"{case} regular 1600"]["guarded ratio"]
    found = ratio(case, 1600)
    # Another process on the machine disturbs our one thread and Cloth's several unlike: a low figure is taken twice.
    if found < 0.8 * recorded:
        found = max(found, ratio(case, 1600))
    print(f"{case}: {found:.2f} times Cloth's speed, recorded {recorded:.2f}")
    assert found >= 0.8 * recorded
