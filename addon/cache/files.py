"""Opening files that may be hostile, and replacing files so that a reader sees the old one or the new one, whole."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, cast


class CacheError(Exception):
    """A file that cannot be used, said in words a user can act on."""


def open_regular(path: Path, mode: str = "rb") -> BinaryIO:
    """Open an existing file for reading ("rb") or in place ("r+b"); a link, folder or device is refused."""
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
    return cast(BinaryIO, os.fdopen(handle, mode))


def create(path: Path) -> BinaryIO:
    """A new file for writing; an old plain file of that name is removed, never written through."""
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise CacheError(f"{path.name} in {path.parent} is a link or a folder: move it away and bake again")
        path.unlink(missing_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        return os.fdopen(os.open(path, flags, 0o644), "w+b")
    except OSError as error:
        raise CacheError(f"{path.name} cannot be written in {path.parent}: {reason(error)}") from None


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


def sync(file: BinaryIO) -> None:
    """What was written so far is on the disk, not only in memory."""
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
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
    }
    return advice.get(error.errno or 0, error.strerror or str(error))
