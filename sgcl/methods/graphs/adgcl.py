"""AD-GCL: a learner of views drops the edges that tell least, an encoder keeps what the views still share.

Suresh et al., *Adversarial Graph Augmentation to Improve Graph Contrastive Learning*.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.func import functional_call

from sgcl.encoders import GraphEncoder
from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.losses import graph_nce
from sgcl.losses.infonce import check_temperature
from sgcl.methods.base import Level, Method
from sgcl.methods.greet import edge_noise
from sgcl.samplers import WholeGraphs


class Noisy(NamedTuple):
    """A batch of graphs and the chance behind two views of it."""

    graph: Graph
    learner_noise: Tensor   # (nnz,) log(e / (1 - e)), the same in both directions of an edge
    encoder_noise: Tensor   # (nnz,)


class ADGCL(Method):
    r"""Adversarial graph contrastive learning.

    A learner of views, an encoder of its own with a perceptron w of the two ends of an edge, keeps edge {u, v} by the
    weight p = sigmoid(log e - log(1 - e) + w_uv), e uniform in (0, 1): view 2 is the graph with these weights, view 1
    the graph as it is. With the cosines s of the graphs' projections in the two views,

    .. math::
        I = -\frac{1}{2 G} \sum_g \left[\log \frac{e^{s_{gg} / \tau}}{\sum_{k \ne g} e^{s_{gk} / \tau}} +
        \log \frac{e^{s_{gg} / \tau}}{\sum_{k \ne g} e^{s_{kg} / \tau}}\right]

    and R the mean, over the graphs, of the mean of 1 - p over their edges, the encoder descends I, for weights that are
    given, and the learner ascends I - lambda R, for an encoder that is given, its batch norms in eval mode. The value
    of the loss is I. An embedding is the sum of a graph's nodes of the last layer. Time O(L (E D + N D²) + E D² + G² D)
    and memory O((L N + E) D + G²) for a batch.

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of all layers and of the embedding.
        num_layers: L, depth of the encoder and of the learner's own, of GIN layers with batch norm before the ReLU.
        dropout: after each layer, in training.
        temperature: tau, at least 0.02.
        drop_penalty: lambda.

    Departures from the paper: both take their steps at once, on the same weights, where the published code lets the
    encoder see the learner after its step. An edge has one weight for both directions, with the mean of w_uv and w_vu
    and one e, where they are two. The last epoch is kept, not that of the best validation accuracy.
    """

    level: ClassVar[Level] = "graph"
    trained_with: ClassVar[dict[str, Any]] = {"sampler": WholeGraphs(size=32), "epochs": 150}

    def __init__(self, in_channels: int, *, hidden_channels: int = 32, num_layers: int = 5, dropout: float = 0.0,
                 temperature: float = 0.2, drop_penalty: float = 5.0) -> None:
        super().__init__()
        check_temperature("ADGCL", temperature)
        if not (drop_penalty >= 0 and math.isfinite(drop_penalty)):
            raise InputError(f"ADGCL: drop_penalty is {drop_penalty}, expected a finite number of at least 0")
        encoders = (GraphEncoder(in_channels, hidden_channels, num_layers=num_layers, norm="before", linear_end=True,
                                 dropout=dropout, jump="last") for _ in range(2))
        self.contrast, self.learner = _Contrast(next(encoders), temperature), _Learner(next(encoders))
        self.drop_penalty = drop_penalty

    def augment(self, graph: Graph, generator: torch.Generator) -> Noisy:
        return Noisy(graph, edge_noise(graph.adj, generator), edge_noise(graph.adj, generator))

    def loss(self, views: Noisy) -> Tensor:
        score = self.learner(views.graph)                                  # (nnz,)
        weight = (score + views.learner_noise).sigmoid()
        given = {name: value.clone() for name, value in self.contrast.state_dict().items()}  # as it is, no gradients
        self.contrast.eval()
        gain: Tensor = (functional_call(self.contrast, given, (views.graph, weight))
                        - self.drop_penalty * mean_dropped(views.graph, weight))
        self.contrast.train(self.training)
        loss: Tensor = self.contrast(views.graph, (score.detach() + views.encoder_noise).sigmoid())
        return loss - (gain - gain.detach())

    def embed(self, graph: Graph) -> Tensor:
        embedding: Tensor = self.contrast.encoder(graph).graphs              # (G, D)
        return embedding


class _Contrast(nn.Module):
    """An encoder, the projection of its graphs, and how they differ between the two views."""

    def __init__(self, encoder: GraphEncoder, temperature: float) -> None:
        super().__init__()
        self.encoder, self.temperature, width = encoder, temperature, encoder.out_channels
        self.projector = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, graph: Graph, weight: Tensor) -> Tensor:
        """I, for (nnz,) weights of the edges, the same in both directions."""
        weighted = graph.adj.with_values(weight * graph.adj.values(weight.dtype), symmetric=True)
        z1, z2 = (self.projector(self.encoder(graph, adj).graphs) for adj in (graph.adj, weighted))      # (G, D)
        return graph_nce(z1, z2, temperature=self.temperature, symmetric=True)


class _Learner(nn.Module):
    """An encoder and a perceptron of both ends of an edge, [h_u; h_v], averaged over their two orders."""

    def __init__(self, encoder: GraphEncoder) -> None:
        super().__init__()
        self.encoder, width = encoder, 2 * encoder.out_channels
        self.ends, self.score = nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, graph: Graph) -> Tensor:
        """(nnz,) w."""
        h, adj = self.encoder(graph).nodes, graph.adj
        one, other = (h @ part.T for part in self.ends.weight.chunk(2, dim=1))                          # (N, 2D)
        w: Tensor = self.score((one[adj.row] + other[adj.idx] + self.ends.bias).relu())[:, 0]
        return (w + w[adj.perm]) / 2


def mean_dropped(graph: Graph, weight: Tensor) -> Tensor:
    """The mean of 1 - weight over the edges of a graph, and of that over the graphs that have edges."""
    owner = graph.graph_of[graph.adj.row]                                  # (nnz,)
    count = owner.bincount(minlength=graph.num_graphs)                     # (G,)
    total = weight.new_zeros(graph.num_graphs).index_add(0, owner, 1 - weight)
    return (total / count.clamp(min=1)).sum() / (count > 0).sum().clamp(min=1)
