"""GraphMAE2: features of masked nodes decoded from codes that are masked again, and codes that predict a teacher's.

Hou et al., *GraphMAE2: A Decoding-Enhanced Masked Self-Supervised Graph Learner*.
"""

from __future__ import annotations

import copy
import math
from typing import Any, Literal, NamedTuple, get_args

import torch
from torch import Tensor, nn

from sgcl.encoders import DenseLayer, GATLayer, dropout
from sgcl.encoders.encoder import ACTIVATIONS
from sgcl.encoders.prelu import PReLU
from sgcl.errors import InputError, check_rate, unknown_name
from sgcl.graph import Features, Graph, scale_rows
from sgcl.methods.base import Method
from sgcl.methods.moving_average import follow
from sgcl.methods.recompute import recomputed
from sgcl.sparse import CSR, SparseFeatures, spmm
from sgcl.views import Compose, View

Remask = Literal["fixed", "random"]
Norm = Literal["none", "layer"]


class Masked(NamedTuple):
    """What the student, the teacher and the decoder see, and which nodes are masked."""

    student: Graph
    teacher: Graph
    whole: Graph
    masked: Tensor     # (N,) bool: features hidden from the student
    remasked: Tensor   # (K, N) bool: codes hidden from the decoder, in each decoding


class GraphMAE2(Method):
    r"""Masked graph autoencoder with several decodings and a latent target.

    A share of the nodes, M, has its features replaced by a learned token. The student's codes H of what is left are
    masked in turn and decoded to features, K times; without masks, a teacher makes H' of all features. With projectors
    p, p' and a predictor q the loss is

    .. math::
        \sum_{k=1}^K \frac{1}{|M|} \sum_{i \in M} (1 - \cos(x_i, \hat x^{(k)}_i))^\gamma
        + \frac{\lambda}{N} \sum_i (1 - \cos(q(p(h_i)), p'(h'_i))).

    The teacher gets no gradient; after each step it moves towards the student, phi <- m phi + (1 - m) theta. The
    encoder is a GAT, the decoder one GAT layer of one head. Time O((2 L + K) (E D + N D²) + K N F D) a step, memory
    O(L N D + N F + heads E): in a large graph, what is inside a layer or a decoding is made again in the backward.

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of every layer, all heads together.
        num_layers: L, depth of the encoder.
        heads: attention heads of each of its layers, a divisor of ``hidden_channels``.
        activation: after each layer, ``"prelu"``, ``"relu"``, ``"elu"`` or ``"none"``.
        norm: before the activation, ``"none"`` or ``"layer"``.
        residual: add its input to each layer's output; to the first layer's, through a matrix.
        dropout: before each layer, in training.
        attention_dropout: of the attention weights, in training.
        view1, view2: how the graphs of student and teacher are made: parts of ``sgcl.views``.
        mask_rate: the share of nodes that are masked.
        remask: ``"random"``, several decodings, each without a random share of the codes, or ``"fixed"``, one
            without the codes of the masked nodes.
        decodings: K, for random masks.
        remask_rate: the share of the codes that random masks hide, behind a token.
        gamma: the exponent that plays down nodes decoded well, at least 1.
        latent_weight: lambda.
        momentum: m, how much of the teacher stays in a step.
        delay: the share of the training before the teacher moves.

    Departures from the paper: tokens begin at zero for every graph, and dropout leaves them alone, so that sparse
    features stay sparse; the teacher moves after the optimiser's step, not before it; residuals are added wherever
    they are asked for (the published code leaves them out where the width stays). As published, the teacher drops out
    too. Sampled batches are sub-graphs all of whose nodes are latent targets, not only the roots they grew from.
    Without a recipe, the learning rate stays as it is, where the paper lets it fall by a cosine.
    """

    def __init__(self, in_channels: int, *, hidden_channels: int = 1024, num_layers: int = 2, heads: int = 8,
                 activation: str = "prelu", norm: Norm = "none", residual: bool = False, dropout: float = 0.2,
                 attention_dropout: float = 0.1, view1: View = Compose(), view2: View = Compose(),  # noqa: B008
                 mask_rate: float = 0.5, remask: Remask = "random", decodings: int = 3, remask_rate: float = 0.5,
                 gamma: float = 2.0, latent_weight: float = 1.0, momentum: float = 0.996, delay: float = 0.0) -> None:
        super().__init__(view1, view2)
        for name, word, known in (("norm", norm, get_args(Norm)), ("remask", remask, get_args(Remask)),
                                  ("activation", activation, ACTIVATIONS)):
            if word not in known:
                raise unknown_name(f"GraphMAE2 {name}", word, known)
        for name, rate in (("dropout", dropout), ("attention_dropout", attention_dropout), ("mask_rate", mask_rate),
                           ("remask_rate", remask_rate), ("momentum", momentum), ("delay", delay)):
            check_rate("GraphMAE2", name, rate)
        for name, count in (("hidden_channels", hidden_channels), ("num_layers", num_layers), ("decodings", decodings)):
            if count < 1:
                raise InputError(f"GraphMAE2: {name} is {count}, expected at least 1")
        if mask_rate == 0:
            raise InputError("GraphMAE2: mask_rate is 0, expected a share above 0: what is masked is what is learnt")
        if not 1 <= gamma < math.inf:
            raise InputError(f"GraphMAE2: gamma is {gamma}, expected a finite number of at least 1")
        if not 0 <= latent_weight < math.inf:
            raise InputError(f"GraphMAE2: latent_weight is {latent_weight}, expected a finite number of at least 0")
        if heads < 1 or hidden_channels % heads:
            raise InputError(f"GraphMAE2: heads is {heads}, expected a divisor of hidden_channels, {hidden_channels}")
        self.encoder = _GAT(in_channels, hidden_channels, num_layers, heads, activation, norm, residual, dropout,
                            attention_dropout)
        self.token = nn.Parameter(torch.zeros(1, in_channels))
        self.bridge = nn.Linear(hidden_channels, hidden_channels, bias=False)
        self.decoder = GATLayer(hidden_channels, in_channels, dropout=attention_dropout)
        _draw(self.decoder)
        self.code_token = nn.Parameter(torch.zeros(1, hidden_channels)) if remask == "random" else None
        self.projector = nn.Sequential(nn.Linear(hidden_channels, 256), PReLU(), nn.Linear(256, hidden_channels))
        self.predictor = nn.Sequential(PReLU(), nn.Linear(hidden_channels, hidden_channels))
        self.teacher = copy.deepcopy(nn.ModuleList([self.encoder, self.projector])).requires_grad_(False)
        self.dropout, self.view1, self.view2 = dropout, view1, view2
        self.mask_rate, self.remask_rate, self.decodings = mask_rate, remask_rate, decodings
        self.gamma, self.latent_weight, self.momentum, self.delay = gamma, latent_weight, momentum, delay

    def augment(self, graph: Graph, generator: torch.Generator) -> Masked:
        masked = _some(graph, max(1, int(self.mask_rate * graph.num_nodes)), generator)
        if self.code_token is None:
            remasked = masked[None]
        else:
            remasked = torch.stack([_some(graph, int(self.remask_rate * graph.num_nodes), generator)
                                    for _ in range(self.decodings)])
        return Masked(self.view1(graph, generator), self.view2(graph, generator), graph, masked, remasked)

    def loss(self, views: Masked) -> Tensor:
        seen = scale_rows(views.student.x, (~views.masked).to(views.student.x.dtype))
        h = self.encoder(seen, views.student.adj, views.masked, self.token)                             # (N, D)
        with torch.no_grad():
            encoder, projector = self.teacher
            target = projector(encoder(views.teacher.x, views.teacher.adj))
        hidden = views.masked.nonzero().view(-1)
        x = views.whole.x[hidden]                                          # (|M|, F)
        x = x.to_dense() if isinstance(x, SparseFeatures) else x
        near = views.whole.adj.take_rows(hidden)                           # (|M|, N)
        codes = self._codes(h, views.masked)                               # (N, D)
        loss: Tensor = self.latent_weight * recomputed(self._latent_error, h, target, entries=h.numel())
        for remasked in views.remasked:
            loss = loss + recomputed(self._decoding_error, codes, remasked, near, hidden, x,
                                     entries=max(h.numel(), x.numel()))
        return loss

    def embed(self, graph: Graph) -> Tensor:
        h: Tensor = self.encoder(graph.x, graph.adj)                       # (N, D)
        return h

    def after_step(self, progress: float) -> None:
        if progress >= self.delay:
            follow(self.teacher, nn.ModuleList([self.encoder, self.projector]), 1 - self.momentum)

    def _codes(self, h: Tensor, masked: Tensor) -> Tensor:
        """(N, D) what is decoded; where the codes of the masked nodes are never seen, zeros for those."""
        if self.code_token is not None:
            codes: Tensor = self.bridge(h)
            return codes
        shown = (~masked).nonzero().view(-1)
        return torch.zeros_like(h).index_copy(0, shown, self.bridge(h[shown]))

    def _latent_error(self, h: Tensor, target: Tensor) -> Tensor:
        return _cosine_error(self.predictor(self.projector(h)), target, 1.0)

    def _decoding_error(self, codes: Tensor, remasked: Tensor, near: CSR, hidden: Tensor, x: Tensor) -> Tensor:
        """How badly the (|M|, F) features of the hidden nodes are decoded from the codes that are not masked, which
        their (|M|, N) neighbourhoods hold."""
        seen = codes
        if self.code_token is not None:
            seen = codes.masked_fill(remasked[:, None], 0.0) + remasked[:, None] * self.code_token
        seen = dropout(seen, self.dropout, self.training)
        weight, own = self.decoder.attention(near, seen @ self.decoder.scoring(), hidden)
        summed = spmm(near, seen, weight[:, 0]) + own * seen[hidden]       # (|M|, D)
        return _cosine_error(torch.addmm(self.decoder.bias, summed, self.decoder.weight), x, self.gamma)


class _GAT(nn.Module):
    """h = act(norm(GAT(dropout(h)) + residual)), layer after layer."""

    def __init__(self, in_channels: int, width: int, num_layers: int, heads: int, activation: str, norm: str,
                 residual: bool, dropout: float, attention_dropout: float) -> None:
        super().__init__()
        widths = [in_channels, *[width] * (num_layers - 1)]
        layers = [GATLayer(a, width, heads, attention_dropout) for a in widths]
        _draw(*layers)
        self.layers = nn.ModuleList(layers)
        self.shortcuts = nn.ModuleList(nn.Identity() if number else DenseLayer(in_channels, width, bias=False)
                                       for number in range(num_layers if residual else 0))
        self.norms = nn.ModuleList(nn.LayerNorm(width) if norm == "layer" else nn.Identity() for _ in widths)
        self.activations = nn.ModuleList(ACTIVATIONS[activation]() for _ in widths)
        self.width, self.dropout = width, dropout

    def forward(self, x: Features, adj: CSR, masked: Tensor | None = None, token: Tensor | None = None) -> Tensor:
        """(N, F) features give (N, D); where ``masked``, the (1, F) token stands in for them."""
        h: Any = x
        for number in range(len(self.layers)):
            h = recomputed(self._layer, number, h, adj, masked, token, entries=len(adj.ptr) * self.width)
        return h  # type: ignore[no-any-return]

    def _layer(self, number: int, x: Features, adj: CSR, masked: Tensor | None, token: Tensor | None) -> Tensor:
        h: Any = dropout(x, self.dropout, self.training)
        if number == 0 and masked is not None and token is not None:
            h = _WithToken(h, masked, token)
        out = self.layers[number](h, adj)
        if len(self.shortcuts):
            out = out + self.shortcuts[number](h)
        shaped: Tensor = self.activations[number](self.norms[number](out))
        return shaped


class _WithToken(NamedTuple):
    """Features that are zero in the masked rows, plus a token there, as a left factor: never written out."""

    x: Features
    masked: Tensor   # (N,)
    token: Tensor    # (1, F)

    def __matmul__(self, weight: Tensor) -> Tensor:
        return self.x @ weight + self.masked[:, None] * (self.token @ weight)


def _draw(*layers: GATLayer) -> None:
    """Weights as the published code begins: normal, by Xavier's rule with a gain of 2^1/2, where an attention vector
    counts as a map of all heads to one."""
    for layer in layers:
        nn.init.xavier_normal_(layer.weight, 2**0.5)
        for vector in (layer.target, layer.source):
            nn.init.normal_(vector, std=2 * ((layer.heads + 1) * layer.width) ** -0.5)


def _some(graph: Graph, count: int, generator: torch.Generator) -> Tensor:
    """(N,) true for so many of the nodes, drawn at random."""
    chosen = torch.zeros(graph.num_nodes, dtype=torch.bool)
    chosen[torch.randperm(graph.num_nodes, generator=generator)[:count]] = True
    return chosen.to(graph.device)


def _cosine_error(a: Tensor, b: Tensor, gamma: float) -> Tensor:
    """The mean of (1 - cos)^gamma; F.cosine_similarity would copy both, scaled to length 1."""
    cosine: Tensor = torch.linalg.vecdot(a, b) / (a.norm(dim=1).clamp(min=1e-8) * b.norm(dim=1).clamp(min=1e-8))
    return (1 - cosine).clamp(min=0).pow(gamma).mean()
