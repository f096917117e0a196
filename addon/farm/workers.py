"""Tasks of a wedge on this machine: so many at once, each a Blender of its own, given again where they were killed."""

import json
import queue
import subprocess
import threading
from collections import deque

from . import codes
from .progress import Teller

AGAIN = (codes.FILES, codes.BUSY, codes.STOPPED)
"""Exit codes after which a task is given again; also where it ended by a signal."""
LINES = 5
"""Of what a task said last, as many are repeated where it fails."""


def run(tasks: dict[str, list[str]], workers: int, tries: int, teller: Teller, wanted: list[int]) -> dict[str, int]:
    """Run commands by name; exit codes by name. Once `wanted` is filled the running ones are asked to stop."""
    ahead: queue.SimpleQueue[str] = queue.SimpleQueue()
    for name in tasks:
        ahead.put(name)
    codes_of: dict[str, int] = {}
    running: dict[str, subprocess.Popen[str]] = {}
    said: queue.SimpleQueue[tuple[str, int, list[str], int]] = queue.SimpleQueue()

    def work() -> None:
        while not wanted:
            try:
                name = ahead.get_nowait()
            except queue.Empty:
                return
            for attempt in range(1, tries + 1):
                code, lines = _one(name, tasks[name], running)
                codes_of[name] = code
                again = (code < 0 or code in AGAIN) and attempt < tries and not wanted
                said.put((name, code, lines, attempt if again else 0))
                if not again:
                    break

    crew = [threading.Thread(target=work, daemon=True) for _ in range(min(workers, len(tasks)))]
    for each in crew:
        each.start()
    done = 0
    asked = False
    while any(each.is_alive() for each in crew) or not said.empty():
        if wanted and not asked:
            asked = True
            for process in list(running.values()):
                process.terminate()
        try:
            name, code, lines, again = said.get(timeout=0.2)
        except queue.Empty:
            continue
        for line in lines if code != codes.DONE else ():
            teller.warn(f"{name}: {line}")
        if again:
            teller.warn(f"{name} ended with {code} and is given again")
            continue
        done += 1
        state = "done" if code == codes.DONE else f"failed ({code})"
        teller.say("variant", f"{name}: {state}, {done} of {len(tasks)}", name=name, code=code, done=done)
    return codes_of


def _one(name: str, words: list[str], running: dict[str, "subprocess.Popen[str]"]) -> tuple[int, list[str]]:
    """Exit code of a task, and the errors that it told, or else what it said last."""
    try:
        process = subprocess.Popen(
            [*words, "--progress", "json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace",
        )  # fmt: skip
    except OSError as error:
        return codes.UNFIT, [f"{words[0]} cannot be run ({error.strerror}): name Blender with --blender"]
    running[name] = process
    last: deque[str] = deque(maxlen=LINES)
    errors = []
    with process:
        for line in process.stdout or ():
            told = _event(line)
            if told.get("event") == "error":
                errors.append(str(told.get("text")))
            elif not told and line.strip():
                last.append(line.strip())
        code = process.wait()
    running.pop(name, None)
    return code, errors or list(last)


def _event(line: str) -> dict[str, object]:
    try:
        found = json.loads(line) if line.startswith("{") else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
