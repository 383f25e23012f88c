"""Bilateral smoothing: a mean over near nodes, weighted by distance (Tomasi and Manduchi, 1998; SGCL's S_B)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from sgcl.smoothing.base import Smoothing, check_count, check_positive, check_prune
from sgcl.smoothing.memory import check_memory, held, reach
from sgcl.smoothing.rows import by_rows, identity, pruned

_NOTHING = 1e-6  # weights that are all below this leave the identity


@dataclass(frozen=True)
class Bilateral(Smoothing):
    """p_ij = w(i, j) / sum over j' in N_k(i) of w(i, j'), with k = ``hops`` and

        w(i, j) = exp(-d_spa(i, j) / (2 sigma_spatial²) - d_int(i, j) / (2 sigma_intensity²)).

    d_spa counts the hops of a shortest path, whatever the edge weights; d_int is the Hamming distance between rows i
    and j of the identity: 2, or 0 for j = i.

    Args:
        sigma_spatial: how fast weights fall with hops.
        sigma_intensity: how fast they fall with d_int; cancels without ``include_self``, as d_int is then always 2.
        hops: k, how far the neighbourhood goes. At 1 without ``include_self`` every neighbour gets 1 / degree,
            whatever the sigmas.
        include_self: whether N_k(i) contains i itself. Then small sigmas leave next to nothing to the neighbours
            (exp(-50) at the default ``sigma_spatial``), which is warned of.
        prune: entries below it are dropped at the end.

    Departures from the paper: none.
    """

    sigma_spatial: float = 0.1
    sigma_intensity: float = 2.0
    hops: int = 1
    include_self: bool = False
    prune: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("Bilateral", "sigma_spatial", self.sigma_spatial)
        check_positive("Bilateral", "sigma_intensity", self.sigma_intensity)
        check_count("Bilateral", "hops", self.hops)
        check_prune("Bilateral", self.prune)

    def filter(self, adj: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        edges = scipy.sparse.csr_array((np.ones(adj.nnz), adj.indices, adj.indptr), shape=adj.shape)
        largest = [0.0]

        def shares(block: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
            total = block @ np.ones(block.shape[1]) + self.include_self    # (rows,)
            block.data /= np.repeat(total, np.diff(block.indptr))
            largest.append(block.data.max(initial=0.0))
            return pruned(block, self.prune)

        if self.hops == 1:
            positives = shares(self._weight_of_hops()[1] * edges)
        else:
            bound, eye = reach(adj, self.hops), identity(adj.shape[0])
            if self.prune == 0:
                check_memory("Bilateral with prune=0", held(bound, self.most), "fewer hops or prune > 0")
            positives = by_rows(lambda rows: shares(self._weighted(edges, eye[rows], edges[rows])), bound, self.most)
        if adj.nnz and max(largest) < _NOTHING:
            warnings.warn(f"Bilateral: the largest weight off the diagonal is {max(largest):.1g}, so the positives are "
                          "in effect the identity; raise sigma_spatial or set include_self=False", stacklevel=3)
        return positives

    def _weighted(self, edges: scipy.sparse.csr_array, start: scipy.sparse.csr_array,
                  fresh: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        """(rows, N) the weights of the nodes 1 to k hops from each row's node, in units of the largest in its row."""
        weight = self._weight_of_hops()
        seen, total = start + fresh, weight[1] * fresh
        for hop in range(2, self.hops + 1):
            met = fresh @ edges
            met.data[:] = 1.0
            fresh = (met > seen).astype(np.float64)                        # met for the first time
            seen, total = seen + fresh, total + weight[hop] * fresh
        return total

    def _weight_of_hops(self) -> np.ndarray:
        """(k + 1,) w by hops, over that of the nearest node of a neighbourhood: the node itself, or one a hop away.

        The exponents are subtracted, not the weights divided, so that nothing underflows to 0 / 0.
        """
        hop = np.arange(self.hops + 1)
        spatial, intensity = (hop, 2.0 * (hop > 0)) if self.include_self else (hop - 1.0, 0.0 * hop)
        with np.errstate(over="ignore"):
            return np.exp(-spatial / self.sigma_spatial / self.sigma_spatial / 2
                          - intensity / self.sigma_intensity / self.sigma_intensity / 2)
