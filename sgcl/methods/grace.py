"""GRACE: two corrupted views, each node told apart from all others of both by InfoNCE.

Zhu et al., *Deep Graph Contrastive Representation Learning*.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from sgcl.encoders import Encoder, Projector
from sgcl.graph import Graph
from sgcl.losses.infonce import check_temperature, info_nce
from sgcl.methods.base import Method
from sgcl.views import Compose, DropEdges, MaskFeatures, View


class Views(NamedTuple):
    """Two views."""

    first: Graph
    second: Graph


class GRACE(Method):
    r"""Deep graph contrastive representation learning.

    Both views are encoded and projected, with the same weights, to rows u and v of length 1. The loss is the mean, over
    the nodes i and both directions, of

    .. math::
        -\log \frac{e^{<u_i, v_i> / \tau}}
        {\sum_k e^{<u_i, v_k> / \tau} + \sum_{k \ne i} e^{<u_i, u_k> / \tau}}

    exact over all pairs. Time O(E D + N F D + N² D), memory O(N D + E + nnz(X)) for a batch of N nodes: the N²
    exponentials are streamed in tiles and made again in the backward.

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of the embedding; the layers before it are twice as wide.
        projection_channels: the width inside the projector; D unless given.
        num_layers: depth of the encoder.
        layer: its layer type, ``"gcn"``, ``"sage"``, ``"gat"`` or ``"gin"``.
        activation: after each layer, ``"prelu"``, ``"relu"``, ``"rrelu"``, ``"elu"`` or ``"none"``.
        dropout: inside the encoder, in training.
        view1, view2: how each view is made: parts of ``sgcl.views``.
        temperature: tau, at least 0.02.

    Departures from the paper: an edge is dropped in both directions at once. Where the activation is PReLU, each layer
    has a slope of its own. In sampled batches the negatives are those of the batch.
    """

    def __init__(self, in_channels: int, *, hidden_channels: int = 128, projection_channels: int | None = None,
                 num_layers: int = 2, layer: str = "gcn", activation: str = "relu", dropout: float = 0.0,
                 view1: View = Compose((DropEdges(0.2), MaskFeatures(0.3))),  # noqa: B008 (frozen)
                 view2: View = Compose((DropEdges(0.4), MaskFeatures(0.4))),  # noqa: B008
                 temperature: float = 0.4) -> None:
        super().__init__(view1, view2)
        check_temperature("GRACE", temperature)
        self.encoder = Encoder(in_channels, 2 * hidden_channels, hidden_channels, num_layers=num_layers, layer=layer,
                               activation=activation, dropout=dropout)
        self.projector = Projector(hidden_channels, projection_channels)
        self.view1, self.view2, self.temperature = view1, view2, temperature

    def augment(self, graph: Graph, generator: torch.Generator) -> Views:
        return Views(self.view1(graph, generator), self.view2(graph, generator))

    def loss(self, views: Views) -> Tensor:
        z1, z2 = (self.projector(self.embed(graph)) for graph in views)    # (N, D)
        return info_nce(z1, z2, temperature=self.temperature)

    def embed(self, graph: Graph) -> Tensor:
        h: Tensor = self.encoder(graph.x, graph.adj)                       # (N, D)
        return h
