"""Runs one Thin Shell task in Blender, and says in a line what is missing where it cannot.

    blender -b FILE.blend --python thin_shell_task.py -- FORMAT ARGUMENTS

FORMAT is what the job asks of the extension; the arguments are those of `--command thin_shell`. Blender ends with the
task, but after `show`, so that it renders what follows on its command line. Exit code 5: this worker cannot run the
job, another one may.
"""

import importlib
import sys

UNFIT = 5


def fail(text: str) -> None:
    print(f"openjd_fail: {text}", flush=True)
    print(f"Thin Shell: error: {text}", file=sys.stderr, flush=True)
    sys.exit(UNFIT)


def main(needs: str, *arguments: str) -> int:
    names = [name for name in list(sys.modules) if name.rpartition(".")[2] == "thin_shell"]
    if not names:
        fail(
            "Thin Shell is missing or not enabled in this worker's Blender: install the extension there, and enable it"
        )
    try:
        known = int(importlib.import_module(names[0] + ".addon.farm").FORMAT)
    except ImportError:
        known = 0
    if known < int(needs):
        fail("this worker's Thin Shell is older than the job: install the version that exported it, or a newer one")
    return int(importlib.import_module(names[0] + ".addon.cli").command(list(arguments)))


words = sys.argv[sys.argv.index("--") + 1 :]
code = main(*words)
if code or words[1] != "show":
    sys.exit(code)
