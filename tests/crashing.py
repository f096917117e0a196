"""Faults at a chosen moment: every touch of a cache's files is counted, and something happens at one of them."""

import errno
import os
import signal
import sys
import time


class Touches:
    """Counts writes, syncs, creations and replacements of files; at number `at` it does `action(path, half)`.

    `half` is given for writes: it writes the first half of the data.
    """

    def __init__(self, at=-1, action=None):
        self.at, self.action, self.count, self.away = at, action, 0, 0
        self._undo = []

    def _touch(self, half=None):
        self.count += 1
        if self.count == self.at:
            self.action(self, half)
        if self.away:
            raise OSError(self.away, os.strerror(self.away))

    def __enter__(self):
        from thin_shell.addon.cache import files, stream

        put = stream.Stream._put

        def counted_put(stream_, data):
            self._touch(lambda: put(stream_, data[: len(data) // 2]))
            put(stream_, data)

        self._swap(stream.Stream, "_put", counted_put)
        for name in ("fsync", "replace", "open", "unlink"):
            real = getattr(os, name)
            stand_in = self._counted(real)
            for module in (files,):
                self._swap(module, "os", _Os(module.os, name, stand_in))
        return self

    def __exit__(self, *_):
        for owner, name, old in reversed(self._undo):
            setattr(owner, name, old)

    def _counted(self, real):
        def call(*arguments, **options):
            self._touch()
            return real(*arguments, **options)

        return call

    def _swap(self, owner, name, new):
        self._undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, new)


class _Os:
    """The module `os` with one function replaced."""

    def __init__(self, real, name, stand_in):
        self._real = real
        setattr(self, name, stand_in)

    def __getattr__(self, name):
        return getattr(self._real, name)


def kill(_touches, half):
    """Die as by kill -9, in the middle of a write where it is one."""
    if half is not None:
        half()
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def go_away(touches, _half):
    """From now on the share is not the one that was opened."""
    touches.away = errno.ESTALE


def hang(touches, half):
    """The share takes half of what is written, keeps everybody waiting, gives up, and is away from now on.

    THIN_SHELL_HANG: how long it keeps one waiting [s].
    """
    if half is not None:
        half()
    time.sleep(float(os.environ.get("THIN_SHELL_HANG", "0.1")))
    touches.away = errno.ETIMEDOUT


def hesitate(_touches, _half):
    """The share keeps everybody waiting once, and answers then."""
    time.sleep(float(os.environ.get("THIN_SHELL_HANG", "0.1")))


def victim(root, blend, name, at, checkpoint, log):
    """Bake an object of a file until it dies; frames that are finished are written to `log`."""
    import bpy
    from thin_shell.addon.bake import store

    store.CHECKPOINT_SECONDS = checkpoint
    append = store.Store.append

    def told(self, links, shares):
        placed = append(self, links, shares)
        with open(log, "a", encoding="utf-8") as file:
            file.write("frame\n")
        return placed

    store.Store.append = told
    bpy.ops.wm.open_mainfile(filepath=blend)
    bpy.context.view_layer.objects.active = bpy.data.objects[name]
    with Touches(at, kill) as touches:
        bpy.ops.thin_shell.bake()
    print(f"touches {touches.count}", flush=True)
    os._exit(3)


if __name__ == "__main__":
    import importlib.util

    root, blend, name, at, checkpoint, log = sys.argv[1:]
    spec = importlib.util.spec_from_file_location(
        "thin_shell", f"{root}/__init__.py", submodule_search_locations=[root]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules["thin_shell"] = package
    spec.loader.exec_module(package)
    package.register()
    victim(root, blend, name, int(at), float(checkpoint), log)
