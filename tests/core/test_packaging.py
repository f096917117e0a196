"""The extension's manifest and root, as far as they can be checked without Blender."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")


@pytest.fixture
def extension():
    spec = importlib.util.spec_from_file_location("extension", ROOT / "tools" / "extension.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_root_registers_through_the_addon_and_loads_it_only_then(tmp_path, monkeypatch):
    package = tmp_path / "thin_shell"
    (package / "addon").mkdir(parents=True)
    (package / "__init__.py").write_bytes((ROOT / "__init__.py").read_bytes())
    (package / "addon" / "__init__.py").write_text(
        "calls = []\ndef register(): calls.append('on')\ndef unregister(): calls.append('off')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import thin_shell

    assert "bpy" not in sys.modules and "thin_shell.addon" not in sys.modules
    thin_shell.register()
    thin_shell.unregister()
    assert sys.modules["thin_shell.addon"].calls == ["on", "off"]
    for name in ("thin_shell.addon", "thin_shell"):
        del sys.modules[name]


def test_manifest_keeps_the_rules_of_the_platform():
    manifest = tomllib.loads(MANIFEST)
    assert manifest["id"] == "thin_shell"
    assert len(manifest["tagline"]) <= 64 and manifest["tagline"][-1].isalnum()
    assert "blender" not in manifest["name"].lower()
    assert set(manifest["permissions"]) == {"files"}
    assert {"__pycache__/", ".*", "/*.zip", "*.blend[1-9]"} <= set(manifest["build"]["paths_exclude_pattern"])
    assert "wheels" not in manifest


def test_one_version_number():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert tomllib.loads(MANIFEST)["version"] == project["version"]


def test_platforms_of_manifest_and_wheels_agree(extension):
    assert tomllib.loads(MANIFEST)["platforms"] == list(extension.PLATFORMS)
    for platform in extension.PLATFORMS:
        assert {"3.11", "3.13"} <= {wheel.python for wheel in extension.SHIPPED_WHEELS if wheel.platform == platform}
    for name in {wheel.pins for wheel in extension.SHIPPED_WHEELS}:
        wanted = sum(wheel.pins == name for wheel in extension.SHIPPED_WHEELS)
        assert (ROOT / name).read_text().count("--hash=sha256:") == wanted, name


def test_a_zip_of_one_platform_says_so(extension):
    alone = tomllib.loads(extension.for_platforms(MANIFEST, ["linux-x64"]))
    assert alone == {**tomllib.loads(MANIFEST), "platforms": ["linux-x64"]}


def test_wheels_are_listed_above_the_tables(extension):
    written = tomllib.loads(extension.with_wheels(MANIFEST, ["a-1-cp311-cp311-win_amd64.whl"]))
    assert written["wheels"] == ["./wheels/a-1-cp311-cp311-win_amd64.whl"]
    assert {key: value for key, value in written.items() if key != "wheels"} == tomllib.loads(MANIFEST)


def test_a_manifest_that_lists_wheels_already_is_refused(extension):
    listed = extension.with_wheels(MANIFEST, ["a-1-cp311-cp311-win_amd64.whl"])
    with pytest.raises((extension.Stop, tomllib.TOMLDecodeError)):
        extension.with_wheels(listed, ["b-1-cp311-cp311-win_amd64.whl"])
