"""What `make constants` counts, and that there come no more of them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Lower them whenever there are fewer. (They hold two ways of stepping, until the second-order one is the default.)
MOST_CONSTANTS, MOST_LITERALS = 314, 589


@pytest.fixture
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("constants", ROOT / "tools" / "constants.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("source", "constants", "literals", "tabled"),
    [
        ("A = 5", 1, 1, 0),
        ("A, B = 2, -7.5", 2, 1, 0),
        ("A: float = 1e-3", 1, 1, 0),
        ("A = 2.0 * B", 1, 0, 0),
        ("A = Care(last=0.08)", 1, 1, 0),
        ("A = True\nB = 'five'\nC = D", 0, 0, 0),
        ("def f():\n    a = 0.1 + 0.25 + 0.5 - 1 + 9 * 6\n    return a", 0, 1, 0),
        ("def f(a=7):\n    return a[12]", 0, 2, 0),
        ("T = [5, 7, 8, 5, 7, 8, 5, 7]", 1, 8, 8),
        ("T = {'a': (5, 7, 8), 'b': (5, 7, 8), 'c': (1, 2)}\nU = (5, 7)", 2, 8, 6),
        ("# 5\n'''6'''\n\nx = f'{7}'", 1, 1, 0),
    ],
)
def test_what_counts(tool: ModuleType, source: str, constants: int, literals: int, tabled: int) -> None:
    found = tool.counted(source)
    assert (found.constants, found.literals, found.tabled) == (constants, literals, tabled)
    assert found.lines == source.count("\n") + 1


def test_no_more_than_there_were(tool: ModuleType) -> None:
    files = tool.tallied(ROOT / "shellcore")
    assert "linalg/threads.py" in files
    found = sum(files.values(), tool.Count())
    assert found.constants <= MOST_CONSTANTS, "make constants shows where they are"
    assert found.literals <= MOST_LITERALS, "make constants shows where they are"
