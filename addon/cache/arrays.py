"""Plain arrays of numbers on disk as an .npz, never pickles, read without trusting what the file promises."""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from .files import CacheError, open_regular, write_whole

# A solver's state and the cracks of a mesh are a handful of arrays of the size of the mesh.
MOST_ENTRIES = 64


def save(path: Path, arrays: dict[str, Any]) -> None:
    """Write the arrays, replacing an older file in one step."""
    for name, array in arrays.items():
        if np.asarray(array).dtype.kind not in "fiub":
            raise CacheError(f"{name} cannot be saved: it is {np.asarray(array).dtype}, not numbers")
    # In memory first: a zip that meets a full disk halfway complains again when Python clears it away.
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    write_whole(path, packed.getvalue())


def load(path: Path) -> dict[str, Any]:
    """The arrays of a file; ValueError where it holds anything else."""
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            _check(archive, path)
            return {info.filename[:-4]: _array(archive.read(info)) for info in archive.infolist()}
    except (zipfile.BadZipFile, KeyError, EOFError, OverflowError, NotImplementedError, OSError, TypeError) as error:
        raise ValueError(f"not a file of plain arrays ({error})") from None


def _check(archive: zipfile.ZipFile, path: Path) -> None:
    """Only stored (not packed) members of honest size: nothing can unpack to more than the file holds."""
    entries = archive.infolist()
    size = path.stat().st_size
    stored = all(e.compress_type == zipfile.ZIP_STORED and e.file_size == e.compress_size <= size for e in entries)
    named = all(e.filename.endswith(".npy") and "/" not in e.filename for e in entries)
    if len(entries) > MOST_ENTRIES or not stored or not named or sum(e.file_size for e in entries) > size:
        raise ValueError("not a file of plain arrays")


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
