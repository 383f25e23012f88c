"""G-BT: two views whose embeddings correlate column by column and not across columns; no negatives, no second network.

Bielak, Kajdanowicz and Chawla, *Graph Barlow Twins: A self-supervised representation learning framework for graphs*.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from sgcl.encoders import Encoder
from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.losses.correlation import barlow_twins_loss
from sgcl.methods.base import Method
from sgcl.views import Compose, DropEdges, MaskFeatures, View


class Twins(NamedTuple):
    """Two views."""

    first: Graph
    second: Graph


class GBT(Method):
    r"""Graph Barlow Twins.

    Two views pass one encoder; with its columns standardised over the nodes and C = Z1ᵀ Z2 / N the loss is

    .. math:: \sum_i (1 - c_{ii})^2 + \lambda \sum_{i \ne j} c_{ij}^2.

    The encoder: message-passing layers with batch norm and activation between them, the last one linear. Time
    O(E D + N F D + N D²) a step, memory O(N D + D² + E + nnz(X)).

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: the width of the layers before the last.
        out_channels: D, the width of the embedding.
        num_layers: depth of the encoder.
        layer: its layer type, ``"gcn"``, ``"sage"``, ``"gat"`` or ``"gin"``.
        activation: between layers, ``"prelu"``, ``"relu"``, ``"elu"`` or ``"none"``.
        dropout: inside the encoder, in training.
        view1, view2: how each view is made: parts of ``sgcl.views``.
        off_diagonal: lambda, the weight of correlations across columns; 1 / D unless given.

    Departures from the paper: an edge is dropped in both directions at once; the variance behind a standardised
    column divides by N, as C does (by N - 1 in the published code, which keeps c_ii from 1). The running averages of
    the batch norms move by 1 % a pass in the long run, as published, but by more at first. Both views have the same
    rates in the paper; here they may differ. Sampled batches are sub-graphs, correlated over all of their nodes: keep
    them well above D nodes. Without a recipe, training has this library's 200 epochs of Adam, not 1,000 of AdamW with
    a warm-up and a cosine schedule.
    """

    def __init__(self, in_channels: int, *, hidden_channels: int = 512, out_channels: int = 256, num_layers: int = 2,
                 layer: str = "gcn", activation: str = "prelu", dropout: float = 0.0,
                 view1: View = Compose((DropEdges(0.5), MaskFeatures(0.2))),  # noqa: B008 (frozen)
                 view2: View = Compose((DropEdges(0.5), MaskFeatures(0.2))),  # noqa: B008
                 off_diagonal: float | None = None) -> None:
        super().__init__(view1, view2)
        if off_diagonal is not None and not 0 <= off_diagonal < math.inf:
            raise InputError(f"GBT: off_diagonal is {off_diagonal}, expected a finite number of at least 0")
        self.encoder = Encoder(in_channels, hidden_channels, out_channels, num_layers=num_layers, layer=layer,
                               activation=activation, dropout=dropout, norm="batch", linear_end=True)
        self.view1, self.view2, self.off_diagonal = view1, view2, off_diagonal

    def augment(self, graph: Graph, generator: torch.Generator) -> Twins:
        return Twins(self.view1(graph, generator), self.view2(graph, generator))

    def loss(self, views: Twins) -> Tensor:
        h1, h2 = (self.encoder(graph.x, graph.adj) for graph in views)     # (N, D)
        return barlow_twins_loss(h1, h2, self.off_diagonal)

    def embed(self, graph: Graph) -> Tensor:
        h: Tensor = self.encoder(graph.x, graph.adj)                       # (N, D)
        return h
