"""Cracks made by hand: triangles that come apart along chosen edges, as the core would hand them over."""

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components


def interior_edges(faces):
    """Pairs of corners (k, 2, 2) on either side of each inner edge: [[corner, its partner], [other end, its partner]]."""
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
