"""An encoder of whole graphs: message-passing layers whose outputs are read out over the nodes of each graph."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal, NamedTuple, get_args

import torch
from torch import Tensor, nn

from sgcl.encoders.dropout import dropout
from sgcl.encoders.encoder import ACTIVATIONS
from sgcl.encoders.layers import LAYERS, GINLayer
from sgcl.encoders.norm import BatchNorm
from sgcl.encoders.readout import Readout, readout
from sgcl.errors import InputError, check_rate, unknown_name
from sgcl.graph import Graph

Norm = Literal["after", "before", "none"]
Jump = Literal["concat", "last"]


class Encoded(NamedTuple):
    """What an encoder says of the nodes, layer by layer, and of the graphs when asked."""

    layers: list[Tensor]  # L of (N, D)
    graph: Graph
    readout: Readout
    jump: Jump

    @property
    def nodes(self) -> Tensor:
        """(N, D) the last layer."""
        return self.layers[-1]

    @property
    def graphs(self) -> Tensor:
        """(G, L D), or (G, D) of the last layer alone."""
        read = self.layers if self.jump == "concat" else self.layers[-1:]
        return torch.cat([readout(h, self.graph, self.readout) for h in read], dim=1)


class GraphEncoder(nn.Module):
    """h_l = norm(act(layer_l(h_{l-1}, A))); a graph is the readout of its nodes, of each layer side by side.

    Graphs of a batch share nothing but the averages of the batch norms in training.

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of every layer.
        num_layers: L.
        layer: ``"gin"`` (with its eps fixed at 0), ``"gcn"``, ``"sage"`` or ``"gat"``.
        activation: of every layer: ``"relu"``, ``"prelu"``, ``"rrelu"``, ``"elu"`` or ``"none"``.
        norm: batch norm ``"after"`` the activation, ``"before"`` it, or ``"none"``.
        linear_end: no activation after the last layer.
        dropout: probability of zeroing an entry of what a layer gives, in training.
        readout: ``"sum"``, ``"mean"`` or ``"max"`` over the nodes.
        jump: ``"concat"`` of all layers' readouts, or the ``"last"`` alone.
    """

    def __init__(self, in_channels: int, hidden_channels: int = 32, *, num_layers: int = 3, layer: str = "gin",
                 activation: str = "relu", norm: Norm = "after", linear_end: bool = False, dropout: float = 0.0,
                 readout: Readout = "sum", jump: Jump = "concat") -> None:
        super().__init__()
        for name, word, known in (("layer", layer, LAYERS), ("activation", activation, ACTIVATIONS),
                                  ("norm", norm, get_args(Norm)), ("readout", readout, get_args(Readout)),
                                  ("jump", jump, get_args(Jump))):
            if word not in known:
                raise unknown_name(name, word, known)
        check_rate("GraphEncoder", "dropout", dropout)
        for name, size in (("in_channels", in_channels), ("hidden_channels", hidden_channels),
                           ("num_layers", num_layers)):
            if size < 1:
                raise InputError(f"GraphEncoder: {name} is {size}, expected at least 1")
        widths = [in_channels, *[hidden_channels] * num_layers]
        self.layers = nn.ModuleList(GINLayer(a, b, learn_eps=False) if layer == "gin" else LAYERS[layer](a, b)
                                    for a, b in pairwise(widths))
        self.norms = nn.ModuleList(nn.Identity() if norm == "none" else BatchNorm(width, momentum=0.1)
                                   for width in widths[1:])
        self.activations = nn.ModuleList(ACTIVATIONS[activation]() for _ in widths[1:])
        if linear_end:
            self.activations[-1] = nn.Identity()
        self.norm, self.dropout, self.readout, self.jump = norm, dropout, readout, jump
        self.out_channels = hidden_channels * (num_layers if jump == "concat" else 1)
        self._prepare = LAYERS[layer].prepare

    def forward(self, graph: Graph, prepared: Any = None) -> Encoded:
        """A collection of N nodes and G graphs; ``prepared`` stands in for what the layers' ``prepare`` makes of its
        adjacency, such as one with weights that need a gradient."""
        prepared = self._prepare(graph.adj) if prepared is None else prepared
        h, layers = graph.x, []
        for layer, norm, activation in zip(self.layers, self.norms, self.activations, strict=True):
            h = layer(h, prepared)                                         # (N, D)
            h = activation(norm(h)) if self.norm == "before" else norm(activation(h))
            h = dropout(h, self.dropout, self.training)
            layers.append(h)
        return Encoded(layers, graph, self.readout, self.jump)
