"""What `make extension` does: a zip for each platform in dist/, built and validated by Blender's own tool.

1. fetch the wheels of requirements/wheels*.txt into wheels/ (checked by hash; only the missing ones),
2. copy what ships to build/extension/, with a manifest that lists the wheels,
3. build one zip per platform with the tool inside pip's bpy, and validate each.

`make extension ARGS=--without-wheels` builds one zip without any instead, `ARGS="--only linux-x64"` one platform's;
`--to FOLDER` puts either there.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
WHEELS, STAGE, DIST = ROOT / "wheels", ROOT / "build" / "extension", ROOT / "dist"
SHIPPED = ("__init__.py", "LICENSE", "addon", "shellcore")

# Blender's name of a platform and what the names of its wheels end with; all carry those that end with ANY.
PLATFORMS = {"linux-x64": "_x86_64.whl", "windows-x64": "win_amd64.whl", "macos-arm64": "_arm64.whl"}
ANY = "-none-any.whl"


class Wheel(NamedTuple):
    """A wheel that ships: Blender's platform ("any": all) and pip's name for it, the Python, the pinned requirement."""

    platform: str
    tag: str
    python: str
    pins: str = "requirements/wheels.txt"

    def serves(self, platform: str) -> bool:
        return self.platform in (platform, "any")

    @property
    def folder(self) -> Path:
        return WHEELS / f"{self.platform}-cp{self.python.replace('.', '')}"


# Blender takes from a zip the wheel of its own Python and leaves the others; with none that fits it refuses the zip.
# Its own builds have 3.11 and 3.13. Linux distributions build it on their newest Python, which needs a newer scipy.
SHIPPED_WHEELS = (
    Wheel("linux-x64", "manylinux2014_x86_64", "3.11"),
    Wheel("linux-x64", "manylinux2014_x86_64", "3.13"),
    Wheel("linux-x64", "manylinux_2_28_x86_64", "3.14", "requirements/wheels314.txt"),
    Wheel("windows-x64", "win_amd64", "3.11"),
    Wheel("windows-x64", "win_amd64", "3.13"),
    Wheel("macos-arm64", "macosx_12_0_arm64", "3.11"),
    Wheel("macos-arm64", "macosx_12_0_arm64", "3.13"),
    Wheel("any", "any", "3.11", "requirements/wheels_any.txt"),
)


class Stop(Exception):
    """Ends the build with a sentence for the user."""


def main() -> int:
    options = arguments()
    try:
        missing = [name for name in SHIPPED if not (ROOT / name).exists()]
        if missing:
            raise Stop(f"The extension cannot be built yet: {', '.join(missing)} is not there.")
        tool, tags = blender_tool()
        platforms = [options.only] if options.only else list(PLATFORMS)
        wheels = [] if options.without_wheels else fetched(platforms)
        target = options.to or DIST
        place = target.parent / "stage" if options.to else STAGE
        stage(wheels, platforms, place)
        if wheels and not options.to:
            shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True, exist_ok=True)
        build = [sys.executable, tool, "build", "--valid-tags", tags]
        build += ["--source-dir", str(place), "--output-dir", str(target)]
        # Without wheels for the Blenders of distributions that bring scipy themselves: one zip for all.
        run(*build, *(["--split-platforms"] if wheels else []))
        for archive in sorted(target.glob("*.zip")):
            run(sys.executable, tool, "validate", "--valid-tags", tags, str(archive))
        if wheels:
            for line in inspected(target, platforms):
                print(line)
    except Stop as stop:
        print(stop, file=sys.stderr)
        return 1
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Build the extension's zips.")
    parser.add_argument("--without-wheels", action="store_true", help="one zip without scipy and threadpoolctl")
    parser.add_argument("--only", choices=sorted(PLATFORMS), help="the zip of one platform")
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="where to (default: dist/)")
    return parser.parse_args()


def blender_tool() -> tuple[str, str]:
    """Blender's script that builds extensions and its list of valid tags, found without loading bpy."""
    spec = importlib.util.find_spec("bpy")
    if spec is None or not spec.submodule_search_locations:
        raise Stop("Building the extension needs pip's bpy in the environment; run it through make extension.")
    scripts = next(Path(spec.submodule_search_locations[0]).glob("*/scripts"))
    tool = scripts / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
    return str(tool), str(scripts / "modules" / "_bpy_internal" / "extensions" / "tags.py")


def fetched(platforms: list[str]) -> list[Path]:
    """The wheels of these platforms, one for each Python."""
    wheels = []
    for wheel in SHIPPED_WHEELS:
        if not any(wheel.serves(platform) for platform in platforms):
            continue
        if not list(wheel.folder.glob("*.whl")):
            print(f"fetching {wheel.pins} for {wheel.platform}, Python {wheel.python}", flush=True)
            command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download"]
            command += ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--dest", str(wheel.folder)]
            command += ["--implementation", "cp", "--python-version", wheel.python]
            command += ["--abi", f"cp{wheel.python.replace('.', '')}", "--platform", wheel.tag, "-r", wheel.pins]
            run(*command)
        found = sorted(wheel.folder.glob("*.whl"))
        pins = (ROOT / wheel.pins).read_text()
        if len(found) != 1 or hashlib.sha256(found[0].read_bytes()).hexdigest() not in pins:
            names = ", ".join(path.name for path in found) or "nothing"
            raise Stop(f"{wheel.folder.name} holds {names}, not the one wheel that {wheel.pins} names; delete wheels/.")
        wheels += found
    return wheels


def stage(wheels: list[Path], platforms: list[str], place: Path) -> None:
    """Everything the zip may hold, and nothing else, in a folder."""
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
    manifest = for_platforms((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"), platforms)
    if not wheels:
        (place / "blender_manifest.toml").write_text(manifest, encoding="utf-8")
        return
    (place / "blender_manifest.toml").write_text(with_wheels(manifest, [w.name for w in wheels]), encoding="utf-8")


def for_platforms(manifest: str, platforms: list[str]) -> str:
    """The manifest with these platforms alone."""
    listed = ", ".join(f'"{platform}"' for platform in platforms)
    return re.sub(r"(?m)^platforms = .*$", f"platforms = [{listed}]", manifest)


def with_wheels(manifest: str, names: list[str]) -> str:
    """The manifest with a list of wheels before its first table (a key after one would belong to the table)."""
    listed = "wheels = [\n" + "".join(f'  "./wheels/{name}",\n' for name in names) + "]\n\n"
    lines = manifest.splitlines(keepends=True)
    table = next((i for i, line in enumerate(lines) if line.startswith("[")), len(lines))
    written = "".join([*lines[:table], listed, *lines[table:]])
    if tomllib.loads(written) != {**tomllib.loads(manifest), "wheels": [f"./wheels/{name}" for name in names]}:
        raise Stop("The list of wheels did not fit into blender_manifest.toml: keep every key above the first table.")
    return written


def inspected(folder: Path, platforms: list[str]) -> list[str]:
    """A line for each zip; raises where one lacks a wheel, carries a foreign one, or something that does not ship."""
    lines = []
    allowed = {*SHIPPED, "blender_manifest.toml", "wheels"}
    for platform in platforms:
        archives = list(folder.glob(f"*-{platform.replace('-', '_')}.zip"))
        if len(archives) != 1:
            raise Stop(f"Expected one zip for {platform} in {folder.name}/, found {len(archives)}.")
        with zipfile.ZipFile(archives[0]) as opened:
            names = [name for name in opened.namelist() if not name.endswith("/")]
        stray = sorted({name.split("/")[0] for name in names} - allowed)
        wheels = [name for name in names if name.endswith(".whl")]
        if stray:
            raise Stop(f"{archives[0].name} holds what does not ship: {', '.join(stray)}.")
        wanted = sum(wheel.serves(platform) for wheel in SHIPPED_WHEELS)
        if len(wheels) != wanted or not all(name.endswith((PLATFORMS[platform], ANY)) for name in wheels):
            raise Stop(f"{archives[0].name} does not hold exactly its own wheels: {', '.join(wheels) or 'none'}.")
        size = archives[0].stat().st_size / 1e6
        lines.append(f"{folder.name}/{archives[0].name}: {size:.0f} MB, {len(names)} files, {len(wheels)} wheels")
    return lines


def run(*command: str) -> None:
    """Run in the project's folder; a failure ends the build."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    if subprocess.run(command, cwd=ROOT, env=environment).returncode != 0:
        raise Stop(f"Failed: {' '.join(Path(part).name for part in command[1:4])} (see above).")


if __name__ == "__main__":
    sys.exit(main())
