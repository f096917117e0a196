"""On a machine without Blender's system libraries the tools name packages, not linker errors."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from system_libraries import missing_for_bpy, named_by_linker, not_found, sentence

LISTING = """\tlinux-vdso.so.1 (0x00007f)
\tlibXi.so.6 => not found
\tlibGL.so.1 => not found
\tlibm.so.6 => /lib/libm.so.6 (0x00007f)
\tlibXi.so.6 => not found
"""


def test_names_libraries_and_packages():
    assert not_found(LISTING) == ["libGL.so.1", "libXi.so.6"]
    said = sentence(not_found(LISTING))
    assert "libXi.so.6" in said and "apt-get install libgl1 libxi6" in said


def test_reads_the_linkers_own_words():
    assert named_by_linker("libSM.so.6: cannot open shared object file: No such file") == ["libSM.so.6"]
    assert "apt-get" not in sentence(["libunheard_of.so.2"])


@pytest.mark.parametrize(
    "words", ["libXxf86vm.so.1: cannot open shared object file: No such file or directory", "other"]
)
def test_a_python_whose_bpy_does_not_load(tmp_path, words):
    package = tmp_path / "lib" / "python3" / "site-packages"
    package.mkdir(parents=True)
    (package / "bpy.py").write_text(f"raise ImportError({words!r})")
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nPYTHONPATH={package} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    said = missing_for_bpy(python)
    assert ("libxxf86vm1" in said) if "Xxf" in words else ("does not load: other" in said)
    (package / "bpy.py").write_text("")
    assert missing_for_bpy(python) == ""
