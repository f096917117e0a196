"""Where caches live, and names that stay inside that folder."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from .files import CacheError, reason


@dataclass(frozen=True)
class CachePaths:
    """The files of one object's bake."""

    folder: Path
    name: str

    @property
    def pc2(self) -> Path:
        return self.folder / f"{self.name}.pc2"

    @property
    def part(self) -> Path:
        return self.folder / f"{self.name}.pc2.part"

    @property
    def sidecar(self) -> Path:
        return self.folder / f"{self.name}.json"

    @property
    def part_sidecar(self) -> Path:
        """Describes the part file while the old result is still in place."""
        return self.folder / f"{self.name}.part.json"

    @property
    def state(self) -> Path:
        return self.folder / f"{self.name}.state.npz"

    @property
    def spool(self) -> Path:
        """Frames of a shell that breaks, while its bake is unfinished."""
        return self.folder / f"{self.name}.spool"

    @property
    def alembic(self) -> Path:
        return self.folder / f"{self.name}.abc"

    def field(self, name: str) -> Path:
        return self.folder / f"{self.name}.{name}.field"

    def carrier(self, number: int) -> Path:
        """Point cache that carries kept results as positions."""
        return self.folder / f"{self.name}.results{number}.pc2"

    @property
    def new(self) -> list[Path]:
        """Files that were about to replace others when Blender went down."""
        return [path.with_name(path.name + ".new") for path in (self.state, self.sidecar, self.part_sidecar)]

    def all(self) -> list[Path]:
        """Every file that belongs to the bake and is there, links left alone."""
        known = [self.pc2, self.part, self.sidecar, self.part_sidecar, self.state, self.spool, self.alembic]
        known += self.new
        try:
            for pattern in ("*.field*", "results*.pc2*"):
                known += sorted(self.folder.glob(f"{escaped(self.name)}.{pattern}"))
        except OSError:
            pass
        return [path for path in known if path.is_file() and not path.is_symlink()]


def checked(folder: Path, name: str) -> CachePaths:
    """Paths for a cache name from a .blend file, which may be anybody's."""
    if not name or len(name) > 200 or name != safe_name(name):
        raise CacheError(
            f"the cache name {name[:60]!r} leads out of the cache folder or is no file name: delete the bake"
        )
    return CachePaths(folder, name)


def safe_name(name: str) -> str:
    """A file name from an object's name: letters, digits, space, dot, dash and underscore."""
    kept = re.sub(r"[^\w .-]", "_", name).strip(" .")
    return kept[:120] or "shell"


def resolved_folder(setting: str, blend_folder: str) -> Path:
    """The folder a setting names; `//` is the folder of the .blend file, empty where that was never saved."""
    if setting.startswith("//"):
        if not blend_folder:
            raise CacheError(
                "the cache goes beside the .blend file, which was never saved: save it, or set an absolute cache folder"
            )
        return Path(os.path.normpath(os.path.join(blend_folder, setting[2:].replace("\\", "/"))))
    if not setting or not os.path.isabs(setting):
        raise CacheError(f"the cache folder {setting!r} is neither absolute nor relative to the file (//): choose one")
    return Path(os.path.normpath(setting))


def make_folder(folder: Path) -> None:
    """Create the folder and see that it takes files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "a file of that name is in the way: choose another cache folder" if folder.is_file() else reason(error)
        raise CacheError(f"the cache folder {folder} cannot be made: {why}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CacheError(f"the cache folder {folder} cannot be written: choose another or change its permissions")


def escaped(name: str) -> str:
    """A name that a pattern takes as it is."""
    return re.sub(r"([\[\]*?])", r"[\1]", name)
