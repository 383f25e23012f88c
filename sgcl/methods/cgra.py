"""CGRA: masked nodes against a slow encoder's view of the unmasked graph, with structurally similar nodes as positives.

Duan et al., *Self-supervised contrastive graph representation with node and graph augmentation*.
"""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from sgcl.encoders import Encoder, dropout
from sgcl.errors import InputError, check_rate
from sgcl.graph import Graph, scale_rows
from sgcl.losses.infonce import anchor_losses, check_temperature, unit_rows
from sgcl.losses.logsumexp import group_logsumexp
from sgcl.methods.base import Method
from sgcl.methods.moving_average import follow
from sgcl.smoothing.rows import identity, pruned, row_of, scaled
from sgcl.sparse import CSR, sddmm

_ROWS = 256     # nodes whose similarities are worked out at a time
_STEPS = 50     # of the walk behind them
_PRUNE = 1e-3   # visits below it are left out of the walk


class Masked(NamedTuple):
    """A graph before and after masking, the masked nodes, and who of them counts as whose positive."""

    graph: Graph
    hidden: Graph
    masked: Tensor     # (n,) ascending
    positives: CSR     # (n, n) among the masked nodes, each its own


class CGRA(Method):
    r"""Contrastive graph representation with node and graph augmentation (VMA in its final form).

    A share of the nodes has its features hidden. The online encoder sees what is left, the target encoder everything;
    both end in one projector, u_i and v_i for the masked nodes, on rows of length 1. Positives Y_i of i are the t nodes
    with the largest entries in row i of (L + I)^-1, L = D - A the Laplacian; i is one of them. With
    f(a, b) = exp(<a, b> / tau) the loss is the mean, over the masked nodes and over both roles of u and v, of

    .. math::
        -\log \frac{\sum_{j \in Y_i} f(u_i, v_j) + \sum_{j \in Y_i, j \ne i} f(u_i, u_j)}
                   {\sum_j f(u_i, v_j) + \sum_{j \ne i} f(u_i, u_j)}.

    After each step the target moves towards the online encoder, phi <- m phi + (1 - m) theta. An encoder is: dropout,
    then GCN layers, each with batch norm, dropout and activation. The pairs are walked through in tiles, made again
    in the backward: time O(E D + N F D + N D² + n² D) a step for n masked nodes, memory O(N D + E + t N). The
    rows of (L + I)^-1 are worked out once, 256 at a time, as visits of a walk that stops at i with probability
    1 / (d_i + 1): at most 1,000 a row at each of 50 steps, times the degree.

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of the embedding and of the layers before it.
        projection_channels: the width of the projection.
        projector_channels: the width inside the projector; D unless given.
        num_layers: depth of the encoder.
        layer: its layer type, ``"gcn"``, ``"sage"``, ``"gat"`` or ``"gin"``.
        activation: after each layer, ``"prelu"``, ``"relu"``, ``"elu"`` or ``"none"``.
        input_dropout: of the features, in training.
        dropout: after each layer, in training.
        mask_rate: the share of nodes whose features are hidden.
        positives: t, how many similar nodes count as positives, the node itself included.
        temperature: tau, at least 0.02.
        momentum: m, how much of the target stays in a step.

    Departures from the paper: nodes in other components are no positives, where the published code may fill up with
    them; visits below 0.001 and beyond 50 steps are left out of the walk. That leaves some nodes of large, sparse
    components with fewer than t positives (a sixth of those of PubMed), a hub of a thousand neighbours with none but
    itself, and around hubs gives some nodes others than those that are the most alike (on Photo fewer than a tenth of
    the positives). In sampled batches positives are those of the whole graph that the batch holds. Without a recipe,
    training has this library's 200 epochs, not 4,000 and more.
    """

    def __init__(self, in_channels: int, *, hidden_channels: int = 256, projection_channels: int = 128,
                 projector_channels: int | None = None, num_layers: int = 2, layer: str = "gcn",
                 activation: str = "prelu", input_dropout: float = 0.5, dropout: float = 0.8, mask_rate: float = 0.9,
                 positives: int = 2, temperature: float = 0.2, momentum: float = 0.9999) -> None:
        super().__init__()
        for name, rate in (("input_dropout", input_dropout), ("mask_rate", mask_rate), ("momentum", momentum)):
            check_rate("CGRA", name, rate)
        for name, count in (("projection_channels", projection_channels), ("projector_channels", projector_channels),
                            ("positives", positives)):
            if count is not None and count < 1:
                raise InputError(f"CGRA: {name} is {count}, expected at least 1")
        if mask_rate == 0:
            raise InputError("CGRA: mask_rate is 0, expected a share above 0: what is masked is what is learnt")
        check_temperature("CGRA", temperature)
        self.online = Encoder(in_channels, hidden_channels, num_layers=num_layers, layer=layer, activation=activation,
                              dropout=dropout, norm="batch")
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        between = hidden_channels if projector_channels is None else projector_channels
        self.projector = nn.Sequential(nn.Linear(hidden_channels, between), nn.ReLU(),
                                       nn.Linear(between, projection_channels))
        self.input_dropout, self.dropout, self.mask_rate = input_dropout, dropout, mask_rate
        self.positives, self.temperature, self.momentum = positives, temperature, momentum
        self._similar: CSR | None = None

    def start(self, graph: Graph) -> None:
        self._similar = similar_nodes(graph.adj, self.positives)

    def augment(self, graph: Graph, generator: torch.Generator) -> Masked:
        assert self._similar is not None, "start(graph) comes first"
        count = max(2, int(self.mask_rate * graph.num_nodes))
        masked = torch.randperm(graph.num_nodes, generator=generator)[:count].sort().values
        nodes = masked if graph.n_id is None else graph.n_id.cpu()[masked]
        return Masked(graph, without_features(graph, masked), masked.to(graph.device),
                      self._similar.submatrix(nodes).to(graph.device))

    def loss(self, views: Masked) -> Tensor:
        h = self._encoded(self.online, views.hidden)                       # (N, D)
        with torch.no_grad():
            slow = self._encoded(self.target, views.graph)
        u, v = (unit_rows(self.projector(part[views.masked])) for part in (h, slow))                    # (n, D')
        return similar_nodes_loss(u, v, views.positives, self.temperature)

    def embed(self, graph: Graph) -> Tensor:
        return self._encoded(self.online, graph)

    def after_step(self, progress: float) -> None:
        follow(self.target, self.online, 1 - self.momentum)

    def _encoded(self, encoder: Encoder, graph: Graph) -> Tensor:
        """Dropout before the first layer and after the last; the encoder has it in between."""
        h: Tensor = encoder(dropout(graph.x, self.input_dropout, self.training), graph.adj)
        return dropout(h, self.dropout, self.training)


def without_features(graph: Graph, nodes: Tensor) -> Graph:
    """The graph with zeros for the features of the (n,) ``nodes``, numbered on the CPU."""
    seen = torch.ones(graph.num_nodes, dtype=graph.x.dtype).index_fill_(0, nodes, 0.0)
    return graph.replace(x=scale_rows(graph.x, seen.to(graph.device)))


def similar_nodes_loss(u: Tensor, v: Tensor, positives: CSR, temperature: float) -> Tensor:
    """The loss of (n, D) rows of length 1 and their (n, n) positives, the diagonal among them.

    Both roles are one: of the 2n rows of [u; v], each has all others as candidates. InfoNCE's anchors have the same
    candidates, beside which their one positive stands.
    """
    count = len(u)
    rows = torch.cat([u, v])                                               # (2n, D)
    row = torch.cat([positives.row, positives.row, positives.row + count, positives.row + count])
    col = torch.cat([positives.idx + count, positives.idx, positives.idx, positives.idx + count])
    near = CSR.from_coo(row[row != col], col[row != col], shape=(2 * count, 2 * count))
    candidates = anchor_losses(u, v, temperature=temperature) + torch.linalg.vecdot(u, v) / temperature  # (2, n)
    positive = group_logsumexp(sddmm(near, rows, rows) / temperature, near.row, 2 * count)              # (2n,)
    return torch.mean(candidates.flatten() - positive)


def similar_nodes(adj: CSR, count: int, prune: float = _PRUNE, steps: int = _STEPS) -> CSR:
    """(N, N) ones: in row i the ``count`` largest entries of row i of (L + I)^-1, i itself among them; fewer where its
    component is smaller, or where visits below ``prune`` would be among them.

    (L + I)^-1 = sum_k W^k (D + I)^-1 with W = (D + I)^-1 A: W^k are the visits, at step k, of a walk that may stop.
    """
    matrix = adj.to_scipy()
    stop = 1 / (matrix @ np.ones(adj.shape[0]) + 1)                        # (N,)
    walk = scaled(matrix, stop, np.ones(adj.shape[0]))
    row, col = [], []
    for start in range(0, adj.shape[0], _ROWS):
        visits = total = identity(adj.shape[0])[start:start + _ROWS]
        for _ in range(steps):
            visits = pruned(visits @ walk, prune)
            if visits.nnz == 0:
                break
            total = total + visits
        total = scaled(total, np.ones(total.shape[0]), stop)
        owner = row_of(total)
        best = np.lexsort((total.indices, -total.data, owner))             # by node, then from the largest on
        best = best[np.arange(total.nnz) - total.indptr[owner] < count]
        row.append(torch.from_numpy(owner[best] + start))
        col.append(torch.from_numpy(total.indices[best]))
    return CSR.from_coo(torch.cat(row).long(), torch.cat(col).long(), shape=adj.shape)
