"""Message-passing layers on a sorted CSR adjacency: GCN, SAGE, GAT, GIN.

Each layer has ``prepare(adj)``, what it needs of the graph, made once and shared by all layers of an encoder, and
``forward(x, prepared)``. Features may be sparse; no layer holds an (E, D) array.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sgcl.encoders.dropout import dropout
from sgcl.errors import InputError, check_rate
from sgcl.graph import Features
from sgcl.mapped import is_sparse
from sgcl.sparse import CSR, spmm

ALL = slice(None)


class Layer(nn.Module, ABC):
    """H' = outer(M (H W_inner), H): M sums over neighbours and treats each column alone, all else treats each row
    alone. :mod:`sgcl.encoders.blocks` takes the same parts in blocks of columns and rows."""

    bias: nn.Parameter  # (D,)
    heads = 1           # matrices M, each for its share of the columns

    def forward(self, x: Features, prepared: Any) -> Tensor:
        weight, scoring = self.inner(x), self.scoring()
        h = x if weight is None else x @ weight                            # (N, K)
        scores = None if scoring is None else x @ scoring                  # (N, S)
        return self.outer(self.sum(h, prepared, scores), x)                # type: ignore[arg-type]

    @staticmethod
    @abstractmethod
    def prepare(adj: CSR, degree: Tensor | None = None, rows: slice = ALL) -> Any:
        """What the layers of an encoder need of the graph; of some rows of it, where ``adj`` holds those ``rows`` and
        ``degree`` (N,) is that of all nodes."""

    @abstractmethod
    def inner(self, x: Features) -> Tensor | None:
        """W_inner, (F, K); ``None`` for H itself, K = F."""

    @abstractmethod
    def sum(self, h: Tensor, prepared: Any, scores: Tensor | None, rows: slice = ALL, first: int = 0) -> Tensor:
        """Rows and columns of M (H W_inner), (n, k).

        Args:
            h: (N, k) columns of H W_inner from number ``first`` on, all rows.
            prepared: what ``prepare`` makes of ``rows``.
            scores: (N, S) H W_scoring, all rows; ``None`` where there is no W_scoring.
        """

    @abstractmethod
    def outer(self, summed: Tensor, x: Features) -> Tensor:
        """(n, K) rows of M (H W_inner), which may be overwritten, and the same rows of H give (n, D)."""

    def scoring(self) -> Tensor | None:
        """W_scoring, (F, S): M depends on the graph and on H W_scoring; ``None`` where on the graph alone."""
        return None


class Normalised(NamedTuple):
    """D^-1/2 (A + I) D^-1/2, or some rows of it, as its off-diagonal part and its diagonal."""

    off: CSR       # (n, N)
    diag: Tensor   # (n, 1)

    @property
    def ptr(self) -> Tensor:
        return self.off.ptr

    def times(self, x: Tensor, rows: slice) -> Tensor:
        return spmm(self.off, x, diag=self.diag) if rows == ALL else spmm(self.off, x).addcmul_(x[rows], self.diag)

    def rows(self, block: slice) -> Normalised:
        return Normalised(self.off.rows(block), self.diag[block])


class GCNLayer(Layer):
    """Kipf and Welling: H' = D^-1/2 (A + I) D^-1/2 H W + b. The cheaper of (A H) W and A (H W) is taken."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight = _glorot(in_channels, out_channels)
        self.bias = nn.Parameter(torch.zeros(out_channels))

    @staticmethod
    def prepare(adj: CSR, degree: Tensor | None = None, rows: slice = ALL) -> Normalised:
        if degree is None:
            scale = (adj.row_sum() + 1).rsqrt()                            # (N,)
            there = scale[adj.idx]                                         # (nnz,)
        else:
            scale, there = (degree[rows] + 1).rsqrt(), (degree[adj.idx] + 1).rsqrt()
        value = scale[adj.row] * there
        if adj.value is not None:
            value = value * adj.value
        return Normalised(adj.with_values(value, symmetric=adj.symmetric), scale.square()[:, None])

    def inner(self, x: Features) -> Tensor | None:
        return _if_cheaper(self.weight, x)

    def sum(self, h: Tensor, prepared: Normalised | CSR, scores: Tensor | None, rows: slice = ALL,
            first: int = 0) -> Tensor:
        return spmm(prepared, h) if isinstance(prepared, CSR) else prepared.times(h, rows)

    def outer(self, summed: Tensor, x: Features) -> Tensor:
        return torch.addmm(self.bias, summed, self.weight) if self.inner(x) is None else summed.add_(self.bias)


class SAGELayer(Layer):
    """Hamilton et al., mean aggregation: H' = H W_self + (D^-1 A H) W_neigh + b."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight = _glorot(in_channels, out_channels)
        self.weight_neighbors = _glorot(in_channels, out_channels)
        self.bias = nn.Parameter(torch.zeros(out_channels))

    @staticmethod
    def prepare(adj: CSR, degree: Tensor | None = None, rows: slice = ALL) -> CSR:
        degree = adj.row_sum() if degree is None else degree[rows]
        value = degree.clamp(min=torch.finfo(degree.dtype).tiny).reciprocal()[adj.row]
        return adj.with_values(value if adj.value is None else value * adj.value)

    def inner(self, x: Features) -> Tensor | None:
        return _if_cheaper(self.weight_neighbors, x)

    def sum(self, h: Tensor, prepared: CSR, scores: Tensor | None, rows: slice = ALL, first: int = 0) -> Tensor:
        return spmm(prepared, h)

    def outer(self, summed: Tensor, x: Features) -> Tensor:
        neighbors = summed @ self.weight_neighbors if self.inner(x) is None else summed
        return x @ self.weight + neighbors + self.bias


class GINLayer(Layer):
    """Xu et al.: H' = MLP((1 + eps) H + A H), a two-layer perceptron; its first product is taken before the sum.

    Args:
        in_channels, out_channels: the widths of H and H'.
        learn_eps: whether eps is learned; it stays 0 else.
    """

    def __init__(self, in_channels: int, out_channels: int, learn_eps: bool = True) -> None:
        super().__init__()
        self.weight = _glorot(in_channels, out_channels)
        self.bias = nn.Parameter(torch.zeros(out_channels))
        self.eps = nn.Parameter(torch.zeros(())) if learn_eps else None
        self.out = nn.Linear(out_channels, out_channels)

    @staticmethod
    def prepare(adj: CSR, degree: Tensor | None = None, rows: slice = ALL) -> CSR:
        return adj

    def inner(self, x: Features) -> Tensor:
        return self.weight

    def sum(self, h: Tensor, prepared: CSR, scores: Tensor | None, rows: slice = ALL, first: int = 0) -> Tensor:
        own = h if rows == ALL else h[rows]
        return spmm(prepared, h).add_(own if self.eps is None else (1 + self.eps) * own)

    def outer(self, summed: Tensor, x: Features) -> Tensor:
        projected: Tensor = self.out(F.relu(summed + self.bias))
        return projected


class GATLayer(Layer):
    """Veličković et al.: H' = softmax_j(LeakyReLU(s_i + t_j)) H W + b over the neighbours j and i itself, the columns
    of H W shared out among the heads, each with attention of its own.

    Args:
        in_channels, out_channels: the widths of H and H'.
        heads: how many; a divisor of ``out_channels``.
        dropout: probability of leaving an attention weight out, in training.
    """

    def __init__(self, in_channels: int, out_channels: int, heads: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        if heads < 1 or out_channels % heads:
            raise InputError(f"GATLayer: heads is {heads}, expected a divisor of the width {out_channels}")
        check_rate("GATLayer", "dropout", dropout)
        self.weight = _glorot(in_channels, out_channels)
        self.target, self.source = (
            nn.Parameter(torch.cat([_glorot(out_channels // heads, 1).detach() for _ in range(heads)]))
            for _ in range(2))
        self.bias = nn.Parameter(torch.zeros(out_channels))
        self.heads, self.width, self.dropout = heads, out_channels // heads, dropout

    @staticmethod
    def prepare(adj: CSR, degree: Tensor | None = None, rows: slice = ALL) -> CSR:
        return adj

    def inner(self, x: Features) -> Tensor:
        return self.weight

    def scoring(self) -> Tensor:
        """Its columns give s for each head, then t for each head."""
        ends = [torch.block_diag(*vector.split(self.width)) for vector in (self.target, self.source)]
        return self.weight @ torch.cat(ends, dim=1)                        # (F, 2 heads)

    def sum(self, h: Tensor, prepared: CSR, scores: Tensor | None, rows: slice = ALL, first: int = 0) -> Tensor:
        assert scores is not None
        heads = range(first // self.width, -(-(first + h.size(1)) // self.width))               # those of these columns
        near, own = self.attention(prepared, scores, rows, slice(heads.start, heads.stop))
        ends = [min(head * self.width + self.width - first, h.size(1)) for head in heads]
        parts = h.split([end - start for start, end in pairwise([0, *ends])], dim=1)
        seen = [spmm(prepared, part, near[:, number]) + own[:, number, None] * part[rows]
                for number, part in enumerate(parts)]
        return torch.cat(seen, dim=1)

    def attention(self, prepared: CSR, scores: Tensor, rows: slice | Tensor = ALL, some: slice = ALL,
                  ) -> tuple[Tensor, Tensor]:
        """How much each neighbour counts, (nnz, heads), and a node itself, (n, heads), for some of the heads."""
        s, t = scores[rows, :self.heads][:, some], scores[:, self.heads:][:, some]
        row, col = prepared.row, prepared.idx
        score = F.leaky_relu(s[row] + t[col], 0.2)                         # (nnz, heads)
        own = F.leaky_relu(s + t[rows], 0.2)                               # (n, heads)
        top = own.detach().scatter_reduce(0, row[:, None].expand_as(score), score.detach(), "amax")
        score, own = (score - top[row]).exp(), (own - top).exp()
        total = own.index_add(0, row, score)
        return (dropout(score / total[row], self.dropout, self.training),
                dropout(own / total, self.dropout, self.training))

    def outer(self, summed: Tensor, x: Features) -> Tensor:
        return summed + self.bias


LAYERS: dict[str, type[GCNLayer | SAGELayer | GATLayer | GINLayer]] = {
    "gcn": GCNLayer, "sage": SAGELayer, "gat": GATLayer, "gin": GINLayer}


def _if_cheaper(weight: Tensor, x: Features) -> Tensor | None:
    """The weight, where a product with it makes the sum over neighbours cheaper: x is sparse, or gets no wider."""
    return weight if is_sparse(x) or weight.size(0) >= weight.size(1) else None


def _glorot(in_channels: int, out_channels: int) -> nn.Parameter:
    return nn.Parameter(nn.init.xavier_uniform_(torch.empty(in_channels, out_channels)))
