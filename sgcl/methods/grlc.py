"""GRLC: a node's features held close to those of its neighbourhood and, within bounds, apart from other nodes'.

Peng, Mo et al., *GRLC: Graph Representation Learning With Constraints*.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, get_args

import torch
import torch.nn.functional as F
from torch import Tensor

from sgcl.encoders import DenseLayer, GCNLayer, dropout
from sgcl.encoders.layers import Normalised
from sgcl.errors import InputError, check_rate, unknown_name
from sgcl.graph import Features, Graph
from sgcl.losses.infonce import unit_rows
from sgcl.methods.base import Method
from sgcl.methods.recompute import recomputed
from sgcl.sparse import CSR, sddmm

Structure = Literal["filter", "scale", "fixed"]


class Shuffled(NamedTuple):
    """A graph, and whose features stand in for each node's in each of the negatives."""

    graph: Graph
    orders: Tensor   # (K, N)


class GRLC(Method):
    r"""Graph representation learning with constraints.

    One set of weights makes three embeddings: of a node's own features, the anchor a; of the same with the second
    layer propagated, the positive; and of the features of another node, K times, the negatives. With the Euclidean
    distances p_i from the anchor to the positive and n_ik to the negatives, the loss is

    .. math::
        w_1 \sum_k \frac{1}{N} \sum_i w_{ik} \max(0, p_i - n_{ik} + m_1)
        + w_2 \frac{1}{N K} \sum_{ik} \max(0, n_{ik} - \bar p_i - m_1 - m_2),

    where w_ik is the distance of anchor and negative k after the first layer, scaled to [0, 1] over the negatives of
    i, and neither it nor the barred p gets a gradient. The embedding is the positive, without dropout.

    Time O(K (N F D + N D²) + E D) a step, memory O(N D + K N + E): in a large graph the negatives are made again in the
    backward.

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of the embedding.
        expansion: how many times as wide the first layer is.
        dropout: of the features and between the layers, for positives and negatives, in training.
        negatives: K, how many other nodes each is held against, at least 2.
        margin: m_1, by which a negative shall be further away than the positive.
        bound: m_2, how much further than that it may be.
        near_weight, far_weight: w_1 and w_2, the weights of keeping negatives away, and within bounds.
        structure: what positives propagate over: ``"filter"``, the edges (i, j) whose anchors are more alike than j is
            to the mean node; ``"scale"``, all of them, weighed by the cosines of the positives; ``"fixed"``, all.
        propagate_negatives: propagate the negatives too.
        unit: scale the rows of the embedding to length 1.

    Departures from the paper: an edge is filtered against the exact mean of the cosines of j to all nodes, not against
    that to its K negatives of the step before, and scaled by the positives over the plain graph, not over that of the
    step before; the structure so follows from the weights alone, at every step, and the embedding with it. w_2 weighs a
    mean over nodes (a sum for Cora in the published code: w_2 = 0.001 there is 2.708 here). Each layer has one bias. A
    node whose negatives are all at one distance has no first term, where the published code divides by zero. Without a
    recipe, training has this library's 200 epochs at 0.001, not 500 and more at 0.005 to 0.01 with weight decay.
    """

    def __init__(self, in_channels: int, *, hidden_channels: int = 256, expansion: int = 2, dropout: float = 0.2,
                 negatives: int = 10, margin: float = 0.8, bound: float = 0.2, near_weight: float = 2.0,
                 far_weight: float = 2.0, structure: Structure = "filter", propagate_negatives: bool = False,
                 unit: bool = True) -> None:
        super().__init__()
        for name, least, count in (("hidden_channels", 1, hidden_channels), ("expansion", 1, expansion),
                                   ("negatives", 2, negatives)):
            if count < least:
                raise InputError(f"GRLC: {name} is {count}, expected at least {least}")
        for name, value in (("margin", margin), ("bound", bound), ("near_weight", near_weight),
                            ("far_weight", far_weight)):
            if not 0 <= value < math.inf:
                raise InputError(f"GRLC: {name} is {value}, expected a finite number of at least 0")
        if structure not in get_args(Structure):
            raise unknown_name("GRLC structure", structure, get_args(Structure))
        check_rate("GRLC", "dropout", dropout)
        self.first = DenseLayer(in_channels, expansion * hidden_channels)
        self.second = GCNLayer(expansion * hidden_channels, hidden_channels)
        self.dropout, self.negatives, self.margin, self.bound = dropout, negatives, margin, bound
        self.near_weight, self.far_weight, self.structure = near_weight, far_weight, structure
        self.propagate_negatives, self.unit = propagate_negatives, unit

    def augment(self, graph: Graph, generator: torch.Generator) -> Shuffled:
        orders = [torch.randperm(graph.num_nodes, generator=generator) for _ in range(self.negatives)]
        return Shuffled(graph, torch.stack(orders).to(graph.device))

    def loss(self, views: Shuffled) -> Tensor:
        x, prepared = views.graph.x, self._prepared(views.graph)
        inner, anchor = self._encoded(x, None)                             # (N, xD), (N, D)
        positive = F.pairwise_distance(anchor, self._encoded(x, prepared, self.dropout)[1])[:, None]    # (N, 1)
        over = prepared if self.propagate_negatives else None
        found = [recomputed(self._distances, x, order, inner, anchor, over, entries=len(views.orders) * inner.numel())
                 for order in views.orders]
        inner_distance, negative = (torch.stack(part, dim=1) for part in zip(*found, strict=True))      # (N, K)
        least, most = inner_distance.aminmax(dim=1, keepdim=True)
        weight = (inner_distance - least) / (most - least).clamp(min=1e-12)
        near = (weight * (positive - negative + self.margin).relu()).mean(0).sum()
        far = (negative - positive.detach() - self.margin - self.bound).relu().mean()
        return self.near_weight * near + self.far_weight * far

    def embed(self, graph: Graph) -> Tensor:
        h = self._encoded(graph.x, self._prepared(graph))[1]               # (N, D)
        return unit_rows(h) if self.unit else h

    def _encoded(self, x: Features, prepared: Normalised | None, rate: float = 0.0, order: Tensor | None = None,
                 ) -> tuple[Tensor, Tensor]:
        """What the first layer gives and what the second gives, propagated over a graph or not; with ``order``, of the
        features of other nodes."""
        inner = self.first(dropout(x, rate, self.training)).relu()         # (N, xD)
        inner = inner if order is None else inner[order]
        h = dropout(inner, rate, self.training)
        if prepared is None:
            return inner, torch.addmm(self.second.bias, h, self.second.weight).relu()
        return inner, self.second(h, prepared).relu()

    def _distances(self, x: Features, order: Tensor, inner: Tensor, anchor: Tensor, prepared: Normalised | None,
                   ) -> tuple[Tensor, Tensor]:
        """(N,) twice: how far one negative is from the anchors after each layer, the first without a gradient."""
        other_inner, other = self._encoded(x, prepared, self.dropout, order)
        return F.pairwise_distance(inner.detach(), other_inner.detach()), F.pairwise_distance(anchor, other)

    @torch.no_grad()
    def _prepared(self, graph: Graph) -> Normalised:
        """The graph that positives propagate over."""
        plain = GCNLayer.prepare(graph.adj)
        if self.structure == "fixed":
            return plain
        if self.structure == "filter":
            u = unit_rows(self._encoded(graph.x, None)[1])                 # (N, D)
            return GCNLayer.prepare(alike(graph.adj, u))
        u = unit_rows(self._encoded(graph.x, plain)[1])
        off, diag = plain.off.values() * sddmm(plain.off, u, u), plain.diag[:, 0] * torch.linalg.vecdot(u, u)
        scale = (plain.off.with_values(off).row_sum() + diag).clamp(min=1e-12).rsqrt()
        return Normalised(plain.off.with_values(off * scale[plain.off.row] * scale[plain.off.idx], symmetric=True),
                          (diag * scale.square())[:, None])


def alike(adj: CSR, u: Tensor) -> CSR:
    """The entries (i, j) of an (N, N) adjacency with <u_i, u_j> above the mean over all k of <u_k, u_j>."""
    return adj.keep(sddmm(adj, u, u) > (u @ u.mean(0))[adj.idx])
