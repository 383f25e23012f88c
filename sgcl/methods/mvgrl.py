"""MVGRL: nodes of the graph matched with a summary of its diffusion, and the other way round.

Hassani and Khasahmadi, *Contrastive Multi-View Representation Learning on Graphs*.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse
import torch
from torch import Tensor, nn

from sgcl.encoders import Encoder
from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.losses.infomax import infomax_loss
from sgcl.methods.base import Method
from sgcl.smoothing.rows import by_rows, degree_power, identity, kept, pruned, random_walk, row_of, scaled
from sgcl.sparse import CSR

_TAIL = 1e-6   # what even an unpruned series leaves out at its end
_SLACK = 1e-9  # relative: the order of a sum must not decide whether an entry stays


class Diffused(NamedTuple):
    """A graph, the same one with its features handed to other nodes, and the diffusion of both."""

    real: Graph
    fake: Graph
    diffusion: CSR   # (N, N)


class MVGRL(Method):
    r"""Contrastive multi-view representation learning.

    View 1 is the graph, view 2 its personalised PageRank S = a (I - (1 - a) D^-1/2 (A + I) D^-1/2)^-1, which stands in
    for the normalised adjacency; each view has an encoder of its own. H_v encodes the features and H~_v the features
    shuffled; with c_v = sigmoid(mean_i h_vi) and the scores D(h, c) = hᵀ W c + b the loss is the binary cross-entropy,
    the mean over 4N scores, of

    .. math:: D(h^2_i, c_1), D(h^1_i, c_2) \to 1, \quad D(\tilde h^2_i, c_1), D(\tilde h^1_i, c_2) \to 0.

    The embedding is H1 + H2. S is worked out once, a block of rows at a time, and of each row only the ``top`` largest
    entries are kept. Time O((E + top N) D + N F D + D²) a step, memory O(N D + E + top N).

    Args:
        in_channels: F, the width of the node features.
        hidden_channels: D, the width of the embedding and of the layers before it.
        num_layers: depth of each encoder, a stack of GCN layers.
        activation: after each layer, ``"prelu"``, ``"relu"``, ``"elu"`` or ``"none"``.
        dropout: inside the encoders, in training.
        alpha: a, the probability that a walk restarts, at each hop.
        top: how many entries of each row of S are kept; those as large as the last of them too.
        prune: walks that stand at a node with a smaller probability are given up there; 0 gives up none and takes
            O(N²) time.

    Departures from the paper: a sparse S, of which ``prune`` and ``top`` leave out small entries, more on denser
    graphs (of the mass, together, an eighth on Cora and nearly half on Photo); without the threshold and the scaling
    that the published code has for CiteSeer; the adjacency with one loop at each node (two in the published code); the
    whole graph or the trainer's batches, for which rows and columns of S are taken, where the paper crops four runs of
    2000 consecutive nodes; no heads after encoders and summaries, as in the published code for nodes; training keeps
    the last weights, not those of the lowest loss, and without a recipe has this library's 200 epochs, not 3,000 with a
    patience of 20.
    """

    def __init__(self, in_channels: int, *, hidden_channels: int = 512, num_layers: int = 1, activation: str = "prelu",
                 dropout: float = 0.0, alpha: float = 0.2, top: int = 128, prune: float = 1e-3) -> None:
        super().__init__()
        check_diffusion("MVGRL", alpha, top, prune)
        self.encoders = nn.ModuleList(
            Encoder(in_channels, hidden_channels, num_layers=num_layers, activation=activation, dropout=dropout)
            for _ in range(2))
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(hidden_channels, hidden_channels)))
        self.bias = nn.Parameter(torch.zeros(()))
        self.alpha, self.top, self.prune = alpha, top, prune
        self._known: tuple[CSR, CSR] | None = None  # the adjacency of the training graph and its diffusion

    def start(self, graph: Graph) -> None:
        self._known = graph.adj, self._diffusion(graph.adj)

    def augment(self, graph: Graph, generator: torch.Generator) -> Diffused:
        order = torch.randperm(graph.num_nodes, generator=generator)
        shuffled = graph.replace(x=graph.x[order.to(graph.device)])
        if graph.n_id is None or self._known is None:
            return Diffused(graph, shuffled, self._diffusion(graph.adj))
        return Diffused(graph, shuffled, self._known[1].submatrix(graph.n_id))

    def loss(self, views: Diffused) -> Tensor:
        (h1, h2), (fake1, fake2) = (self._encode(graph, views.diffusion) for graph in (views.real, views.fake))
        c1, c2 = h1.mean(0).sigmoid(), h2.mean(0).sigmoid()                # (D,)
        return (infomax_loss(h2, fake2, c1, self.weight, self.bias)
                + infomax_loss(h1, fake1, c2, self.weight, self.bias)) / 2

    def embed(self, graph: Graph) -> Tensor:
        h1, h2 = self._encode(graph, self._diffusion(graph.adj))
        return h1 + h2                                                     # (N, D)

    def _encode(self, graph: Graph, diffusion: CSR) -> tuple[Tensor, Tensor]:
        """(N, D) of each view."""
        first, second = self.encoders
        return first(graph.x, graph.adj), second.propagate(graph.x, diffusion)  # type: ignore[operator]

    def _diffusion(self, adj: CSR) -> CSR:
        return diffusion_of(adj, self._known, alpha=self.alpha, top=self.top, prune=self.prune)


def check_diffusion(owner: str, alpha: float, top: int, prune: float) -> None:
    """Raise on settings of :func:`page_rank` that make no sense."""
    if not 0 < alpha < 1:
        raise InputError(f"{owner}: alpha is {alpha}, expected a restart probability in (0, 1)")
    if top < 1:
        raise InputError(f"{owner}: top is {top}, expected at least 1")
    if not 0 <= prune < 1:
        raise InputError(f"{owner}: prune is {prune}, expected a threshold in [0, 1)")


def diffusion_of(adj: CSR, known: tuple[CSR, CSR] | None, *, alpha: float, top: int, prune: float) -> CSR:
    """:func:`page_rank` of the adjacency, where it lies; not worked out again if it is ``known``, the first of an
    adjacency and its own."""
    if known is not None and _same(adj, known[0]):
        return known[1].to(adj.device)
    return page_rank(adj, alpha=alpha, top=top, prune=prune).to(adj.device)


def page_rank(adj: CSR, *, alpha: float, top: int, prune: float) -> CSR:
    """The largest entries of each row of S = a (I - (1 - a) D^-1/2 (A + I) D^-1/2)^-1, (N, N), on the CPU.

    With T = D^-1 (A + I), S = D^1/2 P D^-1/2 for P = a sum_k (1 - a)^k T^k, and S is symmetric: its row j is made of
    column j of P, the chances p_ij that a walk from i ends at j. Columns do not need each other, so a block of them
    is finished at a time. Entries below ``prune`` are dropped from every T^k and from P; as rows of T sum to 1, no p_ij
    is lowered by more than about prune / a.
    """
    edges = adj.to_scipy()
    loops = edges + identity(edges.shape[0])
    onward = random_walk(loops).T.tocsr()                                  # (N, N) entry (j, i) of it: T_ij
    root, inverse = degree_power(loops, 0.5), degree_power(loops, -0.5)    # (N,)
    hops = math.ceil(math.log(max(prune, _TAIL)) / math.log1p(-alpha))

    def block(rows: slice) -> scipy.sparse.csr_array:
        chance = identity(len(root))[rows]                                 # (n, N) entry (j, i): a walk from i is at j
        total = alpha * chance
        for hop in range(1, hops):
            chance = pruned(chance @ onward, prune)
            total = total + alpha * (1 - alpha) ** hop * chance
        return largest(scaled(pruned(total, prune), inverse[rows], root), top)

    cost = np.full(len(root), min(len(root), 1 / prune if prune else math.inf))
    return CSR.from_scipy(by_rows(block, cost), dtype=torch.float32)


def largest(matrix: scipy.sparse.csr_array, top: int) -> scipy.sparse.csr_array:
    """The ``top`` largest entries of each row, and those as large as the last of them: which they are does not hang on
    how nodes are numbered."""
    row, length = row_of(matrix), np.diff(matrix.indptr)
    order = np.lexsort((-matrix.data, row))
    last = (matrix.indptr[:-1] + np.minimum(length, top) - 1)[length > 0]  # where each row's last one to stay is
    least = np.zeros(len(length))                                          # (n,)
    least[length > 0] = matrix.data[order[last]]
    return kept(matrix, matrix.data >= least[row] * (1 - _SLACK))


def _same(a: CSR, b: CSR) -> bool:
    """Whether they are one adjacency."""
    return a is b or (a.shape == b.shape and a.nnz == b.nnz and all(
        torch.equal(mine, other.to(a.device))
        for mine, other in ((a.ptr, b.ptr), (a.idx, b.idx), (a.values(), b.values()))))
