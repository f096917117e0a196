"""One thing that is wrong with a scene."""

from dataclasses import dataclass, field
from typing import Any

from ..errors import UserError


@dataclass
class Issue:
    """`level`: ERROR stops a bake, WARNING does not."""

    level: str
    message: str
    object: str = ""
    polygons: list[int] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    vertices: list[int] = field(default_factory=list)
    shells: tuple[int, ...] = ()
    """Session numbers of the shells that it is shown on."""


def error(message: str, obj: Any = None) -> Issue:
    return Issue("ERROR", message, "" if obj is None else obj.name)


def warning(message: str, obj: Any = None) -> Issue:
    return Issue("WARNING", message, "" if obj is None else obj.name)


def of_error(fault: UserError) -> Issue:
    """A fault that was raised, as an issue."""
    return Issue("ERROR", str(fault), fault.object, fault.polygons, fault.edges, fault.vertices)
