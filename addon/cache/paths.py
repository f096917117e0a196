"""Where caches live, and names that stay inside that folder."""

import os
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from .files import CacheError, is_there, reason

# What follows "name." in the files of a bake: nothing that another object's name could have brought.
ENDING = re.compile(
    r"(pc2|json|part\.json|state\.npz|splits\.npz|spool|abc|[a-z_]+\.field|results\d+\.pc2)(\.part|\.new)?"
)
# "Cloth.part.json" is the sidecar of "Cloth" under way, so no bake is called "Cloth.part".
RESERVED = re.compile(r"\.(part|results\d+)$", re.IGNORECASE)


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
    def splits(self) -> Path:
        """How the mesh of a shell that breaks was cut into triangles and came apart."""
        return self.folder / f"{self.name}.splits.npz"

    @property
    def alembic(self) -> Path:
        return self.folder / f"{self.name}.abc"

    def field(self, name: str) -> Path:
        return self.folder / f"{self.name}.{name}.field"

    def carrier(self, number: int) -> Path:
        """Point cache that carries kept results as positions."""
        return self.folder / f"{self.name}.results{number}.pc2"

    @staticmethod
    def part_of(path: Path) -> Path:
        """Where a file is written until the bake is published."""
        return path.with_name(path.name + ".part")

    def all(self) -> list[Path]:
        """Every file that belongs to the bake and is there, links left alone."""
        try:
            names = sorted(os.listdir(self.folder))
        except OSError:
            return []
        start = self.name + "."
        mine = [name for name in names if name.startswith(start) and ENDING.fullmatch(name[len(start) :])]
        return [self.folder / name for name in mine if is_there(self.folder / name)]


def folded(name: str) -> str:
    """The same for names that some disk takes for one."""
    return unicodedata.normalize("NFC", name).casefold()


def free_name(folder: Path, wanted: str, taken: set[str]) -> str:
    """A name like the one wanted with no files yet and not `taken`, on disks that tell capitals apart or do not."""
    base = RESERVED.sub(lambda found: "_" + found[1], safe_name(wanted))
    try:
        # A link in the way is told of when it is met: baking beside it would hide that.
        there = [folded(name) for name in os.listdir(folder) if not os.path.islink(folder / name)]
    except OSError:
        there = []
    busy = {folded(name) for name in taken}
    name, number = base, 1
    while folded(name) in busy or any(_belongs(entry, folded(name)) for entry in there):
        number += 1
        name = f"{base}-{number}"
    return name


def _belongs(entry: str, name: str) -> bool:
    return entry.startswith(name + ".") and ENDING.fullmatch(entry[len(name) + 1 :]) is not None


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
