"""What a scene was made from: marks that change when its bake, or its pictures alone, would come out otherwise.

Sentences may be mended and a camera moved without baking again: docstrings and comments count for nothing, and what
says how a scene is photographed has a mark of its own.
"""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
PHOTOGRAPHS = ("photography", "pictures")
"""Modules of the kit that no scene imports: they only photograph."""


def bake(name: str) -> str:
    """Of the scene without its `picture`, and of the kit it is built with."""
    kit = [_code(path) for path in _imported(HOME / f"{name}.py")]
    return _digest([_code(HOME / f"{name}.py", pictured=False), *kit])


def pictures(name: str) -> str:
    """Of the scene's `picture`, and of what takes it."""
    kit = [HOME / "kit" / f"{stem}.py" for stem in PHOTOGRAPHS]
    return _digest([_code(HOME / f"{name}.py", pictured=True), *(_code(path) for path in kit)])


def scene(name: str) -> str:
    """Of the scene's own code, whatever the kit does."""
    return _digest([_code(HOME / f"{name}.py")])


def _imported(path: Path) -> list[Path]:
    """Scenes and modules of the kit that this one imports, and those that they do, in the order of their names."""
    found, front = set(), [path]
    while front:
        here = front.pop()
        for node in ast.walk(ast.parse(here.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                inner = here.parent / (node.module or "").replace(".", "/")
                names = [inner.with_suffix(".py"), *(inner / f"{alias.name}.py" for alias in node.names)]
                new = {name for name in names if name.is_file()} - found
                found |= new
                front += new
    return sorted(found)


def _code(path: Path, pictured: bool | None = None) -> str:
    """A module as parsed, without docstrings; `pictured`: its `picture` alone, or all but that."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if pictured is not None:
        tree.body = [node for node in tree.body if (getattr(node, "name", "") == "picture") == pictured]
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [part for part in body if not _sentence(part)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _sentence(node: ast.AST) -> bool:
    """Whether a statement is nothing but text."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _digest(texts: list[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:20]
