"""AUGCL on collections of graphs: GraphCL whose negatives count by how unsure a small classifier is of them.

Niu et al., *Affinity Uncertainty-Based Hard Negative Mining in Graph Contrastive Learning*.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar

import torch
from torch import Tensor

from sgcl.encoders import GraphEncoder
from sgcl.encoders.graph_encoder import Jump, Norm
from sgcl.encoders.readout import Readout
from sgcl.graph import Graph
from sgcl.losses.graph_nce import graph_nce
from sgcl.losses.infonce import check_temperature, unit_rows
from sgcl.methods.augcl import check_stages
from sgcl.methods.base import Level, Method
from sgcl.methods.graphs.graphcl import Views, batches_of, make_views, projection
from sgcl.methods.pair_classifier import PairClassifier
from sgcl.samplers import WholeGraphs
from sgcl.views import Compose, DropNodes, Subgraph, View


class AUGCLGraphs(Method):
    r"""Affinity uncertainty for contrastive learning of whole graphs.

    Both views are encoded, read out and projected to rows u and v of length 1. For the first part of the epochs all
    negatives count alike. Then, once, while the encoder rests, a perceptron learns from pairs (u_i, v_k) to tell p_1,
    alike, from p_0, not alike, or to abstain, a: it minimises -log(p_y + a / ``reward``), where y is 1 for the k on the
    same side as i itself when the cosines of graph i with its batch are split in two by 2-means. From there on the pair
    weighs w_ik = a(u_i, v_k), and the loss is the mean, over the graphs i of a batch, of

    .. math::
        -\log \frac{e^{<u_i, v_i> / \tau}}{e^{<u_i, v_i> / \tau} +
        \sum_{k \ne i} \frac{w_{ik}}{\bar w_i} e^{<u_i, v_k> / \tau}}.

    A graph's embedding is the readout of its nodes, before the projection. Time O(E D + N D² + G² (L D + 128²)), memory
    O(L N D + E + G²) for a batch of G graphs with N nodes together.

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
        pretrain: the share of the epochs before the weights.
        reward: what abstaining is divided by, above 1 and at most 2; the larger, the less it pays.
        passes: how many times the classifier sees the collection, in batches of at most 128 graphs.

    Departures from the paper: in its published code subgraphs have self-loops and never leave the neighbourhood of
    their first node; here there are no loops, and subgraphs grow to any neighbour. The classifier sees rows of length
    1: sums over nodes are too large for it to learn from. The 2-means are exact. The mean of the weights leaves out the
    anchor itself, which the published code has in it. Adam goes on into the last stage with its averages.
    """

    level: ClassVar[Level] = "graph"
    trained_with: ClassVar[dict[str, Any]] = {"sampler": WholeGraphs(), "epochs": 40, "lr": 0.01}

    def __init__(self, in_channels: int, *, hidden_channels: int = 32, num_layers: int = 3, layer: str = "gin",
                 activation: str = "relu", norm: Norm = "after", dropout: float = 0.0, readout: Readout = "sum",
                 jump: Jump = "concat", view1: View = Compose(),  # noqa: B008 (frozen)
                 view2: View = Compose((DropNodes(0.1), Subgraph(0.2))),  # noqa: B008
                 one_part: bool = True, temperature: float = 0.2, pretrain: float = 0.5, reward: float = 1.9,
                 passes: int = 10) -> None:
        super().__init__()
        check_temperature("AUGCLGraphs", temperature)
        check_stages("AUGCLGraphs", pretrain, reward, passes)
        self.encoder = GraphEncoder(in_channels, hidden_channels, num_layers=num_layers, layer=layer,
                                    activation=activation, norm=norm, dropout=dropout, readout=readout, jump=jump)
        self.head = projection(self.encoder.out_channels)
        self.classifier = PairClassifier(self.encoder.out_channels)
        self.view1, self.view2, self.one_part, self.temperature = view1, view2, one_part, temperature
        self.pretrain, self.reward, self.passes = pretrain, reward, passes
        self.weighs: Tensor
        self.register_buffer("weighs", torch.tensor(False))

    def stage(self, epoch: int, epochs: int) -> int:
        return int(epoch > math.floor(self.pretrain * epochs))

    def rehearse(self) -> None:
        self.passes = self.classifier.steps = 1

    def before_epoch(self, graph: Graph, epoch: int, epochs: int, generator: torch.Generator) -> None:
        if epoch == math.floor(self.pretrain * epochs) + 1:  # the first of stage 1
            self.classifier.learn(self._rounds(graph, generator), self.reward, generator)
            self.weighs.fill_(True)

    def augment(self, graph: Graph, generator: torch.Generator) -> Views:
        return make_views(graph, self.view1, self.view2, self.one_part, generator)

    def loss(self, views: Views) -> Tensor:
        u, v = (self._project(view) for view in views)                     # (G, L D)
        weights = self.classifier.abstention(u.detach(), v.detach()) if bool(self.weighs) else None  # (G, G)
        return graph_nce(u, v, temperature=self.temperature, positive_in=True, weights=weights)

    def embed(self, graph: Graph) -> Tensor:
        embedding: Tensor = self.encoder(graph).graphs                     # (G, L D)
        return embedding

    def _project(self, graph: Graph) -> Tensor:
        return unit_rows(self.head(self.embed(graph)))                     # (G, L D)

    def _rounds(self, graph: Graph, generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
        """Both views of the batches of each pass, as the classifier learns from them."""
        for _ in range(self.passes):
            for batch in batches_of(graph, generator):
                views = make_views(batch, self.view1, self.view2, self.one_part, generator)
                first, second = (self._project(view.to(self.weighs.device)) for view in views)
                yield first, second                                        # (G, L D)
