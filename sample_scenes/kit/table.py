"""The gallery's page: every scene with its paper, what to see, what differs and what was measured."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path
from typing import Any

from .card import Card

HEAD = """# Gallery

Every picture is a scene in `sample_scenes/`, built from nothing through the add-on, baked without a window and
rendered with Cycles; `make scene NAME=beams` makes one of them again, `make gallery` all of them small (pictures in
`out/gallery/`), `make gallery FULL=1` those below. Under each picture: what to see, what is not as in the paper, and
the fact that the scene asserts (`make test` does so at reduced size) with the numbers of the full one. The files in
`sample_scenes/blends/` are some of them to open and press Bake in.
"""


def parts(name: str) -> tuple[Card, str, str, str]:
    """Card, and of the docstring: first sentence, what to see, what differs."""
    module = importlib.import_module(f"sample_scenes.{name}")
    text = {"": "", "See:": "", "Differs:": ""}
    for paragraph in inspect.getdoc(module).split("\n\n"):
        label = next((key for key in ("See:", "Differs:") if paragraph.startswith(key)), "")
        text[label] += " " + " ".join(paragraph.removeprefix(label).split())
    return module.CARD, *(text[key].strip() for key in ("", "See:", "Differs:"))


def kept(folder: Path) -> dict[str, Any]:
    """What was measured, by scene; beside the pictures, so that they can be made one at a time."""
    path = folder / "facts.json"
    return json.loads(path.read_text()) if path.is_file() else {}


def keep(name: str, record: dict[str, Any], folder: Path) -> None:
    """Note what a scene measured."""
    facts = kept(folder) | {name: {key: record[key] for key in ("scene", "statement", "holds", "numbers")}}
    (folder / "facts.json").write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n")


def write(names: tuple[str, ...], folder: Path) -> None:
    """`README.md` beside the contact sheets."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "README.md").write_text(page(names, folder))


def page(names: tuple[str, ...], folder: Path) -> str:
    """The page for the pictures and the facts in a folder."""
    facts, rows, entries = kept(folder), [], []
    for name in names:
        card, first, see, differs = parts(name)
        rows.append(f"| [{card.title}](#{name}) | {card.paper} | {card.figure or '–'} | `{name}` |")
        figure = f", figure {card.figure}" if card.figure else ""
        entry = f'<a id="{name}"></a>\n## {card.title}\n\n*{card.paper}{figure}.* {first}\n'
        if (folder / f"{name}.jpg").is_file():
            entry += f"\n![{card.title}]({name}.jpg)\n"
        entry += f"\n- See: {see}\n- Differs: {differs}\n"
        if name in facts:
            fact = facts[name]
            numbers = "; ".join(f"{label} {value:.3g}" for label, value in fact["numbers"].items())
            entry += f"- Measured: {fact['statement']}: {numbers}.{'' if fact['holds'] else ' **Does not hold.**'}\n"
        entries.append(entry)
    table = "| scene | paper | figure | name |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"
    return f"{HEAD}\n{table}\n" + "\n".join(entries)
