"""Dense kernels of the BLAS that scipy carries, called through ctypes.

Blender's own builds of numpy have no BLAS: products and factors of dense matrices there run forty times as slow.
scipy's always has one and hands out the addresses of its functions to Cython. Called by address they work on parts of
matrices in place, take arguments that were made ready once, and may let other Python threads run meanwhile, none of
which scipy's wrappers in Python (`scipy.linalg.blas`) do.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from scipy.linalg import cython_blas, cython_lapack

Kernel = Callable[..., Any]
"""A Fortran function: every argument is an address."""


def _address(module: Any, name: str) -> int:
    """Where a function lies that a Cython module offers to others."""
    capsule = module.__pyx_capi__[name]
    api = ctypes.pythonapi
    named, pointed = api.PyCapsule_GetName, api.PyCapsule_GetPointer
    named.restype, named.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointed.restype, pointed.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(pointed(capsule, named(capsule)))


class Kernels:
    """Those of one precision: `letter` "d" or "s".

    `free`: other Python threads run meanwhile, which takes longer than short calls themselves.
    """

    def __init__(self, letter: str, free: bool) -> None:
        made = (ctypes.CFUNCTYPE if free else ctypes.PYFUNCTYPE)(None)
        self.potrf: Kernel = made(_address(cython_lapack, letter + "potrf"))
        self.trsm: Kernel = made(_address(cython_blas, letter + "trsm"))
        self.syrk: Kernel = made(_address(cython_blas, letter + "syrk"))
        self.gemv: Kernel = made(_address(cython_blas, letter + "gemv"))
        self.trsv: Kernel = made(_address(cython_blas, letter + "trsv"))


DOUBLE, SINGLE = Kernels("d", free=False), Kernels("s", free=False)
DOUBLE_FREE, SINGLE_FREE = Kernels("d", free=True), Kernels("s", free=True)
