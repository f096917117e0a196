"""The shadow of a step: it starts where the last step ended and never crosses anything, however far the solver goes."""

from __future__ import annotations

import numpy as np

from ..types import Floats, Ints
from .bodies import Bodies
from .bound import HALVINGS, alike, pushed, shortened, unsafe
from .known import Known
from .normal_cones import NormalCones
from .pairs import Pairs
from .rows import Rows
from .struck import Struck

# How often a way is tried before it is cut short for all vertices alike; rounds of pushing.
WAYS, PUSHES, GLIMPSES = 8, 30, 5
# How often what would cross is turned aside before it is cut short.
SLIDES = 2
# Pairs that are looked at first for the nearest.
FIRST = 64


class Shadow:
    """Where the shadow is, `at` (total, 3), and what is about it.

    `yielding`: who gives way when pushed, 1 or 0 for each vertex, (total,): first what is free, then pins too.
    """

    def __init__(self, bodies: Bodies, known: Known, at: Floats, yielding: list[Floats]) -> None:
        self.bodies = bodies
        self.at = at
        self.yielding = yielding
        self.halvings = HALVINGS
        """How often a way is halved to follow what passes round an edge."""
        self.blocked = ""
        """What keeps it from arriving, in words."""
        self.pairs: Pairs | None = None
        """Pairs looked at last, before it went on."""
        self._known = known
        self._looked_from: Floats | None = None
        self._went = np.zeros_like(at)
        self._bound: Floats | None = None
        self._struck = Struck()
        self._tied = np.arange(bodies.count, bodies.total)

    def begin(self, at: Floats) -> None:
        """Start a step."""
        self.at = at
        self._struck = Struck()

    def look(self) -> Pairs:
        """Nearest points of the known pairs where it is."""
        self.pairs = pairs = Pairs(self.bodies, self._known.candidates, self.at)
        self._looked_from = self.at
        self._went, self._bound = np.zeros_like(self.at), None
        return pairs

    def struck(self, pairs: Pairs) -> tuple[Pairs, Ints]:
        """`pairs` with directions of those that a way of this step would have crossed, and which these are."""
        return self._struck.into(pairs, self.at)

    def go(self, goal: Floats, late: bool) -> None:
        """Go as near to `goal` (total, 3) as nothing is crossed; `late`: colliders have yet to arrive."""
        wish = goal - self.at
        way = self._safe_way(wish, late)
        # Not at + (goal − at): what nothing hinders is not to differ by round-off from what has no contact.
        self.at = goal if way is wish else self.at + way

    def _found(self, move: Floats) -> Pairs:
        """Nearest points, where it is, of all pairs that may meet on the way by `move` (total, 3)."""
        looked = self.pairs if self._looked_from is self.at else None
        news = self._known.find(self.at, move, looked is not None)
        if looked is None or news is None:
            return Pairs(self.bodies, self._known.candidates, self.at)
        return looked.joined(Pairs(self.bodies, news, self.at)) if len(news) else looked

    def _safe_way(self, wish: Floats, late: bool) -> Floats:
        stack, move, known = self.at, wish, self._known
        pairs = self._found(wish)
        if late:
            for mobile in self.yielding:
                move = pushed(pairs, move, mobile, PUSHES)
            known.build(stack, move)
            pairs = Pairs(self.bodies, known.candidates, stack)
        found, whole, way = known.candidates, pairs, move
        bad, sure = unsafe(pairs, stack, way, self.halvings)
        self._struck.add(pairs.picked(bad), stack, way, sure)
        # What was safe stays so unless a vertex of it goes another way.
        doubtful = np.zeros(len(pairs), dtype=bool)
        doubtful[bad] = True
        for attempt in range(WAYS):
            if len(bad) == 0:
                break
            if attempt < SLIDES:
                # At first what would cross is only turned aside: it slides along what is in its way.
                way = pushed(pairs.picked(bad), way, self.yielding[0], GLIMPSES)
            else:
                factor = shortened(pairs, stack, way, self._tied)
                if factor is None:
                    break
                way = factor[:, None] * way
            changed = np.asarray((way != move).any(axis=1))
            if changed[self.bodies.count :].any():
                known.build(stack, way)
                pairs = Pairs(self.bodies, known.candidates, stack)
                bad = unsafe(pairs, stack, way, self.halvings)[0]
                continue
            others = Pairs(self.bodies, known.widen(found, stack, way, changed), stack)
            pairs = whole.joined(others)
            again = whole.rows_of(others, np.flatnonzero(doubtful | changed[whole.corners].any(axis=0)))
            bad = again[unsafe(pairs.picked(again), stack, way, self.halvings)[0]]
        if len(bad):
            # One factor for all: what was looked at first then holds the whole way.
            way = alike(whole, stack, move) * move
        self.blocked = self._tightest(pairs, pairs.room())
        self.pairs, self._went, self._bound = pairs, way, None
        self._looked_from = None
        return way

    def overlooked(self, rows: Rows, depth: float, cones: NormalCones | None) -> bool:
        """Whether pairs that `rows` know nothing of end more than `depth` [m] inside the reach of their force, and
        within normal `cones`, where given.

        A step begins with the candidates of the last one.
        """
        assert self.pairs is not None
        reach = self.pairs.reach - depth
        near = np.flatnonzero(self._least() < reach)
        if len(near) == 0:
            return False
        part = self.pairs.picked(near)
        part.weights, part.normals, distance = part.nearest(self.at)
        inside = np.flatnonzero(distance - part.radius < reach[near])
        if cones is not None and len(inside):
            inside = inside[~cones.outside(part, inside, self.at)]
        return not rows.have(self.pairs, near[inside])

    def nearest(self) -> float:
        """Smallest distance of what may touch where it is [m]."""
        if self.pairs is None:
            return np.inf
        least = self._least()
        order = np.arange(len(least)) if len(least) <= FIRST else np.argpartition(least, FIRST)[:FIRST]
        best = self._distance(np.sort(order))
        rest = np.flatnonzero(least < best)
        return best if len(rest) <= len(order) else min(best, self._distance(rest))

    def _least(self) -> Floats:
        """A bound from below on distances of the pairs looked at last where it is [m], (p,)."""
        assert self.pairs is not None
        if self._bound is None:
            low, high = self.pairs.along(self._went)
            # Sides that were separated along n by more than they approached along it are no nearer than the difference.
            self._bound = self.pairs.distance - self.pairs.radius - np.maximum(high - low, 0.0)
        return self._bound

    def _distance(self, rows: Ints) -> float:
        """Smallest distance of some of the pairs looked at last, where it is [m]."""
        assert self.pairs is not None
        part = self.pairs.picked(rows)
        return float((part.nearest(self.at)[2] - part.radius).min(initial=np.inf))

    def _tightest(self, pairs: Pairs, room: Floats) -> str:
        if len(pairs) == 0:
            return ""
        worst, bodies = int(np.argmin(room)), self.bodies
        a, b = (int(bodies.owner[k]) for k in pairs.corners[[0, 3], worst])
        names = [f"shell {k}" if k >= 0 else bodies.scene.called(-1 - k) for k in (a, b)]
        inside = [int(k) for k in pairs.corners[:, worst] if k < bodies.count]
        return (
            f"{names[0]} meets {names[1]} at vertex {inside[0]}, with {max(room[worst], 0.0):.3g} m to spare: leave "
            "more room between them, move what presses more slowly, or give a smaller contact_distance"
        )
