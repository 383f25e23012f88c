"""GSCL: nodes fewer hops away shall, as a group, be more alike than those further away; one view, nothing corrupted.

Ning et al., *Graph Soft-Contrastive Learning via Neighborhood Ranking*.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sgcl.encoders import Encoder, Projector
from sgcl.errors import InputError, unknown_name
from sgcl.graph import Graph
from sgcl.losses.infonce import check_temperature, unit_rows
from sgcl.losses.logsumexp import group_logsumexp, pair_logsumexp
from sgcl.methods.base import Method
from sgcl.smoothing.rows import identity, row_of
from sgcl.sparse import CSR, sddmm

Ranking = Literal["pairwise", "listwise"]

_ROWS = 256  # nodes whose hops are found at a time
_POOL = 4    # of a hop so many times the nodes that a step draws are remembered


class Hops(NamedTuple):
    """A graph and, drawn from each node's neighbourhood, who is how far away."""

    graph: Graph
    pairs: CSR       # (N, N) with values (nnz, 2): how many hops, counted from 0, and how many nodes it stands for
    drawn: Tensor    # (M,) nodes that stand for all, ascending
    near: CSR        # (N, M) those of them that are not beyond a node's hops


class GSCL(Method):
    r"""Graph soft-contrastive learning by neighbourhood ranking.

    N_k(i) are the nodes at distance k from i, k = 1..K, and N_(K+1)(i) those beyond. With Z the projected embedding,
    S_k(i) = sum of exp(cos(z_i, z_j) / tau) over j in N_k(i). The loss is

    .. math::
        -\frac{1}{N} \sum_i \sum_{k < l} [p < \alpha] \log p, \; p = S_k / (S_k + S_l)
        \quad\text{or}\quad
        -\frac{1}{N} \sum_i \sum_{k \le K} [p < \alpha] \log p, \; p = S_k / (S_k + ... + S_{K+1}),

    pairwise or listwise. The gate [p < alpha] lets go of what is in order. Empty hops are left out. Of a hop of more
    than s ``samples``, each node is drawn with the probability that makes it s on average, and stands for as many as it
    was drawn from; ``outside`` nodes, the same for all, stand for those beyond. Where no hop has more than 4 s nodes,
    the expectation of each S is so exact.

    Time O(E D + N F D + N D² + (K s + M) N D) a step for M outside nodes, memory O(N D + E + K s N). Once, before the
    training, the hops are found, 256 nodes at a time; of each, 4 s nodes are remembered, drawn at random.

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of the embedding; the layers before it are twice as wide.
        projection_channels: the width inside the projector; 0 for none, which ranks the embeddings themselves.
        num_layers: depth of the encoder.
        layer: its layer type, ``"gcn"``, ``"sage"``, ``"gat"`` or ``"gin"``.
        activation: after each layer, ``"prelu"``, ``"relu"``, ``"elu"`` or ``"none"``.
        dropout: inside the encoder, in training.
        ranking: ``"pairwise"`` or ``"listwise"``.
        hops: K, the distances that are told apart.
        samples: s, how many nodes of a hop are drawn in a step.
        outside: M, how many nodes of the graph stand for those beyond the hops; 0 ranks the hops alone.
        temperature: tau, at least 0.001.
        threshold: alpha, the share of the nearer group from which on nothing is pushed; 1 gates nothing.

    Departures from the paper: no official code was found, and how the paper samples and whether it ranks the nodes
    beyond its hops is not known here (a later form of it names a term against the outside; without one, embeddings were
    found to get worse in training). The loss is a mean over nodes, so that its scale does not follow the graph's size.
    Nodes of a hop that are not remembered count as beyond all hops, whose sum is so too large around hubs. In sampled
    batches distances are those of the whole graph, and hops what the batch holds of them. Without a recipe, training
    has this library's 200 epochs, not 500 with weight decay.
    """

    def __init__(self, in_channels: int, *, hidden_channels: int = 512, projection_channels: int = 512,
                 num_layers: int = 2, layer: str = "gcn", activation: str = "relu", dropout: float = 0.0,
                 ranking: Ranking = "pairwise", hops: int = 2, samples: int = 64, outside: int = 1024,
                 temperature: float = 0.5, threshold: float = 0.1) -> None:
        super().__init__()
        for name, least, count in (("projection_channels", 0, projection_channels), ("hops", 1, hops),
                                   ("samples", 1, samples), ("outside", 0, outside)):
            if count < least:
                raise InputError(f"GSCL: {name} is {count}, expected at least {least}")
        if ranking not in get_args(Ranking):
            raise unknown_name("GSCL ranking", ranking, get_args(Ranking))
        if hops == 1 and outside == 0:
            raise InputError("GSCL: hops is 1 and outside is 0, which leaves nothing to rank; raise one of them")
        check_temperature("GSCL", temperature, least=1e-3)
        if not 0 < threshold <= 1:
            raise InputError(f"GSCL: threshold is {threshold}, expected a number in (0, 1]")
        self.encoder = Encoder(in_channels, 2 * hidden_channels, hidden_channels, num_layers=num_layers, layer=layer,
                               activation=activation, dropout=dropout)
        self.projector = Projector(hidden_channels, projection_channels) if projection_channels else nn.Identity()
        self.ranking, self.hops, self.samples, self.outside = ranking, hops, samples, outside
        self.temperature, self.threshold = temperature, threshold
        self._pool: CSR | None = None

    def start(self, graph: Graph) -> None:
        self._pool = neighbourhoods(graph.adj, self.hops, _POOL * self.samples)

    def augment(self, graph: Graph, generator: torch.Generator) -> Hops:
        assert self._pool is not None, "start(graph) comes first"
        pool = (self._pool if graph.n_id is None else self._pool.submatrix(graph.n_id.cpu())).to(graph.device)
        hop, size = pool.values().unbind(1)
        remembered = size.clamp(max=_POOL * self.samples)
        share = (self.samples / remembered).clamp(max=1.0)
        chosen = torch.rand(pool.nnz, generator=generator).to(graph.device) < share
        pairs = pool.with_values(torch.stack([hop, size / (remembered * share)], dim=1)).keep(chosen)
        drawn = torch.randperm(graph.num_nodes, generator=generator)[:self.outside].sort().values.to(graph.device)
        return Hops(graph, pairs, drawn, _near(pool, drawn))

    def loss(self, views: Hops) -> Tensor:
        graph, pairs, drawn, near = views
        u = unit_rows(self.projector(self.encoder(graph.x, graph.adj)))    # (N, D)
        hop, stands_for = pairs.values().unbind(1)
        score = sddmm(pairs, u, u) / self.temperature + stands_for.log()
        sums = group_logsumexp(score, hop.long() * graph.num_nodes + pairs.row, self.hops * graph.num_nodes)
        sums = sums.view(self.hops, -1)                                    # (K, N)
        if len(drawn):
            beyond = pair_logsumexp(u, u[drawn], temperature=self.temperature, without=near)
            sums = torch.cat([sums, beyond[None] + math.log(graph.num_nodes / len(drawn))])             # (K + 1, N)
        return ranking_loss(sums, self.ranking, self.threshold)

    def embed(self, graph: Graph) -> Tensor:
        h: Tensor = self.encoder(graph.x, graph.adj)                       # (N, D)
        return h


def ranking_loss(sums: Tensor, ranking: Ranking, threshold: float) -> Tensor:
    """The loss of (K, N) values log S_k(i), nearest group first, minus infinity where a group is empty."""
    if ranking == "pairwise":
        ranks = [(near, slice(far, far + 1)) for near, far in combinations(range(len(sums)), 2)]
    else:
        ranks = [(near, slice(near + 1, None)) for near in range(len(sums) - 1)]
    filled = ~sums.isinf()
    total = torch.zeros((), dtype=sums.dtype, device=sums.device)
    for near, far in ranks:
        both = filled[near] & filled[far].any(0)                           # (N,)
        log_p = -F.softplus(sums[far, both].logsumexp(0) - sums[near, both])
        total = total - log_p[log_p.detach() < math.log(threshold)].sum()
    return total / sums.size(1)


def neighbourhoods(adj: CSR, hops: int, most: int) -> CSR:
    """Who is at a distance of 1 to ``hops``: (N, N) with values (nnz, 2), the distance minus 1 and how many nodes are
    at that distance; where those are more than ``most``, that many of them, drawn at random but always the same."""
    pattern, rng = adj.with_values(None).to_scipy(np.float32), np.random.default_rng(0)
    parts = []
    for start in range(0, adj.shape[0], _ROWS):
        front = seen = identity(adj.shape[0])[start:start + _ROWS].astype(np.float32)
        for hop in range(hops):
            front = front @ pattern
            front.data[:] = 1
            front = (front > seen).astype(np.float32)                      # reached, and not before
            seen = seen + front
            row, size = row_of(front), np.diff(front.indptr)
            rank = np.empty(front.nnz, dtype=np.int64)                     # of each entry in its row, at random
            rank[np.lexsort((rng.random(front.nnz), row))] = np.arange(front.nnz) - front.indptr[row]
            some = rank < most
            parts.append(np.stack([row[some] + start, front.indices[some], np.full(some.sum(), hop), size[row[some]]]))
    row, col, hop, size = torch.from_numpy(np.concatenate(parts, axis=1))
    return CSR.from_coo(row, col, torch.stack([hop, size], dim=1).float(), shape=adj.shape)


def _near(pool: CSR, drawn: Tensor) -> CSR:
    """(N, M) the pairs of the (N, N) pool whose second node is among the (M,) drawn ones, and each of these itself."""
    place = torch.full((pool.shape[1],), -1, device=pool.device)
    place[drawn] = torch.arange(len(drawn), device=pool.device)
    inside = place[pool.idx] >= 0
    return CSR.from_coo(torch.cat([pool.row[inside], drawn]), torch.cat([place[pool.idx[inside]], place[drawn]]),
                        shape=(pool.shape[0], max(1, len(drawn))))
