"""What the last look found, for the panels: shown on the shells it is about, never saved, gone with them."""

from typing import Any

import bpy

from .. import compat
from .issue import Issue

_found: list[Issue] = []


def found() -> list[Issue]:
    """What was found about shells that are still there, errors first. Another file's shells have other numbers."""
    if _found:
        every: Any = bpy.data.objects
        there = {compat.session_uid(obj) for obj in every}
        _found[:] = [issue for issue in _found if there & set(issue.shells)]
    return _found


def remember(issues: list[Issue], shells: list[Any]) -> None:
    """Keep what was found about these shells, and forget what was found about them before.

    What is about one of them is shown there; what is about the scene, or about something they meet, on all of them.
    """
    numbers = {obj.name: compat.session_uid(obj) for obj in shells}
    everyone = tuple(numbers.values())
    for issue in issues:
        issue.shells = (numbers[issue.object],) if issue.object in numbers else everyone
    others = [issue for issue in _found if not set(issue.shells) & set(everyone)]
    _found[:] = sorted([*issues, *others], key=lambda issue: issue.level != "ERROR")


def about(obj: Any) -> list[Issue]:
    """What was found that concerns a shell."""
    number = compat.session_uid(obj)
    return [issue for issue in found() if number in issue.shells]
