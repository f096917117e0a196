"""A wedge: settings with several values each, and the variants that they make.

A spec is a JSON file:

    {"name": "gusts", "objects": ["Flag"], "start": 1, "end": 48,
     "combine": "product",
     "settings": [{"set": "Flag:wind_velocity", "values": [[2, 0, 0], [4, 0, 0]]},
                  {"set": "air_drag", "range": {"from": 0.5, "to": 1.5, "count": 3}},
                  {"csv": "materials.csv"}]}

`combine`: "product" takes every value with every other, "side by side" the first with the first and so on. A CSV has
one column a setting and one row a variant; its columns stay together. Nothing here needs Blender.
"""

import csv
import json
import math
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from .assignments import Assignment, near, parse, told
from .codes import ArgumentError
from .variant import checked_name

KEYS = frozenset({"name", "objects", "start", "end", "combine", "settings", "cache_folder"})
COMBINE = ("product", "side by side")
LARGEST = 1 << 22
"""A spec or table larger than this [bytes] is something else."""
MOST = 10_000
"""Variants; a product that makes more was not meant."""


@dataclass(frozen=True)
class Variant:
    """One of a wedge: `number` from 1 on, its name, and what is set for it."""

    number: int
    name: str
    settings: tuple[Assignment, ...]

    def row(self) -> dict[str, str]:
        return {each.key: each.value for each in self.settings}


@dataclass(frozen=True)
class Wedge:
    """A spec, counted out."""

    name: str
    variants: tuple[Variant, ...]
    objects: tuple[str, ...] = ()
    start: int | None = None
    end: int | None = None
    cache_folder: str = ""
    """As it is written: below the folder of the .blend where it begins with //."""

    @property
    def columns(self) -> list[str]:
        """The settings, in the order of the spec."""
        return list(self.variants[0].row())

    def named(self, name: str) -> Variant:
        found = next((each for each in self.variants if name in (each.name, str(each.number))), None)
        if found is None:
            raise ArgumentError(f"there is no variant '{name}' in '{self.name}': {near(name, self.names())}")
        return found

    def names(self) -> list[str]:
        return [each.name for each in self.variants]


def read(path: Path) -> Wedge:
    """A spec from its file; CSV files that it names lie beside it."""
    text = _text(path)
    try:
        spec = json.loads(text)
    except ValueError as error:
        raise ArgumentError(f"{path.name} is no JSON ({error}): correct it") from None
    if not isinstance(spec, dict):
        raise ArgumentError(f"{path.name} holds no wedge: it must be an object with 'settings'")
    return counted_out(spec, path.parent, path.stem)


def counted_out(spec: dict[str, Any], folder: Path, name: str = "wedge") -> Wedge:
    """The wedge that a spec describes."""
    for key in spec:
        if key not in KEYS:
            raise ArgumentError(f"a wedge has no '{key}': {near(key, KEYS)}")
    name = checked_name(str(spec.get("name") or name))
    entries = spec.get("settings")
    if not isinstance(entries, list) or not entries:
        raise ArgumentError(f"the wedge '{name}' has no settings: give a list of at least one")
    lists = [_rows(entry, folder) for entry in entries]
    combine = spec.get("combine", "product")
    if combine not in COMBINE:
        raise ArgumentError(f"combine is 'product' or 'side by side', not '{combine}'")
    if combine == "product" and math.prod(map(len, lists)) > MOST:
        raise ArgumentError(f"the wedge '{name}' has {math.prod(map(len, lists))} variants: at most {MOST}")
    if combine == "side by side" and len({len(each) for each in lists}) > 1:
        counts = ", ".join(str(len(each)) for each in lists)
        raise ArgumentError(f"side by side every setting needs as many values as the others, and they have {counts}")
    rows = list(product(*lists) if combine == "product" else zip(*lists, strict=True))
    keys = [each.key for row in rows[:1] for part in row for each in part]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise ArgumentError(f"'{twice}' is set twice in the wedge '{name}': give it once")
    digits = max(2, len(str(len(rows))))
    variants = tuple(
        Variant(number, f"{name}_{number:0{digits}d}", tuple(each for part in row for each in part))
        for number, row in enumerate(rows, 1)
    )
    return Wedge(
        name, variants, _words(spec), _whole(spec, "start"), _whole(spec, "end"), str(spec.get("cache_folder") or "")
    )


def _words(spec: dict[str, Any]) -> tuple[str, ...]:
    names = spec.get("objects") or []
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise ArgumentError("objects is a list of names")
    return tuple(names)


def _whole(spec: dict[str, Any], key: str) -> int | None:
    value = spec.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise ArgumentError(f"{key} is a frame, a whole number, not {value!r}")
    return value


def _rows(entry: Any, folder: Path) -> list[tuple[Assignment, ...]]:
    """What an entry sets, value by value."""
    if not isinstance(entry, dict) or sum(key in entry for key in ("values", "range", "csv")) != 1:
        raise ArgumentError("an entry of settings has one of 'values', 'range' and 'csv'")
    if "csv" in entry:
        return _table(folder / str(entry["csv"]))
    if not isinstance(entry.get("set"), str):
        raise ArgumentError("an entry with values or a range says in 'set' what it sets: Object:setting, or setting")
    values = _range(entry["range"], entry["set"]) if "range" in entry else entry["values"]
    if not isinstance(values, list) or not values:
        raise ArgumentError(f"{entry['set']} has no values: give a list of at least one")
    return [(parse(f"{entry['set']}={told(value)}"),) for value in values]


def _range(given: Any, name: str) -> list[Any]:
    """Evenly spaced values, both ends included; of numbers or of vectors."""
    try:
        first, last, count = given["from"], given["to"], given["count"]
        pairs = list(zip(first, last, strict=True)) if isinstance(first, list) else [(first, last)]
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST:
            raise ValueError
        shares = [i / max(count - 1, 1) for i in range(count)]
        made = [[_between(float(a), float(b), share) for a, b in pairs] for share in shares]
    except (KeyError, TypeError, ValueError):
        raise ArgumentError(f"the range of {name} needs numbers 'from' and 'to' and a 'count' of 1 or more") from None
    whole = all(isinstance(each, int) for pair in pairs for each in pair) and all(
        part.is_integer() for value in made for part in value
    )
    values = [[int(part) if whole else part for part in value] for value in made]
    return values if isinstance(first, list) else [value[0] for value in values]


def _between(a: float, b: float, share: float) -> float:
    """With twelve digits: 0.1 and not 0.10000000000000003, as it names things."""
    return float(f"{a + (b - a) * share:.12g}")


def _table(path: Path) -> list[tuple[Assignment, ...]]:
    rows = [row for row in csv.reader(_text(path).splitlines()) if any(cell.strip() for cell in row)]
    if len(rows) < 2:
        raise ArgumentError(f"{path.name} needs a line of settings and at least one of values")
    heads = [cell.strip() for cell in rows[0]]
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(heads):
            raise ArgumentError(f"{path.name}: row {number} has {len(row)} values for {len(heads)} settings")
    return [tuple(parse(f"{head}={cell.strip()}") for head, cell in zip(heads, row, strict=True)) for row in rows[1:]]


def _text(path: Path) -> str:
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            text = file.read(LARGEST + 1)
    except UnicodeDecodeError:
        raise ArgumentError(f"{path.name} is no text in UTF-8: save it as that") from None
    except OSError as error:
        raise ArgumentError(f"{path} cannot be read ({error.strerror}): check its name") from None
    if len(text) > LARGEST:
        raise ArgumentError(f"{path.name} is too large for a wedge: is it the right file?")
    return text
