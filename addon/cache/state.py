"""The solver's state on disk, so that a bake can go on where it stopped. Plain arrays in an .npz, never pickles."""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from .files import CacheError, create, open_regular, reason, replace, sync

# Entries are a handful of arrays of the size of the mesh; the history of a solver is the largest.
MOST_ENTRIES = 64


def save(path: Path, state: dict[str, Any], frame: int, fingerprint: str) -> None:
    """Write the state after `frame`, replacing an older one in one step."""
    arrays = {f"state_{name}": np.asarray(value) for name, value in state.items()}
    for name, array in arrays.items():
        if array.dtype.kind not in "fiub":
            raise CacheError(f"{name} cannot be saved: it is {array.dtype}, not numbers")
    # In memory first: a zip that meets a full disk halfway complains again when Python clears it away.
    packed = io.BytesIO()
    np.savez(packed, frame=np.int64(frame), fingerprint=np.frombuffer(fingerprint.encode(), np.uint8), **arrays)
    temporary = path.with_name(path.name + ".new")
    file = create(temporary)
    try:
        with file:
            file.write(packed.getbuffer())
            sync(file)
    except OSError as error:
        raise CacheError(f"{temporary.name} cannot be written: {reason(error)}") from None
    replace(temporary, path)


def load(path: Path) -> tuple[dict[str, Any], int, str]:
    """State, the frame it belongs to, and the fingerprint of what it was made from."""
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            _check(archive, path)
            read = {info.filename[:-4]: _array(archive.read(info)) for info in archive.infolist()}
            frame, fingerprint = int(read.pop("frame")), bytes(read.pop("fingerprint")).decode()
    except (zipfile.BadZipFile, ValueError, KeyError, EOFError, OverflowError, NotImplementedError, OSError, TypeError):
        raise _damaged(path) from None
    state = {name.removeprefix("state_"): array for name, array in read.items()}
    return {name: float(a) if a.ndim == 0 else a for name, a in state.items()}, frame, fingerprint


def _check(archive: zipfile.ZipFile, path: Path) -> None:
    """Only stored (not packed) members of honest size: nothing can unpack to more than the file holds."""
    entries = archive.infolist()
    size = path.stat().st_size
    stored = all(e.compress_type == zipfile.ZIP_STORED and e.file_size == e.compress_size <= size for e in entries)
    named = all(e.filename.endswith(".npy") and "/" not in e.filename for e in entries)
    if len(entries) > MOST_ENTRIES or not stored or not named or sum(e.file_size for e in entries) > size:
        raise _damaged(path)


def _array(raw: bytes) -> Any:
    """A numpy array whose header promises no more than the bytes that follow it."""
    stream = io.BytesIO(raw)
    npy: Any = np.lib.format
    version = npy.read_magic(stream)
    if version != (1, 0):
        raise ValueError("unknown array format")
    shape, _, dtype = npy.read_array_header_1_0(stream, max_header_size=4096)
    count = 1
    for length in shape:
        count *= int(length)
    if dtype.hasobject or dtype.kind not in "fiub" or count * dtype.itemsize != len(raw) - stream.tell():
        raise ValueError("not a plain array of the size it says")
    stream.seek(0)
    return npy.read_array(stream, allow_pickle=False)


def _damaged(path: Path) -> CacheError:
    return CacheError(f"{path.name} is damaged, so the bake cannot be resumed: start a new bake")
