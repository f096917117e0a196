"""Which system packages Blender as a module is missing, said before the linker says it worse."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

# Where Debian and Ubuntu keep the libraries that bpy links to and no wheel carries.
PACKAGES = {
    "libX11.so.6": "libx11-6",
    "libXrender.so.1": "libxrender1",
    "libXxf86vm.so.1": "libxxf86vm1",
    "libXfixes.so.3": "libxfixes3",
    "libXi.so.6": "libxi6",
    "libXext.so.6": "libxext6",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libSM.so.6": "libsm6",
    "libICE.so.6": "libice6",
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libgomp.so.1": "libgomp1",
    "libstdc++.so.6": "libstdc++6",
    "libxcb.so.1": "libxcb1",
    "libz.so.1": "zlib1g",
    "libuuid.so.1": "libuuid1",
}


LOAD = """import os
try:
    import bpy
except ImportError as error:
    print(error, flush=True)
    os._exit(3)
os._exit(0)
"""


def missing_for_bpy(python: Path) -> str:
    """A sentence that names what to install, empty where bpy loads."""
    # In a process of its own: some versions crash when they are cleared away, which says nothing about loading.
    tried = subprocess.run((str(python), "-c", LOAD), capture_output=True, text=True)
    if tried.returncode == 0:
        return ""
    modules = sorted(python.parent.parent.glob("lib/python*/site-packages/bpy/__init__*.so"))
    names = not_found(_ldd(modules[0])) if modules else []
    names = names or named_by_linker(tried.stdout + tried.stderr)
    if not names:
        return f"Blender as a module does not load: {(tried.stdout + tried.stderr).strip()[-400:]}"
    return sentence(names)


def sentence(names: list[str]) -> str:
    packages = sorted({PACKAGES.get(name, "") for name in names} - {""})
    install = f": apt-get install {' '.join(packages)} (Debian, Ubuntu)" if packages else ""
    return f"Blender as a module needs system libraries that are not here ({', '.join(names)}){install}"


def not_found(listing: str) -> list[str]:
    """Libraries that `ldd` did not find, those inside wheels left out."""
    return sorted(set(re.findall(r"^\s*(\S+) => not found", listing, re.MULTILINE)))


def named_by_linker(message: str) -> list[str]:
    """The library in 'libX.so.1: cannot open shared object file'."""
    return sorted(set(re.findall(r"(\S+\.so[.\d]*): cannot open shared object", message)))


def _ldd(module: Path) -> str:
    try:
        return subprocess.run(("ldd", str(module)), capture_output=True, text=True).stdout
    except OSError:
        return ""
