"""YAML as far as job templates need it, without a library: maps, lists, words, numbers."""

import json
import re
from typing import Any

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
# Words that YAML 1.1 reads as something else than text.
OTHER = {"y", "n", "yes", "no", "true", "false", "on", "off", "null"}


def text(value: Any) -> str:
    """A document."""
    return "\n".join(_lines(value)) + "\n"


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict) and value:
        return [line for key, part in value.items() for line in _entry(f"{_scalar(key)}:", part)]
    if isinstance(value, list) and value:
        return [line for part in value for line in _item(part)]
    return [_scalar(value)]


def _entry(head: str, value: Any) -> list[str]:
    if isinstance(value, (dict, list)) and value:
        return [head, *(f"  {line}" for line in _lines(value))]
    return [f"{head} {_scalar(value)}"]


def _item(value: Any) -> list[str]:
    first, *rest = _lines(value)
    return [f"- {first}", *(f"  {line}" for line in rest)]


def _scalar(value: Any) -> str:
    """A word as it is where YAML reads it as that; all else as JSON, which YAML reads, too."""
    if isinstance(value, str) and PLAIN.fullmatch(value) and value.lower() not in OTHER:
        return value
    return json.dumps(value)
