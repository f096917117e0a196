"""Every way that scipy has to multiply the quadratic model's matrix: can a gradient be as cheap as Table 1 asks?

A hinge gradient of at most two membrane gradients, 2f, and a quadratic one of at most a seventh of it need a product q
with q ≤ 2f/7. All formats of scipy.sparse, its kernel as `vectors.Product` calls it, and two threads with half of the
rows each; products with three columns of positions, which is what a gradient is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.sparse import bsr_matrix, coo_matrix, csc_matrix, csr_matrix, dia_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee
from table1 import SIZES, scene

import common
from shellcore.linalg.vectors import Product
from shellcore.system import System

# Diagonals from which a matrix is no longer worth storing by them.
MANY = 200
ROUNDS = 5


def ways(matrix: csr_matrix, x: np.ndarray, helper: ThreadPoolExecutor) -> dict[str, Callable[[], Any]]:
    """Products of `matrix` (n, n) with positions x (n, 3), by name; `helper`: one more thread."""
    rows = np.ascontiguousarray(x.T)
    product, out = Product(matrix), np.empty_like(rows)
    half = matrix.shape[0] // 2
    parts = [Product(part) for part in (matrix[:half], matrix[half:])]
    halves = [np.empty((3, half)), np.empty((3, matrix.shape[0] - half))]

    def two_threads() -> None:
        other = helper.submit(parts[1], rows, halves[1])
        parts[0](rows, halves[0])
        other.result()

    found: dict[str, Callable[[], Any]] = {
        "ours": lambda: product(rows, out),
        "csr": lambda: matrix @ x,
        "two threads": two_threads,
    }
    for name, other in (("csc", csc_matrix(matrix)), ("coo", coo_matrix(matrix))):
        found[name] = lambda other=other: other @ x
    order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    near, sorted_x = matrix[order][:, order].tocsr(), np.ascontiguousarray(x[order])
    for size in (2, 4):
        if matrix.shape[0] % size == 0:
            blocks = bsr_matrix(near, blocksize=(size, size))
            found[f"bsr {size} × {size}"] = lambda blocks=blocks: blocks @ sorted_x
    entries = matrix.tocoo()
    if len(np.unique(entries.col - entries.row)) <= MANY:
        diagonals = dia_matrix(matrix)
        found["dia"] = lambda: [diagonals @ row for row in rows]
    return found


def measured(mesh: str, size: int) -> dict[str, Any]:
    """Costs [ms] of a membrane gradient f and of every product on one mesh, and 2f over each."""
    setting = scene("flag", mesh, size, "quadratic")
    system = System(setting)
    energy, membrane = system.bendings[0].energy, system.membranes[0][0]
    x = np.asfortranarray(setting.shells[0].rest_positions)
    with ThreadPoolExecutor(1) as helper:
        clocks = ways(energy.quadratic(), np.ascontiguousarray(x), helper) | {"f": lambda: membrane.gradient(x)}
        best = dict.fromkeys(clocks, np.inf)
        # In turns, the best of each: the machine's clock wanders.
        for _ in range(ROUNDS):
            for name, clock in clocks.items():
                best[name] = min(best[name], common.milliseconds(clock))
    f = best.pop("f")
    ratios = {name: 2.0 * f / cost for name, cost in best.items()}
    return {"mesh": mesh, "vertices": size, "f [ms]": f, "products [ms]": best, "2f over product": ratios}


def main() -> None:
    table = [measured(mesh, size) for mesh, sizes in SIZES.items() for size in sizes]
    for row in table:
        said = "  ".join(f"{name} {ratio:.1f}" for name, ratio in row["2f over product"].items())
        print(f"{row['mesh']:9} {row['vertices']:6}  2f / q, 7 asked:  {said}")
    common.write("sparse_products", {"rows": table})


if __name__ == "__main__":
    main()
