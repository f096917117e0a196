"""A real Blender with the extension installed, where there is one.

`REAL_BLENDER` names a program with `run ARGUMENTS` and `shot PICTURE SECONDS ARGUMENTS` (the same in a window);
beside the project `shared/tools/real-blender` is looked for. The zip is the one without wheels: distributions build
Blender on a Python of their own and keep scipy beside it.
"""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("REAL_BLENDER", ROOT.parent / "shared" / "tools" / "real-blender"))


@pytest.fixture(scope="module")
def blender(tmp_path_factory):
    """Runs Blender, `blender(*arguments)`, with a home of its own; gives the exit code and what it said."""
    if not TOOL.is_file():
        pytest.skip("no real Blender here (REAL_BLENDER)")
    archives = sorted((ROOT / "dist").glob("thin_shell-?.?.?.zip"))
    if not archives:
        pytest.skip("no zip: make extension ARGS=--without-wheels")
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("scene")

    def run(*arguments, mode=("run",)):
        done = subprocess.run(
            (str(TOOL), *mode, *arguments),
            cwd=folder,
            env={**os.environ, "REAL_BLENDER_HOME": str(home)},
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout + done.stderr

    run.folder = folder
    archive = folder / archives[-1].name
    archive.write_bytes(archives[-1].read_bytes())
    code, said = run("-b", "--command", "extension", "install-file", "-r", "user_default", "-e", str(archive))
    assert code == 0 and "Installed" in said and "Error" not in said, said
    return run
