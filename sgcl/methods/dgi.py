"""DGI: an encoder that tells the nodes of a graph from those of a graph with its features shuffled.

Veličković, Fedus, Hamilton, Liò, Bengio and Hjelm, *Deep Graph Infomax*.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from sgcl.encoders import Encoder
from sgcl.graph import Graph
from sgcl.losses.infomax import infomax_loss
from sgcl.methods.base import Method


class Corruption(NamedTuple):
    """A graph, and the same one with its features handed to other nodes."""

    real: Graph
    fake: Graph


class DGI(Method):
    r"""Deep graph infomax.

    H encodes the graph and H~ the graph with the rows of X permuted. With the summary s = sigmoid(mean_i h_i) and the
    scores D(h, s) = hᵀ W s + b the loss is

    .. math:: -\frac{1}{2N} \sum_i \log \sigma(D(h_i, s)) + \log(1 - \sigma(D(\tilde h_i, s))).

    Time O(E D + N F D + D²) a step (nnz(X) for N F where features are sparse), memory O(N D + E + nnz(X)).

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of the embedding and of the layers before it.
        num_layers: depth of the encoder.
        layer: its layer type, ``"gcn"``, ``"sage"``, ``"gat"`` or ``"gin"``.
        activation: after each layer, ``"prelu"``, ``"relu"``, ``"elu"`` or ``"none"``.
        dropout: inside the encoder, in training.

    Departures from the paper: training stops where its loss no longer falls if ``patience`` is given, but keeps the
    last weights, not the best ones; in sampled batches summary and shuffle are those of the batch, as in the paper, but
    the encoder stays the same. Without a recipe, training has this library's 200 epochs, not 10,000 with a patience of
    20.
    """

    def __init__(self, in_channels: int, *, hidden_channels: int = 512, num_layers: int = 1, layer: str = "gcn",
                 activation: str = "prelu", dropout: float = 0.0) -> None:
        super().__init__()
        self.encoder = Encoder(in_channels, hidden_channels, num_layers=num_layers, layer=layer, activation=activation,
                               dropout=dropout)
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(hidden_channels, hidden_channels)))
        self.bias = nn.Parameter(torch.zeros(()))

    def augment(self, graph: Graph, generator: torch.Generator) -> Corruption:
        order = torch.randperm(graph.num_nodes, generator=generator)
        return Corruption(graph, graph.replace(x=graph.x[order.to(graph.device)]))

    def loss(self, views: Corruption) -> Tensor:
        real, fake = (self.encoder(graph.x, graph.adj) for graph in views)  # (N, D)
        return infomax_loss(real, fake, real.mean(0).sigmoid(), self.weight, self.bias)

    def embed(self, graph: Graph) -> Tensor:
        h: Tensor = self.encoder(graph.x, graph.adj)                       # (N, D)
        return h
