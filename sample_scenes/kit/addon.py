"""The add-on of this checkout, loaded as Blender loads it: a package with the core inside."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NAME = "thin_shell"


def load() -> Any:
    """Register the add-on once; its package."""
    if NAME not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            NAME, ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
        )
        package = importlib.util.module_from_spec(spec)
        sys.modules[NAME] = package
        spec.loader.exec_module(package)
        package.register()
    return sys.modules[NAME]


def core() -> Any:
    """`shellcore` as the add-on sees it: never a second copy under another name."""
    load()
    return importlib.import_module(f"{NAME}.shellcore")
