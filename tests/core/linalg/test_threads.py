"""BLAS in one thread while our code runs, and as it was when it does not."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from shellcore import ShellError
from shellcore.linalg.threads import between_yields, checked, limited, workers


def numbers() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def three_threads() -> Iterator[None]:
    """What a caller may have set."""
    with threadpool_limits(limits=3, user_api="blas"):
        assert numbers() == {3}
        yield


def test_threads_are_put_back_even_after_an_error() -> None:
    with pytest.raises(ValueError), limited(2):
        assert numbers() == {1}
        assert workers() == 2
        raise ValueError
    assert numbers() == {3}
    assert workers() == 1


def test_within_another() -> None:
    with limited(2):
        with limited(1):
            assert workers() == 1
        assert workers() == 2
        assert numbers() == {1}
    assert numbers() == {3}


def test_who_takes_items_has_all_threads() -> None:
    seen: list[Any] = []

    def items() -> Iterator[int]:
        try:
            for i in range(3):
                seen.append((numbers(), workers()))
                yield i
        finally:
            seen.append("closed")

    steps = between_yields(items(), 2)
    for _ in range(2):
        next(steps)
        assert numbers() == {3}
        assert workers() == 1
    steps.close()  # type: ignore[attr-defined]
    assert seen == [({1}, 2), ({1}, 2), "closed"]
    assert list(between_yields(items(), 1)) == [0, 1, 2]
    assert numbers() == {3}


def test_the_last_of_two_threads_puts_them_back() -> None:
    with limited(2):
        with ThreadPoolExecutor(1) as other:

            def inside() -> tuple[set[int], int]:
                with limited(1):
                    return numbers(), workers()

            assert other.submit(inside).result() == ({1}, 1)
            assert other.submit(workers).result() == 1
        assert numbers() == {1}
    assert numbers() == {3}


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", True])
def test_a_wrong_number_is_refused(wrong: Any) -> None:
    with pytest.raises(ShellError, match="threads must be a whole number"):
        checked(wrong)
