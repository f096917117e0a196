"""The constant matrix of a step, factored: what both solvers precondition with.

It is factored once and serves while step size and stiffness stay. After cuts the factor from before them goes on
(`linalg.local_update`). Where things touch, the stiffness of contacts is added to its diagonal: without it a drape of
1.6k vertices took 5,300 iterations instead of 730.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from .contact.springs import Springs
from .errors import ShellError
from .linalg.factor import CoordinateFactor
from .linalg.local_update import CutFactor, about_cuts
from .types import Bools, Floats, Ints, Sparse

# A factor from before cuts serves while at most one unknown in so many lies about them: then a new one is cheaper.
FEW_CUTS = 50
# Contacts flicker at a solver's tolerance, and a matrix that is too stiff at a vertex for a while costs less than a new
# factor. So what was added fades by this factor with every factorisation and a new one is made when this share of
# the contacts' stiffness is missing: one factorisation a frame of a drape instead of five, and fewer iterations.
FADING, MISSING = 0.9, 0.3


class Preconditioner:
    """Approximate solves with the matrix of the step under way."""

    def __init__(self) -> None:
        self.refresh = True
        """Whether the next step may factor what has changed since the last factorisation; set at the start of a frame.
        Within one, rest angles that move are left to the solver: the factor only preconditions."""
        self.factorisations = 0
        self.matrix: Sparse = None
        """The constant matrix of this step, (n, n)."""
        self._factor: CoordinateFactor | None = None
        self._factored: Sparse = None
        self._key: tuple[float, int] | None = None
        self._parent: Ints | None = None
        self._cut_factor: CutFactor | None = None
        self._cut_matrix: Sparse = None
        self._touching: CoordinateFactor | None = None
        self._added: Springs | None = None
        self._free: Bools = np.zeros((0, 3), dtype=bool)

    def due(self, h: float, version: int) -> bool:
        """Whether a step of h [s] of a system of this version needs a new factorisation."""
        if self._key is None or self._key[0] != h:
            return True
        return self.refresh and self._key[1] != version

    def prepare(self, h: float, version: int, free: Bools, build: Callable[[], Sparse]) -> None:
        """Have a factor for steps of h [s]; `build` gives the constant matrix where a new one is needed."""
        fits = self._factor is not None and self._key is not None and self._key[0] == h
        stays = fits and (self._key == (h, version) or not self.refresh)
        self.refresh = False
        if stays and self._parent is None:
            self.matrix = self._factored
            return
        if stays and self._cut_factor is not None:
            self.matrix = self._cut_matrix
            return
        self._touching, self._free = None, free
        self.matrix = build()
        if stays and self._parent is not None:
            near = about_cuts(self.matrix, self._parent)
            if len(near) * FEW_CUTS <= self.matrix.shape[0]:
                assert self._factor is not None
                self._cut_matrix = self.matrix
                self._cut_factor = CutFactor(self._factor, self._parent, self.matrix, free, near)
                return
        self._factored = self.matrix
        self._factor = CoordinateFactor(self.matrix, free)
        self._key, self._parent, self._cut_factor = (h, version), None, None
        self.factorisations += 1

    def touch(self, now: Springs) -> None:
        """Take the springs of contacts as they are `now` into account."""
        if self._added is None or len(self._added.ground) != len(now.ground):
            self._added, self._touching = Springs.none(len(now.ground)), None
        missing = now.strength - now.least(self._added).strength
        if missing > MISSING * now.strength:
            self._added, self._touching = now.most(self._added.times(FADING)), None
        if self._touching is None and self._added.strength > 0.0:
            self._touching = CoordinateFactor(self.matrix + self._added.matrix(), self._free)
            self.factorisations += 1

    def solve(self, residual: Floats) -> Floats:
        """(matrix)⁻¹ residual, (n, 3), zero where held."""
        factor = self._touching or self._cut_factor or self._factor
        assert factor is not None
        return factor.solve(residual)

    def go_on_with(self, version: int, steady: bool, parent: Ints) -> None:
        """Serve the system after a cut; `parent` (n,) is the old unknown of each new one.

        Where nothing but cuts changes the matrix (`steady`), its factor serves on.
        """
        self._cut_factor, self._touching = None, None
        if self._added is not None:
            # Springs between vertices are found again at once.
            self._added = Springs(self._added.ground[parent], Springs.none(len(parent)).between)
        if self._key is None or not steady:
            self._factor, self._key, self._parent = None, None, None
        else:
            self._key = (self._key[0], version)
            self._parent = parent if self._parent is None else self._parent[parent]

    def kept(self) -> dict[str, Any]:
        """Plain arrays for a saved state: a factor from before the last cuts, stiffness added for contacts."""
        parts: dict[str, Any] = {} if self._added is None else self._added.kept()
        if self._parent is None or self._key is None:
            return parts
        parts |= {f"factor_{name}": getattr(self._factored, name) for name in ("data", "indices", "indptr")}
        return parts | {"factor_parent": self._parent, "factor_step": self._key[0]}

    def restore(self, saved: dict[str, Any], version: int, free: Bools) -> None:
        """Take up what `kept` gave, for a system of this version with unknowns `free` (n, 3)."""
        self._added = Springs.restored(saved, len(free))
        if "factor_parent" not in saved:
            return
        parent = np.array(saved["factor_parent"], dtype=np.int64)
        data, indices, indptr = (np.array(saved[f"factor_{name}"]) for name in ("data", "indices", "indptr"))
        count = len(indptr) - 1
        if parent.shape != (len(free),) or int(parent.max()) + 1 != count:
            raise ShellError("resume: factor_parent does not fit the mesh; is it a state of this scene?")
        before = np.ones((count, 3), dtype=bool)
        before[parent] = free
        self._factored = csr_matrix((data, indices, indptr), shape=(count, count))
        self._factor = CoordinateFactor(self._factored, before)
        self._key = (float(saved["factor_step"]), version)
        self._parent = parent
