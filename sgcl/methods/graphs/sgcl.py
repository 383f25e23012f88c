"""SGCL on collections of graphs: soft positives inside each graph, negatives among all nodes of a batch.

Behmanesh and Ovsjanikov, *Smoothed Graph Contrastive Learning via Seamless Proximity Integration*.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from sgcl.encoders import GraphEncoder
from sgcl.encoders.graph_encoder import Jump, Norm
from sgcl.encoders.readout import Readout
from sgcl.graph import Graph, join
from sgcl.losses.smoothed import Similarity, Terms, smoothed_contrastive_loss
from sgcl.methods.base import Level, Method
from sgcl.methods.sgcl import check_contrast, warn_if_thin
from sgcl.samplers import WholeGraphs
from sgcl.smoothing import Smoothing, Taubin
from sgcl.sparse import CSR
from sgcl.views import Compose, DropEdges, MaskFeatures, View


class Pair(NamedTuple):
    """Two views side by side, as one collection, and who counts as whose positive."""

    both: Graph        # 2N nodes: those of the first view, then those of the second
    positives12: CSR   # (N, N) rows: nodes of the first view, columns: nodes of the second
    positives21: CSR   # (N, N)


class SGCLGraphs(Method):
    r"""Smoothed graph contrastive learning of whole graphs.

    A batch of graphs is one graph of N nodes without edges between its parts: a smoothing spreads the positives P
    inside each graph alone, and every other node of the batch is a negative. With C = (cos(H1, H2) + 1) / 2 of the
    last layer's nodes in two views, the loss is half the sum over both directions of

    .. math:: ||P * (1 - C)||_F^2 + \lambda ||(1 - P) * C||_F^2

    exact over all N² pairs of the batch. A graph's embedding is the readout of its nodes, layer beside layer. Time
    O(E D + N D² + nnz(P) D), memory O(L N D + E + nnz(P)) for a batch.

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of each layer.
        num_layers: L, depth of the encoder.
        layer: its layer type, ``"gin"``, ``"gcn"``, ``"sage"`` or ``"gat"``.
        activation: of each layer, ``"relu"``, ``"prelu"``, ``"elu"`` or ``"none"``.
        norm: batch norm ``"after"`` the activation, ``"before"`` it, or ``"none"``.
        dropout: after each layer, in training.
        readout: of a graph's nodes, ``"sum"``, ``"mean"`` or ``"max"``.
        jump: the readouts of all layers, ``"concat"``, or of the ``"last"`` alone.
        smoothing: who counts as a positive: a part of ``sgcl.smoothing``.
        view1, view2: how each view is made: parts of ``sgcl.views`` that keep the nodes.
        negative_weight: lambda; 1/(2N) for a batch of N nodes unless given (1/N for correlation).
        similarity: ``"cosine"``, or ``"correlation"`` as in the published code.
        terms: ``"both"``, or ``"positive"`` or ``"negative"`` alone, for ablation.

    Departures from the paper: it does not say how graphs are encoded and read out; as the methods it is compared with
    do, a GIN and sums over the nodes are taken, both views by one set of weights, and with one batch norm for both.
    """

    level: ClassVar[Level] = "graph"
    trained_with: ClassVar[dict[str, Any]] = {"sampler": WholeGraphs(), "epochs": 20}

    def __init__(self, in_channels: int, *, hidden_channels: int = 32, num_layers: int = 3, layer: str = "gin",
                 activation: str = "relu", norm: Norm = "after", dropout: float = 0.0, readout: Readout = "sum",
                 jump: Jump = "concat", smoothing: Smoothing = Taubin(),  # noqa: B008 (frozen)
                 view1: View = Compose((DropEdges(0.5), MaskFeatures(0.5))),  # noqa: B008
                 view2: View = Compose((DropEdges(0.5), MaskFeatures(0.5))),  # noqa: B008
                 negative_weight: float | None = None, similarity: Similarity = "cosine",
                 terms: Terms = "both") -> None:
        super().__init__(view1, view2)
        check_contrast("SGCLGraphs", negative_weight, similarity, terms)
        self.encoder = GraphEncoder(in_channels, hidden_channels, num_layers=num_layers, layer=layer,
                                    activation=activation, norm=norm, dropout=dropout, readout=readout, jump=jump)
        self.smoothing, self.view1, self.view2 = smoothing, view1, view2
        self.negative_weight, self.similarity, self.terms = negative_weight, similarity, terms
        self.edge_coverage: float | None = None  # of the first batch: its edges among the positives

    def augment(self, graph: Graph, generator: torch.Generator) -> Pair:
        both = join([self.view1(graph, generator), self.view2(graph, generator)])
        positives = self.smoothing(both.adj)                               # (2N, 2N), nothing between the views
        if self.edge_coverage is None:
            self.edge_coverage = warn_if_thin(self.smoothing, positives, both.adj)
        first, second = (positives.rows(slice(start, start + graph.num_nodes)) for start in (0, graph.num_nodes))
        return Pair(both, CSR(second.ptr, second.idx - graph.num_nodes, second.value),
                    CSR(first.ptr, first.idx, first.value))

    def loss(self, views: Pair) -> Tensor:
        h1, h2 = self.encoder(views.both).nodes.chunk(2)                   # (N, D)
        return smoothed_contrastive_loss(h1, h2, views.positives12, views.positives21, terms=self.terms,
                                         negative_weight=self.negative_weight, similarity=self.similarity)

    def embed(self, graph: Graph) -> Tensor:
        embedding: Tensor = self.encoder(graph).graphs                     # (G, L D)
        return embedding
