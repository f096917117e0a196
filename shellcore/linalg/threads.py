"""How many threads work.

OpenBLAS, which numpy and scipy carry, shares products from some size on among threads of its own, which wait for work
in loops. Ours are of a size where that costs more than it gives: a flag of 6.4k vertices took 200 instead of 60 ms a
frame, and two runs on two cores sixteen times as long. So BLAS stays in the thread that calls it while our code runs,
and nowhere else; what we share out ourselves is cut in parts that do not depend on how many work on them, so that
results are the same to the last bit.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

import numpy as np

# Loaded before libraries are looked for: the BLAS of scipy is none of numpy's.
import scipy.linalg
from threadpoolctl import ThreadpoolController

from ..errors import ShellError

Item = TypeVar("Item")

# Threads that find work: there are two halves.
MOST = 2


class _Limit:
    """BLAS in one thread for as long as anybody is inside, in whatever thread; as it was before after the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limiter: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limiter = _controller().limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limiter.restore_original_limits()


_limit = _Limit()
_own = threading.local()


@cache
def _controller() -> ThreadpoolController:
    """The BLAS of numpy and of scipy, found once: looking takes milliseconds."""
    assert scipy.linalg is not None
    return ThreadpoolController()


def checked(threads: int | None) -> int:
    """How many threads an argument asks for; None: as many as there are cores and work for."""
    if threads is None:
        return min(os.cpu_count() or 1, MOST)
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1:
        raise ShellError(f"threads must be a whole number, 1 or more, or None, not {threads!r}")
    return int(threads)


def workers() -> int:
    """How many threads may work for the caller now."""
    return int(getattr(_own, "workers", 1))


@contextmanager
def limited(threads: int | None) -> Iterator[None]:
    """For as long as it lasts so many threads work, and BLAS starts none."""
    count, before = checked(threads), workers()
    with _limit:
        _own.workers = count
        try:
            yield
        finally:
            _own.workers = before


def between_yields(steps: Iterator[Item], threads: int | None) -> Iterator[Item]:
    """The same items, each made within `limited`: who takes them has all threads."""
    count = checked(threads)
    try:
        while True:
            with limited(count):
                try:
                    item = next(steps)
                except StopIteration:
                    return
            yield item
    finally:
        close = getattr(steps, "close", None)
        if close is not None:
            close()


@cache
def helper() -> ThreadPoolExecutor:
    """A thread beside the caller's."""
    return ThreadPoolExecutor(1, thread_name_prefix="shellcore")
