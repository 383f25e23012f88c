"""Message-passing layers on a sorted CSR adjacency: GCN, SAGE, GAT, GIN.

Each layer has ``prepare(adj)``, what it needs of the graph, made once and shared by all layers of an encoder, and
``forward(x, prepared)``. Features may be sparse; no layer holds an (E, D) array.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sgcl.graph import Features
from sgcl.sparse import CSR, SparseFeatures, spmm


class Normalised(NamedTuple):
    """D^-1/2 (A + I) D^-1/2 as its off-diagonal part and its diagonal."""

    off: CSR       # (N, N)
    diag: Tensor   # (N, 1)

    def __matmul__(self, x: Tensor) -> Tensor:
        return torch.addcmul(spmm(self.off, x), x, self.diag)


class GCNLayer(nn.Module):
    """Kipf and Welling: H' = D^-1/2 (A + I) D^-1/2 H W + b. The cheaper of (A H) W and A (H W) is taken."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight = _glorot(in_channels, out_channels)
        self.bias = nn.Parameter(torch.zeros(out_channels))

    @staticmethod
    def prepare(adj: CSR) -> Normalised:
        scale = (adj.row_sum() + 1).rsqrt()                                # (N,)
        value = scale[adj.row] * scale[adj.idx]                            # (nnz,)
        if adj.value is not None:
            value = value * adj.value
        return Normalised(adj.with_values(value, symmetric=adj.symmetric), scale.square()[:, None])

    def forward(self, x: Features, prepared: Normalised) -> Tensor:
        in_channels, out_channels = self.weight.shape
        if isinstance(x, SparseFeatures) or in_channels >= out_channels:
            return prepared @ (x @ self.weight) + self.bias                # (N, D)
        return torch.addmm(self.bias, prepared @ x, self.weight)


class SAGELayer(nn.Module):
    """Hamilton et al., mean aggregation: H' = H W_self + (D^-1 A H) W_neigh + b."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight = _glorot(in_channels, out_channels)
        self.weight_neighbors = _glorot(in_channels, out_channels)
        self.bias = nn.Parameter(torch.zeros(out_channels))

    @staticmethod
    def prepare(adj: CSR) -> CSR:
        degree = adj.row_sum()
        value = degree.clamp(min=torch.finfo(degree.dtype).tiny).reciprocal()[adj.row]
        return adj.with_values(value if adj.value is None else value * adj.value)

    def forward(self, x: Features, prepared: CSR) -> Tensor:
        in_channels, out_channels = self.weight.shape
        if isinstance(x, SparseFeatures) or in_channels >= out_channels:
            neighbors = spmm(prepared, x @ self.weight_neighbors)
        else:
            neighbors = spmm(prepared, x) @ self.weight_neighbors
        return x @ self.weight + neighbors + self.bias


class GINLayer(nn.Module):
    """Xu et al.: H' = MLP((1 + eps) H + A H), a two-layer perceptron; its first product is taken before the sum."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight = _glorot(in_channels, out_channels)
        self.bias = nn.Parameter(torch.zeros(out_channels))
        self.eps = nn.Parameter(torch.zeros(()))
        self.out = nn.Linear(out_channels, out_channels)

    @staticmethod
    def prepare(adj: CSR) -> CSR:
        return adj

    def forward(self, x: Features, prepared: CSR) -> Tensor:
        h = x @ self.weight                                                # (N, D)
        h = (1 + self.eps) * h + spmm(prepared, h) + self.bias
        projected: Tensor = self.out(F.relu(h))
        return projected


class GATLayer(nn.Module):
    """Veličković et al., one head: H' = softmax_j(LeakyReLU(s_i + t_j)) H W + b over the neighbours j and i itself."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight = _glorot(in_channels, out_channels)
        self.target = _glorot(out_channels, 1)
        self.source = _glorot(out_channels, 1)
        self.bias = nn.Parameter(torch.zeros(out_channels))

    @staticmethod
    def prepare(adj: CSR) -> CSR:
        return adj

    def forward(self, x: Features, prepared: CSR) -> Tensor:
        h = x @ self.weight                                                # (N, D)
        s, t = (h @ self.target).view(-1), (h @ self.source).view(-1)      # (N,)
        row, col = prepared.row, prepared.idx
        score = F.leaky_relu(s[row] + t[col], 0.2)                         # (nnz,)
        own = F.leaky_relu(s + t, 0.2)                                     # (N,)
        top = own.detach().scatter_reduce(0, row, score.detach(), "amax")
        score, own = (score - top[row]).exp(), (own - top).exp()
        total = own.index_add(0, row, score)
        return spmm(prepared, h, score / total[row]) + (own / total)[:, None] * h + self.bias


LAYERS: dict[str, type[GCNLayer | SAGELayer | GATLayer | GINLayer]] = {
    "gcn": GCNLayer, "sage": SAGELayer, "gat": GATLayer, "gin": GINLayer}


def _glorot(in_channels: int, out_channels: int) -> nn.Parameter:
    return nn.Parameter(nn.init.xavier_uniform_(torch.empty(in_channels, out_channels)))
