"""Settings by command: `Flag:wind_velocity=3,0,0`, or without the object for all shells that are baked."""

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import bpy

from .. import compat
from ..properties import physics_names
from ..properties.cache import RESULTS
from .codes import ArgumentError

# The object's name may hold dots, colons and equals signs: the first colon before a setting's name ends it.
FORM = re.compile(r"(?:(?P<object>.*?):)?(?P<name>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)
TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True)
class Assignment:
    """One setting and the text of its value; without an object's name it is for all."""

    object: str
    name: str
    value: str

    @property
    def key(self) -> str:
        """The setting as it is written before the equals sign."""
        return f"{self.object}:{self.name}" if self.object else self.name


def parse(text: str) -> Assignment:
    found = FORM.fullmatch(text)
    if found is None:
        raise ArgumentError(f"'{text}' sets nothing: write Object:setting=value, or setting=value for every shell")
    return Assignment(found["object"] or "", found["name"], found["value"].strip())


def names() -> list[str]:
    """What may be set: what changes the result, and which results are kept."""
    return sorted([*physics_names(), *(f"keep_{key}" for key in RESULTS)])


def near(wanted: str, there: Iterable[str]) -> str:
    """Names like the wanted one, in words."""
    there = sorted(there)
    close = difflib.get_close_matches(wanted, there, n=3, cutoff=0.5)
    if not close:
        folded = {each.casefold(): each for each in there}
        close = [folded[each] for each in difflib.get_close_matches(wanted.casefold(), sorted(folded), n=3, cutoff=0.5)]
    if close:
        return f"did you mean {' or '.join(close)}?"
    listed = ", ".join(there[:20]) + (", …" if len(there) > 20 else "")
    return f"there is {listed}" if there else "there is none"


def put(assignments: Iterable[Assignment], objects: list[Any]) -> None:
    """Set them on the shells, in memory; all are looked at before the first is set."""
    for obj, name, value in looked_at(assignments, objects):
        setattr(obj.thin_shell, name, value)


def looked_at(assignments: Iterable[Assignment], objects: list[Any]) -> list[tuple[Any, str, Any]]:
    """Shell, setting and value of each; raises where one cannot be set."""
    return [(obj, each.name, value_of(obj, each)) for each in assignments for obj in _meant(each, objects)]


def _meant(assignment: Assignment, objects: list[Any]) -> list[Any]:
    found = [obj for obj in objects if assignment.object in ("", obj.name)]
    if not found:
        raise ArgumentError(
            f"'{assignment.object}' is not among the shells of this task: {near(assignment.object, _named(objects))}"
        )
    return found


def _named(objects: list[Any]) -> list[str]:
    return [obj.name for obj in objects]


def value_of(obj: Any, assignment: Assignment) -> Any:
    """The value as Blender takes it; raises where Blender would take another one."""
    name, text = assignment.name, assignment.value
    if name not in names():
        raise ArgumentError(f"there is no setting '{name}': {near(name, names())}")
    if any(path.startswith(f"thin_shell.{name}") for path in compat.animated_paths(obj)):
        raise ArgumentError(f"{obj.name}: {name} is animated, so a value for it would not last: remove its keyframes")
    rna: Any = obj.thin_shell.bl_rna.properties[name]
    if rna.type == "ENUM":
        return _item(name, text, {item.identifier: item.name for item in rna.enum_items})
    if rna.type == "BOOLEAN":
        return _flag(name, text)
    if rna.type in ("INT", "FLOAT"):
        return _numbers(name, text, rna)
    if rna.type == "POINTER":
        return _block(name, text, rna)
    return text


def _item(name: str, text: str, items: dict[str, str]) -> str:
    same = [key for key, label in items.items() if text.casefold() in (key.casefold(), label.casefold())]
    if not same:
        raise ArgumentError(f"{name} cannot be '{text}': {near(text, items)}")
    return same[0]


def _flag(name: str, text: str) -> bool:
    if text.casefold() not in TRUE + FALSE:
        raise ArgumentError(f"{name} is true or false, not '{text}'")
    return text.casefold() in TRUE


def _numbers(name: str, text: str, rna: Any) -> Any:
    """A number or a vector; angles may be given in degrees."""
    wanted = rna.array_length if rna.is_array else 1
    parts = [part.strip() for part in text.strip("()[]").split(",")]
    if len(parts) != wanted:
        how = f"{wanted} numbers with commas between" if rna.is_array else "one number"
        raise ArgumentError(f"{name} takes {how}, not '{text}'")
    values = [_number(name, part, rna) for part in parts]
    return values if rna.is_array else values[0]


def _number(name: str, text: str, rna: Any) -> float:
    degrees = rna.subtype in ("ANGLE", "EULER") and text.endswith("deg")
    try:
        value = int(text) if rna.type == "INT" else float(text.removesuffix("deg") if degrees else text)
    except ValueError:
        kind = "a whole number" if rna.type == "INT" else "a number"
        raise ArgumentError(f"{name} takes {kind}, not '{text}'") from None
    value = math.radians(value) if degrees else value
    # Both are float32 in Blender: a bound may differ from what was declared in the last bit.
    slack = 1e-6 * max(abs(rna.hard_min), abs(rna.hard_max)) if max(abs(rna.hard_min), abs(rna.hard_max)) < 1e30 else 0
    if not math.isfinite(value) or not rna.hard_min - slack <= value <= rna.hard_max + slack:
        raise ArgumentError(f"{name} must lie between {rna.hard_min:g} and {rna.hard_max:g}, and is {text}")
    return value


def _block(name: str, text: str, rna: Any) -> Any:
    """The data-block of a name; empty for none."""
    if not text:
        return None
    kind = rna.fixed_type.identifier
    every: Any = {
        "Object": bpy.data.objects, "Collection": bpy.data.collections, "Image": bpy.data.images,
        "Mesh": bpy.data.meshes,
    }[kind]  # fmt: skip
    if text not in every:
        raise ArgumentError(f"{name}: there is no {kind.lower()} '{text}': {near(text, every.keys())}")
    return every[text]


def told(value: Any) -> str:
    """A value of a spec as the text that `parse` reads."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(told(part) for part in value)
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value)
