"""GREET: edges told apart into like and unlike ends; a smoothing encoder on the first, a sharpening one on the second.

Liu et al., *Beyond Smoothing: Unsupervised Graph Representation Learning with Edge Heterophily Discriminating*.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from sgcl.encoders import DenseLayer, dropout
from sgcl.errors import InputError, check_rate
from sgcl.graph import Features, Graph, scale_rows
from sgcl.losses.infonce import check_temperature, unit_rows
from sgcl.losses.logsumexp import both_logsumexps
from sgcl.methods.base import Method
from sgcl.smoothing.rows import block_size
from sgcl.sparse import CSR, SparseFeatures, sddmm, spmm
from sgcl.views import Compose, MaskFeatures, View

_CODES = 16        # lengths of the walks whose returns describe a node
_EXACT = 1 << 14   # nodes up to which returns are exact
_PROBES = 512      # random vectors that estimate them beyond
_BLOCK = 1 << 22   # entries of a dense (N, block) array
_CLIP = 1e-4       # the chance behind the noise of an edge stays so far from 0 and 1


class Edges(NamedTuple):
    """A graph, the features of its two views, and what a step draws and knows of its nodes and edges."""

    graph: Graph
    first: Graph
    second: Graph
    codes: Tensor      # (N, 16) how often walks come back to a node
    noise: Tensor      # (nnz,) logistic, one for both directions of an edge
    positives: CSR     # (N, N) each node and those with the most similar features
    others: CSR        # (N, N) random pairs of nodes
    picked: Tensor     # (nnz,) which of them is compared with each edge


class GREET(Method):
    r"""Graph representation learning with edge heterophily discriminating.

    A discriminator turns features and structural codes of an edge's ends into a weight w in (0, 1), sigmoid of its
    score plus logistic noise: a relaxed draw of "the ends are alike". With S(W) = D^-1/2 (W + I) D^-1/2 a low-pass
    encoder applies S(A * w) to ReLU(X W + b), ``num_layers`` times, and a high-pass encoder
    I - alpha offdiag S(A * (1 - w)). Their projections U and V, on rows of length 1, are contrasted: with the positives
    P_i, node i and its k nearest by cosine of the features, and s = <u_i, v_j> / tau, the loss of the encoders is the
    mean over both directions and all i of

    .. math:: \log \sum_{j \notin P_i} e^{s_{ij}} - \frac{1}{|P_i|} \sum_{j \in P_i} s_{ij}.

    The discriminator learns in turn: c are cosines of the concatenated embeddings, e runs over the edges, r over random
    pairs, and its loss is half of

    .. math::
        \mathrm{mean}_e (w_e - .5)_+ (c_r - c_e + m_1)_+ + \mathrm{mean}_e (.5 - w_e)_+ (c_e - c_r + m_2)_+.

    It has every (R + 1)-th epoch to itself; the encoders have the R before. The embedding concatenates both encoders'
    outputs, (N, 2D).

    Time O(E D + N F D + N² D) a step, memory O(N D + E + k N): pairs are walked through in blocks, made again in the
    backward. Once, before the training, nearest neighbours in O(N² F), a block at a time, and how often walks of 1 to
    16 steps come back, the structural codes, in O(N E); beyond 16,384 nodes estimated with 512 random vectors, O(E).

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of each of the two embeddings, of the projections and of the discriminator.
        num_layers: how often each encoder propagates.
        projector_layers: of each projection, 1 or 2.
        alpha: how much the high-pass encoder takes away.
        neighbors: k, how many nodes of similar features count as positives.
        temperature: tau, at least 0.02.
        view1, view2: how the features of the low-pass and the high-pass encoder are made: parts of ``sgcl.views``.
        edge_dropout1, edge_dropout2: of the weights that the low-pass and the high-pass encoder propagate with.
        margin1, margin2: by which an edge shall be more alike than a random pair, or less.
        encoder_steps: R, the epochs that encoders have before each of the discriminator's.
        discriminator_lr: the discriminator's learning rate; that of the encoders unless given.

    Departures from the paper: both directions of an edge have one noise, so that w is symmetric; embeddings are made
    without noise, w = sigmoid(score), and are so a function of the graph (the published code draws there too, and for
    each direction anew); beyond 16,384 nodes, of their order too, by the noise of the codes. Features are hidden with a
    probability for each column, not an exact share of them. Nodes without a feature in common are no neighbours. The
    last epoch's weights are kept, where the published code chooses an epoch by validation labels. An anchor all of
    whose candidates are positives is left out. In sampled batches codes and neighbours are those of the whole graph. As
    published, dropout of edges takes loops too. Negatives are all nodes, where the published code takes random groups
    of 5,000 on large graphs. Without a recipe, training has this library's 200 epochs, of which ``encoder_steps`` and
    one make a round, not 400 rounds.
    """

    def __init__(self, in_channels: int, *, hidden_channels: int = 128, num_layers: int = 2, projector_layers: int = 1,
                 alpha: float = 0.1, neighbors: int = 20, temperature: float = 0.2,
                 view1: View = Compose((MaskFeatures(0.1),)),  # noqa: B008 (frozen)
                 view2: View = Compose((MaskFeatures(0.5),)),  # noqa: B008
                 edge_dropout1: float = 0.5, edge_dropout2: float = 0.1, margin1: float = 0.5, margin2: float = 0.5,
                 encoder_steps: int = 2, discriminator_lr: float | None = None) -> None:
        super().__init__(view1, view2)
        for name, least, count in (("hidden_channels", 1, hidden_channels), ("num_layers", 1, num_layers),
                                   ("neighbors", 0, neighbors), ("encoder_steps", 1, encoder_steps)):
            if count < least:
                raise InputError(f"GREET: {name} is {count}, expected at least {least}")
        if projector_layers not in (1, 2):
            raise InputError(f"GREET: projector_layers is {projector_layers}, expected 1 or 2")
        for name, value in (("alpha", alpha), ("margin1", margin1), ("margin2", margin2)):
            if not 0 <= value < math.inf:
                raise InputError(f"GREET: {name} is {value}, expected a finite number of at least 0")
        if discriminator_lr is not None and not 0 < discriminator_lr < math.inf:
            raise InputError(f"GREET: discriminator_lr is {discriminator_lr}, expected a finite number above 0")
        check_rate("GREET", "edge_dropout1", edge_dropout1)
        check_rate("GREET", "edge_dropout2", edge_dropout2)
        check_temperature("GREET", temperature)
        self.low, self.high = (DenseLayer(in_channels, hidden_channels) for _ in range(2))
        _draw(in_channels, self.low, self.high)
        self.low_projector, self.high_projector = (_projector(hidden_channels, projector_layers) for _ in range(2))
        self.discriminator = _Discriminator(in_channels, hidden_channels)
        self.num_layers, self.alpha, self.neighbors, self.temperature = num_layers, alpha, neighbors, temperature
        self.view1, self.view2 = view1, view2
        self.edge_dropout1, self.edge_dropout2 = edge_dropout1, edge_dropout2
        self.margin1, self.margin2 = margin1, margin2
        self.encoder_steps, self.discriminator_lr = encoder_steps, discriminator_lr
        self.register_buffer("discriminating", torch.tensor(False))
        self.discriminating: Tensor
        self._known: tuple[Tensor, CSR] | None = None

    def start(self, graph: Graph) -> None:
        self._known = walk_returns(graph.adj), nearest_features(graph.x, self.neighbors)

    def stage(self, epoch: int, epochs: int) -> int:
        return int(epoch % (self.encoder_steps + 1) == 0)

    def before_epoch(self, graph: Graph, epoch: int, epochs: int, generator: torch.Generator) -> None:
        self.discriminating.fill_(bool(self.stage(epoch, epochs)))

    def augment(self, graph: Graph, generator: torch.Generator) -> Edges:
        if graph.num_nodes < 2:
            raise InputError("GREET: a batch of one node has no pairs: draw larger batches")
        assert self._known is not None, "start(graph) comes first"
        codes, positives = self._known
        if graph.n_id is not None:
            codes, positives = codes[graph.n_id.cpu()], positives.submatrix(graph.n_id.cpu())
        first, second = self.view1(graph, generator), self.view2(graph, generator)
        for name, view in (("view1", first), ("view2", second)):
            if view.adj is not graph.adj:
                raise InputError(f"GREET: {name} changes edges, which are for the discriminator to weigh; "
                                 "use views of features, and edge_dropout1 or edge_dropout2")
        others, picked = _random_pairs(graph, generator)
        return Edges(graph, first, second, codes.to(graph.device), edge_noise(graph.adj, generator),
                     positives.to(graph.device), others, picked)

    def loss(self, views: Edges) -> Tensor:
        weight = self.discriminator(views.graph, views.codes, views.noise)                              # (nnz,)
        if self.discriminating:
            return self._ranking_loss(views, weight)
        low = self._low_pass(self.low(views.first.x).relu(), views.graph.adj, weight.detach(), self.edge_dropout1)
        high = self._high_pass(self.high(views.second.x).relu(), views.graph.adj, weight.detach(), self.edge_dropout2)
        u, v = unit_rows(self.low_projector(low)), unit_rows(self.high_projector(high))                 # (N, D)
        return many_positives_loss(u, v, views.positives, self.temperature)

    def embed(self, graph: Graph) -> Tensor:
        weight = self.discriminator(graph, walk_returns(graph.adj).to(graph.device))
        return self._embedded(graph, weight)

    def parameter_groups(self, lr: float, weight_decay: float) -> list[dict[str, Any]]:
        encoders = (self.low, self.high, self.low_projector, self.high_projector)
        return [{"params": [parameter for module in encoders for parameter in module.parameters()]},
                {"params": list(self.discriminator.parameters()),
                 "lr": lr if self.discriminator_lr is None else self.discriminator_lr}]

    def _ranking_loss(self, views: Edges, weight: Tensor) -> Tensor:
        """The discriminator's loss; encoders get no gradient from it, and nothing is hidden or dropped."""
        u = unit_rows(self._embedded(views.graph, weight))                 # (N, 2D)
        edge = sddmm(views.graph.adj, u, u)                                # (nnz,)
        other = sddmm(views.others, u, u)[views.picked]
        alike = (weight - 0.5).relu() * (other - edge + self.margin1).relu()
        unlike = (0.5 - weight).relu() * (edge - other + self.margin2).relu()
        return (alike.mean() + unlike.mean()) / 2 if len(edge) else 0 * weight.sum()

    def _embedded(self, graph: Graph, weight: Tensor) -> Tensor:
        """(N, 2D) of the whole features, with a gradient towards the (nnz,) weights of the edges alone."""
        low, high = (layer(graph.x).relu().detach() for layer in (self.low, self.high))
        return torch.cat([self._low_pass(low, graph.adj, weight), self._high_pass(high, graph.adj, weight)], dim=1)

    def _low_pass(self, h: Tensor, adj: CSR, weight: Tensor, rate: float = 0.0) -> Tensor:
        off, diag = _normalised(adj, weight)
        return self._propagated(h, adj, off, diag, rate)

    def _high_pass(self, h: Tensor, adj: CSR, weight: Tensor, rate: float = 0.0) -> Tensor:
        off, diag = _normalised(adj, 1 - weight)
        return self._propagated(h, adj, -self.alpha * off, torch.ones_like(diag), rate)

    def _propagated(self, h: Tensor, adj: CSR, off: Tensor, diag: Tensor, rate: float) -> Tensor:
        off, diag = (dropout(part, rate, self.training) for part in (off, diag))
        for _ in range(self.num_layers):
            h = spmm(adj, h, off) + diag[:, None] * h
        return h


class _Discriminator(nn.Module):
    """An edge's score q_i + q_j with q = ReLU([X; codes] W + b) v + c: a linear map of both ends, averaged over their
    two orders, is of this form."""

    def __init__(self, in_channels: int, width: int) -> None:
        super().__init__()
        self.features = DenseLayer(in_channels, width)
        self.codes = nn.Linear(_CODES, width, bias=False)
        self.score = nn.Linear(width, 1)
        _draw(in_channels + _CODES, self.features, self.codes)  # one layer in two parts
        _draw(4 * width, self.score)                            # as the mean of the two halves of one of 2 width inputs

    def forward(self, graph: Graph, codes: Tensor, noise: Tensor | None = None) -> Tensor:
        """(nnz,) how much the ends of each edge are taken to be alike, in (0, 1)."""
        q = self.score((self.features(graph.x) + self.codes(codes)).relu())[:, 0]                       # (N,)
        score = q[graph.adj.row] + q[graph.adj.idx]
        return torch.sigmoid(score if noise is None else score + noise)


def many_positives_loss(u: Tensor, v: Tensor, positives: CSR, temperature: float) -> Tensor:
    """The contrast of (N, D) rows of length 1, the mean of both directions; ``positives`` (N, N) are left out of its
    sums."""
    count = positives.ptr.diff()
    sums = both_logsumexps(u, v, temperature=temperature, without=positives)
    total = torch.zeros((), dtype=u.dtype, device=u.device)
    for own, other, everyone in ((u, v, sums[0]), (v, u, sums[1])):
        score = sddmm(positives, own, other) / temperature
        near = torch.zeros(len(u), dtype=u.dtype, device=u.device).index_add(0, positives.row, score)
        total = total + (everyone - near / count).masked_fill(count == len(v), 0.0).mean()
    return total / 2


def walk_returns(adj: CSR) -> Tensor:
    """(N, 16) the probability that a walk of k steps ends where it began, k = 1..16: the diagonals of (D^-1 A)^k.

    They are those of S^k, S = D^-1/2 A D^-1/2, and <S^a e_i, S^b e_i> with a + b = k. Over blocks of unit vectors e_i,
    or, in a large graph, of random signs z, where the mean of (S^a z)_i (S^b z)_i is an unbiased estimate, whose noise
    follows the numbers of the nodes. No walk of one step comes back.
    """
    num_nodes, degree = adj.shape[0], adj.row_sum()
    scale = torch.where(degree > 0, degree.clamp(min=1e-30).rsqrt(), 0.0)
    walk = adj.with_values(adj.values() * scale[adj.row] * scale[adj.idx], symmetric=True)
    exact, chance = num_nodes <= _EXACT, torch.Generator().manual_seed(0)
    codes = torch.zeros(num_nodes, _CODES, device=adj.device)
    for columns in torch.arange(num_nodes if exact else _PROBES).split(max(1, _block() // num_nodes)):
        if exact:
            power = torch.zeros(num_nodes, len(columns))
            power[columns, torch.arange(len(columns))] = 1.0
        else:
            power = torch.randint(2, (num_nodes, len(columns)), generator=chance) * 2.0 - 1
        power = power.to(adj.device)                                       # (N, block)
        for length in range(0, _CODES, 2):
            before, power = power, spmm(walk, power)
            for step, product in ((length, before * power), (length + 1, power.square())):
                if exact:
                    codes[columns, step] = product.sum(0)
                else:
                    codes[:, step] += product.sum(1) / _PROBES
    codes[:, 0] = 0.0
    return codes


def nearest_features(x: Features, count: int) -> CSR:
    """(N, N) ones: in row i node i itself and the ``count`` others with the largest cosine of features, above 0."""
    num_nodes, num_features = x.shape
    norm = (x.matrix.with_values((x.matrix.values() * (1.0 if x.scale is None else x.scale[x.matrix.idx])).square()
                                 ).row_sum() if isinstance(x, SparseFeatures) else x.square().sum(1)).sqrt()
    x = scale_rows(x, torch.where(norm > 0, 1 / norm, 0.0))
    count = min(count, num_nodes - 1)
    nearest = torch.empty(num_nodes, count, dtype=torch.long)              # filled in: parts kept one by one between
    cosine = torch.empty(num_nodes, count, dtype=x.dtype)                  # large passing arrays would scatter memory
    for nodes in torch.arange(num_nodes).split(max(1, _block() // max(num_nodes, num_features))):
        block = x[nodes]
        all_cosines = x @ (block.to_dense() if isinstance(block, SparseFeatures) else block).T         # (N, block)
        all_cosines[nodes, torch.arange(len(nodes))] = -1.0
        best = all_cosines.T.topk(count, dim=1)
        cosine[nodes], nearest[nodes] = best.values, best.indices
    everyone, near = torch.arange(num_nodes), cosine > 0
    return CSR.from_coo(torch.cat([everyone, everyone[:, None].expand_as(near)[near]]),
                        torch.cat([everyone, nearest[near]]), shape=(num_nodes, num_nodes))


def _block() -> int:
    """Entries in a block; fewer where those of sparse products are."""
    return min(_BLOCK, 2 * block_size())


def _draw(width: int, *layers: nn.Module) -> None:
    """Parameters uniform in ±width^-1/2: those of linear layers of so many inputs, as the published code begins."""
    for layer in layers:
        for parameter in layer.parameters():
            nn.init.uniform_(parameter, -(width**-0.5), width**-0.5)


def _projector(width: int, layers: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, width), *([nn.ReLU(), nn.Linear(width, width)] if layers == 2 else []))


def _normalised(adj: CSR, weight: Tensor) -> tuple[Tensor, Tensor]:
    """D^-1/2 (A * w + I) D^-1/2: its (nnz,) entries off the diagonal and its (N,) diagonal."""
    weight = weight if adj.value is None else weight * adj.value
    scale = (adj.with_values(weight).row_sum() + 1).rsqrt()                # (N,)
    return weight * scale[adj.row] * scale[adj.idx], scale.square()


def edge_noise(adj: CSR, generator: torch.Generator) -> Tensor:
    """(nnz,) log(p / (1 - p)) of a p drawn from [clip, 1 - clip] for each edge, the same in both directions."""
    chance = _CLIP + (1 - 2 * _CLIP) * torch.rand(adj.nnz // 2, generator=generator)
    upper = adj.row < adj.idx
    noise = torch.zeros(adj.nnz, device=adj.device).masked_scatter(upper, torch.logit(chance).to(adj.device))
    return noise + noise[adj.perm]


def _random_pairs(graph: Graph, generator: torch.Generator) -> tuple[CSR, Tensor]:
    """As many pairs of different nodes as the adjacency has entries, and which of them goes with each entry."""
    count = max(1, graph.adj.nnz)
    a = torch.randint(graph.num_nodes, (count,), generator=generator)
    b = (a + 1 + torch.randint(graph.num_nodes - 1, (count,), generator=generator)) % graph.num_nodes
    pairs = CSR.from_coo(a, b, shape=graph.adj.shape)  # without the few that came twice
    picked = torch.randint(pairs.nnz, (graph.adj.nnz,), generator=generator)
    return pairs.to(graph.device), picked.to(graph.device)
