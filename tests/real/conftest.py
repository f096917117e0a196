"""A real Blender with the extension installed, where there is one.

`REAL_BLENDER` names a program with `run ARGUMENTS` and `shot PICTURE SECONDS ARGUMENTS` (the same in a window). Where
it is set nothing here skips; where it is not, the last line of the run says so. The zip is the one that is released
for Linux, with its wheels.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = os.environ.get("REAL_BLENDER", "")


def pytest_unconfigure():
    """Below pytest's own last line."""
    if not TOOL:
        print("real Blender: not run", flush=True)


@pytest.fixture(scope="session")
def released(tmp_path_factory):
    """The zip as `make extension` makes it, from the files as they are now."""
    if not TOOL:
        pytest.skip("REAL_BLENDER names no real Blender")
    assert shutil.which(TOOL), f"REAL_BLENDER is {TOOL}, which is no program that can be run"
    folder = tmp_path_factory.mktemp("zip") / "dist"
    command = (sys.executable, "-P", str(ROOT / "tools" / "extension.py"), "--only", "linux-x64", "--to", str(folder))
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    return next(folder.glob("*-linux_x64.zip"))


@pytest.fixture(scope="module")
def blender(released, tmp_path_factory):
    """Runs Blender, `blender(*arguments)`, with a home of its own; gives the exit code and what it said."""
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("scene")

    def run(*arguments, mode=("run",)):
        done = subprocess.run(
            (TOOL, *mode, *arguments),
            cwd=folder,
            env={**os.environ, "REAL_BLENDER_HOME": str(home)},
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout + done.stderr

    run.folder = folder
    code, said = run("-b", "--command", "extension", "install-file", "-r", "user_default", "-e", str(released))
    assert code == 0 and "Installed" in said and "Error" not in said, said
    return run
