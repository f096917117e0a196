"""How a mesh came apart: which vertices were copied from which, when, and the triangles at the end.

A bake has one number of points for all frames, so a copy is there from the first frame on and sits exactly on its
ancestor until it is born. The triangles of the end then show the mesh of any frame.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components


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
