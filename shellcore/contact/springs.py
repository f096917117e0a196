"""The stiffness of contacts as springs between vertices, which can be compared and merged one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, diags

from ..errors import ShellError
from ..types import Floats, Sparse

# Springs softer than this share of the hardest are left out.
FAINT = 1e-3


@dataclass
class Springs:
    """Springs of contacts: of each vertex to what does not move, `ground` [N/m], (n,), and `between` vertices, (n, n)
    symmetric with a zero diagonal."""

    ground: Floats
    between: Sparse

    @staticmethod
    def of(stiffness: Sparse) -> Springs:
        """Those whose matrix is `stiffness`, as far as springs can have it."""
        diagonal = stiffness.diagonal()
        if stiffness.nnz == np.count_nonzero(diagonal):
            return Springs(np.maximum(diagonal, 0.0), csr_matrix(stiffness.shape))
        between = (diags(diagonal) - stiffness).tocsr()
        between.data[between.data < 0.0] = 0.0
        between.eliminate_zeros()
        return Springs(np.maximum(np.asarray(stiffness.sum(axis=1)).ravel(), 0.0), between)

    @staticmethod
    def none(count: int) -> Springs:
        """No springs between so many vertices."""
        return Springs(np.zeros(count), csr_matrix((count, count)))

    @property
    def strength(self) -> float:
        """Sum of all constants [N/m]."""
        return float(self.ground.sum()) + float(self.between.data.sum())

    def plus(self, other: Springs) -> Springs:
        """Both side by side."""
        between = self.between + other.between if other.between.nnz else self.between
        return Springs(self.ground + other.ground, between)

    def least(self, other: Springs) -> Springs:
        """The softer of each spring."""
        ground = np.minimum(self.ground, other.ground)
        both = self.between.nnz and other.between.nnz
        return Springs(ground, self.between.minimum(other.between) if both else csr_matrix(self.between.shape))

    def most(self, other: Springs) -> Springs:
        """The harder of each spring; faint ones are left out."""
        ground, between = np.maximum(self.ground, other.ground), self.between
        if between.nnz or other.between.nnz:
            between = between.maximum(other.between).tocsr()
        faint = FAINT * max(float(ground.max()), float(between.data.max(initial=0.0)))
        ground[ground < faint] = 0.0
        if between.nnz:
            between.data[between.data < faint] = 0.0
            between.eliminate_zeros()
        return Springs(ground, between)

    def times(self, factor: float) -> Springs:
        """All of them so many times as stiff."""
        return Springs(factor * self.ground, factor * self.between if self.between.nnz else self.between)

    def matrix(self) -> Sparse:
        """Their second derivative, (n, n) [N/m]."""
        if not self.between.nnz:
            return diags(self.ground).tocsr()
        return diags(self.ground + np.asarray(self.between.sum(axis=1)).ravel()) - self.between

    def kept(self) -> dict[str, Any]:
        """Plain arrays for a saved state."""
        parts = {f"touching_{name}": getattr(self.between, name) for name in ("data", "indices", "indptr")}
        return parts | {"touching_ground": self.ground}

    @staticmethod
    def restored(saved: dict[str, Any], count: int) -> Springs | None:
        """From what `kept` gave, for so many unknowns; None if there is nothing."""
        if "touching_ground" not in saved:
            return None
        ground = np.array(saved["touching_ground"], dtype=np.float64)
        data, indices, indptr = (np.array(saved[f"touching_{name}"]) for name in ("data", "indices", "indptr"))
        fits = ground.shape == (count,) and len(indptr) == count + 1 and len(indices) == len(data) == indptr[-1]
        if not fits or not ((indices >= 0) & (indices < count)).all() or not (ground >= 0).all():
            raise ShellError("resume: touching_… must be springs between the unknowns; is it a state of this scene?")
        return Springs(ground, csr_matrix((data, indices, indptr), shape=(count, count)))
