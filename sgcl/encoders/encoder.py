"""A stack of message-passing layers, each followed by its norm and its activation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

from torch import Tensor, nn

from sgcl.encoders.blocks import Limit, degrees, layer_in_blocks, limit_for
from sgcl.encoders.dropout import dropout
from sgcl.encoders.layers import LAYERS
from sgcl.encoders.norm import BatchNorm
from sgcl.encoders.prelu import PReLU
from sgcl.errors import InputError, check_rate, unknown_name
from sgcl.graph import Features
from sgcl.sparse import CSR

ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "prelu": partial(PReLU, overwrite=True), "relu": nn.ReLU, "rrelu": lambda: nn.LeakyReLU(11 / 48), "elu": nn.ELU,
    "none": nn.Identity}
NORMS: dict[str, Callable[[int], nn.Module]] = {"none": nn.Identity, "batch": BatchNorm}


class Encoder(nn.Module):
    """h = act(norm(layer(... act(norm(layer(x, A))) ..., A))).

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: the width of every layer but the last.
        out_channels: D, the width of the embedding; ``hidden_channels`` unless given.
        num_layers: how many layers.
        layer: ``"gcn"``, ``"sage"``, ``"gat"`` or ``"gin"``.
        activation: after every layer, the last one too: ``"prelu"``, ``"relu"``, ``"rrelu"`` (11/48 of it below
            0, the mean slope), ``"elu"`` or ``"none"``.
        dropout: probability of zeroing an entry before each layer but the first, in training.
        norm: between layer and activation: ``"none"``, or ``"batch"`` for columns standardised over the nodes.
        linear_end: neither norm nor activation after the last layer.
    """

    def __init__(self, in_channels: int, hidden_channels: int = 512, out_channels: int | None = None, *,
                 num_layers: int = 2, layer: str = "gcn", activation: str = "prelu", dropout: float = 0.0,
                 norm: str = "none", linear_end: bool = False) -> None:
        super().__init__()
        if layer not in LAYERS:
            raise unknown_name("layer", layer, LAYERS)
        if activation not in ACTIVATIONS:
            raise unknown_name("activation", activation, ACTIVATIONS)
        if norm not in NORMS:
            raise unknown_name("norm", norm, NORMS)
        check_rate("Encoder", "dropout", dropout)
        out_channels = hidden_channels if out_channels is None else out_channels
        for name, size in (("in_channels", in_channels), ("hidden_channels", hidden_channels),
                           ("out_channels", out_channels), ("num_layers", num_layers)):
            if size < 1:
                raise InputError(f"Encoder: {name} is {size}, expected at least 1")
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.layers = nn.ModuleList(LAYERS[layer](a, b) for a, b in pairwise(widths))
        shaped = widths[1:-1] if linear_end else widths[1:]  # the outputs that get a norm and an activation
        self.norms = nn.ModuleList(NORMS[norm](width) for width in shaped)
        self.activations = nn.ModuleList(ACTIVATIONS[activation]() for _ in shaped)
        self.dropout = dropout
        self.out_channels = out_channels
        self._prepare = LAYERS[layer].prepare

    def forward(self, x: Features, adj: CSR) -> Tensor:
        """(N, F) features and an (N, N) adjacency give (N, D)."""
        limit = limit_for(self.training)
        if limit is None:
            return self.propagate(x, self._prepare(adj))
        degree = degrees(adj)
        return self._in_blocks(x, adj.ptr, lambda rows: self._prepare(adj.rows(rows), degree, rows), limit)

    def propagate(self, x: Features, prepared: Any) -> Tensor:
        """The same from what the layers' ``prepare`` makes of an adjacency or, for ``"gcn"``, any (N, N) matrix that
        stands in for D^-1/2 (A + I) D^-1/2."""
        limit = limit_for(self.training)
        if limit is not None:
            return self._in_blocks(x, prepared.ptr, prepared.rows, limit)
        for number, layer in enumerate(self.layers):
            if number:
                x = dropout(x, self.dropout, self.training)
            x = self._shaped(number, layer(x, prepared))
        return x  # type: ignore[return-value]

    def _in_blocks(self, x: Features, ptr: Tensor, prepared: Callable[[slice], Any], limit: Limit) -> Tensor:
        for number, layer in enumerate(self.layers):
            x = layer_in_blocks(layer, partial(self._shaped, number), x, ptr, prepared, limit)  # type: ignore[arg-type]
        return x.to(ptr.device)  # type: ignore[return-value]

    def _shaped(self, number: int, h: Tensor) -> Tensor:
        """What a layer gives, with its norm and its activation."""
        return self.activations[number](self.norms[number](h)) if number < len(self.activations) else h
