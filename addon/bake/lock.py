"""Whether an object's settings may change: not while a bake runs, and not under a bake unless it was unlocked."""

from typing import Any

from . import session


def is_baking(obj: Any) -> bool:
    """Whether a bake is under way that the object is part of."""
    return session.current is not None and session.current.bakes(obj)


def why_locked(obj: Any) -> str:
    """The reason in words; empty where the settings are free."""
    settings = obj.thin_shell
    if is_baking(obj):
        return f"{obj.name} is being baked: wait for the end, or press Stop"
    if settings.enabled and settings.baked and not settings.unlocked:
        return f"{obj.name} is baked: press Edit Settings to change it, or Delete Bake"
    return ""
