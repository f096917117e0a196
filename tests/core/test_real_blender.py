"""A run without a real Blender says so in its last line; with one, nothing of tests/real is left out in silence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import bootstrap

ROOT = bootstrap.ROOT
SAID = "real Blender: not run"
NOTHING_MISSING = """#!/bin/sh
echo '===== 3 passed in 0.10s ====='
"""


def environment(real=""):
    kept = {key: value for key, value in os.environ.items() if key not in ("REAL_BLENDER", "PYTEST_ADDOPTS")}
    return {**kept, "REAL_BLENDER": real} if real else kept


def run_real(real=""):
    command = (sys.executable, "-m", "pytest", "tests/real", "-q", "-p", "no:cacheprovider", "-k", "scipy")
    done = subprocess.run(command, cwd=ROOT, env=environment(real), capture_output=True, text=True)
    return done.returncode, done.stdout


def test_pytest_says_it_last():
    code, said = run_real()
    assert code == 0 and said.splitlines()[-1] == SAID, said


def test_a_name_that_leads_nowhere_is_a_fault_and_no_skip():
    code, said = run_real("/nowhere/blender")
    assert code == 1 and "/nowhere/blender" in said and SAID not in said and "skipped" not in said, said


@pytest.mark.parametrize("real", ["", "/usr/bin/env"])
def test_bootstrap_says_it_last(real, monkeypatch, capfd):
    ran = []
    monkeypatch.setattr(bootstrap, "prepared", lambda environment: Path(sys.executable))
    monkeypatch.setattr(bootstrap, "missing_for_bpy", lambda python: "")
    monkeypatch.setattr(bootstrap, "run", lambda python, *arguments, kernels="": ran.append(arguments[-1]) or 0)
    monkeypatch.setenv("REAL_BLENDER", real)
    assert bootstrap.test([]) == 0
    assert (capfd.readouterr().out.splitlines()[-1] == SAID) == (not real)
    assert ("tests/real" in ran) == bool(real)


def test_a_real_blender_that_cannot_be_tested_fails_the_run(monkeypatch, capfd):
    monkeypatch.setattr(bootstrap, "prepared", lambda environment: Path(sys.executable))
    monkeypatch.setattr(bootstrap, "missing_for_bpy", lambda python: "libGL.so.1 is missing")
    monkeypatch.setattr(bootstrap, "run", lambda python, *arguments, kernels="": 0)
    monkeypatch.setenv("REAL_BLENDER", "/usr/bin/env")
    monkeypatch.delenv("CI", raising=False)
    assert bootstrap.test([]) == 1
    assert "failed: a real Blender: libGL.so.1" in capfd.readouterr().out


@pytest.mark.parametrize("real", ["", "/usr/bin/env"])
def test_ci_says_it_last(real, tmp_path):
    (tmp_path / "make").write_text(NOTHING_MISSING)
    (tmp_path / "make").chmod(0o755)
    given = {**environment(real), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run((str(ROOT / ".ci" / "run"),), env=given, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == ("===== 3 passed in 0.10s =====" if real else SAID)
