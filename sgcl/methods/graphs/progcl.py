"""ProGCL on collections of graphs: GraphCL whose negatives count by how likely they are true ones.

Xia et al., *ProGCL: Rethinking Hard Negative Mining in Graph Contrastive Learning*.
"""

from __future__ import annotations

import warnings
from itertools import islice
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from sgcl.encoders import GraphEncoder
from sgcl.encoders.graph_encoder import Jump, Norm
from sgcl.encoders.readout import Readout
from sgcl.graph import Graph
from sgcl.losses.graph_nce import graph_nce
from sgcl.losses.infonce import check_temperature, unit_rows
from sgcl.methods.base import Level, Method
from sgcl.methods.beta_mixture import BetaMixture
from sgcl.methods.graphs.graphcl import batches_of, make_views, projection
from sgcl.methods.progcl import Scheme, check_negatives, pair_weights
from sgcl.samplers import WholeGraphs
from sgcl.views import Compose, DropNodes, Subgraph, View

_BATCHES = 16   # whose cosines the mixture is fitted to
_APART = 0.05   # by how much the means of its two kinds have to differ


class Views(NamedTuple):
    """Two views, and who is mixed with whom."""

    first: Graph
    second: Graph
    order: Tensor   # (M,) a permutation


class ProGCLGraphs(Method):
    r"""ProGCL-weight and ProGCL-mix of whole graphs.

    Until ``start_epoch`` all negatives count alike. Then, once, a mixture of two beta distributions is fitted to
    (s + 1) / 2 for the cosines s between graphs u_i of view 1 and other graphs v_k of view 2 in up to 16 batches. Its
    lower kind are the true negatives, and from there on the pair weighs w_ik = P(lower | x) x with
    x = (<u_i, v_k> + 1) / 2. With ``"weight"``, the loss is the mean, over the graphs i of a batch, of

    .. math::
        -\log \frac{e^{<u_i, v_i> / \tau}}{e^{<u_i, v_i> / \tau} +
        \sum_{k \ne i} \frac{w_{ik}}{\bar w_i} e^{<u_i, v_k> / \tau}}

    With ``"mix"``, all negatives weigh 1 and there is a further term e^(s' / tau) for each of the ``mixed`` heaviest
    v_k, where s' is the mean, by weight, of its cosine and that of another of them.

    Graphs exchange no messages, so their cosines may be of one kind: where the means of the two differ by less than
    0.05, a warning says so and all negatives go on counting alike. A graph's embedding is the readout of its nodes,
    before the projection. Time O(E D + N D² + G² L D), memory O(L N D + E + G²) for a batch of G graphs with N nodes
    together.

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of each layer.
        num_layers: L, depth of the encoder.
        layer: its layer type, ``"gin"``, ``"gcn"``, ``"sage"`` or ``"gat"``.
        activation: of each layer, ``"relu"``, ``"prelu"``, ``"elu"`` or ``"none"``.
        norm: batch norm ``"after"`` the activation, ``"before"`` it, or ``"none"``.
        dropout: after each layer, in training.
        readout: of a graph's nodes, ``"sum"``, ``"mean"`` or ``"max"``.
        jump: the readouts of all layers, ``"concat"``, or of the ``"last"`` alone.
        view1, view2: how each view is made: parts of ``sgcl.views``. The first is the graph itself unless given.
        one_part: each graph goes through one part of a view, drawn uniformly, else through all of them in turn.
        temperature: tau, at least 0.02.
        scheme: ``"weight"`` or ``"mix"``.
        start_epoch: the first epoch with weights.
        prior: the share of false negatives from which the fit of the mixture begins.
        mixed: further negatives for each graph, at most half as many as the batch has graphs.

    Departures from the paper: it is for nodes; this is its procedure on GraphCL, whose only negatives are those of the
    other view. Weights are those of each step's cosines, as graphs meet others in each batch. The lower kind is the one
    of the lower mean also where the fit leaves the two the other way round.
    """

    level: ClassVar[Level] = "graph"
    trained_with: ClassVar[dict[str, Any]] = {"sampler": WholeGraphs(), "epochs": 20, "lr": 0.01}

    def __init__(self, in_channels: int, *, hidden_channels: int = 32, num_layers: int = 3, layer: str = "gin",
                 activation: str = "relu", norm: Norm = "after", dropout: float = 0.0, readout: Readout = "sum",
                 jump: Jump = "concat", view1: View = Compose(),  # noqa: B008 (frozen)
                 view2: View = Compose((DropNodes(0.1), Subgraph(0.2))),  # noqa: B008
                 one_part: bool = True, temperature: float = 0.2, scheme: Scheme = "weight", start_epoch: int = 11,
                 prior: float = 0.05, mixed: int = 64) -> None:
        super().__init__()
        check_temperature("ProGCLGraphs", temperature)
        check_negatives("ProGCLGraphs", scheme, start_epoch, prior, mixed)
        self.encoder = GraphEncoder(in_channels, hidden_channels, num_layers=num_layers, layer=layer,
                                    activation=activation, norm=norm, dropout=dropout, readout=readout, jump=jump)
        self.head = projection(self.encoder.out_channels)
        self.view1, self.view2, self.one_part, self.temperature = view1, view2, one_part, temperature
        self.scheme, self.start_epoch, self.prior, self.mixed = scheme, start_epoch, prior, mixed
        self.mixture: Tensor
        self.register_buffer("mixture", torch.zeros(3, 2))  # alpha, beta, share; 0 until fitted

    def stage(self, epoch: int, epochs: int) -> int:
        return int(epoch >= self.start_epoch)

    def before_epoch(self, graph: Graph, epoch: int, epochs: int, generator: torch.Generator) -> None:
        if epoch != self.start_epoch:
            return
        batches = islice(batches_of(graph, generator), _BATCHES)
        x = (torch.cat([self._between(batch, generator) for batch in batches]) + 1) / 2
        fitted = BetaMixture.fit(x, prior=self.prior)
        if fitted.apart(x) >= _APART:
            self.mixture.copy_(torch.stack(fitted))
        else:
            warnings.warn("ProGCLGraphs: the cosines between graphs are of one kind, so all negatives count alike; a "
                          "later start_epoch may tell two", stacklevel=2)

    def augment(self, graph: Graph, generator: torch.Generator) -> Views:
        mixed = min(self.mixed, graph.num_graphs // 2) if self.scheme == "mix" else 0
        return Views(*make_views(graph, self.view1, self.view2, self.one_part, generator),
                     torch.randperm(mixed, generator=generator))

    def loss(self, views: Views) -> Tensor:
        z1, z2 = self._project(views.first), self._project(views.second)   # (G, L D)
        if not bool(self.mixture.any()):
            return graph_nce(z1, z2, temperature=self.temperature, positive_in=True)
        cosines = unit_rows(z1.detach()) @ unit_rows(z2.detach()).T        # (G, G)
        return graph_nce(z1, z2, temperature=self.temperature, positive_in=True,
                         weights=pair_weights(BetaMixture(*self.mixture.cpu().double()), cosines),
                         order=views.order if self.scheme == "mix" else None)

    def embed(self, graph: Graph) -> Tensor:
        embedding: Tensor = self.encoder(graph).graphs                     # (G, L D)
        return embedding

    def _project(self, graph: Graph) -> Tensor:
        z: Tensor = self.head(self.embed(graph))                           # (G, L D)
        return z

    def _between(self, batch: Graph, generator: torch.Generator) -> Tensor:
        """(G (G - 1),) the cosines of the graphs of view 1 with the others of view 2."""
        views = make_views(batch, self.view1, self.view2, self.one_part, generator)
        u, v = (unit_rows(self._project(view.to(self.mixture.device))) for view in views)  # (G, L D)
        return (u @ v.T)[~torch.eye(len(u), dtype=torch.bool, device=u.device)]
