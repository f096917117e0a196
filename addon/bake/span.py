"""Which frames a bake covers: what it was asked for comes before what the shells are set to."""

from typing import Any

from ..cache import sidecar
from ..cache.files import CacheError
from ..cache.sidecar import Sidecar
from .location import paths_of
from .order import Order


def first_frame(order: Order, obj: Any) -> int:
    """Where a bake begins. One that goes on begins where it began."""
    settings = obj.thin_shell
    if order.first is not None:
        return order.first
    begun = unfinished(obj) if order.mode == "resume" else None
    if begun is not None:
        return begun.start
    return int(settings.baked_start if order.mode == "continue" and settings.baked else settings.frame_start)


def unfinished(obj: Any) -> Sidecar | None:
    """What describes an object's bake that stopped, None where there is none."""
    try:
        paths = paths_of(obj)
        info = sidecar.read(paths.part_sidecar if paths.part_sidecar.is_file() else paths.sidecar)
    except (CacheError, OSError):
        return None
    return None if info.complete else info


def differs(obj: Any) -> str:
    """Where a finished bake covers other frames than the shell is set to: which, in words; else empty."""
    settings = obj.thin_shell
    last = settings.baked_start + settings.baked_samples - 1
    if (settings.baked_start, last) == (settings.frame_start, settings.frame_end):
        return ""
    return f"frames {settings.baked_start} to {last}; the settings say {settings.frame_start} to {settings.frame_end}"
