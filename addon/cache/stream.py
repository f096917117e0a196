"""A file that is written from front to back, record by record, while a crash or a full disk may come at any time."""

import os
from pathlib import Path

from .files import CacheError, create, open_regular, reason, sync


class Stream:
    """A file under way. What is in it up to `length` is whole: a record that does not fit is taken back."""

    def __init__(self, path: Path, header: bytes | None = None, reading: bool = False) -> None:
        """`header`: begin a new file with it; without, go on with the one that is there, or only read it."""
        self.path = path
        self._file = open_regular(path, "rb" if reading else "r+b") if header is None else create(path)
        self.length = 0
        try:
            if header is None:
                self.length = self.size()
            else:
                self.append(header)
        except BaseException:
            self.close()
            raise

    def append(self, data: bytes) -> None:
        """One more record."""
        try:
            self._put(data)
        except OSError as error:
            self._take_back()
            raise CacheError(f"{self.path.name} cannot be written: {reason(error)}") from None
        self.length += len(data)

    def read(self, start: int, count: int) -> bytes:
        """At most `count` bytes from `start` on."""
        try:
            self._file.seek(start)
            return self._file.read(count) or b""
        except OSError as error:
            raise CacheError(f"{self.path.name} cannot be read: {reason(error)}") from None

    def size(self) -> int:
        """Bytes in the file, whole records or not."""
        return os.fstat(self._file.fileno()).st_size

    def cut(self, length: int) -> None:
        """Forget what comes after that many bytes, all of which must be there."""
        there = self.size()
        if there < length:
            raise CacheError(f"{self.path.name} is cut short: it holds {there} bytes of {length}: start a new bake")
        self.length = length
        try:
            self._file.truncate(length)
        except OSError as error:
            raise CacheError(f"{self.path.name} cannot be written: {reason(error)}") from None

    def begin_with(self, header: bytes) -> None:
        """Another header of the same length."""
        try:
            self._file.seek(0)
            self._file.write(header)
        except OSError as error:
            raise CacheError(f"{self.path.name} cannot be written: {reason(error)}") from None

    def checkpoint(self) -> None:
        """What was written so far survives a crash."""
        try:
            sync(self._file)
        except OSError as error:
            raise CacheError(f"{self.path.name} cannot be written: {reason(error)}") from None

    def close(self) -> None:
        try:
            self._file.close()
        except OSError:
            pass  # nothing is buffered; a network share that is gone complains once more

    def _put(self, data: bytes) -> None:
        self._file.seek(self.length)
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]

    def _take_back(self) -> None:
        try:
            self._file.truncate(self.length)
        except OSError:
            pass  # readers count whole records
