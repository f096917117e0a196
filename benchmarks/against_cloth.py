"""Blender's own Cloth against a bake of ours, in one process: `make bench-cloth`, or inside Blender as a module

    python benchmarks/against_cloth.py --case pinned --kind regular --vertices 6400 --repeats 3 --check

Same mesh, same frames, the two sides in turn, medians. Our side is the whole bake through the add-on: scene read,
matrix factored, frames solved, cache written and attached. Results go into docs/against_cloth.json row by row, so that
the cases can be measured one at a time on a quiet machine; `cloth/picture.py` draws them.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from statistics import median
from typing import Any

import common
from cloth import checks, scenes

RESULTS = common.ROOT / "docs" / "against_cloth.json"
SIZES = (1600, 6400, 25600)


def measured(case: str, kind: str, count: int, repeats: int) -> dict[str, Any]:
    """Both sides in turn; seconds a frame are medians of whole bakes."""
    sides: dict[str, list[float]] = {"cloth": [], "ours": []}
    row: dict[str, Any] = {}
    for _ in range(repeats):
        for side, bake in (("cloth", scenes.bake_cloth), ("ours", scenes.bake_shell)):
            obj = scenes.build(case, kind, count)
            seconds, x = bake(obj, case)
            sides[side].append(seconds / scenes.FRAMES)
            row[side] = scenes.edge_strain(obj, x)
            if case in ("drape", "self-contact"):
                row[side] |= scenes.crossings(obj, case, x)
    for side, seconds in sides.items():
        row[side] |= {"milliseconds a frame": 1e3 * median(seconds), "all": [round(1e3 * s, 2) for s in seconds]}
    # Neighbours in time share what the machine was doing: the ratio is taken pair by pair.
    row["ratio"] = median(cloth / ours for cloth, ours in zip(sides["cloth"], sides["ours"], strict=True))
    row["strain ratio"] = row["ours"]["peak strain"] / row["cloth"]["peak strain"]
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", nargs="*", default=scenes.CASES, choices=scenes.CASES)
    parser.add_argument("--kind", nargs="*", default=scenes.KINDS, choices=scenes.KINDS)
    parser.add_argument("--vertices", nargs="*", type=int, default=SIZES)
    parser.add_argument("--repeats", type=int, default=3, help="0 leaves the timing as it is")
    parser.add_argument("--check", action="store_true", help="also compare with the fully converged run (slow)")
    given = parser.parse_args()
    for case in given.case:
        for kind in given.kind:
            for count in given.vertices:
                found: dict[str, Any] = {}
                if given.repeats:
                    found = measured(case, kind, count, given.repeats)
                if given.check:
                    found["check"] = checks.checked(case, kind, count)
                # Read again for every row: another run may have written one meanwhile.
                results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
                results.setdefault(f"{case} {kind} {count}", {}).update(found)
                RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
                print(case, kind, count, json.dumps(found), flush=True)
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # some versions of Blender as a module crash at exit
