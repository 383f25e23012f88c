"""CGRA on collections of graphs: graphs with masked nodes against a slow encoder's view of the unmasked ones.

Duan et al., *Self-supervised contrastive graph representation with node and graph augmentation*.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from sgcl.encoders import DenseLayer, readout
from sgcl.encoders.norm import BatchNorm
from sgcl.errors import InputError, check_rate
from sgcl.graph import Features, Graph
from sgcl.losses import graph_nce
from sgcl.losses.infonce import check_temperature
from sgcl.methods.base import Level, Method
from sgcl.methods.cgra import without_features
from sgcl.methods.moving_average import follow
from sgcl.samplers import WholeGraphs
from sgcl.sparse import CSR, spmm


class Masked(NamedTuple):
    """A batch of graphs before and after masking."""

    graph: Graph
    hidden: Graph


class CGRAGraphs(Method):
    r"""Contrastive graph representation of whole graphs (VMA, the final form of the published code).

    A share of the nodes of a batch has its features hidden. The online encoder sees what is left, the target encoder
    everything; both end in one projector, v_g and u_g for graph g, on rows of length 1. The loss is the mean over the
    graphs of

    .. math:: -\log \frac{e^{<u_g, v_g> / \tau}}{\sum_{k \ne g} e^{<u_g, v_k> / \tau}}.

    After each step the target, which starts from weights of its own, moves towards the online encoder,
    phi <- m phi + (1 - m) theta. A layer is ReLU(BN(W2 ReLU(BN(W1 (2 H + A H))))): a GIN on a graph with a loop at each
    node. An embedding is the sums of a graph's nodes, layer beside layer. Time O(E H + N H (F + L D) + G² D), memory
    O(N L (H + D) + E + G²) for a batch, H the width inside a layer.

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of each layer.
        mlp_channels: H, the width inside a layer.
        projection_channels: the width of the projection, behind a layer twice as wide as the embedding.
        num_layers: L, depth of the encoder.
        mask_rate: the share of nodes whose features are hidden.
        temperature: tau, at least 0.02.
        momentum: m, how much of the target stays in a step.

    Departures from the paper: the last epoch is kept, where its figures come from settings searched, and weights kept,
    by test accuracy. Settings differ between its datasets; unless given they are those of most.
    """

    level: ClassVar[Level] = "graph"
    trained_with: ClassVar[dict[str, Any]] = {"sampler": WholeGraphs(size=256), "epochs": 50, "weight_decay": 1e-5}

    def __init__(self, in_channels: int, *, hidden_channels: int = 32, mlp_channels: int = 64,
                 projection_channels: int = 128, num_layers: int = 2, mask_rate: float = 0.3, temperature: float = 0.1,
                 momentum: float = 0.9999) -> None:
        super().__init__()
        for name, rate in (("mask_rate", mask_rate), ("momentum", momentum)):
            check_rate("CGRAGraphs", name, rate)
        for name, count in (("in_channels", in_channels), ("hidden_channels", hidden_channels),
                            ("mlp_channels", mlp_channels), ("projection_channels", projection_channels),
                            ("num_layers", num_layers)):
            if count < 1:
                raise InputError(f"CGRAGraphs: {name} is {count}, expected at least 1")
        check_temperature("CGRAGraphs", temperature)
        self.online, self.target = (_Encoder(in_channels, mlp_channels, hidden_channels, num_layers) for _ in range(2))
        self.target.requires_grad_(False)
        width = hidden_channels * num_layers
        self.projector = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(),
                                       nn.Linear(2 * width, projection_channels))
        self.mask_rate, self.temperature, self.momentum = mask_rate, temperature, momentum

    def augment(self, graph: Graph, generator: torch.Generator) -> Masked:
        masked = torch.randperm(graph.num_nodes, generator=generator)[:int(self.mask_rate * graph.num_nodes)]
        return Masked(graph, without_features(graph, masked))

    def loss(self, views: Masked) -> Tensor:
        with torch.no_grad():
            slow = self.target(views.graph)                                # (G, L D)
        return graph_nce(self.projector(slow), self.projector(self.online(views.hidden)), temperature=self.temperature)

    def embed(self, graph: Graph) -> Tensor:
        embedding: Tensor = self.online(graph)                             # (G, L D)
        return embedding

    def after_step(self, progress: float) -> None:
        follow(self.target, self.online, 1 - self.momentum)


class _Encoder(nn.Module):
    def __init__(self, in_channels: int, mlp_channels: int, out_channels: int, num_layers: int) -> None:
        super().__init__()
        widths = [in_channels, *[out_channels] * num_layers]
        self.layers = nn.ModuleList(_Layer(a, mlp_channels, b) for a, b in pairwise(widths))

    def forward(self, graph: Graph) -> Tensor:
        """(G, L D)"""
        h, read = graph.x, []
        for layer in self.layers:
            h = layer(h, graph.adj)                                        # (N, D)
            read.append(readout(h, graph))
        return torch.cat(read, dim=1)


class _Layer(nn.Module):
    """A GIN layer with batch norm inside and after its perceptron, which has no biases; its first product is taken
    before the sum."""

    def __init__(self, in_channels: int, mlp_channels: int, out_channels: int) -> None:
        super().__init__()
        self.inner = DenseLayer(in_channels, mlp_channels, bias=False)
        self.outer = nn.Linear(mlp_channels, out_channels, bias=False)
        self.inner_norm, self.outer_norm = (BatchNorm(width, momentum=0.1) for width in (mlp_channels, out_channels))

    def forward(self, x: Features, adj: CSR) -> Tensor:
        h = self.inner(x)                                                  # (N, H)
        h = self.inner_norm(2 * h + spmm(adj, h)).relu()
        out: Tensor = self.outer_norm(self.outer(h)).relu()                # (N, D)
        return out
