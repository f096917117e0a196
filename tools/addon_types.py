"""mypy on addon/ against Blender's stubs. The add-on reaches the core as its sibling (`..shellcore`), inside a package
whose name Blender chooses, so both are shown to mypy inside one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAGE = ROOT / "build" / "types"


def main() -> int:
    package = STAGE / "thin_shell"
    package.mkdir(parents=True, exist_ok=True)
    for name in ("__init__.py", "addon", "shellcore"):
        link = package / name
        if not link.is_symlink():
            link.symlink_to(Path("..", "..", "..", name))
    environment = {**os.environ, "MYPYPATH": str(STAGE)}
    return subprocess.run(
        (sys.executable, "-m", "mypy", "-p", "thin_shell.addon"), cwd=ROOT, env=environment
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
