"""The JSON beside a cache: what was baked, from which settings, with which versions, how far."""

import json
import math
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from .files import CacheError, create, open_regular, reason, replace, sync

FORMAT = "thin_shell cache"
VERSION = 1
# A sidecar is a few hundred bytes; anything larger is something else.
LARGEST = 1 << 20


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
    temporary = path.with_name(path.name + ".new")
    text = json.dumps({"format": FORMAT, "version": VERSION, **asdict(sidecar)}, indent=1, allow_nan=False)
    file = create(temporary)
    try:
        with file:
            file.write(text.encode("utf-8"))
            sync(file)
    except OSError as error:
        raise CacheError(f"{temporary.name} cannot be written: {reason(error)}") from None
    replace(temporary, path)


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
    if data.get("version") != VERSION:
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
    for name in ("object", "fingerprint", "thin_shell", "blender", "blend"):
        if not isinstance(values.get(name, ""), str) or len(values.get(name, "")) > 1024:
            raise ValueError(f"{name} is no text")
    for name in ("fps", "seconds"):
        value = values.get(name, 0.0)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
            raise ValueError(f"{name} is {str(value)[:40]}")
    if not isinstance(values.get("complete", False), bool):
        raise ValueError("complete is neither true nor false")
    for name in ("group", "fields"):
        entries = values.get(name, [])
        if not isinstance(entries, list) or len(entries) > 4096 or not all(_plain_name(e) for e in entries):
            raise ValueError(f"{name} holds something other than names")
    stats = values.get("stats", {})
    if not isinstance(stats, dict) or not all(isinstance(v, (int, float)) for v in stats.values()):
        raise ValueError("stats holds something other than numbers")
    return Sidecar(**values)


def _plain_name(entry: Any) -> bool:
    """A name that cannot lead out of the cache folder."""
    return (
        isinstance(entry, str) and 0 < len(entry) < 256 and not set(entry) & set("/\\:\0") and entry not in (".", "..")
    )
