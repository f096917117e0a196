"""BLAS in the thread that asks it.

OpenBLAS, which numpy and scipy carry, shares products from some size on among threads of its own. Ours are of a size
where waking those costs more than they do: a flag of 6.4k vertices took 200 instead of 60 ms a frame. Neither library
has a way to ask for less, so OpenBLAS is asked itself; where it is not what they carry, or hides, nothing happens.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg

# What builds of it call their functions.
NAMES = tuple(f"{first}openblas_%s_num_threads{last}" for first in ("scipy_", "") for last in ("64_", ""))


@contextmanager
def one_thread() -> Iterator[None]:
    """For as long as it lasts, all products are computed here."""
    before = [(put, get()) for get, put in _switches()]
    try:
        for put, _ in before:
            put(1)
        yield
    finally:
        for put, number in before:
            put(number)


def one_thread_possible() -> bool:
    """Whether all that was found obeys: numpy's OpenBLAS, and scipy's."""
    return len(_switches()) == 2


@cache
def _switches() -> list[tuple[Callable[[], int], Callable[[int], None]]]:
    """How to ask and tell each OpenBLAS in use its number of threads."""
    found = {}
    for package, user in ((np, "numpy.linalg._umath_linalg"), (scipy, "scipy.linalg._fblas")):
        folder = Path(str(package.__file__)).parent
        # Beside the package, as wheels have it; or linked with, or into, the module that calls it.
        carried = [folder.parent / f"{package.__name__}.libs", folder / ".dylibs"]
        libraries: list[Any] = [file for place in carried for file in place.glob("*openblas*")]
        for library in [*libraries, getattr(sys.modules.get(user), "__file__", None)]:
            try:
                handle = ctypes.CDLL(str(library))
            except OSError:
                continue
            for name in NAMES:
                get, put = (getattr(handle, name % verb, None) for verb in ("get", "set"))
                if get is not None and put is not None:
                    found[ctypes.cast(put, ctypes.c_void_p).value] = get, put
    return list(found.values())
