"""Tasks over workers, with a random one killed every so often and given again: a farm whose machines go away."""

import json
import os
import queue
import random
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field

LOOK = 0.02  # s between two looks for checkpoints, a frame of the quickest bake


@dataclass
class Task:
    """A command that bakes one shell of a variant into `folder`."""

    name: str
    words: list[str]
    folder: object
    long: bool = False
    kills: int = 0
    late_kills: int = 0
    """Kills after a checkpoint."""
    seconds: float = 0.0
    """Of all attempts together."""
    said: str = ""


@dataclass
class Farm:
    tasks: list[Task]
    workers: int
    every: float
    """Seconds after which a random task is killed; 0 kills nobody."""
    most_kills: int = 10**9
    seed: int = 1
    running: dict[str, tuple[Task, subprocess.Popen, float]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    failed: list[Task] = field(default_factory=list)

    def run(self):
        """Until every task has ended well; wall time [s]. Tasks that fail are in `failed`."""
        ahead = queue.Queue()
        for task in self.tasks:
            ahead.put(task)
        left = threading.Semaphore(0)
        ended = threading.Event()

        def work():
            while not ended.is_set():
                try:
                    task = ahead.get(timeout=0.1)
                except queue.Empty:
                    continue
                code = self._one(task)
                if code == -signal.SIGKILL:
                    ahead.put(task)
                    continue
                if code != 0:
                    self.failed.append(task)
                left.release()

        crew = [threading.Thread(target=work) for _ in range(self.workers)]
        began = time.monotonic()
        for each in crew:
            each.start()
        killer = threading.Thread(target=self._kill, args=(ended,))
        killer.start()
        for _ in self.tasks:
            left.acquire()
        ended.set()
        for each in (*crew, killer):
            each.join()
        return time.monotonic() - began

    def _one(self, task):
        began = time.monotonic()
        with subprocess.Popen(task.words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            with self.lock:
                self.running[task.name] = task, process, began
            task.said = process.stdout.read()
            code = process.wait()
        with self.lock:
            del self.running[task.name]
        task.seconds += time.monotonic() - began
        return code

    def _kill(self, ended):
        """A random task every so often, and each long one as soon as it has a checkpoint: once, whatever its pace."""
        chance, killed, last = random.Random(self.seed), 0, time.monotonic()
        while self.every and killed < self.most_kills and not ended.wait(LOOK):
            with self.lock:
                there = sorted(self.running.items())
                due = time.monotonic() - last >= self.every
                wanted = [each for _, each in there if each[0].long and not each[0].late_kills and saved(each[0])]
                # The last ones would be hit so often that none of them ever reached a checkpoint.
                if not wanted and not (due and len(there) >= self.workers):
                    continue
                task, process, _ = wanted[0] if wanted else chance.choice(there)[1]
                late = saved(task)
                if process.poll() is None:
                    os.kill(process.pid, signal.SIGKILL)
                    killed, last = killed + 1, time.monotonic()
                    task.kills += 1
                    task.late_kills += late


def saved(task):
    """Whether a bake has a checkpoint to go on from."""
    try:
        state = any(task.folder.glob("*.state.npz"))
        return state and any(json.loads(path.read_text())["samples"] > 1 for path in task.folder.glob("*.part.json"))
    except (OSError, ValueError):
        return False
