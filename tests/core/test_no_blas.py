"""Nothing that frames are made of hangs on numpy's own BLAS, which Blender's builds do not have."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import meshes
from watched import Watch, told, watched

# Multiplications for a number read or written, from which BLAS would be missed.
MOST = 12.0


@pytest.fixture(scope="module")
def copy() -> Iterator[tuple[ModuleType, Watch]]:
    with watched() as found:
        yield found


def shell(sc: Any, kind: str) -> Any:
    mesh = {"sheet": meshes.grid(20, 20, 0.4, 0.4), "tube": meshes.cylinder(24, 16, 0.05, 0.2)}[kind]
    made = sc.Shell(*mesh, sc.Material.preset("cotton"))
    made.pin([0, 20])
    return made


def flag(sc: Any) -> None:
    for solver in ("auto", "newton", "newton_cg"):
        list(sc.simulate(sc.Scene([shell(sc, "sheet")], wind=sc.Wind((3.0, 0.0, 0.0))), 1, solver=solver))


def curved(sc: Any) -> None:
    list(sc.simulate(sc.Scene([shell(sc, "tube")]), 1))


def drape(sc: Any) -> None:
    points, faces = meshes.grid(20, 20, 0.4, 0.4)
    cloth = sc.Shell(np.add(points, (0.0, 0.0, 0.004)), faces, sc.Material.preset("cotton"))
    scene = sc.Scene([cloth], colliders=[sc.Sphere((0.2, 0.2, -0.1), 0.1)], self_contact=True)
    list(sc.simulate(scene, 2))


def rest(sc: Any) -> None:
    sc.equilibrium(sc.Scene([shell(sc, "sheet")]))


@pytest.mark.parametrize("case", [flag, curved, drape, rest])
def test_no_product_is_large(copy: tuple[ModuleType, Watch], case: Any) -> None:
    sc, watch = copy
    watch.found.clear()
    case(sc)
    assert watch.found, "no product at all was told"
    assert not {place: round(cost, 1) for place, cost in watch.found.items() if cost > MOST}


@pytest.mark.parametrize(
    ("source", "large"),
    [
        ("a @ a", True),
        ("np.matmul(a, a)", True),
        ("np.linalg.cholesky(a)", True),
        ("np.dot(a, b)", False),
        ("s @ s", False),
        ("np.linalg.inv(s)", False),
    ],
)
def test_large_products_are_told_and_small_ones_are_not(source: str, large: bool) -> None:
    watch = Watch(least=1000)
    told(source, "file", watch, {"np": np, "a": np.eye(100), "b": np.ones(100), "s": np.tile(np.eye(3), (1000, 1, 1))})
    assert list(watch.found) == ["file:1"]
    assert (watch.found["file:1"] > MOST) == large
