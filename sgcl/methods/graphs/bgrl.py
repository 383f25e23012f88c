"""BGRL on collections of graphs: nodes of one view predict what a slower copy makes of their whole graph in the other.

Thakoor et al., *Large-Scale Representation Learning on Graphs via Bootstrapping*, whose own form is for nodes.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sgcl.encoders import GraphEncoder, readout
from sgcl.encoders.norm import BatchNorm
from sgcl.encoders.prelu import PReLU
from sgcl.errors import check_rate
from sgcl.graph import Graph
from sgcl.methods.base import Level, Method
from sgcl.methods.bgrl import Views
from sgcl.methods.moving_average import follow
from sgcl.samplers import WholeGraphs
from sgcl.views import Compose, DropEdges, MaskFeatures, View


class BGRLGraphs(Method):
    r"""Bootstrapped graph latents of whole graphs, from the nodes of a graph to the graph.

    An encoder f, a projector q and a predictor p learn; the target, a copy of f and q, gets no gradient. In view a node
    v of graph k says h_v = p(q(f_a))_v, and the target says g_k, the sum of its q(f_b) over the nodes of k in the other
    view b. The loss is the mean, over both roles of the views, of

    .. math:: - \frac{1}{N} \sum_v \cos(h_v, g_{k(v)}).

    After each step the target moves towards what learns, phi <- m phi + (1 - m) theta. f is a stack of layers, each
    with PReLU and dropout, and one batch norm at the end; an embedding is the sum of f over the nodes of the graph as
    it is. Time O(E D + N F D + L N D²) a step, four passes of an encoder; memory O(L N D + E) for a batch.

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of all layers and of the embedding.
        num_layers: L, depth of the encoder.
        layer: its layer type, ``"gin"``, ``"gcn"``, ``"sage"`` or ``"gat"``.
        dropout: after each layer, projector and predictor, in training; the target has none.
        view1, view2: how each view is made: parts of ``sgcl.views``.
        momentum: m, how much of the target stays in a step.

    Departures from the paper, which embeds nodes: this is PyGCL's form from nodes to graphs, with the sign of its loss
    turned so that what belongs together agrees, each node counted alike (there the sum over a graph's nodes), a target
    without dropout, and embeddings of graphs as they are, not of two views side by side. Each layer has a PReLU of its
    own.
    """

    level: ClassVar[Level] = "graph"
    trained_with: ClassVar[dict[str, Any]] = {"sampler": WholeGraphs(), "epochs": 100, "lr": 0.01}

    def __init__(self, in_channels: int, *, hidden_channels: int = 32, num_layers: int = 2, layer: str = "gin",
                 dropout: float = 0.2,
                 view1: View = Compose((DropEdges(0.2), MaskFeatures(0.1))),  # noqa: B008 (frozen)
                 view2: View = Compose((DropEdges(0.2), MaskFeatures(0.1))),  # noqa: B008
                 momentum: float = 0.99) -> None:
        super().__init__()
        check_rate("BGRLGraphs", "momentum", momentum)
        self.online, self.target = (_Side(GraphEncoder(
            in_channels, hidden_channels, num_layers=num_layers, layer=layer, activation="prelu", norm="none",
            dropout=rate, jump="last")) for rate in (dropout, 0.0))
        self.target.load_state_dict(self.online.state_dict())
        self.target.requires_grad_(False)
        self.predictor = _head(hidden_channels, dropout)
        self.view1, self.view2, self.momentum = view1, view2, momentum

    def augment(self, graph: Graph, generator: torch.Generator) -> Views:
        return Views(self.view1(graph, generator), self.view2(graph, generator))

    def loss(self, views: Views) -> Tensor:
        with torch.no_grad():
            g1, g2 = (readout(self.target.projector(self.target(graph)), graph) for graph in views)     # (G, D)
        h1, h2 = (self.predictor(self.online.projector(self.online(graph))) for graph in views)         # (N, D)
        return -(F.cosine_similarity(h1, g2[views.first.graph_of]).mean()
                 + F.cosine_similarity(h2, g1[views.second.graph_of]).mean()) / 2

    def embed(self, graph: Graph) -> Tensor:
        return readout(self.online(graph), graph)                          # (G, D)

    def after_step(self, progress: float) -> None:
        follow(self.target, self.online, 1 - self.momentum)


class _Side(nn.Module):
    """An encoder with a batch norm at its end, and a projector that is asked for on its own."""

    def __init__(self, encoder: GraphEncoder) -> None:
        super().__init__()
        self.encoder, self.norm = encoder, BatchNorm(encoder.out_channels, momentum=0.1)
        self.projector = _head(encoder.out_channels, encoder.dropout)

    def forward(self, graph: Graph) -> Tensor:
        h: Tensor = self.norm(self.encoder(graph).nodes)                    # (N, D)
        return h


def _head(width: int, dropout: float) -> nn.Sequential:
    """A linear layer, whose bias the batch norm would take away again, PReLU and dropout."""
    return nn.Sequential(nn.Linear(width, width, bias=False), BatchNorm(width, momentum=0.1), PReLU(),
                         nn.Dropout(dropout))
