"""What contact costs, as ratios in one run: `python benchmarks/contact.py [cells ...]` writes out/contact.json.

- drape of a sheet over a sphere, without and with self-contact, over the same sheet pinned at two corners; mean over
  four meshes of nearly the same size, since where folds form is chaotic and changes the cost of one by 15%;
- growth of the broad phase up to 100k vertices.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from contact_scenes import cloth  # noqa: E402

import shellcore as sc  # noqa: E402
from meshes import grid  # noqa: E402
from shellcore.contact.bodies import Bodies  # noqa: E402
from shellcore.contact.shell_pairs import ShellPairs  # noqa: E402
from shellcore.contact.tree import BoxTree  # noqa: E402

FRAMES = 24
REPEATS = 3


def shell(cells: int, height: float, self_contact: bool) -> sc.Shell:
    points, faces = grid(cells, cells, 2.0, 2.0)
    points = points - [1.0, 1.0, -height]
    return sc.Shell(points, faces, cloth(3e-4), bending="quadratic", self_contact=self_contact)


def pinned(cells: int) -> sc.Scene:
    sheet = shell(cells, 0.0, False)
    sheet.pin([cells * (cells + 1), (cells + 1) ** 2 - 1])
    return sc.Scene([sheet], self_contact=False)


def drape(cells: int, self_contact: bool) -> sc.Scene:
    ball = sc.Sphere((0.0, 0.0, 0.0), 0.4)
    return sc.Scene([shell(cells, 0.45, self_contact)], colliders=[ball], self_contact=self_contact)


def seconds(scene: sc.Scene) -> float:
    return sum(frame.stats["seconds"] for frame in sc.simulate(scene, frames=FRAMES))


def growth() -> dict[str, object]:
    sizes, times = [], []
    for cells in (40, 80, 160, 316):
        points, faces = grid(cells, cells, 2.0, 2.0)
        points[:, 2] = 0.1 * np.sin(6 * points[:, 0]) * np.cos(5 * points[:, 1])
        bodies = Bodies(sc.Scene([sc.Shell(points, faces, cloth(3e-4), bending="hinge")]))
        broad = ShellPairs(bodies, BoxTree.over(points[faces].mean(axis=1)))
        move = np.column_stack([np.zeros((len(points), 2)), -0.1 - 0.02 * points[:, 0]])
        best = np.inf
        # Short ones are at the mercy of the clock.
        for _ in range(3 if cells > 100 else 12):
            began = time.perf_counter()
            broad.look(points, move, 0.25 * 2.0 / cells)
            best = min(best, time.perf_counter() - began)
        sizes.append(len(points))
        times.append(best)
    work = np.array(sizes) * np.log(sizes)
    return {
        "vertices": sizes,
        "seconds": times,
        "over_n_log_n": (np.array(times) / work / (times[0] / work[0])).tolist(),
    }


def main() -> int:
    sizes = [int(cells) for cells in sys.argv[1:]] or [77, 78, 79, 80]
    makers = (pinned, lambda cells: drape(cells, False), lambda cells: drape(cells, True))
    # In turns, and the best of each: the same run takes up to half as long again when the machine's clock is low.
    base, draped, folded = np.array(
        [np.min([[seconds(make(cells)) for make in makers] for _ in range(REPEATS)], axis=0) for cells in sizes]
    ).T
    result = {
        "vertices": [(cells + 1) ** 2 for cells in sizes],
        "seconds": {"pinned": base.tolist(), "drape": draped.tolist(), "self_contact": folded.tolist()},
        "drape_over_pinned": float(draped.sum() / base.sum()),
        "self_contact_over_pinned": float(folded.sum() / base.sum()),
        "broad_phase": growth(),
    }
    path = ROOT / "out" / "contact.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1))
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
