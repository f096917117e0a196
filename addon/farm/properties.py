"""A wedge in the panel, saved with the scene: what varies, how it combines, and what came out when it was looked at."""

from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from .. import compat
from .assignments import names
from .codes import ArgumentError

# Numbers of items stay with their names for ever: files hold them.
KINDS = [
    ("VALUES", "Values", "A list", 0),
    ("RANGE", "Range", "Evenly spaced from one value to another", 1),
    ("CSV", "Table", "A CSV file: a setting a column, a variant a row", 2),
]
COMBINE = [
    ("product", "Product", "Every value with every other", 0),
    ("side by side", "Side by Side", "First with first, second with second", 1),
]


def _known(_self: Any, _context: Any, text: str) -> list[str]:
    return [name for name in names() if text.casefold() in name]


class ThinShellWedgeEntry(bpy.types.PropertyGroup):
    """A setting and its values."""

    __annotations__ = {
        "setting": StringProperty(
            name="Setting",
            description="What varies, as scripts call it, for this shell: wind_velocity, air_drag, bending",
            search=_known,
            search_options={"SUGGESTION"},
        ),
        "kind": EnumProperty(name="From", description="Where its values come from", items=KINDS),
        "values": StringProperty(
            name="Values", description="With semicolons between; numbers of a vector with commas: 2,0,0; 4,0,0"
        ),
        "first": StringProperty(name="First", description="A number, or a vector with commas"),
        "last": StringProperty(name="Last", description="A number, or a vector with commas"),
        "count": IntProperty(name="Count", description="How many, both ends included", default=5, min=1, max=1000),
        "table": StringProperty(
            name="Table",
            description="CSV file; // is the folder of the .blend file",
            subtype="FILE_PATH",
            options=compat.relative_path_options(),
        ),
    }  # fmt: skip


class ThinShellVariant(bpy.types.PropertyGroup):
    """A variant as it was when the table was looked at."""

    __annotations__ = {
        "number": IntProperty(name="Number"),
        "settings": StringProperty(name="Settings"),
        "state": StringProperty(name="State"),
        "baked": BoolProperty(name="Baked"),
        "chosen": BoolProperty(name="Compare", description="Stand beside the others with Compare"),
    }


class ThinShellWedge(bpy.types.PropertyGroup):
    """Many bakes of this file."""

    __annotations__ = {
        "wedge_name": StringProperty(name="Name", description="Variants are called after it", default="wedge"),
        "combine": EnumProperty(name="Combine", description="How several settings go together", items=COMBINE),
        "entries": CollectionProperty(type=ThinShellWedgeEntry),
        "folder": StringProperty(
            name="Folder",
            description="Where the folders of variants are; empty: the shell's cache folder",
            subtype="DIR_PATH",
            options=compat.relative_path_options(),
        ),
        "render": BoolProperty(name="Render", description="The farm renders every variant, too", default=True),
        "chunk": IntProperty(name="Chunk", description="Frames of one render task", default=10, min=1),
        "spacing": FloatProperty(
            name="Spacing", description="Between shells that stand side by side, in their widths", default=1.2, min=0.0
        ),
        "variants": CollectionProperty(type=ThinShellVariant),
    }


def spec_of(scene: Any, obj: Any) -> dict[str, Any]:
    """The wedge of the panel as a spec, for one shell."""
    wedge = scene.thin_shell_wedge
    if not len(wedge.entries):
        raise ArgumentError("nothing varies: add a setting to the wedge first")
    settings = [_entry(obj, each) for each in wedge.entries]
    return {"name": wedge.wedge_name, "objects": [obj.name], "combine": wedge.combine, "settings": settings}


def _entry(obj: Any, entry: Any) -> dict[str, Any]:
    if entry.kind == "CSV":
        return {"csv": bpy.path.abspath(entry.table)}
    made: dict[str, Any] = {"set": f"{obj.name}:{entry.setting}"}
    if entry.kind == "VALUES":
        return made | {"values": [text.strip() for text in entry.values.split(";") if text.strip()]}
    ends = [_numbers(entry.setting, text) for text in (entry.first, entry.last)]
    return made | {"range": {"from": ends[0], "to": ends[1], "count": entry.count}}


def _numbers(name: str, text: str) -> Any:
    try:
        parts = [float(part) for part in text.split(",")]
    except ValueError:
        raise ArgumentError(f"the range of {name} goes from a number or vector to another, not '{text}'") from None
    parts = [int(part) if part.is_integer() else part for part in parts]
    return parts if len(parts) > 1 else parts[0]


CLASSES = (ThinShellWedgeEntry, ThinShellVariant, ThinShellWedge)


def register() -> None:
    for each in CLASSES:
        bpy.utils.register_class(each)
    owner: Any = bpy.types.Scene
    owner.thin_shell_wedge = PointerProperty(
        type=ThinShellWedge, name="Thin Shell Wedge", description="Many bakes of this file"
    )


def unregister() -> None:
    owner: Any = bpy.types.Scene
    del owner.thin_shell_wedge
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
