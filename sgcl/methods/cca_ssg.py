"""CCA-SSG: two views that agree node by node, each with uncorrelated columns; no negatives, no second network.

Zhang, Wu, Yan, Wipf and Yu, *From Canonical Correlation Analysis to Self-supervised Graph Neural Networks*.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from sgcl.encoders import Encoder
from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.losses.correlation import cca_loss
from sgcl.methods.base import Method
from sgcl.views import Compose, DropEdges, MaskFeatures, View


class Views(NamedTuple):
    """Two views."""

    first: Graph
    second: Graph


class CCASSG(Method):
    r"""Canonical correlation analysis for self-supervised graph networks.

    Two views pass one encoder whose last layer is linear; with its columns standardised over the nodes the loss is

    .. math:: ||Z_1 - Z_2||_F^2 / N + \lambda (||Z_1^T Z_1 / N - I||_F^2 + ||Z_2^T Z_2 / N - I||_F^2).

    Time O(E D + N F D + N D²) a step, memory O(N D + D² + E + nnz(X)).

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of the embedding and of the layers before it.
        num_layers: depth of the encoder.
        layer: its layer type, ``"gcn"``, ``"sage"``, ``"gat"`` or ``"gin"``.
        activation: between layers, ``"prelu"``, ``"relu"``, ``"elu"`` or ``"none"``.
        dropout: inside the encoder, in training.
        view1, view2: how each view is made: parts of ``sgcl.views``.
        decorrelation: lambda, the weight of the two terms against repeated columns.

    Departures from the paper: an edge is dropped in both directions at once; the variance behind a standardised
    column divides by N, so that the diagonal of ZᵀZ / N is 1 (by N - 1 in the published code). The published code
    minimises half of the first term, so its weight of 1e-3 is 2e-3 here.
    """

    def __init__(self, in_channels: int, *, hidden_channels: int = 512, num_layers: int = 2, layer: str = "gcn",
                 activation: str = "relu", dropout: float = 0.0,
                 view1: View = Compose((DropEdges(0.4), MaskFeatures(0.1))),  # noqa: B008 (frozen)
                 view2: View = Compose((DropEdges(0.4), MaskFeatures(0.1))),  # noqa: B008
                 decorrelation: float = 2e-3) -> None:
        super().__init__(view1, view2)
        if not 0 <= decorrelation < math.inf:
            raise InputError(f"CCASSG: decorrelation is {decorrelation}, expected a finite number of at least 0")
        self.encoder = Encoder(in_channels, hidden_channels, num_layers=num_layers, layer=layer,
                               activation=activation, dropout=dropout, linear_end=True)
        self.view1, self.view2, self.decorrelation = view1, view2, decorrelation

    def augment(self, graph: Graph, generator: torch.Generator) -> Views:
        return Views(self.view1(graph, generator), self.view2(graph, generator))

    def loss(self, views: Views) -> Tensor:
        h1, h2 = (self.encoder(graph.x, graph.adj) for graph in views)     # (N, D)
        return cca_loss(h1, h2, self.decorrelation)

    def embed(self, graph: Graph) -> Tensor:
        h: Tensor = self.encoder(graph.x, graph.adj)                       # (N, D)
        return h
