"""MVGRL on collections of graphs: nodes of a graph matched with its diffusion as a whole, and the other way round.

Hassani and Khasahmadi, *Contrastive Multi-View Representation Learning on Graphs*.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from sgcl.encoders import Encoded, GraphEncoder
from sgcl.encoders.prelu import PReLU
from sgcl.graph import Graph
from sgcl.losses import jensen_shannon
from sgcl.methods.base import Level, Method
from sgcl.methods.mvgrl import check_diffusion, diffusion_of
from sgcl.samplers import WholeGraphs
from sgcl.sparse import CSR


class Diffused(NamedTuple):
    """A batch of graphs and their diffusion."""

    graph: Graph
    diffusion: CSR   # (N, N), block-diagonal as the adjacency


class MVGRLGraphs(Method):
    r"""Contrastive multi-view representation learning of whole graphs.

    View 1 is the graph, view 2 its personalised PageRank S = a (I - (1 - a) D^-1/2 (A + I) D^-1/2)^-1, which stands in
    for the normalised adjacency and stays inside each graph; each view has a stack of L GCN layers of its own. H_v are
    the nodes of the last layer of view v behind one head, Z_v the graphs, sums of their nodes layer beside layer,
    behind another; both views share the heads, three layers with PReLU and a linear shortcut beside them. With the
    estimate J of ``sgcl.losses.jensen_shannon``, over the graphs of a batch, the loss is

    .. math:: J(H_1, Z_2) + J(H_2, Z_1).

    The embedding is Z1 + Z2. S is worked out once, and of each row the ``top`` largest entries are kept. Time
    O((E + nnz(S)) L D + N D (F + L D + G) + G L D²), memory O(N (L D + G) + E + nnz(S)) for a batch; nnz(S) is at most
    top N, and no more than the sum of the squares of the graphs' sizes.

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of all layers and of the embedding.
        num_layers: L, depth of each encoder.
        activation: after each of its layers, ``"prelu"``, ``"relu"``, ``"elu"`` or ``"none"``.
        dropout: after each of its layers, in training.
        alpha: a, the probability that a walk restarts, at each hop.
        top: how many entries of each row of S are kept; those as large as the last of them too.
        prune: walks that stand at a node with a smaller probability are given up there.

    Departures from the paper: GCN layers are trained, where those of the published code stay as drawn; entries of S
    below about ``prune`` are left out; the last epoch is kept, not that of the lowest loss. Depth and epochs, which the
    paper chooses from a grid by test accuracy, are its smallest.
    """

    level: ClassVar[Level] = "graph"
    trained_with: ClassVar[dict[str, Any]] = {"sampler": WholeGraphs(size=64), "epochs": 20}

    def __init__(self, in_channels: int, *, hidden_channels: int = 512, num_layers: int = 2, activation: str = "prelu",
                 dropout: float = 0.0, alpha: float = 0.2, top: int = 1024, prune: float = 1e-4) -> None:
        super().__init__()
        check_diffusion("MVGRLGraphs", alpha, top, prune)
        self.encoders = nn.ModuleList(
            GraphEncoder(in_channels, hidden_channels, num_layers=num_layers, layer="gcn", activation=activation,
                         norm="none", dropout=dropout) for _ in range(2))
        self.node_head = _Head(hidden_channels, hidden_channels)
        self.graph_head = _Head(hidden_channels * num_layers, hidden_channels)
        self.alpha, self.top, self.prune = alpha, top, prune
        self._known: tuple[CSR, CSR] | None = None  # the adjacency of the training collection and its diffusion

    def start(self, graph: Graph) -> None:
        self._known = graph.adj, self._diffusion(graph.adj)

    def augment(self, graph: Graph, generator: torch.Generator) -> Diffused:
        if graph.n_id is None or self._known is None:
            return Diffused(graph, self._diffusion(graph.adj))
        return Diffused(graph, blocks_of(self._known[1], graph.n_id))

    def loss(self, views: Diffused) -> Tensor:
        first, second = self._encode(views.graph, views.diffusion)
        graph_of = views.graph.graph_of
        return (jensen_shannon(self.node_head(first.nodes), self.graph_head(second.graphs), graph_of)
                + jensen_shannon(self.node_head(second.nodes), self.graph_head(first.graphs), graph_of))

    def embed(self, graph: Graph) -> Tensor:
        first, second = self._encode(graph, self._diffusion(graph.adj))
        embedding: Tensor = self.graph_head(first.graphs) + self.graph_head(second.graphs)             # (G, D)
        return embedding

    def _encode(self, graph: Graph, diffusion: CSR) -> tuple[Encoded, Encoded]:
        first, second = self.encoders
        return first(graph), second(graph, diffusion)

    def _diffusion(self, adj: CSR) -> CSR:
        return diffusion_of(adj, self._known, alpha=self.alpha, top=self.top, prune=self.prune)


class _Head(nn.Module):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(in_channels, out_channels), PReLU(),
                                    nn.Linear(out_channels, out_channels), PReLU(),
                                    nn.Linear(out_channels, out_channels), PReLU())
        self.shortcut = nn.Linear(in_channels, out_channels)

    def forward(self, h: Tensor) -> Tensor:
        out: Tensor = self.layers(h) + self.shortcut(h)
        return out


def blocks_of(matrix: CSR, nodes: Tensor) -> CSR:
    """(n, n) the rows and columns of whole blocks of a block-diagonal matrix; ``nodes`` (n,) are those of one block
    after the other, ascending inside each."""
    rows = matrix.take_rows(nodes)
    moved = nodes - torch.arange(len(nodes), device=nodes.device)          # (n,) the same for all of a block
    return CSR(rows.ptr, rows.idx - moved[rows.row], rows.value, num_cols=len(nodes))
