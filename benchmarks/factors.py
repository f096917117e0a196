"""Factors of Hessians of shells: fronts beside SuperLU and, where cvxopt is installed, CHOLMOD.

Matrices have the pattern of membrane and hinges, and random definite blocks of elements. CPU time, the least of
several, one thread; flops count a multiplication with its addition.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.sparse import bsr_matrix, csc_matrix, identity

import common
import meshes
from shellcore.linalg.factor import Lu
from shellcore.linalg.fronts import Elimination
from shellcore.linalg.multifrontal import Cholesky
from shellcore.mesh import edges_of

try:
    from cvxopt import cholmod, spmatrix
    from cvxopt import matrix as column
except ImportError:
    cholmod = None


def couplings(faces: np.ndarray, n: int) -> np.ndarray:
    """Pairs of vertices (k, 2) of an edge, or across one."""
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    opposite = np.concatenate([faces[:, 2], faces[:, 0], faces[:, 1]])
    key = np.sort(sides, axis=1) @ [n, 1]
    order = np.argsort(key, kind="stable")
    twice = np.flatnonzero(key[order][1:] == key[order][:-1])
    across = np.stack([opposite[order[twice]], opposite[order[twice + 1]]], axis=1)
    return np.unique(np.sort(np.concatenate([edges_of(faces, n)[0], across]), axis=1), axis=0)


def hessian(pairs: np.ndarray, n: int) -> csc_matrix:
    """Definite matrix (3n, 3n) of so many vertices."""
    parts = np.random.default_rng(0).standard_normal((len(pairs), 3, 6))
    unknowns = (3 * pairs[:, :, None] + np.arange(3)).reshape(-1, 6)
    rows, columns = np.repeat(unknowns, 6, axis=1), np.tile(unknowns, (1, 6))
    data = np.matmul(parts.transpose(0, 2, 1), parts)
    summed = csc_matrix((data.ravel(), (rows.ravel(), columns.ravel())), shape=(3 * n, 3 * n))
    return csc_matrix(summed + 0.01 * identity(3 * n))


def stacked(touching: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten sheets of 441 above each other, so many points of each pressed on a face of the next."""
    points, faces = meshes.grid(20, 20, 1.0, 1.0)
    n, own = len(points), couplings(faces, len(points))
    rng = np.random.default_rng(0)
    pairs = [own + i * n for i in range(10)]
    for i in range(9 if touching else 0):
        chosen = rng.choice(n, touching, replace=False)
        for corner in _below(points, faces, chosen).T:
            pairs.append(np.stack([chosen + i * n, corner + (i + 1) * n], axis=1))
    lifted = np.concatenate([points + [0.0, 0.0, 0.004 * i] for i in range(10)])
    return lifted, np.unique(np.concatenate(pairs), axis=0)


def _below(points: np.ndarray, faces: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """A face (k, 3) of an equal sheet at each of some points: the first that has it for a corner."""
    first = np.full(len(points), -1)
    first[faces[::-1].ravel()] = np.repeat(np.arange(len(faces))[::-1], 3)
    return faces[first[chosen]]


def cases() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Positions (n, 3) and coupled pairs."""
    found = {}
    for count in (400, 1600, 6400, 25600):
        side = round(count**0.5) - 1
        for kind, (points, faces) in (
            ("regular", meshes.grid(side, side, 1.0, 1.0)),
            ("scattered", meshes.unstructured(count, 1.0, 1.0)),
        ):
            found[f"{kind} sheet of {count}"] = points, couplings(faces, len(points))
    for name, (points, faces) in (
        ("sphere", meshes.icosphere(4)),
        ("tube 90×60", meshes.cylinder(90, 60, 0.033, 0.115)),
    ):
        found[name] = points, couplings(faces, len(points))
    found["ten sheets of 441"] = stacked(0)
    found["the same, 100 contacts each"] = stacked(100)
    return found


def least(call: Callable[[], Any], seconds: float = 1.0) -> float:
    """CPU time of a call [ms]."""
    best, spent, count = np.inf, 0.0, 0
    while count < 3 or (spent < seconds and count < 30):
        began = time.process_time()
        call()
        took = time.process_time() - began
        best, spent, count = min(best, took), spent + took, count + 1
    return 1e3 * best


def measured(points: np.ndarray, pairs: np.ndarray) -> dict[str, float]:
    """One row of the table."""
    n = len(points)
    matrix = hessian(pairs, n)
    blocks = bsr_matrix(matrix.tocsr().tobsr((3, 3)))
    blocks.sort_indices()
    right = np.ones(3 * n)
    plan, quick = Elimination(blocks, points), Elimination(blocks)
    factor, single, lu = Cholesky(plan, blocks.data), Cholesky(plan, blocks.data, single=True), Lu(matrix)
    row = {
        "vertices": n,
        "layout": least(lambda: Elimination(blocks, points)),
        "layout without positions": least(lambda: Elimination(blocks)),
        "factor": least(lambda: Cholesky(plan, blocks.data)),
        "factor without positions": least(lambda: Cholesky(quick, blocks.data)),
        "solution": least(lambda: factor.solve(right)),
        "single factor": least(lambda: Cholesky(plan, blocks.data, single=True)),
        "single solution": least(lambda: single.solve(right)),
        "SuperLU factor": least(lambda: Lu(matrix)),
        "SuperLU solution": least(lambda: lu.solve(right)),
        "Mflop": plan.flops / 1e6,
        "numbers": plan.fill / 1e6,
    }
    if cholmod is not None:
        entries = matrix.tocoo()
        low = entries.row >= entries.col
        ends = [place[low].astype(int).tolist() for place in (entries.row, entries.col)]
        theirs = spmatrix(column(entries.data[low]), *ends, (3 * n, 3 * n))
        symbolic = cholmod.symbolic(theirs)
        row["CHOLMOD layout"] = least(lambda: cholmod.symbolic(theirs))
        row["CHOLMOD factor"] = least(lambda: cholmod.numeric(theirs, symbolic))
        row["CHOLMOD solution"] = least(lambda: cholmod.solve(symbolic, column(right)))
    return row


def main() -> None:
    """Measure, print, and write out/factors.json."""
    table = {}
    for name, case in cases().items():
        table[name] = measured(*case)
        print(name, {key: round(value, 2) for key, value in table[name].items()}, flush=True)
    common.write("factors", table)


if __name__ == "__main__":
    main()
