"""Newton directions of soft flat sheets: the Hessian as blocks of edges and vertices, factored on the tree of the mesh.

What couples only vertices of one triangle has a place here: the membrane (`edge_tangent.py`), inertia, drag, pins.
Bending, which reaches further, is faint beside stretch in these sheets: a Laplacian with its diagonal stands in for it.
It must not be less than half of bending anywhere, or the finest wrinkles grow from step to step (a third of the
diagonal: at once); with more, longer waves are too stiff. Where that counts, conjugate gradients put bending itself in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from .contact.rows import Coupled
from .energies.base import Energy, VertexEnergy
from .energies.edge_tangent import TURNED, EdgeTangent, Single
from .energies.fem import Fem
from .errors import ShellError
from .linalg.assembly import scalar_matrix
from .linalg.block_cholesky import NotDefinite, TreeFactor
from .linalg.vectors import Added, Product, components, inner
from .types import Bools, Floats, Ints, Sparse

# Steps that are left to L-BFGS before Newton's method is tried again, after a first failure and at most.
SHORTEST_PAUSE, LONGEST_PAUSE = 4, 84
# How many times bending's diagonal the Laplacian in its place has.
BENDING = 1.0
# The places of xx, yy and zz in a block.
DIAGONAL = slice(0, 9, 4)


class Trust:
    """Whether Newton steps have been worth their price lately.

    A sheet that hangs slack buckles, and steps that know nothing of compression lead nowhere. After a failure the next
    attempt waits, after another four times as long.
    """

    def __init__(self) -> None:
        self._pause = 0
        self._left = 0

    def asked(self) -> bool:
        """Whether a step shall try; to be asked once a step."""
        if self._left:
            self._left -= 1
            return False
        return True

    def report(self, worked: bool) -> None:
        """What came of an attempt."""
        self._pause = 0 if worked else min(4 * self._pause + SHORTEST_PAUSE, LONGEST_PAUSE)
        self._left = self._pause

    def kept(self) -> dict[str, Any]:
        """Plain numbers for a saved state."""
        return {"newton_pause": np.array([self._pause, self._left])} if self._pause else {}

    def restore(self, saved: dict[str, Any]) -> None:
        """Take up what `kept` gave."""
        found = np.asarray(saved.get("newton_pause", (0, 0)))
        if found.shape != (2,) or not (np.issubdtype(found.dtype, np.integer) and LONGEST_PAUSE >= found.max()):
            raise ShellError("resume: newton_pause must be two whole numbers; is it the state of a frame?")
        self._pause, self._left = (max(int(number), 0) for number in found)


class SheetNewton:
    """Of some membranes on n vertices at rest at `positions` (n, 3); `bending` (n, n) is its constant matrix [N/m],
    `free` (n, 3) what may move."""

    def __init__(self, membranes: Sequence[Fem], positions: Floats, bending: Sparse, free: Bools) -> None:
        n = len(positions)
        self._tangents = [EdgeTangent(membrane) for membrane in membranes]
        edges = np.concatenate([tangent.edges for tangent in self._tangents])
        count = len(edges)
        self._edges, self._edge_count = edges, count
        ends = np.cumsum([0, *(len(tangent.edges) for tangent in self._tangents)])
        self._parts = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        self._values = np.zeros((9, count + n), dtype=Single)
        first, second = edges.T
        # Rows of blocks add up to zero: what is at a vertex is minus the blocks of its edges, turned at second ends.
        ones = np.full(2 * count, -1.0, dtype=Single)
        columns = np.concatenate([np.arange(count), count + np.arange(count)])
        self._sums = Product(csr_matrix((ones, (edges.T.ravel(), columns)), shape=(n, 2 * count)))
        neighbours = np.maximum(np.bincount(edges.ravel(), minlength=n), 1)
        share = BENDING * bending.diagonal() / neighbours
        self._faint = (0.5 * (share[first] + share[second])).astype(Single)
        weights = self._faint.astype(np.float64)
        self._correction = Product(csr_matrix(bending - _laplacian(edges, weights, n)))
        self._fixed = ~free.T
        held = np.flatnonzero(~free.all(axis=1))
        loose = np.broadcast_to(free[:, :, None], (n, 3, 3)).reshape(n, 9).T
        crossing = np.flatnonzero(np.isin(first, held) | np.isin(second, held))
        self._crossing = crossing, (loose[:, first[crossing]] & loose[TURNED][:, second[crossing]]).astype(Single)
        self._held = held, (loose[:, held] & loose[TURNED][:, held]).astype(Single), (~free[held].T).astype(Single)
        self._tree = TreeFactor(edges, positions)
        self._on_vertices: Floats = np.zeros((9, n))

    def prepare(self) -> Iterator[None]:
        """Before the first direction, in pieces; nothing later."""
        yield from self._tree.prepare()

    def begin(self, start: Floats, x: Floats, on_vertices: Floats) -> None:
        """Be at x (n, 3), with the stress of the last state `start`; `on_vertices` as `vertex_blocks`."""
        self._on_vertices = on_vertices
        for tangent in self._tangents:
            tangent.begin(start, x)

    def move(self, step: Floats, x: Floats) -> None:
        """Follow a step (n, 3), and go on to x with the stress after it."""
        for tangent in self._tangents:
            tangent.carry(step)
            tangent.arrive(x)

    def direction(self, gradient: Floats, refined: int) -> Floats:
        """−H⁻¹ gradient, (n, 3), by columns, by so many conjugate gradients on the last factor."""
        return self._refined(-components(gradient), refined).T

    def factor(self, contacts: Coupled | None = None) -> bool:
        """Factor the Hessian here, with that of `contacts`; whether it is definite, and contacts couple no vertices
        but those of triangles."""
        blocks, vertices = self._values[:, : self._edge_count], self._values[:, self._edge_count :]
        for tangent, part in zip(self._tangents, self._parts, strict=True):
            tangent.blocks(blocks[:, part])
        blocks[DIAGONAL] -= self._faint
        both = np.concatenate([blocks, blocks[TURNED]], axis=1)
        vertices.fill(0.0)
        self._sums(both, vertices)
        vertices += self._on_vertices
        if contacts is not None and not self._add(contacts):
            return False
        crossing, kept = self._crossing
        if len(crossing):
            blocks[:, crossing] *= kept
            held, kept, one = self._held
            vertices[:, held] *= kept
            vertices[DIAGONAL, held] += one
        try:
            self._tree.factor(self._values)
        except NotDefinite:
            return False
        return True

    def _add(self, contacts: Coupled) -> bool:
        """Add contacts to the blocks of edges and vertices; whether all had a place."""
        first, second, parts = contacts
        alone = first == second
        low, high = np.minimum(first, second)[~alone], np.maximum(first, second)[~alone]
        key = low * len(self._fixed.T) + high
        names, order = self._names
        found = np.minimum(np.searchsorted(names, key), len(names) - 1)
        if not np.array_equal(names[found], key):
            return False
        width = self._values.shape[1]
        at = np.concatenate([self._edge_count + first[alone], order[found]])
        places = (np.arange(9)[:, None] * width + at).ravel()
        values = np.concatenate([parts[:, alone], parts[:, ~alone]], axis=1).ravel().astype(Single)
        Added(places, np.arange(len(places)))(values, self._values.reshape(-1))
        return True

    @cached_property
    def _names(self) -> tuple[Ints, Ints]:
        """Numbers of all edges, rising, and which edges they are of."""
        low, high = self._edges.min(axis=1), self._edges.max(axis=1)
        names = low * len(self._fixed.T) + high
        order = np.argsort(names)
        return names[order], order

    def _refined(self, residual: Floats, times: int) -> Floats:
        """(H + B − L)⁻¹ residual, (3, n): bending B for its stand-in L, by conjugate gradients on the factor of H.

        H times a direction is known from the residual that it was found for: only B − L has to be multiplied.
        """
        solution, direction, image = (np.zeros_like(residual) for _ in range(3))
        before = np.inf
        for _ in range(times):
            z = components(self._tree.solve(residual.T))
            rho = inner(residual, z)
            if not rho > 0.0:
                break
            direction, image = z + (rho / before) * direction, residual + (rho / before) * image
            before = rho
            product = image + self._correction(direction)
            product[self._fixed] = 0.0
            step = rho / inner(direction, product)
            solution = solution + step * direction
            residual = residual - step * product
        return solution


def _laplacian(edges: Ints, weights: Floats, vertex_count: int) -> Sparse:
    """∑ weight (xᵢ − xⱼ)² over edges (e, 2) as a matrix, (n, n)."""
    first, second = edges.T
    rows = np.concatenate([first, second, first, second])
    columns = np.concatenate([first, second, second, first])
    return scalar_matrix(rows, columns, np.concatenate([weights, weights, -weights, -weights]), vertex_count)


def vertex_blocks(inertia: Floats, energies: Sequence[Energy]) -> Floats:
    """Blocks [N/m], (9, n), of `inertia` (n,) and of what among the energies acts on single vertices."""
    blocks = np.zeros((9, len(inertia)))
    blocks[DIAGONAL] = inertia
    for energy in energies:
        if isinstance(energy, VertexEnergy):
            blocks += energy.vertex_blocks()
    return blocks
