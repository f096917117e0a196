"""How a mesh came apart: which vertices were copied from which, when, and the triangles at the end.

A bake has one number of points for all frames, so a copy is there from the first frame on and sits exactly on its
ancestor until it is born. The triangles of the end then show the mesh of any frame.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from . import arrays
from .files import CacheError


@dataclass
class Splits:
    """Vertices 0 … originals − 1 are the mesh's own, copies follow in order of birth."""

    originals: int
    faces: Any
    """Triangles of the last sample, (m, 3); rows keep their place for ever."""
    parents: Any
    """Vertex each copy was split from, older than itself, (copies,)."""
    births: Any
    """Sample in which each copy first appears, never falling, (copies,)."""

    @property
    def total(self) -> int:
        return self.originals + len(self.parents)

    @property
    def broken(self) -> bool:
        return len(self.parents) > 0

    def alive(self, sample: int) -> int:
        """Number of vertices there are in a sample."""
        return self.originals + int(np.searchsorted(self.births, sample, side="right"))

    def ancestors(self, sample: int) -> Any:
        """The vertex that stands for each vertex of the end in a sample: itself or its youngest ancestor, (total,)."""
        return self._older_than(self.alive(sample))

    @property
    def sources(self) -> Any:
        """Vertex of the artist's mesh each vertex came from, (total,)."""
        return self._older_than(self.originals)

    def _older_than(self, count: int) -> Any:
        found = np.arange(self.total)
        late = np.flatnonzero(found >= count)
        while len(late):
            found[late] = self.parents[found[late] - self.originals]
            late = late[found[late] >= count]
        return found

    @property
    def parted(self) -> Any:
        """Sample in which each vertex first came apart from another, (total,); −1: never."""
        never = np.iinfo(np.int64).max
        when = np.full(self.total, never)
        when[self.originals :] = self.births
        np.minimum.at(when, self.parents, self.births)
        return np.where(when == never, -1, when)

    @property
    def on_cracks(self) -> Any:
        """Whether each vertex has others of the same source, (total,)."""
        sources = self.sources
        return np.bincount(sources, minlength=self.total)[sources] > 1

    @property
    def pieces(self) -> Any:
        """Number of the piece each vertex belongs to at the end, (total,)."""
        rows, columns = self.faces.ravel(), np.roll(self.faces, 1, axis=1).ravel()
        graph = coo_matrix((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(self.total, self.total))
        return connected_components(graph, directed=False)[1]


@dataclass
class Cut:
    """The triangles a mesh was simulated as."""

    faces: Any
    """Vertices, before anything broke, (m, 3)."""
    corners: Any
    """Corners of the mesh, (m, 3)."""
    polygons: Any
    """Polygon each triangle came from, (m,)."""


def save(path: Path, cut: Cut, splits: Splits) -> None:
    """Keep how a mesh came apart beside its bake."""
    arrays.save(
        path,
        {
            "originals": np.int64(splits.originals),
            "triangles": np.asarray(cut.faces, np.int32),
            "corners": np.asarray(cut.corners, np.int32),
            "polygons": np.asarray(cut.polygons, np.int32),
            "faces": np.asarray(splits.faces, np.int32),
            "parents": np.asarray(splits.parents, np.int32),
            "births": np.asarray(splits.births, np.int32),
        },
    )


def load(path: Path) -> tuple[Cut, Splits]:
    """What `save` kept; raises where it makes no sense."""
    try:
        read = {name: np.asarray(value).astype(np.int64) for name, value in arrays.load(path).items()}
        cut = Cut(read["triangles"], read["corners"], read["polygons"])
        splits = Splits(int(read["originals"]), read["faces"], read["parents"], read["births"])
        if not _sound(cut, splits):
            raise ValueError("it contradicts itself")
    except (ValueError, KeyError, TypeError) as error:
        raise CacheError(f"{path.name} is damaged ({error}), so the cracks cannot be put on: bake again") from None
    return cut, splits


def _sound(cut: Cut, splits: Splits) -> bool:
    rows, copies = len(cut.polygons), np.arange(splits.originals, splits.total)
    shaped = all(each.shape == (rows, 3) for each in (cut.faces, cut.corners, splits.faces))
    listed = splits.parents.ndim == cut.polygons.ndim == 1 and splits.parents.shape == splits.births.shape
    if not shaped or not listed or splits.originals <= 0 or rows == 0:
        return False
    inside = 0 <= min(cut.faces.min(), cut.corners.min(), cut.polygons.min(), splits.faces.min())
    inside &= cut.faces.max() < splits.originals and splits.faces.max() < splits.total
    older = bool(((splits.parents >= 0) & (splits.parents < copies)).all())
    return bool(inside) and older and bool((np.diff(splits.births) >= 0).all())
