"""The JSON beside a cache: what was baked, from which settings, with which versions, how far."""

import json
import math
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from .files import CacheError, open_regular, write_whole

FORMAT = "thin_shell cache"
VERSION = 2
# 1: bakes without an owner's identity, of 0.1.0.
KNOWN = (1, 2)
# A sidecar is a few thousand bytes; anything larger is something else.
LARGEST = 1 << 20
TEXTS = (
    "object", "fingerprint", "file_id", "shell_id", "variant", "path", "target", "baked_settings", "baked_inputs",
    "baker", "thin_shell", "blender", "blend",
)  # fmt: skip


@dataclass
class Sidecar:
    """One object's bake. `samples` whole frames are there, the first at frame `start`."""

    object: str
    points: int
    start: int
    end: int
    samples: int = 0
    complete: bool = False
    fingerprint: str = ""
    """Settings and mesh, in full."""
    file_id: str = ""
    """With `shell_id` whose the bake is; both empty before version 2."""
    shell_id: str = ""
    variant: str = ""
    """The variant of the file that was baked by a task; empty for the file as it is."""
    path: str = ""
    """The .blend file, as it was called then."""
    date: float = 0.0
    """When the bake began [s since 1970]."""
    target: str = "PC2"
    """What the bake was asked to become."""
    breaks: bool = False
    """Its frames are in a spool while it is under way, and its cracks in the splits."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings that are not the defaults."""
    baked_settings: str = ""
    """Settings and size of the mesh, for the panel."""
    baked_inputs: str = ""
    """Everything else that was read; empty where that is not known."""
    baker: str = ""
    """Machine and process that write it, until it is published."""
    moving: bool = False
    """All its files are whole, under part names or in place."""
    fps: float = 24.0
    thin_shell: str = ""
    blender: str = ""
    blend: str = ""
    """File name of the .blend it was baked in."""
    group: list[str] = field(default_factory=list)
    """Cache names of the shells simulated together; the first one's state file resumes all."""
    fields: list[str] = field(default_factory=list)
    seconds: float = 0.0
    stats: dict[str, float] = field(default_factory=dict)

    @property
    def last_frame(self) -> int:
        return self.start + self.samples - 1


def write(path: Path, sidecar: Sidecar) -> None:
    """Replace the sidecar in one step."""
    text = json.dumps({"format": FORMAT, "version": VERSION, **asdict(sidecar)}, indent=1, allow_nan=False)
    write_whole(path, text.encode("utf-8"))


def read(path: Path) -> Sidecar:
    """The sidecar; raises where it is not ours or holds values that make no sense."""
    with open_regular(path) as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise CacheError(f"{path.name} is too large to describe a bake: delete it and bake again")
    try:
        data = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        raise CacheError(f"{path.name} is damaged (no valid JSON): delete the bake and bake again") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise CacheError(f"{path.name} does not describe a Thin Shell bake: move it away and bake again")
    if data.get("version") not in KNOWN:
        raise CacheError(f"{path.name} was written by another version of Thin Shell: bake again")
    known = {f.name for f in fields(Sidecar)}
    values = {key: value for key, value in data.items() if key in known}
    try:
        return _checked(values)
    except (TypeError, ValueError, KeyError) as error:
        raise CacheError(f"{path.name} is damaged ({error}): delete the bake and bake again") from None


def _checked(values: dict[str, Any]) -> Sidecar:
    for name in ("points", "start", "end", "samples"):
        value = values[name]
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**31:
            raise ValueError(f"{name} is {str(value)[:40]}")
    if values["points"] <= 0 or not 0 <= values["samples"] <= values["end"] - values["start"] + 1:
        raise ValueError("its counts do not fit together")
    for name in TEXTS:
        if not isinstance(values.get(name, ""), str) or len(values.get(name, "")) > 4096:
            raise ValueError(f"{name} is no text")
    for name in ("fps", "seconds", "date"):
        value = values.get(name, 0.0)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
            raise ValueError(f"{name} is {str(value)[:40]}")
    for name in ("complete", "breaks", "moving"):
        if not isinstance(values.get(name, False), bool):
            raise ValueError(f"{name} is neither true nor false")
    for name in ("group", "fields"):
        entries = values.get(name, [])
        if not isinstance(entries, list) or len(entries) > 4096 or not all(_plain_name(e) for e in entries):
            raise ValueError(f"{name} holds something other than names")
    stats = values.get("stats", {})
    if not isinstance(stats, dict) or not all(isinstance(v, (int, float)) for v in stats.values()):
        raise ValueError("stats holds something other than numbers")
    used = values.get("settings", {})
    if not isinstance(used, dict) or len(used) > 1024 or not all(_plain(value) for value in used.values()):
        raise ValueError("settings holds something other than numbers and words")
    return Sidecar(**values)


def _plain(value: Any) -> bool:
    """A number, a word, or a short list of numbers."""
    if isinstance(value, list):
        return len(value) <= 64 and all(isinstance(part, (int, float)) for part in value)
    return value is None or isinstance(value, (int, float, str))


def _plain_name(entry: Any) -> bool:
    """A name that cannot lead out of the cache folder."""
    return (
        isinstance(entry, str) and 0 < len(entry) < 256 and not set(entry) & set("/\\:\0") and entry not in (".", "..")
    )
