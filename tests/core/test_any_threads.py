"""`threads=` changes no digit, and what a caller does between frames has the threads that it had."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import meshes
import shellcore as sc
from shellcore import kawabata, willmore
from shellcore.linalg import multifrontal
from shellcore.linalg.threads import workers
from shellcore.modal import modes


def numbers() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def three_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a caller may have set; and sheets so small that two threads would not be worth it take them."""
    monkeypatch.setattr(multifrontal, "SHARED", 0)
    monkeypatch.setattr(multifrontal, "LARGE", 1000)
    with threadpool_limits(limits=3, user_api="blas"):
        yield


def sheet() -> sc.Shell:
    points, faces = meshes.grid(8, 8, 0.5, 0.5)
    shell = sc.Shell(points, faces, sc.Material.preset("cotton"))
    shell.pin([0, 8])
    return shell


def test_frames_are_the_same_to_the_last_bit() -> None:
    runs, asked = [], set()

    def wind(_: float, x: np.ndarray) -> np.ndarray:
        asked.add(workers())
        return np.full_like(x, 1.0)

    for threads in (1, 2):
        asked.clear()
        frames = sc.simulate(sc.Scene([sheet()], wind=sc.Wind(wind)), 3, threads=threads)
        runs.append([frame.positions.tobytes() for frame in frames])
        assert asked == {threads}
    assert runs[0] == runs[1]


def test_between_frames_and_iterations_blas_is_as_it_was() -> None:
    inside: list[set[int]] = []

    def wind(_: float, x: np.ndarray) -> np.ndarray:
        inside.append(numbers())
        return np.full_like(x, 1.0)

    scene = sc.Scene([sheet()], wind=sc.Wind(wind))
    for _ in sc.progress(scene, 1):
        assert numbers() == {3}
    assert inside and all(found == {1} for found in inside)


def test_equilibrium() -> None:
    found = [sc.equilibrium(sc.Scene([sheet()]), threads=threads) for threads in (1, 2)]
    assert found[0].tobytes() == found[1].tobytes()
    assert numbers() == {3}


def test_modes() -> None:
    found = []
    for threads in (1, 2):
        modal = sc.ModalShell(sheet(), 6)
        found.append(np.array(modal.step(0.02, threads=threads)))
    assert found[0].tobytes() == found[1].tobytes()
    assert numbers() == {3}


@pytest.mark.parametrize("wrong", [0, 1.5, "two"])
def test_a_wrong_number_is_refused_at_once(wrong: Any) -> None:
    scene = sc.Scene([sheet()])
    for call in (
        lambda: sc.progress(scene, 1, threads=wrong),
        lambda: next(sc.simulate(scene, 1, threads=wrong)),
        lambda: sc.equilibrium(scene, threads=wrong),
        lambda: sc.ModalShell(sheet(), 6).step(0.02, threads=wrong),
    ):
        with pytest.raises(sc.ShellError, match="threads must be a whole number"):
            call()


def test_what_takes_no_number_leaves_blas_alone_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    inside: list[set[int]] = []
    for module, name in ((modes, "lowest_eigenpairs"), (kawabata, "equilibrium"), (willmore, "inner")):
        original = getattr(module, name)

        def told(*arguments: Any, original: Any = original, **options: Any) -> Any:
            inside.append(numbers())
            return original(*arguments, **options)

        monkeypatch.setattr(module, name, told)
    points, faces = meshes.icosphere(2)
    calls = (
        lambda: sc.ModalShell(sheet(), 6),
        lambda: sc.kawabata_test(sc.Material.preset("cotton")),
        lambda: sc.willmore_flow(points * (1.0, 1.0, 1.2), faces, steps=2),
    )
    for call in calls:
        inside.clear()
        call()
        assert inside and all(found == {1} for found in inside)
        assert numbers() == {3}
