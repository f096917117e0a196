"""docs/theory says which test checks each claim: those tests exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
DEFINED = set(re.findall(r"^ *(?:def|class) ((?:test_|Test)\w+)", "\n".join(TESTS.values()), re.MULTILINE))
FILES = {path.name for path in TESTS}


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "theory").glob("*.md")), ids=lambda page: page.stem)
def test_every_test_that_a_page_names_is_there(page):
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"\b(test_\w+(?:\.py)?|Test[A-Z]\w+)(?![\w*])", text)
    assert named
    missing = [name for name in named if name not in DEFINED and name not in FILES and f"{name}.py" not in FILES]
    assert not missing
    folders = re.findall(r"\btests/[\w/]+\.py", text)
    assert not [path for path in folders if not (ROOT / path).is_file()]
