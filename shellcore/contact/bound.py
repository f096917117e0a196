"""The bound on a step: which displacements cross nothing.

Two convex features at a distance are separated by the plane across the direction n between their nearest points. They
have not crossed during a motion if some direction n(s) separates them at every moment s of it. With n(s) going
straight from n₀ (nearest points before) to n₁ (after) and every vertex going straight, the separation of two vertices
along n(s) is a quadratic in s; it stays above c |n(s)| if its three Bézier coefficients

    n₀·Δ₀,   ½ (n₀·Δ₁ + n₁·Δ₀),   n₁·Δ₁     are above     c,   c (1 + n₀·n₁)/2,   c

(Δ: the vector between the vertices before and after; |n(s)| ≤ 1 − s(1−s)(1 − n₀·n₁)). No root is sought, motion of both
sides together costs nothing, and the sides may turn. A pair that fails is tried in halves, then cut short.
"""

from __future__ import annotations

import numpy as np

from ..linalg.vectors import components, dot, picked
from ..types import Floats, Ints
from .pairs import Pairs

# Share of its room that a pair must keep after a step.
KEPT = 0.02
# Share of its room that a pair which is cut short may use up, and share of its layer that it leaves.
SHARE, COMFORT = 0.8, 0.5
ROUNDS = 24
# How often a way is halved to follow directions that turn.
HALVINGS = 5


def unsafe(pairs: Pairs, x: Floats, move: Floats, halvings: int = HALVINGS) -> tuple[Ints, Floats]:
    """Pairs that may cross when the stack goes straight from x, where they were looked at, by `move` (total, 3), and
    the share of the way that they may go for sure, each (k,); `halvings` of it at most are looked at."""
    # First what comes no closer along n than its room allows: all that is needed for most pairs.
    low, high = pairs.along(move)
    kept = _kept(pairs)
    doubt = np.flatnonzero(pairs.distance - (high - low) <= kept)
    if len(doubt) == 0:
        return doubt, np.zeros(0)
    part = pairs.picked(doubt)
    sure = _sure(part, part.of(x), part.of(move), kept[doubt], halvings)
    crossed = np.flatnonzero(sure < 1.0)
    return doubt[crossed], sure[crossed]


def _kept(pairs: Pairs) -> Floats:
    """Distance that each pair must keep [m], (p,)."""
    solid = pairs.radius + pairs.core
    # What starts within the core (a sheet laid too close, or to be untangled) may stay or leave, not go deeper.
    room = pairs.room()
    deeper = pairs.distance - 1e-9 * np.abs(solid) - 1e-15
    return np.where(room > 0, solid + KEPT * np.minimum(room, pairs.reach), deeper)


def _sure(pairs: Pairs, start: list[Floats], move: list[Floats], kept: Floats, halvings: int) -> Floats:
    """Share of its straight way that each pair goes separated for sure, (p,); `start`, `move`: of its four vertices.

    The criterion above on the whole way; where it fails, on both halves, and so on: a corner that passes round an
    edge turns n by more than one straight change can follow.
    """
    sure = np.ones(len(pairs))
    rows, begin, length = np.arange(len(pairs)), np.zeros(len(pairs)), 1.0
    for level in range(halvings + 1):
        part, limit = pairs.picked(rows), kept[rows]
        moves = [picked(m, rows) for m in move]
        here = [picked(p, rows) + begin * m for p, m in zip(start, moves, strict=True)]
        there = [p + length * m for p, m in zip(here, moves, strict=True)]
        n0 = part.nearest_of(here)[1] if level else part.normals
        _, n1, distance = part.nearest_of(there)
        low, high = part.sides([0.5 * (dot(q, n0) + dot(p, n1)) for p, q in zip(here, there, strict=True)])
        touched = distance <= limit
        failed = np.flatnonzero(touched | (low - high <= limit * 0.5 * (1.0 + dot(n0, n1))))
        rows, begin, touched = rows[failed], begin[failed], touched[failed]
        if len(rows) == 0 or level == halvings:
            break
        # What comes after a touch does not matter.
        end = np.ones(len(pairs))
        np.minimum.at(end, rows[touched], begin[touched] + length)
        live = begin < end[rows]
        length *= 0.5
        rows = np.repeat(rows[live], 2)
        begin = np.repeat(begin[live], 2)
        begin[1::2] += length
    np.minimum.at(sure, rows, begin)
    return sure


def shortened(pairs: Pairs, x: Floats, move: Floats, tied: Ints) -> Floats | None:
    """Factor for each vertex of the stack, (total,) between 0 and 1, that makes `move` safe; one for all of `tied`.

    Vertices of a pair that is not safe go back alike. That may spoil another pair that relied on them, so this repeats.
    None if that does not end.
    """
    factor = np.ones(len(move))
    # What would cross stops well within its layer, not where the core begins: there it could hardly move any more.
    deep = np.maximum(pairs.room(), 0.0)
    room = np.maximum(deep - COMFORT * (pairs.reach - pairs.core), 0.1 * deep)
    # Rows of `pairs` whose vertices have been cut short: only these need another look.
    rows, part = np.arange(len(pairs)), pairs
    for _ in range(ROUNDS):
        bad, sure = unsafe(part, x, factor[:, None] * move)
        if len(bad) == 0:
            return factor
        short = part.picked(bad)
        low, high = short.along(factor[:, None] * move)
        closer = np.maximum(high - low, 1e-300)
        share = np.where(high > low, SHARE * room[rows[bad]] / closer, 0.5)
        share = np.clip(np.maximum(share, SHARE * sure), 0.0, 0.95)
        least = np.ones(len(move))
        np.minimum.at(least, short.corners.ravel(), np.tile(share, 4))
        factor = factor * least
        if len(tied):
            factor[tied] = factor[tied].min()
        rows = np.flatnonzero((factor < 1.0)[pairs.corners].any(axis=0))
        part = pairs.picked(rows)
    return None


def alike(pairs: Pairs, x: Floats, move: Floats) -> float:
    """One of 1, ½, ¼, … or 0 that makes `move` safe when all vertices go that share of it."""
    share = 1.0
    while share > 1e-4:
        if len(unsafe(pairs, x, share * move)[0]) == 0:
            return share
        share *= 0.5
    return 0.0


def pushed(pairs: Pairs, move: Floats, mobile: Floats, rounds: int) -> Floats:
    """`move` (total, 3) changed so that pairs do not approach beyond their room: what is in the way is pushed along.

    `mobile` (total,): 1 for vertices that give way, 0 for those that do not (colliders). Excess approach is shared by
    the sides that can move, along n, as in an inelastic impact; repeated, since a push hands on.
    """
    along = np.stack([dot(part, pairs.normals) for part in pairs.of(move)])
    low, high = pairs.sides(list(along))
    budget = 0.5 * SHARE * np.maximum(pairs.room(), 0.0)
    excess = high - low - budget
    if not (excess > 0).any():
        return move
    # Only pairs that come near, or would if their sides were pushed as far as others are.
    rows = np.flatnonzero(excess > -float(excess.max()))
    pairs, along = pairs.picked(rows), picked(along, rows)
    low, high, budget = low[rows], high[rows], budget[rows]
    moves, corners = components(move).copy(), pairs.corners
    face = np.arange(len(pairs)) < pairs.faces
    for _ in range(rounds):
        bad = np.flatnonzero(high - low > budget)
        hit = _pushed_once(pairs, bad, low[bad], high[bad], budget[bad], picked(along, bad), moves, mobile)
        if len(hit) == 0:
            break
        # Only pairs of vertices that were pushed see another motion.
        is_hit = np.zeros(len(move), dtype=bool)
        is_hit[hit] = True
        again = np.flatnonzero(is_hit[corners].any(axis=0))
        normals, faces = picked(pairs.normals, again), face[again]
        first, second, third, fourth = (dot(picked(moves, corner), normals) for corner in picked(corners, again))
        along[:, again] = first, second, third, fourth
        low[again] = np.where(faces, first, np.minimum(first, second))
        high[again] = np.maximum(np.maximum(third, fourth), np.where(faces, second, third))
    return moves.T


def _pushed_once(
    pairs: Pairs, bad: Ints, low: Floats, high: Floats, budget: Floats, along: Floats, moves: Floats, mobile: Floats
) -> Ints:
    """Push the pairs `bad` (k,) apart, changing `moves` (3, total); vertices that were pushed.

    Of these pairs: `low`, `high` of their sides, `budget` [m], and how their vertices move `along` n, (4, k).
    """
    corners, n, face = picked(pairs.corners, bad), picked(pairs.normals, bad), bad < pairs.faces
    second = np.stack([np.zeros_like(face), face, np.ones_like(face), np.ones_like(face)])
    give = mobile[corners]
    give_first = np.where(second, 1.0, give).min(axis=0)
    give_second = np.where(second, give, 1.0).min(axis=0)
    # Sides that are held by some of their corners turn about those, if nothing else gives way.
    neither = give_first + give_second == 0
    give_first = np.where(neither, np.where(second, 0.0, give).max(axis=0), give_first)
    give_second = np.where(neither, np.where(second, give, 0.0).max(axis=0), give_second)
    total = np.maximum(give_first + give_second, 1e-300)
    excess = high - low - budget
    floor = low + excess * give_first / total
    ceiling = high - excess * give_second / total
    lift = np.where(second, np.minimum(ceiling - along, 0.0), np.maximum(floor - along, 0.0))
    lift *= give > 0
    size = np.abs(lift)
    at = corners.ravel()
    weight = np.bincount(at, weights=size.ravel(), minlength=moves.shape[1])
    lift *= size
    # The mean over a vertex's pairs, weighted by need: one large push is not watered down by many small ones.
    hit = np.flatnonzero(weight > 0)
    for axis in range(3):
        change = np.bincount(at, weights=(lift * n[axis]).ravel(), minlength=moves.shape[1])
        moves[axis, hit] += change[hit] / weight[hit]
    return hit
