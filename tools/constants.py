"""What `make constants` does: counts the numbers that somebody chose, file by file.

- constants: names bound at module level to anything with a number in it
- literals: numbers in the code but 0, ±1, 2, 3, 4, 6, 9, ¼ and ½; how many of these stand in data tables (eight numbers
  or more in one tuple, list, set or dictionary)
- lines: all of the file's
"""

from __future__ import annotations

import ast
import sys
from dataclasses import astuple, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLES = (ast.Tuple, ast.List, ast.Set, ast.Dict)
PLAIN = {0, 1, 2, 3, 4, 6, 9, 0.25, 0.5}
# Numbers in one list from which it is data.
TABLE = 8


@dataclass(frozen=True)
class Count:
    """Of a file, or of several."""

    constants: int = 0
    literals: int = 0
    tabled: int = 0
    lines: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


def counted(source: str) -> Count:
    """Of one file's text."""
    tree = ast.parse(source)
    constants = sum(_names(statement) for statement in tree.body)
    return Count(constants, _literals(tree, False), _literals(tree, True), len(source.splitlines()))


def _names(statement: ast.stmt) -> int:
    """How many names a statement binds to what has a number in it."""
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        return 0
    if statement.value is None or not any(map(_number, ast.walk(statement.value))):
        return 0
    return sum(len(target.elts) if isinstance(target, ast.Tuple) else 1 for target in targets)


def _literals(node: ast.AST, tabled: bool) -> int:
    """Numbers below a node that are not plain; those in tables alone if `tabled`."""
    if isinstance(node, TABLES) and sum(map(_number, ast.walk(node))) >= TABLE:
        tabled = False
    if isinstance(node, ast.Constant):
        return int(not tabled and _number(node) and node.value not in PLAIN)
    return sum(_literals(child, tabled) for child in ast.iter_child_nodes(node))


def _number(node: ast.AST) -> bool:
    """Whether it is one, written out."""
    return isinstance(node, ast.Constant) and type(node.value) in (int, float, complex)


def tallied(folder: Path) -> dict[str, Count]:
    """Of every file, by its path in the folder."""
    files = sorted(folder.rglob("*.py"))
    return {path.relative_to(folder).as_posix(): counted(path.read_text(encoding="utf-8")) for path in files}


def main() -> int:
    files = tallied(ROOT / "shellcore")
    print(f"{'constants':>9} {'literals':>9} {'of tables':>9} {'lines':>7}  shellcore")
    rows = sorted(files.items(), key=lambda row: (-row[1].constants, -row[1].literals, row[0]))
    for name, count in [*rows, ("in all", sum(files.values(), Count()))]:
        print(f"{count.constants:9} {count.literals:9} {count.tabled:9} {count.lines:7}  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
