"""Arguments looked at where they are given: each comes out as a number or an array, or a ShellError names it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .errors import ShellError
from .types import Amount, Floats, Ints

# Numbers in SI units beyond this are mistakes, and their squares run over.
LARGEST = 1e40


def shown(value: Any) -> str:
    """What was given, for a message: short values as they are, others by their kind."""
    if value is None or isinstance(value, (bool, int, float, np.number)):
        return str(value)
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else f"this {type(value).__name__}"


def floats(value: Any, what: str, meant: str) -> Floats:
    """A new array of numbers of whatever shape; `meant`: what `what` must be, for the message."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        # Rows of different lengths.
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "biuf":
        raise ShellError(f"{what} must be {meant}, not {shown(value)}")
    return array.astype(np.float64)


def number(value: Any, what: str, meant: str, fits: Callable[[float], Any] = np.isfinite) -> float:
    """One number that `fits`."""
    array = floats(value, what, meant)
    if array.ndim or not fits(float(array)):
        raise ShellError(f"{what} must be {meant}, not {shown(value)}")
    if LARGEST < abs(float(array)) < np.inf:
        raise ShellError(f"{what} must be {meant}, and no larger than {LARGEST:g}, not {shown(value)}")
    return float(array)


def not_negative(value: Any, what: str, unit: str = "") -> float:
    """One finite number, zero or more."""
    return number(value, what, f"zero or more{unit}", lambda given: 0.0 <= given < np.inf)


def positive(value: Any, what: str, unit: str = "") -> float:
    """One finite number above zero."""
    return number(value, what, f"positive{unit}", lambda given: 0.0 < given < np.inf)


def amount(value: Amount, t: float, what: str) -> float:
    """A number, or a function of time [s] to it, at time t [s]: finite, zero or more."""
    return not_negative(value(t), f"{what} at time {t:g} s") if callable(value) else not_negative(value, what)


def whole(value: Any, what: str, least: int) -> int:
    """One whole number, `least` or more."""
    meant = f"a whole number, {least} or more"
    return int(number(value, what, meant, lambda given: np.isfinite(given) and given >= least and given % 1 == 0))


def vector(value: Any, what: str, unit: str = "") -> Floats:
    """Three finite numbers, (3,)."""
    meant = f"three finite numbers{unit}"
    array = floats(value, what, meant)
    if array.shape != (3,) or not (np.abs(array) <= LARGEST).all():
        raise ShellError(f"{what} must be {meant}, not {shown(value)}")
    return array


def triangles(value: Any, what: str) -> Ints:
    """Corners of triangles, (m, 3), as a new array; whether vertices of these numbers exist is not looked at."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        raise ShellError(f"{what} must all have three corners, and these do not: triangulate first") from None
    if array.size == 0 and array.dtype.kind in "biuf":
        raise ShellError(f"{what} are none: give at least one triangle, as rows of three vertex numbers")
    if array.dtype.kind not in "iu":
        kind = shown(value) if array.dtype.kind == "O" else str(array.dtype)
        raise ShellError(f"{what} must be integers (m, 3), the vertices of each triangle, not {kind}")
    if array.ndim != 2 or array.shape[1] != 3:
        raise ShellError(f"{what} must have shape (m, 3), not {array.shape}: triangulate first")
    return array.astype(np.int64)


def choice(value: Any, what: str, allowed: Sequence[str]) -> str:
    """One of the words that are allowed."""
    if not (isinstance(value, str) and value in allowed):
        raise ShellError(f"{what}={value!r} is not known: choose one of {', '.join(allowed)}")
    return str(value)


def indices(value: Any, what: str) -> Ints:
    """Numbers of vertices, (k,), from one or a list."""
    try:
        given = np.atleast_1d(np.asarray(value))
    except ValueError:
        raise ShellError(f"{what} takes vertex indices, one or a list, and was given uneven rows") from None
    if given.size and given.dtype.kind not in "iu":
        raise ShellError(f"{what} takes vertex indices, not {given.dtype}")
    chosen: Ints = given.astype(np.int64).ravel()
    return chosen


def listing(value: Any, what: str, example: str) -> list[Any]:
    """The items of a list; one that was given bare is told how to be given."""
    try:
        return list(value)
    except TypeError:
        raise ShellError(f"{what} must be a list, as {example}, not {shown(value)}") from None


def instance(value: Any, kind: type, what: str, example: str) -> None:
    """Raise unless the value is one of a kind."""
    if not isinstance(value, kind):
        raise ShellError(f"{what} must be a {kind.__name__}, as {example}, not {shown(value)}")
