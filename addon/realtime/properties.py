"""What a user sets for real time: which way the shell moves, its modes, its handles."""

from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..properties.declared import declared

# Numbers of items stay with their names for ever: files hold them.
MOTIONS = [
    ("FULL", "Full", "Every step solved: contact, creases, large stretch", 0),
    ("MODAL", "Real Time", "The shell moves in its modes, fast enough to drag; no contact", 1),
]
KINDS = [
    ("POSITION", "Position", "The middle of the vertices goes where the object goes", 0),
    ("ORIENTATION", "Orientation", "The vertices turn as the object turns", 1),
    ("BOTH", "Position and Orientation", "The middle of the vertices moves and turns with the object", 2),
    ("RIGID", "Rigid", "Every vertex moves with the object, as if glued to it", 3),
]


class ThinShellHandle(bpy.types.PropertyGroup):
    """An object that some vertices of the shell follow."""

    target: PointerProperty(name="Object", description="Object to follow, an empty for instance", type=bpy.types.Object)  # type: ignore[valid-type]
    group: StringProperty(name="Vertices", description="Vertex group that follows; any weight counts")  # type: ignore[valid-type]
    kind: EnumProperty(name="Follow", description="What of the object the vertices follow", items=KINDS)  # type: ignore[valid-type]
    stiffness: FloatProperty(  # type: ignore[valid-type]
        name="Stiffness",
        description="Spring of the handle [N/m]; 0 holds exactly",
        default=0.0,
        min=0.0,
        max=1e9,
    )
    enabled: BoolProperty(name="On", description="Whether the handle acts", default=True)  # type: ignore[valid-type]
    rest: FloatVectorProperty(  # type: ignore[valid-type]
        name="Rest",
        description="Where the object is, seen from the shell, when it pulls at nothing",
        size=16,
        default=tuple(float(i % 5 == 0) for i in range(16)),
        options={"HIDDEN"},
    )


class ThinShellMode(bpy.types.PropertyGroup):
    """One mode of the list."""

    frequency: FloatProperty(name="Frequency", description="Oscillations a second [Hz]")  # type: ignore[valid-type]


class ThinShellRealTime(bpy.types.PropertyGroup):
    """Real time of one object."""

    motion: EnumProperty(name="Motion", description="How the shell moves", items=MOTIONS)  # type: ignore[valid-type]
    mode_count: IntProperty(  # type: ignore[valid-type]
        name="Modes",
        description="Number of modes: more follow finer motion and cost more time",
        default=40,
        min=1,
        max=512,
        soft_max=128,
    )
    handles: CollectionProperty(type=ThinShellHandle)  # type: ignore[valid-type]
    handle_index: IntProperty(name="Handle", description="The chosen handle", options={"HIDDEN"})  # type: ignore[valid-type]
    modes: CollectionProperty(type=ThinShellMode)  # type: ignore[valid-type]
    mode_index: IntProperty(name="Mode", description="The chosen mode, which Preview shows", options={"HIDDEN"})  # type: ignore[valid-type]
    preview_size: FloatProperty(  # type: ignore[valid-type]
        name="Size",
        description="How far a previewed mode moves the shell, as a share of its size",
        default=0.15,
        min=0.001,
        max=1.0,
    )
    preview_frames: IntProperty(  # type: ignore[valid-type]
        name="Frames", description="Frames of one oscillation of a previewed mode", default=48, min=4, max=1000
    )


def is_modal(obj: Any) -> bool:
    """Whether the shell moves in its modes."""
    return str(obj.thin_shell_realtime.motion) == "MODAL"


def summary(obj: Any) -> list[Any]:
    """What of these settings changes a bake, in plain values."""
    settings = obj.thin_shell_realtime
    if not is_modal(obj):
        return []
    handles = [
        [h.target is not None, h.group, h.kind, h.stiffness, h.enabled, *map(float, h.rest)] for h in settings.handles
    ]
    return [settings.mode_count, handles]


CLASSES = (ThinShellHandle, ThinShellMode, ThinShellRealTime)
for _each in CLASSES:
    _each.__annotations__ = declared(_each.__annotations__)


def register() -> None:
    for each in CLASSES:
        bpy.utils.register_class(each)
    owner: Any = bpy.types.Object
    owner.thin_shell_realtime = PointerProperty(
        type=ThinShellRealTime,
        name="Real Time",
        description="A thin shell that moves in its modes",
        override={"LIBRARY_OVERRIDABLE"},
    )


def unregister() -> None:
    owner: Any = bpy.types.Object
    del owner.thin_shell_realtime
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
