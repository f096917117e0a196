"""What was deleted or replaced by less, kept until the shell's next finished bake, or until the trash is emptied."""

import os
import re
from hashlib import sha256
from pathlib import Path

from .files import CacheError, discard, reason, replace

FOLDER = "trash"


def move(files: list[Path], shell_id: str) -> list[str]:
    """Move files of one bake into the shell's trash beside them; names of those that could not be."""
    if not files:
        return []
    try:
        place = _new_place(files[0].parent, shell_id)
    except CacheError:
        return [path.name for path in files]
    stuck = []
    for path in files:
        try:
            replace(path, place / path.name)
        except CacheError:
            stuck.append(path.name)
    return stuck


def places(folder: Path) -> list[Path]:
    """Folders in the trash of a cache folder, one a deletion, oldest first."""
    found = []
    for shell in _folders(folder / FOLDER):
        found += sorted(_folders(shell), key=lambda path: int(path.name) if path.name.isdecimal() else 0)
    return found


def of_shell(folder: Path, shell_id: str) -> list[Path]:
    """The places of one shell, oldest first."""
    return [place for place in places(folder) if place.parent.name == _name(shell_id)]


def empty(place: Path) -> list[str]:
    """Delete a place with what is in it; names of what could not be."""
    try:
        stuck = [name for name in sorted(os.listdir(place)) if not discard(place / name)]
    except OSError:
        return [place.name]
    for folder in (place, place.parent, place.parent.parent):
        try:
            folder.rmdir()
        except OSError:
            break
    return stuck


def _new_place(folder: Path, shell_id: str) -> Path:
    shell = folder / FOLDER / _name(shell_id)
    try:
        if (folder / FOLDER).is_symlink() or shell.is_symlink():
            raise CacheError(f"{FOLDER} in {folder} is a link: move it away")
        shell.mkdir(parents=True, exist_ok=True)
        numbers = [int(path.name) for path in _folders(shell) if path.name.isdecimal()]
        place = shell / str(max(numbers, default=0) + 1)
        place.mkdir()
        return place
    except OSError as error:
        raise CacheError(f"the trash in {folder} cannot be made: {reason(error)}") from None


def _name(shell_id: str) -> str:
    """A folder's name for an id that may come from anybody."""
    return shell_id if re.fullmatch("[0-9a-f]{32}", shell_id) else sha256(shell_id.encode()).hexdigest()[:32]


def _folders(folder: Path) -> list[Path]:
    try:
        if folder.is_symlink():
            return []
        return sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    except OSError:
        return []
