"""InfoGraph: nodes tell their own graph from the others of a batch.

Sun et al., *InfoGraph: Unsupervised and Semi-supervised Graph-Level Representation Learning via Mutual Information
Maximization*.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from sgcl.encoders import DenseLayer, GraphEncoder
from sgcl.encoders.graph_encoder import Norm
from sgcl.encoders.readout import Readout
from sgcl.graph import Graph
from sgcl.losses.jensen_shannon import jensen_shannon
from sgcl.methods.base import Level, Method
from sgcl.samplers import WholeGraphs


class Batch(NamedTuple):
    """Graphs as they are."""

    graph: Graph


class InfoGraph(Method):
    r"""Mutual information between graphs and their nodes.

    A node is the outputs of all layers side by side, a graph their readouts. Behind a head for each, with the scores
    T_vg of node v and graph g and sp(t) = log(1 + e^t), the loss is

    .. math::
        \frac{1}{N} \sum_v [sp(-T_{v g(v)}) - \log 2] +
        \frac{1}{N (G - 1)} \sum_v \sum_{g \ne g(v)} [sp(T_{vg}) - \log 2].

    A graph's embedding is its readouts, before the head. Nothing is augmented. Time O(E D + N (L D)² + N G L D), memory
    O(N (L D + G) + E) for a batch of G graphs with N nodes together.

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of each layer.
        num_layers: L, depth of the encoder.
        layer: its layer type, ``"gin"``, ``"gcn"``, ``"sage"`` or ``"gat"``.
        activation: of each layer, ``"relu"``, ``"prelu"``, ``"elu"`` or ``"none"``.
        norm: batch norm ``"after"`` the activation, ``"before"`` it, or ``"none"``.
        dropout: after each layer, in training.
        readout: of a graph's nodes, ``"sum"``, ``"mean"`` or ``"max"``.

    Departures from the paper: the term that matches a prior is left out, as the published code does by default, and
    depth and learning rate are those of its sample command. Graphs are dealt anew into batches in each epoch. The last
    epoch counts: none is chosen by its score.
    """

    level: ClassVar[Level] = "graph"
    trained_with: ClassVar[dict[str, Any]] = {"sampler": WholeGraphs(), "epochs": 20}

    def __init__(self, in_channels: int, *, hidden_channels: int = 32, num_layers: int = 3, layer: str = "gin",
                 activation: str = "relu", norm: Norm = "after", dropout: float = 0.0,
                 readout: Readout = "sum") -> None:
        super().__init__()
        self.encoder = GraphEncoder(in_channels, hidden_channels, num_layers=num_layers, layer=layer,
                                    activation=activation, norm=norm, dropout=dropout, readout=readout)
        self.node_head, self.graph_head = (ShortcutHead(self.encoder.out_channels) for _ in range(2))

    def augment(self, graph: Graph, generator: torch.Generator) -> Batch:
        return Batch(graph)

    def loss(self, views: Batch) -> Tensor:
        encoded = self.encoder(views.graph)
        nodes = self.node_head(torch.cat(encoded.layers, dim=1))           # (N, L D)
        return jensen_shannon(nodes, self.graph_head(encoded.graphs), views.graph.graph_of)

    def embed(self, graph: Graph) -> Tensor:
        embedding: Tensor = self.encoder(graph).graphs                     # (G, L D)
        return embedding


class ShortcutHead(nn.Module):
    """Three dense layers with ReLU, and a dense layer beside them that is added; all of one width."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.deep = nn.Sequential(*(part for _ in range(3) for part in (DenseLayer(channels, channels), nn.ReLU())))
        self.short = DenseLayer(channels, channels)

    def forward(self, h: Tensor) -> Tensor:
        """(n, D) gives (n, D)."""
        z: Tensor = self.deep(h) + self.short(h)
        return z
