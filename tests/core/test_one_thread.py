"""BLAS asked to stay in one thread."""

from __future__ import annotations

import pytest

from shellcore import one_thread


def test_threads_are_put_back_even_after_an_error() -> None:
    numbers = [get() for get, _ in one_thread._switches()]
    with pytest.raises(ValueError), one_thread.one_thread():
        assert all(get() == 1 for get, _ in one_thread._switches())
        raise ValueError
    assert [get() for get, _ in one_thread._switches()] == numbers


def test_libraries_that_are_not_openblas_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_thread, "NAMES", ("no_such_%s_function",))
    one_thread._switches.cache_clear()
    try:
        assert not one_thread.one_thread_possible()
        with one_thread.one_thread():
            pass
    finally:
        one_thread._switches.cache_clear()
