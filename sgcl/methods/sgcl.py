"""SGCL: two views of a graph, pulled together on soft positives that a graph filter spreads around each node.

Behmanesh and Ovsjanikov, *Smoothed Graph Contrastive Learning via Seamless Proximity Integration*.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sgcl.encoders import Encoder
from sgcl.encoders.blocks import combined
from sgcl.errors import InputError, unknown_name
from sgcl.graph import Graph, one_column_each
from sgcl.losses.smoothed import Similarity, Terms, smoothed_contrastive_loss
from sgcl.mapped import is_sparse
from sgcl.methods.base import Method
from sgcl.smoothing import Identity, Smoothing, Taubin, edge_coverage
from sgcl.sparse import CSR, block_diagonal
from sgcl.views import Compose, DropEdges, MaskFeatures, View

Downstream = Literal["first", "mean", "concat", "features"]


class Pair(NamedTuple):
    """Two views and who counts as whose positive."""

    first: Graph
    second: Graph
    positives12: CSR   # (N, N) rows: nodes of the first view, columns: nodes of the second
    positives21: CSR   # (N, N)


class SGCL(Method):
    r"""Smoothed graph contrastive learning.

    Two views of the graph are encoded, H1 and H2; a smoothing turns the geometry of view 2 into the positives P12 and
    that of view 1 into P21; with C = (cos(H1, H2) + 1) / 2 the loss is half the sum over both directions of

    .. math:: ||P * (1 - C)||_F^2 + \lambda ||(1 - P) * C||_F^2

    exact over all N² pairs. Time O(E D + N F D + N D² + nnz(P) D), memory O(N D + E + nnz(P)) for a batch of N nodes.

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of the embedding and of the layers before it.
        num_layers: depth of the encoder.
        layer: its layer type, ``"gcn"``, ``"sage"``, ``"gat"`` or ``"gin"``.
        activation: after each layer, ``"prelu"``, ``"relu"``, ``"elu"`` or ``"none"``.
        norm: before the activation, ``"none"`` or ``"batch"``.
        dropout: inside the encoder, in training.
        shared: one set of weights for both views, else one for each.
        smoothing: who counts as a positive: a part of ``sgcl.smoothing``.
        view1, view2: how each view is made: parts of ``sgcl.views``.
        negative_weight: lambda; 1/(2N) for a batch of N nodes unless given (1/N for correlation).
        similarity: ``"cosine"``, or ``"correlation"`` as in the published code.
        terms: ``"both"``, or ``"positive"`` or ``"negative"`` alone, for ablation.
        embedding: the ``"first"`` encoder's output; with two sets of weights also the ``"mean"`` or ``"concat"`` of
            both; or ``"features"``, unit rows of the features and of that output side by side, F + D columns.

    Departures from the paper: one shared weight set by default (``shared=False`` is the published form); Taubin and
    diffusion drop small entries by default (``prune=0`` does not); batches are the trainer's, the whole graph unless a
    sampler is given.
    """

    def __init__(self, in_channels: int, *, hidden_channels: int = 512, num_layers: int = 2, layer: str = "gcn",
                 activation: str = "prelu", norm: str = "none", dropout: float = 0.0, shared: bool = True,
                 smoothing: Smoothing = Taubin(),  # noqa: B008 (frozen)
                 view1: View = Compose((DropEdges(0.5), MaskFeatures(0.5))),  # noqa: B008
                 view2: View = Compose((DropEdges(0.5), MaskFeatures(0.5))),  # noqa: B008
                 negative_weight: float | None = None, similarity: Similarity = "cosine", terms: Terms = "both",
                 embedding: Downstream = "first") -> None:
        super().__init__(view1, view2)
        check_contrast("SGCL", negative_weight, similarity, terms)
        if embedding not in get_args(Downstream):
            raise unknown_name("SGCL embedding", embedding, get_args(Downstream))
        self.encoders = nn.ModuleList(
            Encoder(in_channels, hidden_channels, num_layers=num_layers, layer=layer, activation=activation,
                    norm=norm, dropout=dropout) for _ in range(1 if shared else 2))
        self.smoothing, self.view1, self.view2 = smoothing, view1, view2
        self.negative_weight, self.similarity, self.terms = negative_weight, similarity, terms
        self.embedding, self.unites = embedding, similarity == "cosine"
        self.edge_coverage: float | None = None  # of the first batch: its edges among the positives

    def augment(self, graph: Graph, generator: torch.Generator) -> Pair:
        first, second = self.view1(graph, generator), self.view2(graph, generator)
        pair = Pair(first, second, self.smoothing(second.adj), self.smoothing(first.adj))
        if self.edge_coverage is None:
            if self.embedding == "features" and one_column_each(graph.x):
                raise InputError("SGCL: learned features have a column for each node, and nothing to put beside the "
                                 "encoder's output: take embedding='first'")
            self.edge_coverage = warn_if_thin(self.smoothing, pair.positives12, pair.second.adj)
        return pair

    def loss(self, views: Pair) -> Tensor:
        return smoothed_contrastive_loss(*self._encoded(views), views.positives12, views.positives21, terms=self.terms,
                                         negative_weight=self.negative_weight, similarity=self.similarity)

    def union_loss(self, batches: Iterable[Pair], total: Callable[[Tensor], Tensor]) -> Tensor:
        first = self.encoders[0]
        assert isinstance(first, Encoder)
        none = torch.empty(0, first.out_channels, device=next(first.parameters()).device)
        h1, h2, positives12, positives21 = [none], [none], [], []
        for views in batches:
            for parts, part in zip((h1, h2), self._encoded(views), strict=True):
                parts.append(part)
            positives12.append(views.positives12)
            positives21.append(views.positives21)
        joined = (block_diagonal(parts, none.device) for parts in (positives12, positives21))
        return smoothed_contrastive_loss(torch.cat(h1), torch.cat(h2), *joined, terms=self.terms, total=total,
                                         negative_weight=self.negative_weight)

    def embed(self, graph: Graph) -> Tensor:
        if self.embedding == "first":
            h: Tensor = self.encoders[0](graph.x, graph.adj)               # (N, D)
            return h
        if self.embedding == "features":
            return combined([graph.x, self.encoders[0](graph.x, graph.adj)], _side_by_side, self.training)
        both = [encoder(graph.x, graph.adj) for encoder in self.encoders]
        return combined(both, _concat if self.embedding == "concat" else _mean, self.training)

    def _encoded(self, views: Pair) -> tuple[Tensor, Tensor]:
        """(N, D) of either view."""
        return (self.encoders[0](views.first.x, views.first.adj), self.encoders[-1](views.second.x, views.second.adj))


def _concat(parts: list[Any]) -> Tensor:
    return torch.cat(parts, dim=1)


def _mean(parts: list[Any]) -> Tensor:
    return torch.stack(parts).mean(0)


def _side_by_side(parts: list[Any]) -> Tensor:
    """(N, F + D) unit rows of each."""
    return _concat([F.normalize(part.to_dense() if is_sparse(part) else part) for part in parts])


def check_contrast(owner: str, negative_weight: float | None, similarity: str, terms: str) -> None:
    """Raise on settings of the smoothed loss that make no sense."""
    if negative_weight is not None and not 0 < negative_weight < math.inf:
        raise InputError(f"{owner}: negative_weight is {negative_weight}, expected a finite number above 0")
    for name, word, known in (("similarity", similarity, Similarity), ("terms", terms, Terms)):
        if word not in get_args(known):
            raise unknown_name(f"{owner} {name}", word, get_args(known))


def warn_if_thin(smoothing: Smoothing, positives: CSR, adj: CSR) -> float:
    """The share of the edges among the positives. Says when a smoothing leaves most of them out: it then does little.
    The identity is meant to."""
    share = edge_coverage(positives, adj)
    if share < 0.5 and not isinstance(smoothing, Identity):
        more = "a smaller prune" if smoothing.top is None else "a larger top"
        warnings.warn(f"{smoothing} keeps {share:.0%} of a view's edges as positives; {more} keeps more", stacklevel=3)
    return share
