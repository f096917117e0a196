"""One process at a time, on this machine or on another one that shares the disk.

The operating system lets go of a lock when its process ends, however it ends: a task that was killed locks nobody out.
"""

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ..cache.files import CacheError, reason
from .codes import BusyError


@contextmanager
def all_of(paths: list[Path]) -> Iterator[None]:
    """Hold all these locks, taken in one order whoever asks; raises BusyError where one of them is held."""
    with ExitStack() as held:
        for path in sorted(set(paths)):
            held.enter_context(one(path))
        yield


@contextmanager
def one(path: Path) -> Iterator[None]:
    """Hold a lock; its file says who does, and is gone afterwards."""
    handle = _taken(path)
    try:
        os.ftruncate(handle, 0)
        os.write(handle, f"{socket.gethostname()}:{os.getpid()}\n".encode())
        yield
    except OSError as error:
        raise CacheError(f"{path.name} cannot be written in {path.parent}: {reason(error)}") from None
    finally:
        _release(path, handle)


def _taken(path: Path) -> int:
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError as error:
            raise CacheError(f"{path.name} cannot be made in {path.parent}: {reason(error)}") from None
        try:
            _lock(handle)
        except OSError as error:
            try:
                who = os.read(handle, 200).decode(errors="replace").strip()
            except OSError:
                who = ""  # Windows locks reading, too
            os.close(handle)
            if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
                name = path.name.removesuffix(".lock")
                raise BusyError(
                    f"'{name}' in {path.parent} is being baked by {who or 'another task'}: give this task again when "
                    "that has ended"
                ) from None
            raise CacheError(
                f"{path.parent} does not lock files ({error.strerror}): choose a cache folder on a disk that does"
            ) from None
        # Whoever held it has taken the file away: that lock is worth nothing any more.
        if _same(handle, path):
            return handle
        os.close(handle)


def _same(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except OSError:
        return False


def _release(path: Path, handle: int) -> None:
    if os.name == "posix":
        path.unlink(missing_ok=True)
        os.close(handle)
        return
    os.close(handle)
    try:
        path.unlink(missing_ok=True)
    except OSError:
        pass  # the next one has it open already


if os.name == "posix":
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

else:
    import msvcrt

    def _lock(handle: int) -> None:
        getattr(msvcrt, "locking")(handle, getattr(msvcrt, "LK_NBLCK"), 1)  # noqa: B009
