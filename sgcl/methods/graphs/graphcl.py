"""GraphCL: a graph and an augmentation of it agree, other graphs of the batch do not.

You et al., *Graph Contrastive Learning with Augmentations*.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from sgcl.encoders import DenseLayer, GraphEncoder
from sgcl.encoders.graph_encoder import Jump, Norm
from sgcl.encoders.readout import Readout
from sgcl.graph import Graph
from sgcl.losses.graph_nce import graph_nce
from sgcl.losses.infonce import check_temperature
from sgcl.methods.base import Level, Method
from sgcl.samplers import WholeGraphs
from sgcl.views import Compose, DropNodes, Subgraph, View, one_of, parts_of

_SIZE = 128  # graphs of a batch outside training


class Views(NamedTuple):
    """Two views of the same graphs."""

    first: Graph
    second: Graph


class GraphCL(Method):
    r"""Graph contrastive learning with augmentations.

    Both views are encoded, read out and projected, with the same weights, to rows u and v of length 1. The loss is the
    mean, over the graphs i of a batch, of

    .. math:: -\log \frac{e^{<u_i, v_i> / \tau}}{\sum_{k \ne i} e^{<u_i, v_k> / \tau}}.

    A graph's embedding is the readout of its nodes, layer beside layer, before the projection. Time O(E D + N D² +
    G² L D), memory O(L N D + E + G²) for a batch of G graphs with N nodes together.

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
        view1, view2: how each view is made: parts of ``sgcl.views``. The first is the graph itself unless given.
        one_part: each graph goes through one part of a view, drawn uniformly, else through all of them in turn.
        temperature: tau, at least 0.02.

    Departures from the paper: these are the settings of its published code, whose first view has self-loops that the
    second has not, and whose subgraphs never leave the neighbourhood of their first node; here neither has loops, and
    subgraphs grow to any neighbour. Where edges are to be dropped, each goes with a probability and both directions at
    once.
    """

    level: ClassVar[Level] = "graph"
    trained_with: ClassVar[dict[str, Any]] = {"sampler": WholeGraphs(), "epochs": 20, "lr": 0.01}

    def __init__(self, in_channels: int, *, hidden_channels: int = 32, num_layers: int = 3, layer: str = "gin",
                 activation: str = "relu", norm: Norm = "after", dropout: float = 0.0, readout: Readout = "sum",
                 jump: Jump = "concat", view1: View = Compose(),  # noqa: B008 (frozen)
                 view2: View = Compose((DropNodes(0.1), Subgraph(0.2))),  # noqa: B008
                 one_part: bool = True, temperature: float = 0.2) -> None:
        super().__init__()
        check_temperature("GraphCL", temperature)
        self.encoder = GraphEncoder(in_channels, hidden_channels, num_layers=num_layers, layer=layer,
                                    activation=activation, norm=norm, dropout=dropout, readout=readout, jump=jump)
        self.head = projection(self.encoder.out_channels)
        self.view1, self.view2, self.one_part, self.temperature = view1, view2, one_part, temperature

    def augment(self, graph: Graph, generator: torch.Generator) -> Views:
        return make_views(graph, self.view1, self.view2, self.one_part, generator)

    def loss(self, views: Views) -> Tensor:
        z1, z2 = (self.head(self.embed(graph)) for graph in views)         # (G, L D)
        return graph_nce(z1, z2, temperature=self.temperature)

    def embed(self, graph: Graph) -> Tensor:
        embedding: Tensor = self.encoder(graph).graphs                     # (G, L D)
        return embedding


def projection(channels: int) -> nn.Sequential:
    """z = W2 ReLU(W1 h + b1) + b2, all of one width."""
    return nn.Sequential(DenseLayer(channels, channels), nn.ReLU(), DenseLayer(channels, channels))


def make_views(graph: Graph, view1: View, view2: View, one_part: bool, generator: torch.Generator) -> Views:
    """Both views of a collection; with ``one_part``, each graph through one part of a view alone."""
    if not one_part:
        return Views(view1(graph, generator), view2(graph, generator))
    return Views(*(one_of(parts_of(view), graph, generator) for view in (view1, view2)))


def batches_of(graph: Graph, generator: torch.Generator) -> Iterator[Graph]:
    """The graphs of a collection in a random order, at most 128 at a time."""
    order = torch.randperm(graph.num_graphs, generator=generator).to(graph.device)
    for some in order.tensor_split(-(-graph.num_graphs // _SIZE)):
        yield graph.take(some)
