"""AUGCL: GRACE whose negatives count by how unsure a small classifier is of their affinity to the anchor.

Niu et al., *Affinity Uncertainty-Based Hard Negative Mining in Graph Contrastive Learning*.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from sgcl.encoders import Encoder, Projector
from sgcl.errors import InputError, check_rate
from sgcl.graph import Graph
from sgcl.losses.infonce import check_temperature, info_nce
from sgcl.methods.base import Method
from sgcl.methods.pair_classifier import PairClassifier
from sgcl.views import Compose, DropEdges, MaskFeatures, View

_ANCHORS = 256   # of a pass of the classifier's training


class Views(NamedTuple):
    """Two views, and the order in which the nodes are dealt into groups."""

    first: Graph
    second: Graph
    order: Tensor   # (N,) a permutation


class AUGCL(Method):
    r"""Affinity uncertainty for graph contrastive learning.

    For the first part of the epochs the loss is GRACE's. Then, once, a perceptron f learns, from pairs of projections
    (u_i, v_k) of the two views, to tell p_1, alike, from p_0, not alike, or to abstain, a: it minimises
    -log(p_y + a / ``reward``), where y is 1 for the k on the same side as i itself when the cosines of anchor i are
    split in two by 2-means. From there on the pair (u_i, v_k) weighs w_ik = a(u_i, v_k), and the loss is the mean, over
    the nodes i and both directions, of

    .. math::
        -\log \frac{e^{<u_i, v_i> / \tau}}{e^{<u_i, v_i> / \tau} +
        \sum_{k \ne i} \frac{w_{ik}}{\bar w_i} (e^{<u_i, v_k> / \tau} + e^{<u_i, u_k> / \tau})}.

    A perceptron for every pair is dear: each step deals the nodes at random into groups of at most ``candidates``, and
    k runs over the group of i, its sum scaled up to all nodes. A graph of no more nodes is one group, its loss exact.
    Time O(E D + N F D + N² D) and then O(N C (D + 128²)) with C candidates, memory O(N (C + D) + E).

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of the embedding; the layers before it are twice as wide.
        projection_channels: the width inside the projector; D unless given.
        num_layers: depth of the encoder.
        layer: its layer type, ``"gcn"``, ``"sage"``, ``"gat"`` or ``"gin"``.
        activation: after each layer, ``"prelu"``, ``"relu"``, ``"rrelu"``, ``"elu"`` or ``"none"``.
        dropout: inside the encoder, in training.
        view1, view2: how each view is made: parts of ``sgcl.views``.
        temperature: tau, at least 0.02.
        pretrain: the share of the epochs before the weights.
        candidates: C, how many nodes an anchor is compared with once there are weights.
        reward: what abstaining is divided by, above 1 and at most 2; the larger, the less it pays.
        passes: how many times pairs are drawn to train the classifier.

    Departures from the paper: its node-level code is not published; this is its graph-level procedure on GRACE, in both
    directions, with the weight of a pair of nodes used between and inside the views. Edges and features are dropped at
    one rate and not by centrality. A pass trains on the pairs of at most 256 anchors with at most ``candidates`` nodes,
    in turn of either view, and never again once there are weights. The mean of the weights leaves out the anchor
    itself, which the published code has in it. In sampled batches the negatives are those of the batch. ``"rrelu"`` has
    its mean slope, as in the published code it is said to follow. Without a recipe, training has this library's 200
    epochs, not 1,000 to 2,000.
    """

    def __init__(self, in_channels: int, *, hidden_channels: int = 128, projection_channels: int | None = None,
                 num_layers: int = 2, layer: str = "gcn", activation: str = "rrelu", dropout: float = 0.0,
                 view1: View = Compose((DropEdges(0.6), MaskFeatures(0.2))),  # noqa: B008 (frozen)
                 view2: View = Compose((DropEdges(0.3), MaskFeatures(0.3))),  # noqa: B008
                 temperature: float = 0.2, pretrain: float = 0.5, candidates: int = 1024, reward: float = 1.9,
                 passes: int = 10) -> None:
        super().__init__(view1, view2)
        check_temperature("AUGCL", temperature)
        check_stages("AUGCL", pretrain, reward, passes)
        if candidates < 3:
            raise InputError(f"AUGCL: candidates is {candidates}, expected at least 3")
        self.encoder = Encoder(in_channels, 2 * hidden_channels, hidden_channels, num_layers=num_layers, layer=layer,
                               activation=activation, dropout=dropout)
        self.projector = Projector(hidden_channels, projection_channels)
        self.classifier = PairClassifier(hidden_channels)
        self.view1, self.view2, self.temperature = view1, view2, temperature
        self.pretrain, self.candidates, self.reward, self.passes = pretrain, candidates, reward, passes
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
        first, second = self.view1(graph, generator), self.view2(graph, generator)
        return Views(first, second, torch.randperm(graph.num_nodes, generator=generator))

    def loss(self, views: Views) -> Tensor:
        z1, z2 = self._project(views.first), self._project(views.second)   # (N, D)
        if not bool(self.weighs):
            return info_nce(z1, z2, temperature=self.temperature)
        groups = views.order.tensor_split(-(-len(z1) // self.candidates))
        parts = [self._group_loss(z1[nodes], z2[nodes], len(z1)) * len(nodes) for nodes in groups]
        return torch.stack(parts).sum() / len(z1)

    def embed(self, graph: Graph) -> Tensor:
        h: Tensor = self.encoder(graph.x, graph.adj)                       # (N, D)
        return h

    def _project(self, graph: Graph) -> Tensor:
        z: Tensor = self.projector(self.embed(graph))                      # (N, D)
        return z

    def _group_loss(self, z1: Tensor, z2: Tensor, population: int) -> Tensor:
        weight = self.classifier.abstention(z1.detach(), z2.detach())      # (n, n)
        return info_nce(z1, z2, temperature=self.temperature, population=population,
                        weights=lambda rows, columns: weight[rows, columns])

    def _rounds(self, graph: Graph, generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
        """A pass takes candidates and, from among them, anchors, so that column i of the cosines is anchor i itself."""
        device = self.weighs.device
        for number in range(self.passes):
            views = self.view1(graph, generator), self.view2(graph, generator)
            anchors, others = (self._project(view.to(device)) for view in (views if number % 2 == 0 else views[::-1]))
            nodes = torch.randperm(graph.num_nodes, generator=generator)[:self.candidates].to(device)
            yield anchors[nodes[:_ANCHORS]], others[nodes]                 # (A, D), (C, D)


def check_stages(owner: str, pretrain: float, reward: float, passes: int) -> None:
    """Raise on settings of the three stages that make no sense."""
    check_rate(owner, "pretrain", pretrain)
    if not 1 < reward <= 2:
        raise InputError(f"{owner}: reward is {reward}, expected a number above 1 and at most 2")
    if passes < 1:
        raise InputError(f"{owner}: passes is {passes}, expected at least 1")
