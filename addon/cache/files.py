"""Opening files that may be hostile, and replacing files so that a reader sees the old one or the new one, whole."""

import errno
import os
import stat
from io import FileIO
from pathlib import Path

# What shares and disks say that are unplugged or cut off; not every system knows all of these.
AWAY = [
    getattr(errno, name)
    for name in ("ETIMEDOUT", "EHOSTDOWN", "EHOSTUNREACH", "ENETDOWN", "ENETUNREACH", "ENODEV", "ENXIO", "ENOTCONN")
    if hasattr(errno, name)
]


class CacheError(Exception):
    """A file that cannot be used, said in words a user can act on."""


def open_regular(path: Path, mode: str = "rb") -> FileIO:
    """Open an existing file for reading ("rb") or in place ("r+b"), unbuffered; a link or device is refused."""
    flags = os.O_RDONLY if mode == "rb" else os.O_RDWR
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        if path.is_symlink():
            raise CacheError(f"{path.name} is a link; caches must be plain files: delete the link and bake again")
        handle = os.open(path, flags)
    except FileNotFoundError:
        raise CacheError(f"{path.name} is missing from {path.parent}: bake again or put the file back") from None
    except OSError as error:
        raise CacheError(f"{path.name} cannot be opened: {reason(error)}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise CacheError(f"{path.name} is not a plain file: move it away and bake again")
    return FileIO(handle, mode)


def create(path: Path) -> FileIO:
    """A new file for writing, unbuffered; an old plain file of that name is removed, never written through."""
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise CacheError(f"{path.name} in {path.parent} is a link or a folder: move it away and bake again")
        path.unlink(missing_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        return FileIO(os.open(path, flags, 0o644), "w+b")
    except OSError as error:
        raise CacheError(f"{path.name} cannot be written in {path.parent}: {reason(error)}") from None


def write_whole(path: Path, data: bytes | memoryview) -> None:
    """Replace a file in one step: a reader finds the old bytes or the new ones, also after a crash."""
    temporary = path.with_name(path.name + ".new")
    file = create(temporary)
    try:
        with file:
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest) :]
            sync(file)
    except OSError as error:
        discard(temporary)
        raise CacheError(f"{path.name} cannot be written: {reason(error)}") from None
    replace(temporary, path)


def replace(temporary: Path, final: Path) -> None:
    """Put a finished file in the place of the old one in one step."""
    try:
        if final.is_symlink() or final.is_dir():
            raise CacheError(f"{final.name} in {final.parent} is a link or a folder: move it away and bake again")
        os.replace(temporary, final)
    except OSError as error:
        raise CacheError(
            f"{final.name} cannot be replaced: {reason(error)}; the new result is {temporary.name}"
        ) from None
    _sync_folder(final.parent)


def discard(path: Path) -> bool:
    """Delete a plain file; whether it is gone."""
    try:
        if not path.is_symlink():
            path.unlink(missing_ok=True)
        return not os.path.lexists(path)
    except OSError:
        return False


def is_there(path: Path) -> bool:
    """Whether a plain file is there; False where its disk does not answer."""
    try:
        return path.is_file() and not path.is_symlink()
    except OSError:
        return False


def sync(file: FileIO) -> None:
    """What was written so far is on the disk, not only in memory."""
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass  # some network file systems refuse; the rename itself is done
    finally:
        os.close(handle)


def reason(error: OSError) -> str:
    """Why, and what to do about it."""
    advice = {
        errno.ENOSPC: "the disk is full: free some space, then resume the bake",
        errno.EDQUOT: "your disk quota is used up: free some space, then resume the bake",
        errno.EFBIG: "the file may not grow further (file-size limit or disk): free some space, then resume the bake",
        errno.EACCES: "no permission: choose another cache folder or change its permissions",
        errno.EPERM: "no permission: choose another cache folder or change its permissions",
        errno.EROFS: "the disk is read-only: choose another cache folder",
        errno.ENOTDIR: "part of the path is a file, not a folder: choose another cache folder",
        errno.ENAMETOOLONG: "the path is too long: choose another cache folder",
        errno.ELOOP: "it is a link: delete the link and bake again",
        errno.ENOENT: "its folder is gone: put the folder back or choose another cache folder, then resume or attach",
        errno.ESTALE: "the disk or share is away: connect it again, then resume or attach",
        errno.EIO: "the disk or share fails: look after it, then resume or attach",
        **dict.fromkeys(AWAY, "the disk or share does not answer: connect it again, then resume or attach"),
    }
    return advice.get(error.errno or 0, error.strerror or str(error))
