"""What `make extension` does: a zip for each platform in dist/, built and validated by Blender's own tool.

1. fetch the scipy wheels of requirements/wheels.txt into wheels/ (checked by hash; only the missing ones),
2. copy what ships to build/extension/, with a manifest that lists the wheels,
3. build one zip per platform with the tool inside pip's bpy, and validate each.

`make extension ARGS=--without-wheels` builds one zip without scipy instead.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WHEELS, STAGE, DIST = ROOT / "wheels", ROOT / "build" / "extension", ROOT / "dist"
SHIPPED = ("__init__.py", "LICENSE", "addon", "shellcore")

# Blender's name of a platform and pip's for the wheels that run on it.
PLATFORMS = {
    "linux-x64": "manylinux2014_x86_64",
    "windows-x64": "win_amd64",
    "macos-arm64": "macosx_12_0_arm64",
}
PYTHONS = ("3.11", "3.13")


class Stop(Exception):
    """Ends the build with a sentence for the user."""


def main() -> int:
    bare = "--without-wheels" in sys.argv[1:]
    try:
        missing = [name for name in SHIPPED if not (ROOT / name).exists()]
        if missing:
            raise Stop(f"The extension cannot be built yet: {', '.join(missing)} is not there.")
        tool, tags = blender_tool()
        if bare:
            # For Blenders that a Linux distribution builds on its own Python, with scipy beside it: one zip for all.
            target = Path(sys.argv[sys.argv.index("--to") + 1]) if "--to" in sys.argv else DIST
            place = target.parent / "stage" if "--to" in sys.argv else STAGE
            stage([], place)
            target.mkdir(exist_ok=True)
            folders = ("--source-dir", str(place), "--output-dir", str(target))
            run(sys.executable, tool, "build", "--valid-tags", tags, *folders)
            return 0
        stage(fetched())
        shutil.rmtree(DIST, ignore_errors=True)
        DIST.mkdir()
        folders = ("--source-dir", str(STAGE), "--output-dir", str(DIST))
        run(sys.executable, tool, "build", "--split-platforms", "--valid-tags", tags, *folders)
        for archive in sorted(DIST.glob("*.zip")):
            run(sys.executable, tool, "validate", "--valid-tags", tags, str(archive))
        for line in inspected():
            print(line)
    except Stop as stop:
        print(stop, file=sys.stderr)
        return 1
    return 0


def blender_tool() -> tuple[str, str]:
    """Blender's script that builds extensions and its list of valid tags, found without loading bpy."""
    spec = importlib.util.find_spec("bpy")
    if spec is None or not spec.submodule_search_locations:
        raise Stop("Building the extension needs pip's bpy in the environment; run it through make extension.")
    scripts = next(Path(spec.submodule_search_locations[0]).glob("*/scripts"))
    tool = scripts / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
    return str(tool), str(scripts / "modules" / "_bpy_internal" / "extensions" / "tags.py")


def fetched() -> list[Path]:
    """The wheels, one for each platform and Python."""
    wheels = []
    for python in PYTHONS:
        tag = "cp" + python.replace(".", "")
        for platform, pip_platform in PLATFORMS.items():
            folder = WHEELS / f"{platform}-{tag}"
            if not list(folder.glob("*.whl")):
                print(f"fetching scipy for {platform}, Python {python}", flush=True)
                command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download"]
                command += ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--dest", str(folder)]
                command += ["--implementation", "cp", "--python-version", python, "--abi", tag]
                command += ["--platform", pip_platform, "-r", "requirements/wheels.txt"]
                run(*command)
            wheels += sorted(folder.glob("*.whl"))
    if len(wheels) != len(PLATFORMS) * len(PYTHONS):
        raise Stop(f"Expected one wheel per platform and Python, found {len(wheels)}: delete wheels/ and try again.")
    pins = (ROOT / "requirements" / "wheels.txt").read_text()
    changed = [wheel.name for wheel in wheels if hashlib.sha256(wheel.read_bytes()).hexdigest() not in pins]
    if changed:
        raise Stop(f"Not the wheels that requirements/wheels.txt names: {', '.join(changed)}; delete wheels/.")
    return wheels


def stage(wheels: list[Path], place: Path = STAGE) -> None:
    """Everything the zip may hold, and nothing else, in a folder, build/extension/ unless told otherwise."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, place / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            shutil.copy(source, place / name)
    if wheels:
        (place / "wheels").mkdir()
    for wheel in wheels:
        shutil.copy(wheel, place / "wheels" / wheel.name)
    manifest = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    if not wheels:
        (place / "blender_manifest.toml").write_text(manifest, encoding="utf-8")
        return
    (place / "blender_manifest.toml").write_text(with_wheels(manifest, [w.name for w in wheels]), encoding="utf-8")


def with_wheels(manifest: str, names: list[str]) -> str:
    """The manifest with a list of wheels before its first table (a key after one would belong to the table)."""
    listed = "wheels = [\n" + "".join(f'  "./wheels/{name}",\n' for name in names) + "]\n\n"
    lines = manifest.splitlines(keepends=True)
    table = next((i for i, line in enumerate(lines) if line.startswith("[")), len(lines))
    written = "".join([*lines[:table], listed, *lines[table:]])
    if tomllib.loads(written) != {**tomllib.loads(manifest), "wheels": [f"./wheels/{name}" for name in names]}:
        raise Stop("The list of wheels did not fit into blender_manifest.toml: keep every key above the first table.")
    return written


def inspected() -> list[str]:
    """A line for each zip; raises where one lacks a wheel, carries a foreign one, or something that does not ship."""
    lines = []
    allowed = {*SHIPPED, "blender_manifest.toml", "wheels"}
    for platform, pip_platform in PLATFORMS.items():
        archives = list(DIST.glob(f"*-{platform.replace('-', '_')}.zip"))
        if len(archives) != 1:
            raise Stop(f"Expected one zip for {platform} in dist/, found {len(archives)}.")
        with zipfile.ZipFile(archives[0]) as opened:
            names = [name for name in opened.namelist() if not name.endswith("/")]
        stray = sorted({name.split("/")[0] for name in names} - allowed)
        wheels = [name for name in names if name.endswith(".whl")]
        if stray:
            raise Stop(f"{archives[0].name} holds what does not ship: {', '.join(stray)}.")
        if len(wheels) != len(PYTHONS) or not all(pip_platform in name for name in wheels):
            raise Stop(f"{archives[0].name} does not hold exactly its own wheels: {', '.join(wheels) or 'none'}.")
        size = archives[0].stat().st_size / 1e6
        lines.append(f"dist/{archives[0].name}: {size:.0f} MB, {len(names)} files, {len(wheels)} wheels")
    return lines


def run(*command: str) -> None:
    """Run in the project's folder; a failure ends the build."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    if subprocess.run(command, cwd=ROOT, env=environment).returncode != 0:
        raise Stop(f"Failed: {' '.join(Path(part).name for part in command[1:4])} (see above).")


if __name__ == "__main__":
    sys.exit(main())
