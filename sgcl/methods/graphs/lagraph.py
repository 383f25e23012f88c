"""LaGraph: node features rebuilt from a graph, whose embedding stays when some of its nodes are replaced by noise.

Xie, Xu and Ji, *Self-Supervised Representation Learning via Latent Graph Prediction*.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sgcl.encoders import GraphEncoder
from sgcl.encoders.norm import BatchNorm
from sgcl.errors import InputError, check_rate
from sgcl.graph import Features, Graph
from sgcl.methods.base import Level, Method
from sgcl.samplers import WholeGraphs
from sgcl.sparse import SparseFeatures
from sgcl.views import MaskNodes

_ROOT = 1e-12  # under the square root, whose slope is infinite at 0


class Noised(NamedTuple):
    """A batch of graphs, and the same with noise for the features of some nodes."""

    clean: Graph
    noisy: Graph


class LaGraph(Method):
    r"""Latent graph prediction of whole graphs.

    Of each graph of n nodes, floor(r n) have their features replaced by noise, each entry from N(0, sigma²). With the
    embeddings z and z' of the G graphs before and after, both (G, K), and a decoder d of the nodes h of the last layer
    before, the loss is

    .. math::
        \frac{1}{N F} \sum_{i, f} (d(h_i)_f - x_{i f})^2
        + \alpha \sqrt{\frac{1}{G K} \sum_{g, k} (z_{g k} - z'_{g k})^2}.

    An embedding is the sums of a graph's nodes, layer beside layer, K = L D. Time O(E D + N D (F + L D)), memory
    O(N (F + L D) + E) for a batch: what is rebuilt is dense.

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of each layer and inside the decoder.
        num_layers: L, depth of the encoder.
        layer: its layer type, ``"gin"``, ``"gcn"``, ``"sage"`` or ``"gat"``.
        dropout: after each layer, in training.
        mask_rate: r, the share of a graph's nodes that turn to noise.
        sigma: the standard deviation of the noise.
        invariance_weight: alpha.

    Departures from the paper: the published code adds a loop to each node, with which a GIN layer counts it twice. The
    last epoch is kept, where the paper reports the one of the best test accuracy. 1e-12 is added under the root.
    Settings unless given are those for MUTAG.
    """

    level: ClassVar[Level] = "graph"
    trained_with: ClassVar[dict[str, Any]] = {"sampler": WholeGraphs(), "epochs": 50, "lr": 1e-5}

    def __init__(self, in_channels: int, *, hidden_channels: int = 32, num_layers: int = 3, layer: str = "gin",
                 dropout: float = 0.0, mask_rate: float = 0.05, sigma: float = 0.5,
                 invariance_weight: float = 10.0) -> None:
        super().__init__()
        check_rate("LaGraph", "mask_rate", mask_rate)
        for name, value in (("sigma", sigma), ("invariance_weight", invariance_weight)):
            if not (value >= 0 and math.isfinite(value)):
                raise InputError(f"LaGraph: {name} is {value}, expected a finite number of at least 0")
        self.encoder = GraphEncoder(in_channels, hidden_channels, num_layers=num_layers, layer=layer, dropout=dropout)
        self.decoder = nn.Sequential(nn.Linear(hidden_channels, hidden_channels), nn.ReLU(),
                                     BatchNorm(hidden_channels, momentum=0.1),
                                     nn.Linear(hidden_channels, in_channels), nn.ReLU())
        self.noise, self.invariance_weight = MaskNodes(mask_rate, mean=0.0, std=sigma), invariance_weight

    def augment(self, graph: Graph, generator: torch.Generator) -> Noised:
        return Noised(graph, self.noise(graph, generator))

    def loss(self, views: Noised) -> Tensor:
        clean, noisy = (self.encoder(graph) for graph in views)
        rebuilt = F.mse_loss(self.decoder(clean.nodes), _dense(views.clean.x))
        moved = F.mse_loss(clean.graphs, noisy.graphs)
        return rebuilt + self.invariance_weight * (moved + _ROOT).sqrt()

    def embed(self, graph: Graph) -> Tensor:
        embedding: Tensor = self.encoder(graph).graphs                     # (G, L D)
        return embedding


def _dense(x: Features) -> Tensor:
    return x.to_dense() if isinstance(x, SparseFeatures) else x
