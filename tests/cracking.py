"""Cracks made by hand: triangles that come apart along chosen edges, as the core would hand them over."""

from itertools import pairwise

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components


def interior_edges(faces):
    """Pairs of corners (k, 2, 2) on either side of each inner edge: a corner and its partner, for both ends."""
    m = len(faces)
    corner = np.arange(3 * m).reshape(m, 3)
    a, b = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    ca, cb = corner.ravel(), np.roll(corner, -1, axis=1).ravel()
    low, high = np.minimum(a, b), np.maximum(a, b)
    order = np.lexsort((high, low))
    same = (low[order][1:] == low[order][:-1]) & (high[order][1:] == high[order][:-1])
    one, two = order[:-1][same], order[1:][same]
    return np.stack([np.stack([ca[one], cb[two]], 1), np.stack([cb[one], ca[two]], 1)], 1)


def split(faces, count, cut):
    """Faces after the inner edges `cut` (mask over `interior_edges`) opened, and parents of the new vertices.

    Vertices go apart wherever no uncut edge joins their corners, as in any manifold mesh.
    """
    pairs = interior_edges(faces)[~cut].reshape(-1, 2)
    size = faces.size
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(size, size))
    _, fan = connected_components(graph, directed=False)
    vertices = faces.ravel()
    fans, first = np.unique(fan, return_index=True)
    owner = vertices[first]
    # The first fan of a vertex keeps it, the others are copies in the order in which they are met.
    _, keeps = np.unique(owner, return_index=True)
    number = np.full(len(fans), -1)
    number[keeps] = owner[keeps]
    copies = np.flatnonzero(number < 0)
    number[copies] = count + np.arange(len(copies))
    return number[np.searchsorted(fans, fan)].reshape(-1, 3), owner[copies]


def random_splits(faces, count, stages, share, seed=1, samples=1):
    """A `Splits` of several stages, one every `samples` samples, each opening a share of the edges."""
    from thin_shell.addon.cache.splits import Splits

    random = np.random.default_rng(seed)
    now, parents, births = np.array(faces), [], []
    total = count
    for stage in range(stages):
        cut = random.random(len(interior_edges(now))) < share
        now, fresh = split(now, total, cut)
        parents.append(fresh)
        births.append(np.full(len(fresh), (stage + 1) * samples))
        total += len(fresh)
    return Splits(count, now, np.concatenate(parents), np.concatenate(births))


class Breaking:
    """Stands in for `sc.progress`: sheets that drift and come apart by plan, with frames as the core makes them."""

    def __init__(self, plans, fps=24.0):
        """`plans`: a `Splits` for each shell."""
        self.plans, self.fps = plans, fps

    def positions(self, starts, sample):
        """World positions of all shells in a sample [m], one array each."""
        made = []
        for plan, start in zip(self.plans, starts, strict=True):
            alive = plan.alive(sample)
            pieces = np.random.default_rng(5).normal(size=(plan.total, 3)) * 0.02
            # Each copy goes its own way from its birth on; whoever is left behind goes with the old one.
            path = plan.ancestors(sample)[:alive]
            x = start[plan.sources[:alive]] + [0.0, 0.0, -0.01 * sample]
            born = np.concatenate([np.zeros(plan.originals), plan.births])[path]
            made.append(x + pieces[path] * np.maximum(sample - born + 1, 0)[:, None] * (born > 0)[:, None])
        return made

    def __call__(self, scene, frames=100, fps=24.0, resume=None, **_):
        from thin_shell.shellcore import Frame, Progress

        starts = [shell.start for shell in scene.shells]
        first = 0 if resume is None else round(resume["time"] * fps)
        for sample in range(first + 1, first + frames + 1):
            yield Progress("solve", sample / fps, sample, iteration=1)
            parts = self.positions(starts, sample)
            offsets = np.cumsum([0] + [len(x) for x in parts])
            before = np.cumsum([0] + [plan.alive(sample - 1) for plan in self.plans])
            faces, parent, source, birth = [], [], [], []
            originals = np.cumsum([0] + [plan.originals for plan in self.plans])
            for i, plan in enumerate(self.plans):
                alive = plan.alive(sample)
                faces.append(plan.ancestors(sample)[plan.faces] + offsets[i])
                parent.append(plan.ancestors(sample - 1)[:alive] + before[i])
                source.append(plan.sources[:alive] + originals[i])
                birth.append(np.concatenate([np.full(plan.originals, -np.inf), plan.births / fps])[:alive])
            x = np.concatenate(parts)
            faces = np.concatenate(faces)
            frame = Frame(
                time=sample / fps,
                positions=x,
                velocities=np.full_like(x, sample),
                faces=faces,
                slices=[slice(a, b) for a, b in pairwise(offsets)],
                source=np.concatenate(source),
                parent=np.concatenate(parent),
                birth=np.concatenate(birth),
                state={"time": sample / fps, "positions": x},
                fields={
                    "strain": np.full(len(faces), 0.25 * sample),
                    "damage": np.full(len(faces), 1.0),
                    "contact": np.arange(len(x), dtype=float),
                },
            )
            yield Progress("frame", sample / fps, sample, frame=frame)
