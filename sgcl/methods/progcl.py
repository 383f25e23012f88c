"""ProGCL: GRACE whose negatives count by how likely they are true ones, as a mixture of two kinds of cosines tells.

Xia et al., *ProGCL: Rethinking Hard Negative Mining in Graph Contrastive Learning*.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from sgcl.encoders import Encoder, Projector
from sgcl.errors import InputError, unknown_name
from sgcl.graph import Graph
from sgcl.losses.infonce import Weights, check_temperature, info_nce, unit_rows
from sgcl.losses.mixed_infonce import Heaviest, heaviest, mixed_info_nce
from sgcl.methods.base import Method
from sgcl.methods.beta_mixture import BetaMixture
from sgcl.views import Compose, DropEdges, MaskFeatures, View

Scheme = Literal["weight", "mix"]

_COLUMNS = 100   # cosines of each node that the mixture is fitted to


class Views(NamedTuple):
    """Two views, and who is mixed with whom."""

    first: Graph
    second: Graph
    order: Tensor   # (M,) a permutation


class ProGCL(Method):
    r"""ProGCL-weight and ProGCL-mix.

    Until ``start_epoch`` the loss is GRACE's. Then, once, a mixture of two beta distributions is fitted to (s + 1) / 2
    for the cosines s of all nodes of view 1 with 100 of view 2. Its lower kind are the true negatives, and from there
    on the pair (u_i, v_k) weighs w_ik = P(lower | x) x with x = (<u_i, v_k> + 1) / 2. With ``"weight"``, the loss is
    the mean, over the nodes i and both directions, of

    .. math::
        -\log \frac{e^{<u_i, v_i> / \tau}}{e^{<u_i, v_i> / \tau} +
        \sum_{k \ne i} \frac{w_{ik}}{\bar w_i} (e^{<u_i, v_k> / \tau} + e^{<u_i, u_k> / \tau})}

    With ``"mix"``, GRACE's denominator stays and gets a term e^(s' / tau) for each of the ``mixed`` heaviest v_k,
    where s' is the mean, by weight, of its cosine and that of another of them.

    Both are exact over all pairs. Time O(E D + N F D + N² D), memory O(N D + E) for a batch of N nodes: exponentials
    and weights are streamed and never held for all pairs. With ``"mix"`` there are O(N M D) and O(N M) more for M mixed
    negatives; where the weights are frozen and the batch is the whole graph, the heaviest are found once.

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
        scheme: ``"weight"`` or ``"mix"``.
        start_epoch: the first epoch with weights; unless given, the one after a fifth of them.
        prior: the share of false negatives from which the fit of the mixture begins.
        frozen: weigh the cosines of ``start_epoch`` to the end, as the published code does, else those of each step.
        mixed: further negatives for each node, at most as many as it has.

    Departures from the paper: edges and features are dropped at one rate and not by centrality, an edge in both
    directions at once. As an anchor, v_i weighs u_k by w_ki, the weight of that pair; the published code takes w_ik.
    The lower kind is the one of the lower mean also where the fit leaves the two the other way round. In sampled
    batches the negatives are those of the batch. ``"rrelu"`` has its mean slope, as in the published code. Without a
    recipe, training has this library's 200 epochs, not 1,000 to 2,500 with weights from the 400th on.
    """

    def __init__(self, in_channels: int, *, hidden_channels: int = 128, projection_channels: int | None = None,
                 num_layers: int = 2, layer: str = "gcn", activation: str = "rrelu", dropout: float = 0.0,
                 view1: View = Compose((DropEdges(0.6), MaskFeatures(0.2))),  # noqa: B008 (frozen)
                 view2: View = Compose((DropEdges(0.3), MaskFeatures(0.3))),  # noqa: B008
                 temperature: float = 0.2, scheme: Scheme = "weight", start_epoch: int | None = None,
                 prior: float = 0.05, frozen: bool = True, mixed: int = 1000) -> None:
        super().__init__(view1, view2)
        check_temperature("ProGCL", temperature)
        check_negatives("ProGCL", scheme, start_epoch, prior, mixed)
        self.encoder = Encoder(in_channels, 2 * hidden_channels, hidden_channels, num_layers=num_layers, layer=layer,
                               activation=activation, dropout=dropout)
        self.projector = Projector(hidden_channels, projection_channels)
        self.view1, self.view2, self.temperature, self.scheme = view1, view2, temperature, scheme
        self.start_epoch, self.prior, self.frozen, self.mixed = start_epoch, prior, frozen, mixed
        self.mixture: Tensor
        self.past: Tensor
        self.register_buffer("mixture", torch.zeros(3, 2))  # alpha, beta, share; 0 until fitted
        self._ranked: Heaviest | None = None                # of the whole graph, once weights are frozen

    def start(self, graph: Graph) -> None:
        self._ranked = None
        if self.frozen:
            past = torch.zeros(2, graph.num_nodes, self.encoder.out_channels)
            self.register_buffer("past", past, persistent=False)

    def stage(self, epoch: int, epochs: int) -> int:
        return int(epoch >= self._start(epochs))

    def before_epoch(self, graph: Graph, epoch: int, epochs: int, generator: torch.Generator) -> None:
        start = self._start(epochs)
        if epoch == 1 and start > epochs > 0:
            raise InputError(f"ProGCL: its weights begin in epoch {start} of {epochs}, and until then it is GRACE: "
                             "take an earlier start_epoch or more epochs")
        if epoch != start:
            return
        views = self.view1(graph, generator), self.view2(graph, generator)
        u, v = (unit_rows(self._project(view.to(self.mixture.device))) for view in views)  # (N, D)
        columns = torch.randint(graph.num_nodes, (_COLUMNS,), generator=generator).to(v.device)
        cosines = (u @ v[columns].T).view(-1)                              # (100 N,)
        self.mixture.copy_(torch.stack(BetaMixture.fit((cosines + 1) / 2, prior=self.prior)))
        if self.frozen:
            self.past.copy_(torch.stack([u, v]))
            self._ranked = None

    def augment(self, graph: Graph, generator: torch.Generator) -> Views:
        mixed = min(self.mixed, graph.num_nodes - 1) if self.scheme == "mix" else 0
        return Views(self.view1(graph, generator), self.view2(graph, generator),
                     torch.randperm(mixed, generator=generator))

    def loss(self, views: Views) -> Tensor:
        z1, z2 = self._project(views.first), self._project(views.second)   # (N, D)
        weights = self._weights(z1, z2, views.first.n_id) if bool(self.mixture.any()) else None
        if weights is None or self.scheme == "weight":
            return info_nce(z1, z2, weights=weights, temperature=self.temperature)
        pairs = self._pairs(weights, len(z1), len(views.order), views.first.n_id is None)
        return mixed_info_nce(z1, z2, pairs=pairs, order=views.order, temperature=self.temperature)

    def embed(self, graph: Graph) -> Tensor:
        h: Tensor = self.encoder(graph.x, graph.adj)                       # (N, D)
        return h

    def _start(self, epochs: int) -> int:
        """The first epoch with weights."""
        return epochs // 5 + 1 if self.start_epoch is None else self.start_epoch

    def _project(self, graph: Graph) -> Tensor:
        z: Tensor = self.projector(self.embed(graph))                      # (N, D)
        return z

    def _weights(self, z1: Tensor, z2: Tensor, nodes: Tensor | None) -> Weights:
        """w of the pairs of any rows with any others."""
        mixture = BetaMixture(*self.mixture.cpu().double())
        if self.frozen:
            u, v = self.past if nodes is None else self.past[:, nodes]     # (N, D)
        else:
            u, v = unit_rows(z1.detach()), unit_rows(z2.detach())

        def weights(rows: slice, columns: slice) -> Tensor:
            return pair_weights(mixture, u[rows] @ v[columns].T)           # (n, m)

        return weights

    def _pairs(self, weights: Weights, num_nodes: int, count: int, whole: bool) -> Heaviest:
        """The heaviest of each node; those of frozen weights of the whole graph are ranked once."""
        if not (whole and self.frozen):
            return heaviest(weights, num_nodes, count)
        if self._ranked is None:
            self._ranked = heaviest(weights, num_nodes, count)
        return self._ranked


def check_negatives(owner: str, scheme: str, start_epoch: int | None, prior: float, mixed: int) -> None:
    """Raise on settings of weighed or mixed negatives that make no sense."""
    if scheme not in get_args(Scheme):
        raise unknown_name(f"{owner} scheme", scheme, get_args(Scheme))
    for name, count in (("start_epoch", start_epoch), ("mixed", mixed)):
        if count is not None and count < 1:
            raise InputError(f"{owner}: {name} is {count}, expected at least 1")
    if not 0 < prior < 1:
        raise InputError(f"{owner}: prior is {prior}, expected a share between 0 and 1")


def pair_weights(mixture: BetaMixture, cosines: Tensor) -> Tensor:
    """w = P(lower | x) x with x = (s + 1) / 2, for cosines s of any shape."""
    x = (cosines + 1).div_(2)
    return mixture.lower(x).mul_(x)
