"""A second copy of shellcore whose dense products by numpy are told, wherever they stand: which are large?

numpy as Blender's own builds have it knows no BLAS, and multiplies large matrices forty times as slowly. Of no account
is what multiplies each number a few times: vectors with matrices, stacks of small matrices. So every `@`, np.matmul and
alike, and np.linalg is asked how many multiplications it takes for a number read or written.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import operator
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
COPY = "watched_shellcore"
PRODUCTS = ("dot", "matmul", "inner", "vdot", "tensordot")


class Watch:
    """What products cost: for each place in the code the largest number of multiplications for a number, of products
    of at least `least` multiplications."""

    def __init__(self, least: int = 20_000) -> None:
        self.least = least
        self.found: dict[str, float] = {}
        self.at = operator.matmul

    def product(self, place: str, how: Any, a: Any, b: Any, *rest: Any, **options: Any) -> Any:
        """A product of two, by `how`."""
        result = how(a, b, *rest, **options)
        if all(isinstance(one, np.ndarray) and one.dtype.kind in "fc" and one.ndim for one in (a, b)):
            self._tell(place, np.size(result) * a.shape[-1], a.size + b.size + np.size(result))
        return result

    def decomposition(self, place: str, how: Any, a: Any, *rest: Any, **options: Any) -> Any:
        """Something of np.linalg."""
        if isinstance(a, np.ndarray) and a.ndim >= 2 and how is not np.linalg.norm:
            self._tell(place, a.size * min(a.shape[-2:]), a.size)
        return how(a, *rest, **options)

    def _tell(self, place: str, multiplications: int, numbers: int) -> None:
        if multiplications >= self.least:
            self.found[place] = max(self.found.get(place, 0.0), multiplications / numbers)


class _Told(ast.NodeTransformer):
    """Products of a file as calls that are told."""

    def __init__(self, name: str) -> None:
        self._name = name

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.MatMult):
            return node
        return self._call("product", node, ast.parse("__watch__.at", mode="eval").body, [node.left, node.right], [])

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = ast.unparse(node.func)
        if called in {f"np.{name}" for name in PRODUCTS}:
            return self._call("product", node, node.func, node.args, node.keywords)
        if called.startswith("np.linalg."):
            return self._call("decomposition", node, node.func, node.args, node.keywords)
        return node

    def _call(
        self, kind: str, node: ast.expr, how: ast.expr, arguments: list[ast.expr], keywords: list[ast.keyword]
    ) -> ast.AST:
        place = ast.Constant(f"{self._name}:{node.lineno}")
        function = ast.Attribute(ast.Name("__watch__", ast.Load()), kind, ast.Load())
        return ast.copy_location(ast.Call(function, [place, how, *arguments], keywords), node)


def told(source: str, name: str, watch: Watch, into: dict[str, Any]) -> None:
    """Run a file's text, its products told to `watch`."""
    tree = ast.fix_missing_locations(_Told(name).visit(ast.parse(source)))
    into["__watch__"] = watch
    exec(compile(tree, name, "exec"), into)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name.split(".")[0] != COPY:
            return None
        place = ROOT / "shellcore" / Path(*name.split(".")[1:])
        package = place.is_dir()
        file = place / "__init__.py" if package else place.with_suffix(".py")
        if not file.is_file():
            return None
        return importlib.util.spec_from_file_location(
            name, file, loader=self, submodule_search_locations=[str(place)] if package else None
        )

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        file = Path(str(module.__file__))
        told(file.read_text(encoding="utf-8"), file.relative_to(ROOT).as_posix(), self._watch, module.__dict__)


@contextmanager
def watched() -> Iterator[tuple[ModuleType, Watch]]:
    """The copy, and what is told of it."""
    watch = Watch()
    finder = _Finder(watch)
    sys.meta_path.insert(0, finder)
    try:
        yield importlib.import_module(COPY), watch
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.split(".")[0] == COPY]:
            del sys.modules[name]
