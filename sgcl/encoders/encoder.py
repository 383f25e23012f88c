"""A stack of message-passing layers, each followed by its activation."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch.nn.functional as F
from torch import Tensor, nn

from sgcl.encoders.layers import LAYERS
from sgcl.encoders.prelu import PReLU
from sgcl.errors import InputError, check_rate, unknown_name
from sgcl.graph import Features
from sgcl.sparse import CSR

ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "prelu": PReLU, "relu": nn.ReLU, "elu": nn.ELU, "none": nn.Identity}


class Encoder(nn.Module):
    """h = act(layer(... act(layer(x, A)) ..., A)).

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: the width of every layer but the last.
        out_channels: D, the width of the embedding; ``hidden_channels`` unless given.
        num_layers: how many layers.
        layer: ``"gcn"``, ``"sage"``, ``"gat"`` or ``"gin"``.
        activation: after every layer, the last one too: ``"prelu"``, ``"relu"``, ``"elu"`` or ``"none"``.
        dropout: probability of zeroing an entry before each layer but the first, in training.
    """

    def __init__(self, in_channels: int, hidden_channels: int = 512, out_channels: int | None = None, *,
                 num_layers: int = 2, layer: str = "gcn", activation: str = "prelu", dropout: float = 0.0) -> None:
        super().__init__()
        if layer not in LAYERS:
            raise unknown_name("layer", layer, LAYERS)
        if activation not in ACTIVATIONS:
            raise unknown_name("activation", activation, ACTIVATIONS)
        check_rate("Encoder", "dropout", dropout)
        out_channels = hidden_channels if out_channels is None else out_channels
        for name, size in (("in_channels", in_channels), ("hidden_channels", hidden_channels),
                           ("out_channels", out_channels), ("num_layers", num_layers)):
            if size < 1:
                raise InputError(f"Encoder: {name} is {size}, expected at least 1")
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.layers = nn.ModuleList(LAYERS[layer](a, b) for a, b in pairwise(widths))
        self.activations = nn.ModuleList(ACTIVATIONS[activation]() for _ in self.layers)
        self.dropout = dropout
        self.out_channels = out_channels
        self._prepare = LAYERS[layer].prepare

    def forward(self, x: Features, adj: CSR) -> Tensor:
        """(N, F) features and an (N, N) adjacency give (N, D)."""
        prepared = self._prepare(adj)
        for number, (layer, activation) in enumerate(zip(self.layers, self.activations, strict=True)):
            if number:
                x = F.dropout(x, self.dropout, self.training)  # type: ignore[arg-type]
            x = activation(layer(x, prepared))
        return x  # type: ignore[return-value]
