"""Make the environments, then run in them: what stands behind `make demo`, `make test` and the rest.

Runs on any Python from 3.8 on with nothing installed. For each suite it
1. finds a Python of the version the suite needs,
2. makes a virtual environment with exactly the packages of its requirements file (again only when that file changes;
   nothing touches the network in between),
3. runs the checks and pytest there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from system_libraries import missing_for_bpy

ROOT = Path(__file__).resolve().parent.parent
NO_PYTHON = (
    "Thin Shell needs Python 3.11 or 3.13 with its venv module, and none was found: install one or put it on the PATH."
)


@dataclass(frozen=True)
class Environment:
    """A virtual environment: which Python, which pinned packages, which folder of the project."""

    python: str
    requirements: str
    folder: str
    built: tuple[str, ...] = ()
    """A package that is built from source there, and what its build is told; it takes a compiler and minutes."""


@dataclass(frozen=True)
class Suite:
    """Tests that run together in one environment, after `checks` (arguments to its Python)."""

    name: str
    environment: Environment
    tests: tuple[str, ...]
    skip: tuple[str, ...] = ()
    checks: tuple[tuple[str, ...], ...] = ()
    workers: int = 2
    runner: tuple[str, ...] = ("-m", "pytest")
    marked: str = ""
    kernels: str = ""
    """Which processor's kernels OpenBLAS takes; those of the one it runs on where empty."""


PY311 = Environment("3.11", "requirements/py311.txt", ".venv-3.11")
PY313 = Environment("3.13", "requirements/py313.txt", ".venv-3.13")
BPY42 = Environment("3.11", "requirements/bpy42.txt", ".venv-bpy-4.2")
BPY45 = Environment("3.11", "requirements/bpy45.txt", ".venv-bpy-4.5")
BPY50 = Environment("3.11", "requirements/bpy50.txt", ".venv-bpy-5.0")
BPY52 = Environment("3.13", "requirements/bpy52.txt", ".venv-bpy-5.2")

# numpy as Blender's own builds have it.
NO_BLAS = Environment(
    "3.11",
    "requirements/py311.txt",
    ".venv-3.11-no-blas",
    built=("numpy", "-Dallow-noblas=true", "-Dblas=none", "-Dlapack=none"),
)

CHECKS = (
    ("-m", "ruff", "check", "."),
    ("-m", "ruff", "format", "--check", "."),
    ("-m", "mypy", "-p", "shellcore"),
    ("tools/layers.py",),
)
# Not with the rest of the core: what runs in Blender, and what takes the time, which needs the machine for itself.
APART = ("tests/addon", "tests/farm", "tests/real", "tests/scenes", "tests/timed")

# What stands in benchmarks/ and is not run by `make bench`: shared code, what has a command of its own.
NO_BENCH = (
    "common",
    "against_cloth",
    "drape_frames",
    "nature",
    "nature_trials",
    "everyday",
    "everyday_scenes",
    "fuzz",
    "farm_scaling",
)

ADDON_TYPES = (("tools/addon_types.py",),)
IN_BPY = ("tools/in_blender.py",)

# Suites inside Blender run in one process each: a worker that bpy crashes at its exit would look like a failed test.
SUITES = (
    Suite("core on 3.11", PY311, ("tests",), skip=APART, checks=CHECKS + ADDON_TYPES),
    Suite("core on 3.13", PY313, ("tests",), skip=APART, checks=CHECKS),
    # What round-off could decide, with kernels that add up in other orders than most processors' own.
    Suite("last bit, Prescott", PY311, ("tests",), skip=APART, marked="last_bit", kernels="Prescott"),
    Suite("last bit, Haswell", PY311, ("tests",), skip=APART, marked="last_bit", kernels="Haswell"),
    Suite("timed on 3.11", PY311, ("tests/timed",), workers=1),
    Suite("timed on 3.13", PY313, ("tests/timed",), workers=1),
    Suite("Blender 4.2", BPY42, ("tests/addon",), workers=1, runner=IN_BPY),
    Suite("Blender 4.5", BPY45, ("tests/addon",), workers=1, runner=IN_BPY),
    Suite("Blender 5.0", BPY50, ("tests/addon",), workers=1, runner=IN_BPY),
    Suite("Blender 5.2", BPY52, ("tests/addon",), workers=1, runner=IN_BPY),
    # The gallery's scenes at reduced size, in one Blender only: what they test is physics, not versions.
    Suite("sample scenes", BPY42, ("tests/scenes",), workers=1, runner=IN_BPY),
    # Engines of farms, which are installed beside one Blender.
    Suite("farm", BPY42, ("tests/farm",), workers=1, runner=IN_BPY),
)
# By hand, with BLAS=none.
WITHOUT_BLAS = Suite("core without BLAS", NO_BLAS, ("tests",), skip=APART)
# Where REAL_BLENDER names a program that runs one.
REAL_BLENDER = Suite("a real Blender", BPY42, ("tests/real",), workers=1, runner=IN_BPY)


class Stop(Exception):
    """Ends the run with a sentence for the user."""


def main(arguments: list[str]) -> int:
    commands = {
        "test": test, "demo": demo, "bench": bench, "bench-cloth": bench_cloth,
        "bench-nature": bench_nature, "bench-everyday": bench_everyday, "bench-fuzz": bench_fuzz, "validate": validate,
        "scene": scene, "gallery": gallery, "blends": blends, "extension": extension, "constants": constants,
        "farm-demo": farm_demo,
    }  # fmt: skip
    command = commands.get(arguments[0]) if arguments else None
    try:
        if command is None:
            raise Stop(f"usage: bootstrap.py {'|'.join(commands)} [arguments]")
        return command(arguments[1:])
    except Stop as stop:
        print(stop, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def test(arguments: list[str]) -> int:
    """Every suite whose Python is here; with CI=true every suite; with `--blas none` that on a numpy without BLAS."""
    if arguments[:1] == ["--blas"]:
        return without_blas(arguments[1:])
    real = bool(os.environ.get("REAL_BLENDER"))
    ready, missing = [], []
    for suite in (*SUITES, REAL_BLENDER) if real else SUITES:
        python = prepared(suite.environment)
        why = f"there is no Python {suite.environment.python} here"
        if python is not None and suite.runner == IN_BPY:
            why = missing_for_bpy(python)
        if python is None or (suite.runner == IN_BPY and why):
            missing.append((suite, why))
        else:
            ready.append((suite, python))
    if not ready:
        raise Stop(NO_PYTHON)
    if missing and os.environ.get("CI", "").lower() in ("1", "true"):
        needs = "; ".join(f"{suite.name}: {why}" for suite, why in missing)
        raise Stop(f"With CI=true nothing is skipped, but {needs}.")

    failed = [f"{suite.name}: {why}" for suite, why in missing if suite is REAL_BLENDER]
    for suite, python in ready:
        say(suite.name)
        for check in suite.checks:
            if run(python, *check) != 0:
                failed.append(f"{suite.name}: {' '.join(check)}")
        command = (*suite.runner, *pytest_arguments(suite), *arguments)
        code = run(python, *command, kernels=suite.kernels)
        if code < 0 and suite.runner == IN_BPY:
            # No test has failed: the process has crashed, which is seen once in a while and not understood.
            say(f"{suite.name}: killed by signal {-code}, run once more")
            code = run(python, *command, kernels=suite.kernels)
        if code not in passing(arguments):
            failed.append(f"{suite.name}: pytest")
    for suite, why in missing:
        say(f"skipped: {suite.name}: {why}")
    for failure in failed:
        say(f"failed: {failure}")
    if not real:
        print("real Blender: not run", flush=True)
    return 1 if failed else 0


def without_blas(arguments: list[str]) -> int:
    """Tests of the core, and what everyday scenes cost, on a numpy that has no BLAS."""
    if arguments[:1] != ["none"]:
        raise Stop("BLAS takes none: make test BLAS=none.")
    python = prepared(NO_BLAS)
    if python is None:
        raise Stop(f"There is no Python {NO_BLAS.python} here.")
    say(WITHOUT_BLAS.name)
    failed = run(python, "-m", "pytest", *pytest_arguments(WITHOUT_BLAS), *arguments[1:])
    return failed or run(python, "benchmarks/everyday.py")


def pytest_arguments(suite: Suite) -> list[str]:
    workers = ["-n", str(suite.workers)] if suite.workers > 1 else []
    marked = ["-m", suite.marked] if suite.marked else []
    return [*workers, *marked, *(f"--ignore={path}" for path in suite.skip), *suite.tests]


def passing(arguments: list[str]) -> tuple[int, ...]:
    """Exit codes of pytest that are no failure; with ARGS that select tests a suite may have none (5)."""
    return (0, 5) if arguments else (0,)


def demo(arguments: list[str]) -> int:
    return run(any_python(), "tools/demo.py", *arguments)


def bench(arguments: list[str]) -> int:
    """Every benchmark, one after the other, or those named; each writes JSON to out/ and pictures to docs/."""
    python = any_python()
    names = arguments or sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if path.stem not in NO_BENCH)
    failed = []
    for name in names:
        say(name)
        if run(python, f"benchmarks/{name}.py") != 0:
            failed.append(name)
    for name in failed:
        say(f"failed: {name}")
    return 1 if failed else 0


def bench_cloth(arguments: list[str]) -> int:
    """Bakes against Blender's own Cloth, inside Blender 5.2; results and picture go to docs/."""
    inside, drawing = prepared(BPY52), any_python()
    if inside is None:
        raise Stop("The benchmark against Cloth needs Python 3.13, for Blender 5.2 as a module; none was found.")
    done = run(inside, "benchmarks/against_cloth.py", *arguments)
    return done or run(drawing, "benchmarks/cloth/picture.py")


def bench_nature(arguments: list[str]) -> int:
    """Random trials beside exact laws and fine runs."""
    return run(any_python(), "benchmarks/nature.py", *arguments)


def bench_everyday(arguments: list[str]) -> int:
    """What a frame and vertex of everyday scenes costs."""
    return run(any_python(), "benchmarks/everyday.py", *arguments)


def bench_fuzz(arguments: list[str]) -> int:
    """Random scenes, and what must never happen in them."""
    return run(any_python(), "benchmarks/fuzz.py", *arguments)


def validate(arguments: list[str]) -> int:
    """The tables and plots of docs/validation.md."""
    return run(any_python(), "benchmarks/validation.py", *arguments)


def scene(arguments: list[str]) -> int:
    """Bake and render the scenes named."""
    if not [word for word in arguments if not word.startswith("-")]:
        raise Stop("Which scene? make scene NAME=beams; docs/gallery/README.md lists them.")
    return run(blender(), "sample_scenes/run.py", *arguments)


def gallery(arguments: list[str]) -> int:
    """Every scene and the page of them; with --full the pictures that are kept, going on where it stopped."""
    return run(blender(), "sample_scenes/run.py", "all", *arguments)


def blends(arguments: list[str]) -> int:
    """The scenes kept as .blend files, saved by the oldest Blender so that all can open them."""
    return run(blender(), "sample_scenes/blends.py", *arguments)


def extension(arguments: list[str]) -> int:
    return run(blender(), "tools/extension.py", *arguments)


def farm_demo(arguments: list[str]) -> int:
    """Six variants of a flag, baked by two engines of a farm side by side."""
    return run(blender(), "tools/farm_demo.py", *arguments)


def constants(arguments: list[str]) -> int:
    """Numbers that somebody chose, by file."""
    return run(any_python(), "tools/constants.py", *arguments)


def blender() -> Path:
    """Blender 4.2 as a module: its files open in every later version."""
    python = prepared(BPY42)
    if python is None:
        raise Stop("This needs Python 3.11, for Blender 4.2 as a module; none was found.")
    why = missing_for_bpy(python)
    if why:
        raise Stop(why)
    return python


def any_python() -> Path:
    """The environment of the first Python found."""
    for environment in (PY311, PY313):
        python = prepared(environment)
        if python is not None:
            return python
    raise Stop(NO_PYTHON)


def prepared(environment: Environment) -> Path | None:
    """The environment's Python, with the packages installed; None where there is no such Python."""
    folder = ROOT / environment.folder
    python = folder / "bin" / "python"
    stamp = folder / "installed"
    pins = (ROOT / environment.requirements).read_bytes()
    special = "\n".join(environment.built).encode()
    wanted = hashlib.sha256(environment.python.encode() + b"\n" + pins + special).hexdigest()
    if stamp.is_file() and stamp.read_text() == wanted and version(str(python)) == environment.python:
        return python

    base = interpreter(environment.python)
    if base is None:
        return None
    say(f"making {environment.folder} from {environment.requirements}")
    shutil.rmtree(folder, ignore_errors=True)
    pip = (str(python), "-m", "pip", "--disable-pip-version-check", "--quiet")
    for command in (
        (base, "-m", "venv", str(folder)),
        (*pip, "install", "--no-deps", "--only-binary", ":all:", "-r", environment.requirements),
        *from_source(environment, pip, pins.decode()),
        (*pip, "check"),
    ):
        if subprocess.run(command, cwd=ROOT, env=clean_environment()).returncode != 0:
            raise Stop(
                f"Making {environment.folder} failed (see above); pip must reach a package index the first time."
            )
    stamp.write_text(wanted)
    return python


def from_source(environment: Environment, pip: tuple[str, ...], pins: str) -> tuple[tuple[str, ...], ...]:
    """The command that builds a package from its source where the environment asks for it."""
    if not environment.built:
        return ()
    name, *told = environment.built
    pin = next(line for line in pins.splitlines() if line.startswith(f"{name}=="))
    how = ("install", "--no-deps", "--force-reinstall", "--no-binary", name, pin)
    return ((*pip, *how, *(f"-Csetup-args={word}" for word in told)),)


def interpreter(wanted: str) -> str | None:
    """A Python of this version that can make virtual environments: on the PATH, or one that pyenv keeps."""
    candidates = [f"python{wanted}", "python3", "python"]
    candidates += [str(path) for root in pyenv_roots() for path in sorted(root.glob(f"versions/{wanted}.*/bin/python"))]
    return next((path for path in candidates if version(path, needs="venv, ensurepip") == wanted), None)


def pyenv_roots() -> list[Path]:
    """Folders that may hold pyenv's versions; its shims on the PATH answer only for the versions switched on."""
    roots = [Path(os.environ["PYENV_ROOT"])] if "PYENV_ROOT" in os.environ else []
    roots.append(Path.home() / ".pyenv")
    roots += [Path(entry).parent for entry in os.get_exec_path() if Path(entry).name == "shims"]
    found = shutil.which("pyenv")
    if found:
        roots.append(Path(found).resolve().parent.parent)
    return [root for root in roots if (root / "versions").is_dir()]


def version(python: str, needs: str = "sys") -> str | None:
    """'3.11' for a CPython that runs and can import `needs`, else None."""
    code = f"import sys, {needs}; print(sys.implementation.name, *sys.version_info[:2])"
    try:
        answer = subprocess.run(
            (python, "-c", code), capture_output=True, text=True, timeout=60, env=clean_environment()
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = answer.stdout.split()
    return ".".join(words[1:]) if answer.returncode == 0 and words[:1] == ["cpython"] else None


def run(python: Path, *arguments: str, kernels: str = "") -> int:
    """Run the environment's Python in the project's folder, OpenBLAS with these `kernels`; its output is ours."""
    environment = clean_environment(python)
    if kernels:
        environment["OPENBLAS_CORETYPE"] = kernels
    return subprocess.run((str(python), *arguments), cwd=ROOT, env=environment).returncode


def clean_environment(python: Path | None = None) -> dict[str, str]:
    """The caller's environment without what would leak other packages or settings into ours."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    environment["PYTHONNOUSERSITE"] = "1"
    if python is not None:
        # One thread per process: pytest already fills the cores, and sums come out in the same order every run.
        for library in ("OPENBLAS", "OMP", "MKL"):
            environment.setdefault(f"{library}_NUM_THREADS", "1")
        environment["MPLBACKEND"] = "Agg"
        environment["MPLCONFIGDIR"] = str(python.parent.parent / "matplotlib")
    return environment


def say(line: str) -> None:
    print(f"-- {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
