"""How many entries an unpruned filter may have, and whether the memory holds them."""

from __future__ import annotations

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph

from sgcl.errors import InputError
from sgcl.ram import free_memory

_BYTES = 48  # an entry in float64 with its index, twice while blocks are joined, then once in float32


def reach(adj: scipy.sparse.csr_array, hops: int) -> np.ndarray:
    """(N,) no fewer than the nodes within ``hops`` of each node: sums of degrees, at most its component."""
    _, label = scipy.sparse.csgraph.connected_components(adj, directed=False)
    size = np.bincount(label)[label].astype(np.float64)
    pattern = scipy.sparse.csr_array((np.ones(adj.nnz), adj.indices, adj.indptr), shape=adj.shape)
    nodes = np.ones(len(size))
    for _ in range(hops):
        nodes = np.minimum(size, 1 + pattern @ nodes)
        if (nodes == size).all():
            break
    return np.asarray(nodes)


def held(bound: np.ndarray, top: int | None) -> float:
    """How many entries rows of up to ``bound`` (N,) have together where each keeps its ``top``."""
    return float(bound.sum() if top is None else np.minimum(bound, top).sum())


def check_memory(owner: str, entries: float, advice: str) -> None:
    """Raise where up to ``entries`` unpruned entries may not fit into the memory that is free."""
    need, free = entries * _BYTES, free_memory()
    if need > free:
        raise InputError(f"{owner}: unpruned, this graph may fill {entries:.2g} entries, {need / 2**30:.1f} GiB where "
                         f"{free / 2**30:.1f} are free; set {advice}, or smooth smaller batches")
