"""import-linter on shellcore: rooms import downwards only (pyproject.toml lists them)."""

from __future__ import annotations

import sys
from pathlib import Path

from importlinter.cli import lint_imports_command

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
lint_imports_command(["--no-cache"])
