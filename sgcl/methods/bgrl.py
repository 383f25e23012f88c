"""BGRL: an encoder that predicts, from one view, what a slower copy of itself makes of the other; no negatives.

Thakoor et al., *Large-Scale Representation Learning on Graphs via Bootstrapping*.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sgcl.encoders import Encoder
from sgcl.encoders.prelu import PReLU
from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.methods.base import Method
from sgcl.methods.moving_average import follow
from sgcl.views import Compose, DropEdges, MaskFeatures, View


class Views(NamedTuple):
    """Two views."""

    first: Graph
    second: Graph


class BGRL(Method):
    r"""Bootstrapped graph latents.

    The online encoder gives H1, H2 of the two views, the target encoder T1, T2, without a gradient; q is a predictor.
    The loss is

    .. math:: 2 - \frac{1}{N} \sum_i \cos(q(h^1_i), t^2_i) - \frac{1}{N} \sum_i \cos(q(h^2_i), t^1_i).

    After step t of T the target's parameters move towards the online ones, phi <- m phi + (1 - m) theta, with
    m = 1 - (1 - momentum) (1 + cos(pi t / T)) / 2. Batch norm and activation follow every layer. Time
    O(E D + N F D + N D²) a step, four passes of an encoder; memory O(N D + E + nnz(X)).

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: the width of the layers before the last.
        out_channels: D, the width of the embedding.
        predictor_channels: the width inside the predictor.
        num_layers: depth of the encoder.
        layer: its layer type, ``"gcn"``, ``"sage"``, ``"gat"`` or ``"gin"``.
        activation: after each layer, ``"prelu"``, ``"relu"``, ``"elu"`` or ``"none"``.
        dropout: inside the online encoder, in training.
        view1, view2: how each view is made: parts of ``sgcl.views``.
        momentum: how much of the target stays at the first step; it rises to 1.

    Departures from the paper: an edge is dropped in both directions at once. The running averages of the batch norms
    move by 1 % a pass in the long run, as in the paper (by 99 % in its published code), but by more at first. In
    sampled batches all nodes count. Without a recipe, training has this library's 200 epochs of Adam, not 10,000 of
    AdamW with a warm-up and a cosine schedule.
    """

    def __init__(self, in_channels: int, *, hidden_channels: int = 512, out_channels: int = 256,
                 predictor_channels: int = 512, num_layers: int = 2, layer: str = "gcn", activation: str = "prelu",
                 dropout: float = 0.0,
                 view1: View = Compose((DropEdges(0.3), MaskFeatures(0.3))),  # noqa: B008 (frozen)
                 view2: View = Compose((DropEdges(0.2), MaskFeatures(0.4))),  # noqa: B008
                 momentum: float = 0.99) -> None:
        super().__init__(view1, view2)
        if not 0 <= momentum <= 1:
            raise InputError(f"BGRL: momentum is {momentum}, expected a number in [0, 1]")
        if predictor_channels < 1:
            raise InputError(f"BGRL: predictor_channels is {predictor_channels}, expected at least 1")
        self.online, self.target = (
            Encoder(in_channels, hidden_channels, out_channels, num_layers=num_layers, layer=layer,
                    activation=activation, dropout=rate, norm="batch") for rate in (dropout, 0.0))
        self.target.requires_grad_(False)
        self.predictor = nn.Sequential(nn.Linear(out_channels, predictor_channels), PReLU(),
                                       nn.Linear(predictor_channels, out_channels))
        self.view1, self.view2, self.momentum = view1, view2, momentum

    def augment(self, graph: Graph, generator: torch.Generator) -> Views:
        return Views(self.view1(graph, generator), self.view2(graph, generator))

    def loss(self, views: Views) -> Tensor:
        with torch.no_grad():
            t1, t2 = (self.target(graph.x, graph.adj) for graph in views)  # (N, D)
        q1, q2 = (self.predictor(self.online(graph.x, graph.adj)) for graph in views)
        return 2 - F.cosine_similarity(q1, t2).mean() - F.cosine_similarity(q2, t1).mean()

    def embed(self, graph: Graph) -> Tensor:
        h: Tensor = self.online(graph.x, graph.adj)                        # (N, D)
        return h

    def after_step(self, progress: float) -> None:
        follow(self.target, self.online, (1 - self.momentum) * (1 + math.cos(math.pi * progress)) / 2)
